// Operands that need no memory, and reshaping of expressions.
#pragma once

#include <dsl/lang/functions.hpp>
#include <dsl/mem/create.hpp>

namespace dsl {

namespace detail {

inline auto positions(std::int64_t n) {
  if (n < 0) element_count(&n, 1, 1);  // throws
  return index_leaf<1>{0, {n}, {1}};
}

}  // namespace detail

/// 0, 1, ..., n - 1. An expression: it takes no memory.
template <element T>
auto arange(std::integral auto n) { return cast<T>(detail::positions(static_cast<std::int64_t>(n))); }

/// start, start + step, ... below stop (above it for a negative step), as NumPy's arange; empty where there are none.
template <element T>
auto arange(T start, T stop, T step = T(1)) {
  const double steps = (static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step);
  const std::int64_t n = steps > 0 ? static_cast<std::int64_t>(steps) + (static_cast<double>(static_cast<std::int64_t>(steps)) < steps) : 0;
  return start + cast<T>(detail::positions(n)) * step;
}

/// n values from first to last, both included, evenly spaced; only `first` for n = 1.
template <element T>
auto linspace(T first, T last, std::integral auto n) {
  const auto count = static_cast<std::int64_t>(n);
  const auto i = detail::positions(count);
  const T step = count > 1 ? static_cast<T>((last - first) / static_cast<T>(count - 1)) : T(0);
  return where(i == count - 1 && count > 1, last, cast<T>(i) * step + first);
}

namespace detail {

template <int R, std::size_t N>
auto reshape_leaf(const index_leaf<R>& leaf, const std::array<std::int64_t, N>& sizes) {
  std::int64_t have = 1;
  for (const std::int64_t e : leaf.extents) have *= e;
  if (element_count(sizes.data(), N, 1) != have) throw_bad_reshape(leaf.extents.data(), R, sizes.data(), N);
  return index_leaf<static_cast<int>(N)>{leaf.first, sizes, row_major(sizes)};
}
template <class T, std::size_t N>
auto reshape_leaf(const value_leaf<T>& leaf, const std::array<std::int64_t, N>&) { return leaf; }
template <class T, std::size_t N>
auto reshape_leaf(const view<T, 0>& leaf, const std::array<std::int64_t, N>&) { return leaf; }
template <class T, int R, std::size_t N>
auto reshape_leaf(const view<T, R>& leaf, const std::array<std::int64_t, N>& sizes) { return reshape_view(leaf, sizes); }
template <class F, class... Operands, std::size_t N>
auto reshape_leaf(const expression<F, Operands...>& e, const std::array<std::int64_t, N>& sizes) {
  return std::apply([&](const auto&... x) { return make_expression<F>(reshape_leaf(x, sizes)...); }, e.operands);
}

}  // namespace detail

/// An expression under other extents: its operands are reshaped, so they must be contiguous and of one size (scalars aside).
/// Throws shape_error.
template <class F, class... Operands, std::integral... N>
auto reshape(const expression<F, Operands...>& e, N... n) {
  return detail::reshape_leaf(e, detail::to_extents(n...));
}

}  // namespace dsl

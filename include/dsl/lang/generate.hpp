// Operands that need no memory: positions, and values computed from positions.
#pragma once

#include <dsl/lang/functions.hpp>
#include <dsl/mem/create.hpp>

namespace dsl {

namespace detail {

inline index_leaf<1> positions(std::int64_t n) {
  element_count(&n, 1, 1);  // throws
  return {0, {n}, {1}};
}

}  // namespace detail

/// 0, 1, ..., n - 1. A lazy expression without memory.
template <element T>
auto arange(std::integral auto n) {
  return cast<T>(detail::positions(static_cast<std::int64_t>(n)));
}

/// start, start + by, ... up to but excluding stop, as NumPy's arange. Descends where `by` is
/// negative; empty if stop is not beyond start in that direction. A lazy expression without memory.
/// Throws shape_error if `by` is 0.
template <element T>
auto arange(T start, T stop, T by = T(1)) {
  using widest =
      std::conditional_t<!std::integral<T>, double,
                         std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  const auto n = detail::count_steps(static_cast<widest>(start), static_cast<widest>(stop),
                                     static_cast<widest>(by));
  return start + cast<T>(detail::positions(n)) * by;
}

/// n evenly spaced values from first to last, both included; only `first` for n = 1. As NumPy:
/// computed in float64 (complex128 for complex T), integers are rounded down, and the last value is
/// exactly `last`.
template <element T>
auto linspace(T first, T last, std::integral auto n) {
  constexpr bool is_complex = kind_of(dtype_v<T>) == kind::complex,
                 is_integer = kind_of(dtype_v<T>) == kind::integer;
  using wide = element_t<is_complex ? dtype::complex128 : dtype::float64>;
  const auto count = static_cast<std::int64_t>(n), steps = count > 1 ? count - 1 : 1;
  const wide from(first),
      apart = count > 1 ? (wide(last) - from) / static_cast<double>(steps) : wide(0);
  // A generic lambda, because code that does not depend on a template argument would be compiled in
  // every file that includes this header.
  const auto values_at = [&](const auto& i) {
    // `where` keeps the compiler from fusing the product and the sum. NumPy rounds both; fused, -3
    // + 10 * 0.3 would be below 0.
    const auto value = where(i < steps, cast<double>(i) * apart, wide(0)) + from;
    if constexpr (is_integer) return where(i < steps, cast<T>(floor(value)), last);
    else return where(i < steps, cast<T>(value), last);
  };
  return values_at(detail::positions(count));
}

/// The position along `axis` in an array of extents `n`, int64: one array of NumPy's
/// indices(extents). A lazy expression without memory. Throws shape_error if there is no such axis.
/// dsl::index(0, 512, 512) counts rows, dsl::index(1, 512, 512) columns.
template <class... N>
  requires detail::sizes<N...>
auto index(int axis, const N&... n) {
  constexpr int rank = detail::rank_of_sizes<N...>;
  const detail::mapping m = detail::index_mapping(axis, detail::to_extents(n...).data(), rank);
  return cast<std::int64_t>(detail::index_leaf<rank>{0, detail::first_of<rank>(m.extents),
                                                     detail::first_of<rank>(m.strides)});
}

}  // namespace dsl

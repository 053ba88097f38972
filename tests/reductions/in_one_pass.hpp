// Many reductions of one dtype in one pass, for any number of elements. A row costs a third of its
// compile time alone.
#pragma once

#include "rows.hpp"

#include <algorithm>

namespace reduction {

template <class Rows, class Numbers = typename Rows::numbers> struct formula_of;
template <class Rows, std::size_t... N>
struct formula_of<Rows, std::index_sequence<N...>> {
  template <class X> constexpr auto operator()(X x, X y) const {
    return std::tuple{written<Rows::all[N]>::of(x, y)...};
  }
};

template <class... Symbol> std::tuple<dsl::scalar<dsl::element_t<Symbol::type.type>>...>
    scalars_for(dsl::detail::tuple<Symbol...>);

/// The results of Rows::all; y is x reversed.
template <class Rows, class X, class Y>
std::vector<outcome> evaluate_in_one_pass(const X& x, const Y& y) {
  const auto rows = dsl::vectorize(formula_of<Rows>{})(x, y);
  decltype(scalars_for(
      std::declval<dsl::detail::outputs_of<std::remove_const_t<decltype(rows)>>>())) results;
  try {
    std::apply([&](auto&... each) { dsl::tie(each...) = rows; }, results);
  } catch (const dsl::shape_error&) {
    return std::vector<outcome>(Rows::all.size(),
                                {.shape_error = true, .type = {}, .extents = {}, .values = {}});
  }
  return std::apply([](const auto&... each) { return std::vector<outcome>{outcome_of(each)...}; },
                    results);
}

/// Copies within the device's memory, because a host copy of billions of elements is too slow.
template <class T>
dsl::array<T> to_array(const pattern& p) {
  dsl::array<T> x(p.n);
  const auto owner = x.view().owner();
  std::int64_t done = static_cast<std::int64_t>(p.period.size() / sizeof(T));
  dsl::detail::upload(owner, x.data(), p.period.data(), p.period.size());
  for (std::int64_t count; done < p.n; done += count) {
    count = std::min(done, p.n - done);
    dsl::detail::copy(owner, x.data() + done, owner, x.data(),
                      static_cast<std::size_t>(count) * sizeof(T));
  }
  for (const auto& [at, value] : p.others)
    dsl::detail::upload(owner, x.data() + at, value.data(), sizeof(T));
  return x;
}

template <class Rows, class X, class Y>
void expect_rows(operand_kind kind, const pattern& given, const X& x, const Y& y) {
  const std::vector<outcome> got = evaluate_in_one_pass<Rows>(x, y);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (is_operand_of(Rows::all[i], kind)) expect_reduced(Rows::all[i], given, got[i]);
}

/// Both kernels: the linear one, and the strided one, for which an operand is read backwards.
template <dsl::dtype D>
void compare_size(std::int64_t n) {
  for (int k = 0; k < operand_kinds; ++k) {
    const auto kind = static_cast<operand_kind>(k);
    const pattern p = draw_pattern(kind, D, n);
    const auto x = to_array<dsl::element_t<D>>(p), y = to_array<dsl::element_t<D>>(backwards(p));
    expect_rows<rows_in_one_pass<D, false>>(kind, p, x, y);
    expect_rows<rows_in_one_pass<D, true>>(kind, p, x, y);
    expect_rows<rows_in_one_pass<D, false>>(kind, p, x, dsl::flip(x));
    expect_rows<rows_in_one_pass<D, true>>(kind, p, x, dsl::flip(x));
  }
}

/// Sizes around every boundary of a block, a vector or a chunk; on a GPU with memory for two
/// operands also more than 2^32 elements. Other devices take minutes.
inline std::vector<std::int64_t> sizes_to_reduce(std::int64_t element_size) {
  std::vector<std::int64_t> all{0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 1536, 34567};
  const dsl::device where = dsl::device::current();
  if (where.kind == dsl::backend::sim) return all;
  all.insert(all.end(), {1'048'576, 1'049'600, 1'049'728});
  const std::int64_t many = (std::int64_t{1} << 31) + 3;
  if (where.kind == dsl::backend::cuda &&
      static_cast<std::int64_t>(dsl::properties(where).memory) / 5 * 4 > 2 * many * element_size)
    all.push_back(many);
  return all;
}

template <dsl::dtype D>
void compare_sizes() {
  for (const std::int64_t n : sizes_to_reduce(dsl::size_of(D))) {
    compare_size<D>(n);
    testing::Test::RecordProperty("largest", std::to_string(n));
  }
}

}  // namespace reduction

// Every row of the op table, on operands of given dtypes, against NumPy. Most of the cost is
// compilation, so rows share programs.
#pragma once

#include "../written_rows.hpp"
#include "reference.hpp"

#include <complex>

namespace numpy_values {

using dsl::dtype;
using dsl::op;

// With 6, 12, 24 and 29, GCC needs 11.0, 10.2, 9.3 and 10.3 s for all of float32; a kernel takes 32
// operands and outputs.
inline constexpr std::size_t rows_in_a_program = 24;

template <dtype... D>
constexpr bool takes_of(op code) {
  constexpr dtype types[] = {D...};
  return takes(code, types, sizeof...(D));
}

/// The rows that take operands of these dtypes.
template <dtype... D>
struct rows_for {
  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const op code : all_rows) n += takes_of<D...>(code) ? 1 : 0;
    return n;
  }();
  static constexpr auto codes = [] {
    std::array<op, count> taken{};
    std::size_t n = 0;
    for (const op code : all_rows)
      if (takes_of<D...>(code)) taken[n++] = code;
    return taken;
  }();
};

/// A formula of the rows First, First + 1, ...
template <std::size_t First, class Numbers, dtype... D> struct formula;
template <std::size_t First, std::size_t... I, dtype... D>
struct formula<First, std::index_sequence<I...>, D...> {
  constexpr auto operator()(dsl::symbol<D>... x) const {
    return std::make_tuple(written_row<rows_for<D...>::codes[First + I]>::of(x...)...);
  }
};

template <dtype... D>
class comparison {
 public:
  comparison() {
    std::apply([this](const auto&... x) { this->template from<0>(x...); }, operands_);
  }
  ~comparison() { expect_complete(section_); }

 private:
  template <std::size_t First>
  void from(const dsl::array<dsl::element_t<D>>&... x) {
    if constexpr (constexpr std::size_t left = rows_for<D...>::count - First; left > 0) {
      constexpr std::size_t n = left < rows_in_a_program ? left : rows_in_a_program;
      program<First>(std::make_index_sequence<n>{}, x...);
      from<First + n>(x...);
    }
  }

  template <std::size_t First, std::size_t... I>
  void program(std::index_sequence<I...> numbers, const dsl::array<dsl::element_t<D>>&... x) {
    constexpr auto& codes = rows_for<D...>::codes;
    std::tuple<dsl::array<
        dsl::element_t<dsl::resolve(codes[First + I], dsl::weak_dtype{D}...).result.type>>...>
        results;
    std::apply(
        [&](auto&... result) {
          dsl::tie(result...) = dsl::vectorize(formula<First, decltype(numbers), D...>{})(x...);
        },
        results);
    (compare(codes[First + I], std::get<I>(results)), ...);
  }

  template <class T>
  void compare(op code, const dsl::array<T>& result) {
    expect_equal(section_, code, dsl::dtype_v<T>, stored::bytes_of(result.copy_to_host()),
                 dsl::device::current().kind == dsl::backend::cuda);
  }

  template <std::size_t... I>
  static auto operands(const section& s, std::index_sequence<I...>) {
    return std::tuple{stored::to_array<dsl::element_t<D>>(s.operands[I])...};
  }

  const section section_ = section_of({D...});
  const std::tuple<dsl::array<dsl::element_t<D>>...> operands_ =
      operands(section_, std::make_index_sequence<sizeof...(D)>{});
};

/// All functions of operands of one dtype.
template <dtype D>
void compare_every_function() {
  comparison<D>{};
  comparison<D, D>{};
  if constexpr (dsl::kind_of(D) != dsl::kind::complex) {
    comparison<D, D, D>{};
    if constexpr (D != dtype::int32) comparison<D, dtype::int32>{};
  }
  if constexpr (D != dtype::boolean) comparison<dtype::boolean, D, D>{};
}

}  // namespace numpy_values

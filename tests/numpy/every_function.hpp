// Every row of the op table, on operands of given dtypes, against NumPy. Compiling is what this costs, so rows share programs.
#pragma once

#include "../written_rows.hpp"
#include "reference.hpp"

#include <complex>

namespace numpy_values {

using dsl::dtype;
using dsl::op;

// With 6, 12, 24 and 29, GCC needs 11.0, 10.2, 9.3 and 10.3 s for all of float32; a kernel takes 32 operands and outputs.
inline constexpr std::size_t rows_in_a_program = 24;

/// Which rows are compiled: all that take some operands, or those that `chosen` gives to operands of these dtypes.
enum class rows { all, chosen };

/// The dtype that a row is compiled for where not all are. In turn, so that every row and every dtype has its place, and a dtype few programs.
constexpr dtype chosen(op code) {
  constexpr dtype one[] = {dtype::boolean, dtype::int8, dtype::uint16, dtype::float16, dtype::bfloat16, dtype::float32, dtype::float64, dtype::complex64},
                  two[] = {dtype::int16, dtype::int32, dtype::int64, dtype::uint8, dtype::uint32, dtype::uint64, dtype::float32, dtype::complex128},
                  three[] = {dtype::float64, dtype::int32};
  const int arity = dsl::info(code).arity;
  const dtype* const from = arity == 1 ? one : arity == 2 ? two : three;
  const int count = arity == 3 ? 2 : 8;
  const bool selects = dsl::info(code).operands == dsl::op_operands::selection;
  for (int i = static_cast<int>(code);; ++i) {
    const dtype type = from[i % count];
    const bool scaled = dsl::info(code).operands == dsl::op_operands::scaled;
    const dtype types[] = {selects ? dtype::boolean : type, scaled ? dtype::int32 : type, type};
    if (takes(code, types, static_cast<std::size_t>(arity))) return type;
  }
}

/// The rows that take operands of these dtypes.
template <rows Which, dtype... D>
struct rows_for {
  static constexpr bool has(op code) {
    constexpr dtype types[] = {D...};
    const bool selects = dsl::info(code).operands == dsl::op_operands::selection;
    return takes(code, types, sizeof...(D)) && (Which == rows::all || chosen(code) == types[selects ? 1 : 0]);
  }
  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const op code : all_rows) n += has(code) ? 1 : 0;
    return n;
  }();
  static constexpr auto codes = [] {
    std::array<op, count> taken{};
    std::size_t n = 0;
    for (const op code : all_rows)
      if (has(code)) taken[n++] = code;
    return taken;
  }();
};

/// A formula of the rows First, First + 1, ...
template <rows Which, std::size_t First, class Numbers, dtype... D> struct formula;
template <rows Which, std::size_t First, std::size_t... I, dtype... D>
struct formula<Which, First, std::index_sequence<I...>, D...> {
  constexpr auto operator()(dsl::symbol<D>... x) const {
    return std::make_tuple(written_row<rows_for<Which, D...>::codes[First + I]>::of(x...)...);
  }
};

template <rows Which, dtype... D>
class comparison {
 public:
  comparison() { std::apply([this](const auto&... x) { from<0>(x...); }, operands_); }
  ~comparison() {
    if (Which == rows::all) expect_complete(section_);
  }

 private:
  template <std::size_t First>
  void from(const dsl::array<dsl::element_t<D>>&... x) {
    if constexpr (constexpr std::size_t left = rows_for<Which, D...>::count - First; left > 0) {
      constexpr std::size_t n = left < rows_in_a_program ? left : rows_in_a_program;
      program<First>(std::make_index_sequence<n>{}, x...);
      from<First + n>(x...);
    }
  }

  template <std::size_t First, std::size_t... I>
  void program(std::index_sequence<I...> numbers, const dsl::array<dsl::element_t<D>>&... x) {
    constexpr auto& codes = rows_for<Which, D...>::codes;
    std::tuple<dsl::array<dsl::element_t<dsl::resolve(codes[First + I], dsl::weak_dtype{D}...).result.type>>...> results;
    std::apply([&](auto&... result) { dsl::tie(result...) = dsl::vectorize(formula<Which, First, decltype(numbers), D...>{})(x...); }, results);
    (compare(codes[First + I], std::get<I>(results)), ...);
  }

  template <class T>
  void compare(op code, const dsl::array<T>& result) {
    expect_equal(section_, code, dsl::dtype_v<T>, stored::bytes_of(result.copy_to_host()), dsl::device::current().kind == dsl::backend::cuda);
  }

  template <std::size_t... I>
  static auto operands(const section& s, std::index_sequence<I...>) {
    return std::tuple{stored::to_array<dsl::element_t<D>>(s.operands[I])...};
  }

  const section section_ = section_of({D...});
  const std::tuple<dsl::array<dsl::element_t<D>>...> operands_ = operands(section_, std::make_index_sequence<sizeof...(D)>{});
};

template <rows Which, dtype... D>
int compare_operands() {
  constexpr int count = static_cast<int>(rows_for<Which, D...>::count);
  if constexpr (count > 0) comparison<Which, D...>{};
  return count;
}

/// All functions of operands of one dtype, or those chosen. Returns how many.
template <dtype D, rows Which = rows::all>
int compare_every_function() {
  int count = compare_operands<Which, D>() + compare_operands<Which, D, D>();
  if constexpr (dsl::kind_of(D) != dsl::kind::complex) {
    count += compare_operands<Which, D, D, D>();
    if constexpr (D != dtype::int32) count += compare_operands<Which, D, dtype::int32>();
  }
  if constexpr (D != dtype::boolean) count += compare_operands<Which, dtype::boolean, D, D>();
  return count;
}

}  // namespace numpy_values

// Every reduction, evaluated alone, so that a program that two tests of a file need is compiled
// once.
#pragma once

#include "reference.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <iterator>

namespace reduction {

/// An array's or a symbol's dtype.
template <class X>
constexpr dsl::dtype dtype_of() {
  if constexpr (dsl::is_symbol<X>) return X::type.type;
  else return dsl::dtype_v<typename X::value_type>;
}
/// The dtype of the row sum_as_double.
template <class X> using wide_t =
    std::conditional_t<dsl::kind_of(dtype_of<X>()) == dsl::kind::complex, std::complex<double>,
                       double>;

/// written<row::sum>::of(x, y, options...) is dsl::sum(x, options...); y is x reversed.
template <row R> struct written;
#define ROW(level, name, kind, ...)                                                         \
  template <> struct written<row::name> {                                                   \
    static constexpr operand_kind operand = operand_kind::kind;                             \
    template <class X> static constexpr auto of(const X& x, [[maybe_unused]] const auto& y, \
                                                [[maybe_unused]] const auto&... o) {        \
      return __VA_ARGS__;                                                                   \
    }                                                                                       \
  };
#include "rows.inc"
#undef ROW

/// The kinds of operands with which a row is compared. Zeros or ones with an exception suit all
/// rows, also those for which a product of many factors would overflow.
constexpr bool is_operand_of(row r, operand_kind kind) {
  if (kind == operand_kind::few || kind == operand_kind::most) return true;
  switch (r) {
#define ROW(level, name, ...) \
  case row::name: return kind == written<row::name>::operand;
#include "rows.inc"
#undef ROW
  }
  return false;
}

inline constexpr int levels[] = {
#define ROW(level, ...) level,
#include "rows.inc"
#undef ROW
};

constexpr bool is_defined(row r, dsl::dtype type) {
  return r != row::ptp || type != dsl::dtype::boolean;
}  // an error in NumPy

/// Whether reductions.txt has the row: all rows of some dtypes, which represent the others for rows
/// that are variants.
constexpr bool is_stored(row r, dsl::dtype type) {
  if (!is_defined(r, type)) return false;
  if (type == dsl::dtype::int32 || type == dsl::dtype::float32 || type == dsl::dtype::complex64)
    return true;
  return levels[static_cast<int>(r)] <= 2 &&
         !(ignores_nan(r) && dsl::kind_of(type) <= dsl::kind::integer);
}

/// The level up to which rows are compared alone for a dtype. A row takes g++ 0.5 s and nvcc 1.5 s
/// for each dtype, so some dtypes represent others; in_one_pass.hpp tests all rows of all dtypes.
constexpr int level_of(dsl::dtype type) {
  using enum dsl::dtype;
#if defined(__CUDACC__)
  const int most = 1;
#else
  const int most = 2;
#endif
  switch (type) {
    case int32:
    case float32: return 3;
    case complex64: return most == 2 ? 3 : most;
    case uint8:
    case int16:
    case uint16:
    case uint32:
    case bfloat16: return most - 1;
    default: return most;
  }
}
constexpr bool is_compared(row r, dsl::dtype type) {
  return is_stored(r, type) && levels[static_cast<int>(r)] <= level_of(type);
}

/// The dtypes for which reductions.txt has two axes.
constexpr bool has_two_axes(dsl::dtype type) {
  return type == dsl::dtype::int32 || type == dsl::dtype::float32 || type == dsl::dtype::complex64;
}

/// All rows for one formula: those that need elements, or those defined without; of one operand, or
/// of any number.
template <dsl::dtype D, bool NeedsElements, bool OfOne = false>
struct rows_in_one_pass {
  static constexpr dsl::dtype type = D;
  static constexpr bool contain(row r) {
    return needs_elements(r) == NeedsElements && is_defined(r, D) && (takes_axes(r) || !OfOne);
  }
  static constexpr auto all = [] {
    std::array<row, static_cast<std::size_t>(
                        std::count_if(std::begin(all_rows), std::end(all_rows), contain))>
        rows{};
    std::copy_if(std::begin(all_rows), std::end(all_rows), rows.begin(), contain);
    return rows;
  }();
  using numbers = std::make_index_sequence<all.size()>;
};

template <class T, int R> outcome outcome_of(const dsl::array<T, R>& result) {
  return {false, dsl::dtype_v<T>, shape(result.extents().begin(), result.extents().end()),
          stored::bytes_of(result.copy_to_host())};
}
template <class T> outcome outcome_of(const dsl::scalar<T>& result) {
  return {false, dsl::dtype_v<T>, {}, stored::bytes_of(std::vector<T>{result.value()})};
}

/// One reduction alone.
template <row R, class X, class... Options>
outcome evaluate(const X& x, const Options&... options) {
  try {
    return outcome_of(dsl::eval(written<R>::of(x, dsl::flip(x), options...)));
  } catch (const dsl::shape_error&) {
    return {.shape_error = true, .type = {}, .extents = {}, .values = {}};
  }
}

/// Calls `reduce` with the options that express a set of axes. One axis at most unless `Several`.
template <int Rank, bool KeepDims, bool Several, class Reduce>
auto with_options(const std::vector<int>& along, const Reduce& reduce) {
  const auto call = [&](const auto&... axes) {
    if constexpr (KeepDims) return reduce(axes..., dsl::keep_dims);
    else return reduce(axes...);
  };
  const auto axis = [&](std::size_t k) { return along[k]; };
  if constexpr (Several) {
    if constexpr (Rank >= 2)
      if (along.size() == 2) return call(dsl::axis(axis(0), axis(1)));
    if constexpr (Rank >= 3)
      if (along.size() == 3) return call(dsl::axis(axis(0), axis(1), axis(2)));
    if constexpr (Rank >= 4)
      if (along.size() == 4) return call(dsl::axis(axis(0), axis(1), axis(2), axis(3)));
  }
  return along.empty() ? call() : call(dsl::axis(axis(0)));
}

}  // namespace reduction

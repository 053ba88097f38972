// Every reduction, evaluated: alone, so that a program that two tests of a file need is compiled once.
#pragma once

#include "reference.hpp"

#include <complex>

namespace reduction {

template <class X> using value_of = typename std::remove_cvref_t<X>::value_type;
/// The dtype of the row sum_as_double.
template <class X>
using wide_t = std::conditional_t<dsl::kind_of(dsl::dtype_v<value_of<X>>) == dsl::kind::complex, std::complex<double>, double>;

/// written<row::sum>::of(x, options...) is dsl::sum(x, options...).
template <row R> struct written;
#define ROW(level, name, kind, ...)                                                                          \
  template <> struct written<row::name> {                                                                    \
    static constexpr operand_kind operand = operand_kind::kind;                                              \
    template <class X> static auto of(const X& x, [[maybe_unused]] const auto&... o) { return __VA_ARGS__; } \
  };
#include "rows.inc"
#undef ROW

template <class T, int R> outcome outcome_of(const dsl::array<T, R>& result) {
  return {false, dsl::dtype_v<T>, shape(result.extents().begin(), result.extents().end()), stored::bytes_of(result.copy_to_host())};
}
template <class T> outcome outcome_of(const dsl::scalar<T>& result) {
  return {false, dsl::dtype_v<T>, {}, stored::bytes_of(std::vector<T>{result.value()})};
}

/// One reduction alone.
template <row R, class X, class... Options>
outcome evaluate(const X& x, const Options&... options) {
  try {
    return outcome_of(dsl::eval(written<R>::of(x, options...)));
  } catch (const dsl::shape_error&) {
    return {.shape_error = true, .type = {}, .extents = {}, .values = {}};
  }
}

/// Calls `reduce` with the options that a set of axes comes to. One axis at most unless `Several`.
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

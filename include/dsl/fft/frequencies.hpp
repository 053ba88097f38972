// The frequencies that a spectrum's elements belong to, and their order.
#pragma once

#include <dsl/fft/operation.hpp>
#include <dsl/lang/generate.hpp>
#include <dsl/lang/shift.hpp>

namespace dsl {

namespace detail {

/// 1 / (n d). Throws value_error unless n > 0.
double frequency_step(std::int64_t n, double d, const char* function);

/// Shifts by half of each extent, or back: `Left` axes are to be done.
template <int Left, class X, std::size_t Rank>
auto shift_by_halves(const X& x, const int* axes, const std::array<std::int64_t, Rank>& shape,
                     bool back) {
  if constexpr (Left == 0) {
    return x;
  } else {
    const auto axis = static_cast<std::size_t>(*axes < 0 ? *axes + static_cast<int>(Rank) : *axes);
    const std::int64_t half = axis < Rank ? shape[axis] / 2 : 0;
    return shift_by_halves<Left - 1>(shift(x, back ? -half : half, boundary::wrap, *axes), axes + 1,
                                     shape, back);
  }
}
template <class X, int... Axes>
auto shift_all(const X& x, bool back, const dsl::axes<Axes>&... axes) {
  static_assert(sizeof...(Axes) <= 1, "dsl::fftshift takes dsl::axis(...) once");
  constexpr int rank = operand_t<X>::rank;
  const auto of = as_operand(x);
  const auto shape = shape_of_expression(of);
  if constexpr (sizeof...(Axes) == 1) {
    return (shift_by_halves<Axes>(of, axes.number, shape, back), ...);
  } else {
    int all[rank];
    for (int d = 0; d < rank; ++d) all[d] = d;
    return shift_by_halves<rank>(of, all, shape, back);
  }
}

}  // namespace detail

/// The frequencies of the elements of dsl::fft of n points at a distance d, in cycles per unit of
/// d: 0, 1, ..., then the negative ones, divided by n d. np.fft.fftfreq: float64. A lazy expression
/// without memory. Throws value_error if n is less than 1.
/// ```cpp
/// dsl::array<double> k = 2 * pi * dsl::fftfreq(256, 0.1);
/// ```
auto fftfreq(std::integral auto n, double d = 1) {
  const auto points = static_cast<std::int64_t>(n);
  const double unit = detail::frequency_step(points, d, "fftfreq");
  const auto k = arange<std::int64_t>(points);
  return cast<double>(where(k <= (points - 1) / 2, k, k - points)) * unit;
}
/// The frequencies of the n / 2 + 1 elements of dsl::rfft: np.fft.rfftfreq.
auto rfftfreq(std::integral auto n, double d = 1) {
  const auto points = static_cast<std::int64_t>(n);
  const double unit = detail::frequency_step(points, d, "rfftfreq");
  return arange<double>(points / 2 + 1) * unit;
}

/// x with frequency 0 in the middle: np.fft.fftshift. Along all axes, or those of dsl::axis(...).
/// Lazy, as dsl::shift: part of the formula that reads it. Throws shape_error if there is no such
/// axis.
/// ```cpp
/// dsl::array<double, 2> picture =
///     dsl::fftshift(abs(dsl::fft2(dsl::cast<double>(image))));
/// ```
template <class X, class... Axes>
  requires detail::operands<X>
auto fftshift(const X& x, const Axes&... axes) {
  return detail::shift_all(x, false, axes...);
}
/// The inverse of fftshift: np.fft.ifftshift.
template <class X, class... Axes>
  requires detail::operands<X>
auto ifftshift(const X& x, const Axes&... axes) {
  return detail::shift_all(x, true, axes...);
}

}  // namespace dsl

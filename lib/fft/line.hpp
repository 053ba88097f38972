// Transforms of one line, by KissFFT or FFTW.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace dsl::detail {

/// The transform of one line of In to one of Out, without a factor, on one core. May be used by
/// several threads at once.
template <class In, class Out>
struct line_transform {
  virtual ~line_transform() = default;
  /// The elements of a line follow each other. `in` and `out` are apart, and aligned to
  /// `line_alignment` bytes. From complex to real numbers `in` is overwritten.
  virtual void run(In* in, Out* out) const = 0;
};
template <class T> using complex_line_transform = line_transform<std::complex<T>, std::complex<T>>;

#if DSL_FFTW
/// What floats are computed in.
using computed_float = float;
/// FFTW has vector instructions for aligned lines alone.
inline constexpr std::size_t line_alignment = 64;
#else
/// What floats are computed in. KissFFT's sines and cosines of floats are off by several units in
/// the last place, and its code is scalar, so that doubles cost little more.
using computed_float = double;
inline constexpr std::size_t line_alignment = alignof(std::complex<double>);
#endif

/// By the library alone.
template <class T>
std::unique_ptr<complex_line_transform<T>> make_library_transform(std::int64_t n, bool inverse);
/// By the library, or by two of its transforms if the line is long (lib/fft/long_line.cpp).
template <class T>
std::unique_ptr<complex_line_transform<T>> make_line_transform(std::int64_t n, bool inverse);
/// Whether a line of n points is transformed as two, whose lines the cores share.
bool is_long_line(std::int64_t n);
/// From n real numbers to their spectrum, or back. FFTW has it, KissFFT has not.
template <class In, class Out>
std::unique_ptr<line_transform<In, Out>> make_real_transform(std::int64_t n);

/// exp(2 pi i k / n), or its conjugate. k < n.
inline std::complex<double> root_of_unity(std::int64_t k, std::int64_t n, bool conjugate) {
  // Of an angle of at most an eighth of a turn, whose rounding error is smallest.
  const std::int64_t quarters = (8 * k / n + 1) / 2, rest = 4 * k - quarters * n;
  constexpr double half_pi = 1.57079632679489661923;
  const double angle = half_pi * static_cast<double>(rest) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  switch (quarters & 3) {
    case 1: std::swap(c, s), c = -c; break;
    case 2: c = -c, s = -s; break;
    case 3: std::swap(c, s), s = -s; break;
    default: break;
  }
  return {c, conjugate ? -s : s};
}

/// The plain product, without the care for NaN that C++'s own takes.
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace dsl::detail

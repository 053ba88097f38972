// The kinds of lines that are transformed on the host: complex numbers, real numbers to their
// spectrum, and back.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "fft/line.hpp"

namespace dsl::detail {

/// Elements of one line, at a constant distance.
template <class T>
struct strided {
  T* first;
  std::int64_t step;
  T& operator[](std::int64_t i) const { return first[i * step]; }
};

// Each kind of line reads its elements into those that a library transforms, and writes the
// results. T: what the elements are made of; C: what they are computed in.

/// Elements of In, each converted to From, and results of To, each converted to Out: the same kinds
/// of numbers in the precision of the computation.
template <class In, class Out, class From, class To>
struct whole_line {
  using input = const In;
  using output = Out;
  using from = From;
  using to = To;
  static constexpr bool reads_directly = std::is_same_v<In, From>,
                        writes_directly = std::is_same_v<Out, To>;
  std::int64_t ins, outs, points;
  bool inverse;

  std::int64_t from_length() const { return ins; }
  std::int64_t to_length() const { return outs; }
  std::unique_ptr<line_transform<From, To>> make() const {
    if constexpr (std::is_same_v<From, To>)
      return make_line_transform<typename From::value_type>(points, inverse);
    else return make_real_transform<From, To>(points);
  }
  void read(const strided<input>& x, From* z) const {
    for (std::int64_t k = 0; k < ins; ++k) z[k] = From(x[k]);
  }
  void write(const To* z, const strided<output>& y) const {
    for (std::int64_t k = 0; k < outs; ++k) y[k] = Out(z[k]);
  }
};

/// A spectrum of real numbers to these numbers, by the library. The imaginary parts of its first
/// element and, for an even number of points, of its last one are not read.
template <class T>
struct line_of_spectrum {
  using input = const std::complex<T>;
  using output = T;
  using from = std::complex<T>;
  using to = T;
  static constexpr bool reads_directly = false, writes_directly = true;
  std::int64_t points;
  T factor;

  std::int64_t from_length() const { return points / 2 + 1; }
  std::int64_t to_length() const { return points; }
  std::unique_ptr<line_transform<from, to>> make() const {
    return make_real_transform<from, to>(points);
  }
  void read(const strided<input>& x, from* z) const {
    const std::int64_t last = points / 2;
    for (std::int64_t k = 0; k <= last; ++k) z[k] = factor * x[k];
    z[0].imag(0);
    if (points % 2 == 0) z[last].imag(0);
  }
  void write(const to* z, const strided<output>& y) const {
    for (std::int64_t k = 0; k < points; ++k) y[k] = z[k];
  }
};

// Real lines of an even number of points are complex ones of half as many: their even elements are
// the real parts, their odd elements the imaginary ones. Of an odd number, the imaginary parts are
// zeros.
template <class C>
class packed_line {
 public:
  using from = std::complex<C>;
  using to = std::complex<C>;
  static constexpr bool reads_directly = false, writes_directly = false;
  std::int64_t from_length() const { return is_even_ ? n_ / 2 : n_; }
  std::int64_t to_length() const { return from_length(); }
  std::unique_ptr<complex_line_transform<C>> make() const {
    return make_line_transform<C>(from_length(), inverse_);
  }

 protected:
  packed_line(std::int64_t n, bool inverse) : n_(n), is_even_(n % 2 == 0), inverse_(inverse) {
    if (!is_even_) return;
    for (std::int64_t k = 0; k <= n / 2; ++k) turns_.emplace_back(root_of_unity(k, n, !inverse));
  }
  std::int64_t n_;
  bool is_even_, inverse_;
  std::vector<std::complex<C>> turns_;
};

template <class T, class C>
struct packed_to_spectrum : packed_line<C> {
  using input = const T;
  using output = std::complex<T>;
  using packed_line<C>::n_, packed_line<C>::is_even_, packed_line<C>::turns_;
  explicit packed_to_spectrum(std::int64_t n) : packed_line<C>(n, false) {}

  void read(const strided<input>& x, std::complex<C>* z) const {
    if (is_even_)
      for (std::int64_t k = 0; k < n_ / 2; ++k)
        z[k] = {static_cast<C>(x[2 * k]), static_cast<C>(x[2 * k + 1])};
    else
      for (std::int64_t k = 0; k < n_; ++k) z[k] = static_cast<C>(x[k]);
  }
  void write(const std::complex<C>* z, const strided<output>& y) const {
    const std::int64_t half = n_ / 2;
    if (!is_even_) {
      for (std::int64_t k = 0; k <= half; ++k) y[k] = std::complex<T>(z[k]);
      return;
    }
    for (std::int64_t k = 0; k <= half; ++k) {
      const std::complex<C> a = z[k == half ? 0 : k], b = std::conj(z[k == 0 ? 0 : half - k]),
                            even = (a + b) * C(0.5), odd = (a - b) * C(0.5),
                            turned = times(turns_[static_cast<std::size_t>(k)], odd);
      y[k] = {static_cast<T>(even.real() + turned.imag()),
              static_cast<T>(even.imag() - turned.real())};
    }
  }
};

template <class T, class C>
struct packed_of_spectrum : packed_line<C> {
  using input = const std::complex<T>;
  using output = T;
  using packed_line<C>::n_, packed_line<C>::is_even_, packed_line<C>::turns_;
  C factor;
  packed_of_spectrum(std::int64_t n, double times)
      : packed_line<C>(n, true), factor(static_cast<C>(times)) {}

  void read(const strided<input>& x, std::complex<C>* z) const {
    const std::int64_t half = n_ / 2;
    if (!is_even_) {
      z[0] = std::complex<C>(x[0]);
      for (std::int64_t k = 1; k <= half; ++k) {
        z[k] = std::complex<C>(x[k]);
        z[n_ - k] = std::conj(z[k]);
      }
      return;
    }
    const C first = static_cast<C>(x[0].real()), last = static_cast<C>(x[half].real());
    z[0] = {first + last, first - last};
    for (std::int64_t k = 1; k < half; ++k) {
      const std::complex<C> a(x[k]), b = std::conj(std::complex<C>(x[half - k])), even = a + b,
                                     turned = times(turns_[static_cast<std::size_t>(k)], a - b);
      z[k] = {even.real() - turned.imag(), even.imag() + turned.real()};
    }
  }
  void write(const std::complex<C>* z, const strided<output>& y) const {
    if (is_even_)
      for (std::int64_t k = 0; k < n_ / 2; ++k) {
        y[2 * k] = static_cast<T>(factor * z[k].real());
        y[2 * k + 1] = static_cast<T>(factor * z[k].imag());
      }
    else
      for (std::int64_t k = 0; k < n_; ++k) y[k] = static_cast<T>(factor * z[k].real());
  }
};

}  // namespace dsl::detail

// Lines by KissFFT, whose class for C++ is in a header.
#include <kissfft/kissfft.hh>

#include <vector>

#include "fft/line.hpp"

namespace dsl::detail {

namespace {

// KissFFT has code for factors up to 5, and sums for each element of any other factor.
constexpr std::int64_t largest_summed_factor = 50;

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p)
    while (n % p == 0) largest = p, n /= p;
  return n > 1 ? n : largest;
}

class by_factors : public complex_line_transform<double> {
 public:
  by_factors(std::int64_t n, bool inverse)
      : plan_(static_cast<std::size_t>(n), inverse), has_memory_(largest_prime_factor(n) > 5) {}
  void run(std::complex<double>* in, std::complex<double>* out) const override {
    // For other factors KissFFT's object has memory that it works in.
    if (has_memory_) kissfft<double>(plan_).transform(in, out);
    else plan_.transform(in, out);
  }

 private:
  kissfft<double> plan_;
  bool has_memory_;
};

// A number of points with a large prime factor: since j k = (j^2 + k^2 - (k - j)^2) / 2, the
// transform is a convolution with exp(pi i j^2 / n), which has any length that is long enough.
// L. Bluestein, IEEE Trans. Audio Electroacoustics 18 (1970) 451.
class by_convolution : public complex_line_transform<double> {
 public:
  by_convolution(std::int64_t n, bool inverse)
      : n_(static_cast<std::size_t>(n)),
        length_(power_of_two(2 * n_ - 1)),
        forward_(make_line_transform<double>(static_cast<std::int64_t>(length_), false)),
        backward_(make_line_transform<double>(static_cast<std::int64_t>(length_), true)),
        chirp_(n_),
        spectrum_(length_) {
    std::vector<std::complex<double>> padded(length_);
    for (std::size_t k = 0; k < n_; ++k) {
      const auto square = static_cast<std::int64_t>(k * k % (2 * n_));
      chirp_[k] = root_of_unity(square, 2 * n, !inverse);
      padded[k] = std::conj(chirp_[k]) / static_cast<double>(length_);
      if (k > 0) padded[length_ - k] = padded[k];
    }
    forward_->run(padded.data(), spectrum_.data());
  }
  void run(std::complex<double>* in, std::complex<double>* out) const override {
    std::vector<std::complex<double>> a(length_), b(length_);
    for (std::size_t k = 0; k < n_; ++k) a[k] = times(in[k], chirp_[k]);
    forward_->run(a.data(), b.data());
    for (std::size_t k = 0; k < length_; ++k) b[k] = times(b[k], spectrum_[k]);
    backward_->run(b.data(), a.data());
    for (std::size_t k = 0; k < n_; ++k) out[k] = times(a[k], chirp_[k]);
  }

 private:
  static std::size_t power_of_two(std::size_t least) {
    std::size_t n = 1;
    while (n < least) n *= 2;
    return n;
  }
  std::size_t n_, length_;
  std::unique_ptr<complex_line_transform<double>> forward_, backward_;
  std::vector<std::complex<double>> chirp_, spectrum_;
};

}  // namespace

template <>
std::unique_ptr<complex_line_transform<double>> make_library_transform(std::int64_t n,
                                                                       bool inverse) {
  if (largest_prime_factor(n) > largest_summed_factor)
    return std::make_unique<by_convolution>(n, inverse);
  return std::make_unique<by_factors>(n, inverse);
}

}  // namespace dsl::detail

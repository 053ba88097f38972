// Arguments that functions are measured with.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace accuracy {

/// Arguments for every function: a third over all bit patterns, which are all exponents, NaN and infinities among them; a third
/// evenly in ranges around 0; a third beside whole and half numbers and multiples of pi / 4, where roots and poles are.
template <class T> std::vector<T> arguments(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<T> x(count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 0) {
      const auto pattern = static_cast<bits>(random());
      std::memcpy(&x[i], &pattern, sizeof(T));
    } else if (i % 3 == 1) {
      constexpr double ranges[] = {1, 4, 12, 40, 100, 750};
      const double range = ranges[i / 3 % 6];
      x[i] = static_cast<T>(uniform(-range, range));
    } else {
      const int k = static_cast<int>(random() % 81) - 40;
      const T middle = static_cast<T>(random() % 2 == 0 ? k * 0.5 : k * 0.78539816339744830962);
      const double steps = uniform(-1, 1) * static_cast<double>(1 << random() % 12);
      x[i] = middle + static_cast<T>(steps) * std::max(std::abs(middle), T(1)) * std::numeric_limits<T>::epsilon();
    }
  }
  return x;
}

/// Second operands: as the first, or so near the first in size that neither is lost beside the other, or small.
template <class T> std::vector<T> second_arguments(const std::vector<T>& x, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> y = arguments<T>(x.size(), seed + 1);
  std::uniform_real_distribution<double> factor(-2, 2);
  std::shuffle(y.begin(), y.end(), random);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (random() % 2 == 0) y[i] = static_cast<T>(factor(random)) * x[i];
  return y;
}

template <class T> std::vector<std::complex<T>> complex_arguments(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<std::complex<T>> z;
  while (z.size() < count) {
    constexpr double ranges[] = {1, 4, 30};
    const double range = ranges[z.size() % 3];
    double re = uniform(-range, range), im = uniform(-range, range);
    switch (random() % 4) {
      case 0: re *= std::exp2(uniform(-30, 0)); break;
      case 1: im *= std::exp2(uniform(-30, 0)); break;
      case 2: {  // on the unit circle, where the logarithm's real part vanishes
        const double length = std::hypot(re, im);
        re /= length;
        im /= length;
        break;
      }
      default: break;
    }
    z.emplace_back(static_cast<T>(re), static_cast<T>(im));
  }
  return z;
}

}  // namespace accuracy

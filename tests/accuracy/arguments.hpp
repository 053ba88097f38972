// Arguments for the measurement of functions' errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

namespace accuracy {

/// Arguments where a result becomes infinite, subnormal or 0, or where the implementation switches
/// formulas: of e^x, 2^x, 10^x, sinh, erfc, tgamma, lgamma,
/// digamma, i0 and i1.
inline constexpr double ends[] = {
    88.72,  -87.34, -103.97, 89.42,  709.78,  -708.4,   -745.13,
    710.48, 128,    -126,    -149.5, 1024,    -1022,    -1074.5,
    38.53,  -37.93, -45,     308.25, -307.65, -323.3,   9.2,
    10.05,  10.25,  26.54,   27.22,  35.04,   171.62,   91.9,
    713.98, 8,      64,      700,    4.06e36, 2.55e305, 1.4616321449683623};

/// Arguments for every function. A third cover all bit patterns: all exponents, NaN and infinities;
/// an eighth of these are subnormal or next to the smallest normal or the largest number. A third
/// are uniform in ranges around 0. A third are next to integers, half-integers and multiples of pi
/// / 4, where roots and poles are (those of the gamma function down to -200), and next to `ends`.
template <class T> std::vector<T> arguments(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  constexpr bits sign = bits(1) << (8 * sizeof(T) - 1),
                 exponents = (sign - 1) >> digits;  // the last exponent belongs to no finite number
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<T> x(count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 0) {
      auto pattern = static_cast<bits>(random());
      if (i / 3 % 8 == 0) {
        const bits exponent = random() % 2 == 0 ? exponents - 1 - random() % 2 : random() % 4;
        const bits fraction = (pattern & ((bits(1) << digits) - 1)) >> random() % digits;
        pattern = (pattern & sign) | exponent << digits | fraction;
      }
      std::memcpy(&x[i], &pattern, sizeof(T));
    } else if (i % 3 == 1) {
      constexpr double ranges[] = {1, 4, 12, 40, 100, 750};
      const double range = ranges[i / 3 % 6];
      x[i] = static_cast<T>(uniform(-range, range));
    } else {
      const int k = static_cast<int>(random() % 81) - 40, kind = static_cast<int>(random() % 8);
      const T middle = static_cast<T>(kind < 3   ? k * 0.5
                                      : kind < 6 ? k * 0.78539816339744830962
                                      : kind < 7 ? static_cast<int>(random() % 401) * -0.5
                                                 : ends[random() % std::size(ends)] *
                                                       (random() % 2 == 0 ? 1 : -1));
      const double steps = uniform(-1, 1) * static_cast<double>(1 << random() % 12);
      x[i] = middle + static_cast<T>(steps) * std::max(std::abs(middle), T(1)) *
                          std::numeric_limits<T>::epsilon();
    }
  }
  return x;
}

/// Complex numbers whose parts have all exponents; in every third both parts have the same
/// magnitude.
template <class T> std::vector<std::complex<T>> complex_arguments_of_all_exponents(
    std::size_t count, unsigned seed) {
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  const auto part = [&] {
    const int exponent =
        static_cast<int>(random() % (limits::max_exponent - limits::min_exponent + limits::digits));
    const T size =
        std::ldexp(static_cast<T>(std::uniform_real_distribution<double>(1, 1.9)(random)),
                   exponent + limits::min_exponent - limits::digits);
    return random() % 2 == 0 ? size : -size;
  };
  std::vector<std::complex<T>> z;
  while (z.size() < count) {
    const T re = part();
    z.emplace_back(re, z.size() % 3 == 0 ? re / static_cast<T>(2 << random() % 4) : part());
  }
  return z;
}

/// Second operands: distributed as the first, or close enough in magnitude to the first that
/// neither is lost in a sum, or small.
template <class T> std::vector<T> second_arguments(const std::vector<T>& x, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> y = arguments<T>(x.size(), seed + 1);
  std::uniform_real_distribution<double> factor(-2, 2);
  std::shuffle(y.begin(), y.end(), random);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (random() % 2 == 0) y[i] = static_cast<T>(factor(random)) * x[i];
  return y;
}

template <class T> std::vector<std::complex<T>> complex_arguments(std::size_t count,
                                                                  unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
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

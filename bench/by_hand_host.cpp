// Compiled for this machine's instructions (DSL_BENCH_ARCHITECTURE) and with -ffast-math, without
// which GCC vectorises neither sums nor functions.
#include "by_hand_host.hpp"

#include <algorithm>
#include <cmath>
#include <execution>
#include <functional>
#include <numeric>
#include <vector>

namespace bench::by_hand {

namespace {

template <class T, class F> void loop(T* __restrict out, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = f(i);
}

template <class T> void heat_of(T* __restrict out, const T* m, std::int64_t side) {
  for (std::int64_t i = 1; i + 1 < side; ++i) {
    const T *here = m + i * side, *up = here - side, *down = here + side;
    for (std::int64_t j = 1; j + 1 < side; ++j)
      out[i * side + j] =
          here[j] + T(0.1) * (up[j] + down[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
  }
}

using c32 = std::complex<float>;
c32 dF(c32 F, c32 G, c32 d) { return c32(0, -2) * F - c32(0, 1) * d * (2.0f * G - 1.0f); }
c32 dG(c32 F, c32 d) { return c32(0, -1) * (std::conj(d) * F - d * std::conj(F)); }

}  // namespace

void add(float* out, const float* a, const float* b, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return a[i] + b[i]; });
}
void exp(float* out, const float* a, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return std::exp(a[i]); });
}
void exp(double* out, const double* a, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return std::exp(a[i]); });
}
void sin(float* out, const float* a, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return std::sin(a[i]); });
}
void sin(double* out, const double* a, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return std::sin(a[i]); });
}
void pow(float* out, const float* a, const float* b, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return std::pow(a[i], b[i]); });
}
void pow(double* out, const double* a, const double* b, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return std::pow(a[i], b[i]); });
}
void square_and_add(float* out, const float* a, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return a[i] * a[i] + a[i]; });
}
void square_and_add(double* out, const double* a, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return a[i] * a[i] + a[i]; });
}
void three_operands(float* out, const float* a, const float* b, const float* c, std::int64_t n) {
  loop(out, n,
       [=](std::int64_t i) { return a[i] * std::exp(-b[i] * b[i]) + std::sqrt(std::fabs(c[i])); });
}

void black_scholes(float* __restrict call, float* __restrict put, const float* stock,
                   const float* strike, const float* years, float rate, float volatility,
                   std::int64_t n) {
  const auto normal = [](float d) { return 0.5f * std::erfc(-0.70710678f * d); };
  for (std::int64_t i = 0; i < n; ++i) {
    const float deviation = volatility * std::sqrt(years[i]);
    const float d1 = (std::log(stock[i] / strike[i]) +
                      (rate + 0.5f * volatility * volatility) * years[i]) /
                     deviation,
                d2 = d1 - deviation;
    const float discounted = strike[i] * std::exp(-rate * years[i]);
    call[i] = stock[i] * normal(d1) - discounted * normal(d2);
    put[i] = discounted * normal(-d2) - stock[i] * normal(-d1);
  }
}

float sum(const float* a, std::int64_t n) { return std::accumulate(a, a + n, 0.0f); }
float dot(const float* a, const float* b, std::int64_t n) {
  return std::inner_product(a, a + n, b, 0.0f);
}
float min(const float* a, std::int64_t n) {
  return std::accumulate(a, a + n, a[0], [](float x, float y) { return x < y ? x : y; });
}

void sum_of_rows(float* out, const float* m, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) out[i] = sum(m + i * columns, columns);
}
void sum_of_columns(float* __restrict out, const float* m, std::int64_t rows,
                    std::int64_t columns) {
  std::fill(out, out + columns, 0.0f);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) out[j] += m[i * columns + j];
}
void cumsum(float* out, const float* a, std::int64_t n) { std::partial_sum(a, a + n, out); }

void weighted(double* out, const double* a, std::int64_t n) {
  double y = 0;
  for (std::int64_t i = 0; i < n; ++i) out[i] = y = 0.9 * y + 0.1 * a[i];
}
void fill(float* out, float value, std::int64_t n) { std::fill_n(out, n, value); }
void add_by_key(float* sums, const std::int32_t* keys, const float* values, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) sums[keys[i]] += values[i];
}
void deviations_by_key(float* out, const std::int32_t* keys, const float* values, std::int64_t n,
                       std::int64_t groups) {
  struct sums { float count, sum, squares; };
  std::vector<sums> of(static_cast<std::size_t>(groups));
  for (std::int64_t i = 0; i < n; ++i) {
    sums& mine = of[static_cast<std::size_t>(keys[i])];
    mine.count += 1;
    mine.sum += values[i];
    mine.squares += values[i] * values[i];
  }
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto [count, sum, squares] = of[static_cast<std::size_t>(g)];
    const float mean = sum / count;
    out[g] = std::sqrt(std::max(squares / count - mean * mean, 0.f));
  }
}
void take(float* out, const float* from, const std::int32_t* at, std::int64_t n) {
  loop(out, n, [=](std::int64_t i) { return from[at[i]]; });
}
void heat(float* out, const float* m, std::int64_t side) { heat_of(out, m, side); }
void heat(double* out, const double* m, std::int64_t side) { heat_of(out, m, side); }

void rk4_steps(c32* F, c32* G, c32* delta, float h, std::int64_t n, std::int64_t steps) {
  for (std::int64_t k = 0; k < steps; ++k) {
    const c32 d = *delta;
    c32 total = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const c32 f = F[i], g = G[i];
      const c32 f1 = dF(f, g, d), g1 = dG(f, d);
      const c32 f2 = dF(f + h / 2 * f1, g + h / 2 * g1, d), g2 = dG(f + h / 2 * f1, d);
      const c32 f3 = dF(f + h / 2 * f2, g + h / 2 * g2, d), g3 = dG(f + h / 2 * f2, d);
      const c32 f4 = dF(f + h * f3, g + h * g3, d), g4 = dG(f + h * f3, d);
      F[i] = f + h / 6 * (f1 + 2.0f * f2 + 2.0f * f3 + f4);
      G[i] = g + h / 6 * (g1 + 2.0f * g2 + 2.0f * g3 + g4);
      total += F[i];
    }
    *delta = total / static_cast<float>(n);
  }
}

}  // namespace bench::by_hand

namespace bench::par_unseq {

namespace parallel = std::execution;

void add(float* out, const float* a, const float* b, std::int64_t n) {
  std::transform(parallel::par_unseq, a, a + n, b, out, std::plus<>{});
}
void exp(float* out, const float* a, std::int64_t n) {
  std::transform(parallel::par_unseq, a, a + n, out, [](float x) { return std::exp(x); });
}
void three_operands(float* out, const float* a, const float* b, const float* c, std::int64_t n) {
  // The standard has no transformation of three ranges, so an element's place is computed from its
  // address.
  std::for_each(parallel::par_unseq, out, out + n, [=](float& x) {
    const std::int64_t i = &x - out;
    x = a[i] * std::exp(-b[i] * b[i]) + std::sqrt(std::fabs(c[i]));
  });
}
float sum(const float* a, std::int64_t n) {
  return std::reduce(parallel::par_unseq, a, a + n, 0.0f);
}
float dot(const float* a, const float* b, std::int64_t n) {
  return std::transform_reduce(parallel::par_unseq, a, a + n, b, 0.0f);
}

}  // namespace bench::par_unseq

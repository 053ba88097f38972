// Reductions with accumulators that several tests use.
#pragma once

#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

struct moments { double n, mean, squares; };
struct moments_of_one {
  DSL_FN moments operator()(double x) const { return {1, x, 0}; }
};
struct join_moments {
  DSL_FN moments operator()(moments a, moments b) const {
    const double n = a.n + b.n, share = b.n / n, apart = b.mean - a.mean;
    return {n, a.mean + apart * share, a.squares + b.squares + apart * apart * (a.n * share)};
  }
};
struct mean_and_variance {
  DSL_FN std::tuple<double, double> operator()(moments a) const {
    return {a.mean, a.squares / a.n};
  }
};
struct only_variance {
  DSL_FN double operator()(moments a) const { return a.squares / a.n; }
};

inline constexpr auto log_sum_exp = dsl::reduce(
    [](auto a, auto b) {
      auto [most, sum] = a;
      auto [other, more] = b;
      auto both = max(most, other);
      return std::tuple{both, sum * exp(most - both) + more * exp(other - both)};
    },
    std::tuple{-1e30, 0.0}, [](auto x) { return std::tuple{x, 1}; },
    [](auto a) { return std::get<0>(a) + log(std::get<1>(a)); });

inline double log_sum_exp_of(const std::vector<float>& x) {
  const float most = *std::max_element(x.begin(), x.end());
  long double sum = 0;
  for (const float v : x) sum += std::exp(static_cast<long double>(v) - most);
  return static_cast<double>(most + std::log(sum));
}

// Differential equations that are coupled by a mean over all elements, with their solution.
#pragma once

#include "../on_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <complex>
#include <tuple>

using namespace std::complex_literals;
using c64 = std::complex<double>;
using std::int64_t;

struct coupled : on_device {};
// y' = -y m and z' = 6i z m, m the mean of y: m' = -m m, so that y = y0 / (1 + m0 t), and
// z = z0 exp(6i log(1 + m0 t)).
inline constexpr auto mean_field = [](auto y, auto z) {
  auto m = dsl::mean(y);
  return std::tuple{-y * m, 6i * z * m};
};
struct fields {
  dsl::array<double> y;
  dsl::array<c64> z;
  std::vector<double> y0;
  double mean = 0;
  explicit fields(int64_t n) {
    std::vector<c64> z0;
    for (int64_t i = 0; i < n; ++i) {
      y0.push_back(1.5 + std::sin(static_cast<double>(i)));
      z0.emplace_back(y0.back(), 1);
      mean += y0.back() / static_cast<double>(n);
    }
    y = dsl::to_device(y0);
    z = dsl::to_device(z0);
  }
  double error(double t) const {
    const auto got = y.copy_to_host();
    const auto got_z = z.copy_to_host();
    double most = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      most = std::max(
          {most, std::abs(got[i] - y0[i] / (1 + mean * t)),
           std::abs(got_z[i] - c64(y0[i], 1) * std::polar(1.0, 6 * std::log(1 + mean * t)))});
    return most;
  }
};
template <class Step>
void expect_order(double order, int64_t steps, const Step& step) {
  double error[2];
  for (int k = 0; k < 2; ++k) {
    fields of(37);
    dsl::iterate(steps << k, step, dsl::state(of.y, of.z), 0.5 / static_cast<double>(steps << k));
    error[k] = of.error(0.5);
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), order, 0.04 * order) << error[0] << ' ' << error[1];
}

// Error and time of ensembles over the tolerance, on the device that DSL_DEVICE names. Rows for
// ensembles.py plot: problem, device, library, method, tolerance, error, seconds per system.
//
// usage: bench_ensembles [SYSTEMS]
#include <dsl/ode.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::int64_t sampled = 4096;
constexpr auto lorenz = [](auto x, auto y, auto z, auto rho) {
  return std::tuple{10 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3 * z};
};
constexpr auto robertson = [](auto a, auto b, auto c, auto k1) {
  return std::tuple{-k1 * a + 1e4 * b * c, k1 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b};
};

using fields = std::array<std::vector<double>, 3>;

/// One of the two problems: its systems begin equally and differ by a parameter.
template <class F>
struct problem {
  const char* name;
  F f;
  double low, high, end;
  // The absolute tolerance over the relative one.
  double absolute;

  dsl::array<double> parameter(std::int64_t n) const { return dsl::linspace(low, high, n); }

  /// The values at the end of n systems; `seconds`, unless null, is the shortest time of a call.
  template <class Method>
  fields run(const Method& method, double tolerance, std::int64_t n, double* seconds) const {
    const dsl::array<double> p = parameter(n);
    dsl::array<double> x(n), y(n), z(n);
    const int calls = seconds == nullptr ? 1 : 5;
    for (int k = 0; k < calls; ++k) {
      x = 1.0;
      y = 0.0;
      z = 0.0;
      dsl::device::current().synchronize();
      const auto begin = std::chrono::steady_clock::now();
      dsl::ode::ensemble(
          f, dsl::state(x, y, z), 0.0, end,
          {.relative = tolerance, .absolute = absolute * tolerance, .most_steps = 100'000'000}, p,
          method);
      dsl::device::current().synchronize();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (seconds != nullptr) *seconds = k == 0 ? took.count() : std::min(*seconds, took.count());
      if (took.count() > 10) break;
    }
    return {x.copy_to_host(), y.copy_to_host(), z.copy_to_host()};
  }
};

/// The root of the mean square of the first value's error.
double first_value_error(const fields& found, const fields& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < exact[0].size(); ++i) sum += std::pow(found[0][i] - exact[0][i], 2);
  return std::sqrt(sum / static_cast<double>(exact[0].size()));
}
/// The largest relative error of a value.
double largest_relative_error(const fields& found, const fields& exact) {
  double largest = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < exact[k].size(); ++i)
      largest = std::max(largest, std::abs(found[k][i] / exact[k][i] - 1));
  return largest;
}

template <class F, class Method, class Error>
void measure(const problem<F>& of, const char* name, const Method& method, std::int64_t n,
             const fields& exact, Error error_of, double smallest) {
  for (int digits = 3; digits <= 10; ++digits) {
    const double tolerance = std::pow(10.0, -digits);
    if (tolerance < smallest) break;
    double seconds = 0;
    of.run(method, tolerance, n, &seconds);
    const double error = error_of(of.run(method, tolerance, sampled, nullptr), exact);
    std::printf("%s %s dsl %s 1e-%d %.3g %.4g\n", of.name, dsl::device::current().name().c_str(),
                name, digits, error, seconds / static_cast<double>(n));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_gpu = dsl::device::current().kind == dsl::backend::cuda;
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : is_gpu ? 1 << 20 : 1 << 16;
  namespace method = dsl::ode::method;
  const problem first{"lorenz", lorenz, 0, 21, 1, 1.0};
  const problem second{"robertson", robertson, 0.04, 0.05, 40, 1e-6};
  const fields exact_first = first.run(method::vern7, 1e-13, sampled, nullptr);
  measure(first, "tsit5", method::tsit5, n, exact_first, first_value_error, 0);
  measure(first, "dopri5", method::dopri5, n, exact_first, first_value_error, 0);
  measure(first, "vern7", method::vern7, n, exact_first, first_value_error, 0);
  const fields exact_second = second.run(method::rodas5p, 1e-12, sampled, nullptr);
  measure(second, "rodas5p", method::rodas5p, n, exact_second, largest_relative_error, 0);
  measure(second, "rosenbrock23", method::rosenbrock23, n, exact_second, largest_relative_error,
          1e-6);
}

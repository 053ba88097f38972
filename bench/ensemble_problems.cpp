// Ensembles on problems with known solutions, on the device that DSL_DEVICE names. Rows for
// `ensembles.py table`: problem, device, library, method, tolerance, error, seconds per system,
// steps of a system in the mean. tests/ode/problems.hpp has the problems; the systems repeat the
// parameters whose solutions are known.
//
// usage: bench_ensemble_problems [SYSTEMS]
#include <dsl/ode.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "../tests/ode/problems.hpp"

namespace {

using namespace problems;
namespace method = dsl::ode::method;

std::int64_t systems = 0;

/// An array with an element for each system: the values, again and again.
dsl::array<double> repeated(const std::vector<double>& values) {
  std::vector<double> all(static_cast<std::size_t>(systems));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = values[i % values.size()];
  return dsl::to_device(all);
}
template <std::size_t Rows, std::size_t Columns>
std::vector<double> column(const double (&table)[Rows][Columns], std::size_t k) {
  std::vector<double> all;
  for (const auto& row : table) all.push_back(row[k]);
  return all;
}
/// The largest distance of the first systems' values from the known ones, beside their size if
/// `relative`.
double largest_error(const std::vector<double>& found, const std::vector<double>& known,
                     bool relative) {
  double largest = 0;
  for (std::size_t i = 0; i < known.size(); ++i)
    largest =
        std::max(largest, std::abs(found[i] - known[i]) / (relative ? std::abs(known[i]) : 1.0));
  return largest;
}

/// Measures `solve(tolerance)`, which returns an ensemble's result; `set` sets the fields before.
template <class Set, class Solve, class Error>
void measure(const char* problem, const char* name, double absolute, const Set& set,
             const Solve& solve, const Error& error_of) {
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    double seconds = 1e9, error = 0, steps = 0;
    for (int call = 0; call < 3; ++call) {
      set();
      dsl::device::current().synchronize();
      const auto begin = std::chrono::steady_clock::now();
      const auto got = solve(dsl::ode::tolerance{
          .relative = tolerance, .absolute = absolute * tolerance, .most_steps = 10'000'000});
      dsl::device::current().synchronize();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      seconds = std::min(seconds, took.count());
      error = error_of(got);
      steps = dsl::mean(dsl::cast<double>(got.steps)).value();
    }
    std::printf("%s %s dsl %s %.0e %.2g %.4g %.0f\n", problem,
                dsl::device::current().name().c_str(), name, tolerance, error,
                seconds / static_cast<double>(systems), steps);
    std::fflush(stdout);
  }
}

void measure_lorenz() {
  const auto rho = repeated(column(lorenz_ends, 0));
  dsl::array<double> x(systems), y(systems), z(systems);
  measure(
      "lorenz", "tsit5", 1, [&] { dsl::tie(x, y, z) = std::tuple{1 + 0 * rho, 0 * rho, 0 * rho}; },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(lorenz, dsl::state(x, y, z), 0.0, 3.0, tolerance, rho);
      },
      [&](const auto&) { return largest_error(x.copy_to_host(), column(lorenz_ends, 1), false); });
}

constexpr auto nothing = [](auto... y) { return std::tuple{y...}; };

void measure_lotka_volterra() {
  const auto start = repeated(column(lotka_volterra_periods, 0));
  dsl::array<double> x(systems), y(systems);
  const auto round = dsl::ode::event([](auto, auto of_y) { return of_y - 1.5; }, nothing,
                                     dsl::ode::falling, dsl::ode::keep_times(1));
  measure(
      "lotka_volterra", "tsit5", 1, [&] { dsl::tie(x, y) = std::tuple{start, 1.5 + 0 * start}; },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(lotka_volterra, dsl::state(x, y), 0.0, 5.0, tolerance, round);
      },
      [&](const auto& got) {
        return largest_error(got.template event_times<0>().copy_to_host(),
                             column(lotka_volterra_periods, 1), true);
      });
}

void measure_pendulum() {
  const std::vector<double> amplitudes{0.01, 0.5, 1.5, 2.5, 3};
  std::vector<double> quarters;
  for (const double each : amplitudes) quarters.push_back(period_of_pendulum(each) / 4);
  const auto start = repeated(amplitudes);
  dsl::array<double> angle(systems), speed(systems);
  const auto lowest = dsl::ode::event([](auto a, auto) { return a; }, nothing, dsl::ode::falling,
                                      dsl::ode::keep_times(1));
  measure(
      "pendulum", "tsit5", 1, [&] { dsl::tie(angle, speed) = std::tuple{start, 0 * start}; },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(pendulum, dsl::state(angle, speed), 0.0, 5.0, tolerance, lowest);
      },
      [&](const auto& got) {
        return largest_error(got.template event_times<0>().copy_to_host(), quarters, true);
      });
}

void measure_ball() {
  const std::vector<double> heights{1, 1.25, 1.5, 1.75, 2};
  std::vector<double> known;
  for (const double each : heights) known.push_back(height_of_ball(each, 3));
  const auto start = repeated(heights);
  dsl::array<double> h(systems), v(systems);
  const auto floor = dsl::ode::event([](auto at, auto) { return at; }, jump, dsl::ode::falling);
  measure(
      "ball", "tsit5", 1, [&] { dsl::tie(h, v) = std::tuple{start, 0 * start}; },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(ball, dsl::state(h, v), 0.0, 3.0, tolerance, floor);
      },
      [&](const auto&) { return largest_error(h.copy_to_host(), known, false); });
}

template <std::size_t... I>
void measure_bubble(std::index_sequence<I...>) {
  const auto coefficients = bubble_coefficients();
  const dsl::array<double> c[] = {repeated(coefficients[I])...};
  dsl::array<double> r(systems), v(systems);
  measure(
      "bubble", "tsit5", 1, [&] { dsl::tie(r, v) = std::tuple{1 + 0 * c[0], 0 * c[0]}; },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(keller_miksis, dsl::state(r, v), 0.0, 2.0, tolerance, c[I]...);
      },
      [&](const auto&) { return largest_error(r.copy_to_host(), column(bubbles, 4), true); });
}

void measure_valve() {
  const auto flow = repeated(column(valves, 0));
  dsl::array<double> y1(systems), y2(systems), y3(systems);
  const auto impact =
      dsl::ode::event([](auto at, auto...) { return at; }, valve_impact, dsl::ode::falling);
  measure(
      "valve", "tsit5", 1,
      [&] { dsl::tie(y1, y2, y3) = std::tuple{0.2 + 0 * flow, 0 * flow, 1 + 0 * flow}; },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(valve, dsl::state(y1, y2, y3), 0.0, 6.0, tolerance, flow, impact);
      },
      [&](const auto&) { return largest_error(y1.copy_to_host(), column(valves, 1), false); });
}

template <class Problem, std::size_t... I>
void measure_stiff(const char* name, std::index_sequence<I...>) {
  std::tuple y{((void)I, dsl::array<double>(systems))...};
  measure(
      name, "rodas5p", Problem::scale, [&] { ((std::get<I>(y) = Problem::begin[I]), ...); },
      [&](const auto& tolerance) {
        return dsl::ode::ensemble(Problem::f, dsl::state(std::get<I>(y)...), 0.0, Problem::end,
                                  tolerance, method::rodas5p);
      },
      [&](const auto&) {
        return std::max(
            {largest_error(std::get<I>(y).copy_to_host(), {Problem::values[I]}, true)...});
      });
}
template <class Problem>
void measure_stiff(const char* name) {
  measure_stiff<Problem>(name, std::make_index_sequence<Problem::begin.size()>{});
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_gpu = dsl::device::current().kind == dsl::backend::cuda;
  systems = argc > 1 ? std::atoll(argv[1]) : is_gpu ? 1 << 20 : 1 << 13;
  measure_lorenz();
  measure_lotka_volterra();
  measure_pendulum();
  measure_ball();
  measure_bubble(std::make_index_sequence<11>{});
  measure_valve();
  measure_stiff<robertson>("robertson");
  measure_stiff<van_der_pol>("van_der_pol");
  measure_stiff<orego>("orego");
  measure_stiff<hires>("hires");
  measure_stiff<pollution>("pollution");
}

// dsl::ode::integrate_gradient of other right-hand sides: sums, neighbours, elements at positions,
// complex numbers, floats, single values, views. They take too long to compile for the quick tests.
#include <dsl/by_key.hpp>

#include "held_steps.hpp"

namespace {

using namespace held_steps;

long double cubes(const all_values& all) {
  long double sum = 0;
  for (const wide u : all[0]) sum += (u * u * u).real();
  return sum;
}

// Each element is pulled to a mean; each stage has its own.
TEST(IntegrateGradient, OfSums) {
  for (const std::int64_t n : {1, 7}) {
    auto of = held_steps::integration{
        [=] {
          return std::pair{std::tuple{line(n, 1)}, std::tuple{line(n, 2), scalar<double>(0.7)}};
        },
        [](auto x, auto weight, auto k) { return k * sin(dsl::mean(x * weight) - x); },
        [](auto x) { return dsl::sum(x * x * x); },
        [](long double, const all_values& all) {
          wide mean = 0;
          for (std::size_t i = 0; i < all[0].size(); ++i) mean += all[0][i] * all[1][i];
          mean /= static_cast<long double>(all[0].size());
          values slope(all[0]);
          for (wide& x : slope) x = all[2][0] * std::sin(mean - x);
          return all_values{slope};
        },
        cubes};
    of.wanted = {.relative = 1e-6, .absolute = 1e-8};
    check(of);
  }
}

// Heat on a ring.
TEST(IntegrateGradient, OfNeighbours) {
  constexpr std::int64_t n = 9;
  auto of = held_steps::integration{
      [] { return std::pair{std::tuple{line(n, 1)}, std::tuple{scalar<double>(0.8)}}; },
      [](auto u, auto rate) {
        return rate * (dsl::shift(u, 1, dsl::boundary::wrap) - 2 * u +
                       dsl::shift(u, -1, dsl::boundary::wrap));
      },
      [](auto u) { return dsl::sum(u * u * u); },
      [](long double, const all_values& all) {
        const values& u = all[0];
        values slope(n);
        for (std::size_t i = 0; i < n; ++i)
          slope[i] = all[1][0] * (u[(i + n - 1) % n] - 2.0L * u[i] + u[(i + 1) % n]);
        return all_values{slope};
      },
      cubes};
  of.wanted = {.relative = 1e-6, .absolute = 1e-8};
  check(of);
}

// Each element takes one of a table, and one of another element's.
TEST(IntegrateGradient, OfTakenElements) {
  constexpr std::int64_t n = 7;
  auto of = held_steps::integration{
      [] {
        return std::pair{std::tuple{line(n, 1)},
                         std::tuple{line(3, 2), dsl::eval(dsl::arange<std::int64_t>(n) % 3)}};
      },
      [](auto u, auto table, auto at) { return u * dsl::take(table, at); },
      [](auto u) { return dsl::sum(u * u * u); },
      [](long double, const all_values& all) {
        values slope(all[0]);
        for (std::size_t i = 0; i < n; ++i) slope[i] *= all[1][i % 3];
        return all_values{slope};
      },
      cubes};
  of.wanted = {.relative = 1e-6, .absolute = 1e-8};
  check(of);
}

// A complex field and a real one.
TEST(IntegrateGradient, OfComplexFields) {
  auto of = held_steps::integration{
      [] {
        return std::pair{std::tuple{line<complex>(5, 1), line(5, 2)},
                         std::tuple{scalar<complex>(complex(0.5, 1)), line<complex>(5, 3)}};
      },
      [](auto F, auto N, auto d, auto source) {
        return std::tuple{dsl::constant(complex(0, 1)) * N * F + d * conj(F) + source,
                          real(d * F) - N};
      },
      [](auto F, auto N) { return dsl::sum(abs2(F) * N); },
      [](long double, const all_values& all) {
        all_values slopes{all[0], all[1]};
        for (std::size_t i = 0; i < 5; ++i) {
          const wide F = all[0][i], N = all[1][i], d = all[2][0];
          slopes[0][i] = wide(0, 1) * N * F + d * std::conj(F) + all[3][i];
          slopes[1][i] = (d * F).real() - N;
        }
        return slopes;
      },
      [](const all_values& all) {
        long double sum = 0;
        for (std::size_t i = 0; i < 5; ++i) sum += std::norm(all[0][i]) * all[1][i].real();
        return sum;
      }};
  of.wanted = {.relative = 1e-6, .absolute = 1e-8};
  check(of);
}

TEST(IntegrateGradient, OfFloats) {
  auto of = held_steps::integration{
      [] {
        return std::pair{std::tuple{line<float>(7, 1)},
                         std::tuple{line<float>(7, 2), scalar<double>(1.5)}};
      },
      dsl::ode::with_time(
          [](auto t, auto u, auto k, auto w) { return k * sin(t) - dsl::cast<float>(w * u); }),
      [](auto u) { return dsl::sum(u * u); },
      [](long double t, const all_values& all) {
        all_values slopes{all[0]};
        for (std::size_t i = 0; i < 7; ++i)
          slopes[0][i] = all[1][i] * std::sin(t) - all[2][0] * all[0][i];
        return slopes;
      },
      [](const all_values& all) {
        long double sum = 0;
        for (const wide u : all[0]) sum += std::norm(u);
        return sum;
      }};
  check(of, 1e-4);
}

// One equation, whose field is a single value; a loss of its values after each step.
TEST(IntegrateGradient, OfASingleValueAndItsHistory) {
  const auto decay = [](auto y, auto rate) { return -rate * y * y; };
  auto of = held_steps::integration{
      [] { return std::pair{std::tuple{scalar<double>(2)}, std::tuple{scalar<double>(0.7)}}; },
      decay, [](auto y) { return y * y; },
      [](long double, const all_values& all) {
        return all_values{{-all[1][0] * all[0][0] * all[0][0]}};
      },
      [](const all_values& all) { return (all[0][0] * all[0][0]).real(); }};
  of.wanted = {.relative = 1e-7, .absolute = 1e-9};
  const steps accepted = check(of);
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    scalar<double> y = 2, rate = 0.7;
    const auto found = dsl::ode::integrate_gradient(
        decay, [](auto, auto all) { return dsl::sum(all); }, dsl::state(y), 0, 1, of.wanted, rate);
    long double expected = 0;
    derivatives slopes(2, std::vector<complex>(1));
    for (std::size_t k = 1; k <= accepted.begins.size(); ++k) {
      const steps first{{accepted.begins.begin(), accepted.begins.begin() + std::ptrdiff_t(k)},
                        {accepted.sizes.begin(), accepted.sizes.begin() + std::ptrdiff_t(k)}};
      for (std::size_t i = 0; i < 2; ++i) {
        const auto at = [&](long double by) {
          all_values all{{2.0L}, {0.7}};
          all[i][0] += by;
          return of.after(first, all, 1)[0][0].real();
        };
        expected += i == 0 ? at(0) : 0;
        slopes[i][0] += static_cast<double>((at(1e-6L) - at(-1e-6L)) / 2e-6L);
      }
    }
    EXPECT_NEAR(found.loss.value(), static_cast<double>(expected), 1e-9) << name;
    expect_near({on_host(found.state<0>()), on_host(found.parameter<0>())}, slopes, 1e-9, name);
  }
}

// A field and an argument that are views with strides.
TEST(IntegrateGradient, OfViews) {
  const auto f = [](auto u, auto k) { return sin(k * u); };
  const auto loss = [](auto u) { return dsl::sum(u * u * u); };
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    array<double> all = line(12, 1), other = line(18, 2);
    auto u = all(dsl::slice(0, dsl::end, 2));
    const auto k = other(dsl::slice(0, dsl::end, 3));
    array<double> same = u;
    const array<double> same_k = k;
    const std::vector<double> before = all.copy_to_host();
    const auto found = dsl::ode::integrate_gradient(f, loss, dsl::state(u), 0, 1, {}, k);
    const auto expected = dsl::ode::integrate_gradient(f, loss, dsl::state(same), 0, 1, {}, same_k);
    EXPECT_EQ(on_host(found.state<0>()), on_host(expected.state<0>())) << name;
    EXPECT_EQ(on_host(found.parameter<0>()), on_host(expected.parameter<0>())) << name;
    EXPECT_EQ(u.copy_to_host(), same.copy_to_host());
    for (std::size_t i = 1; i < 12; i += 2) EXPECT_EQ(all.copy_to_host()[i], before[i]);
  }
}

}  // namespace

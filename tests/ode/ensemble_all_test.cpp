// Ensembles: the steps of `integrate`, the orders of the methods, stiff problems with published
// answers, fields of any layout.
#include "one_device.hpp"
#include "problems.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <complex>

namespace {

using namespace std::complex_literals;

struct more_ensembles : on_one_device {};
ON_EVERY_DEVICE(more_ensembles);

constexpr dsl::ode::tolerance fine{.relative = 1e-10, .absolute = 1e-12};
constexpr auto van_der_pol = dsl::ode::with_time([](auto t, auto u, auto v, auto mu) {
  return std::tuple{v, mu * (1 - u * u) * v - u + cos(t)};
});

TEST_P(more_ensembles, takes_the_steps_that_integrate_takes) {
  for (const auto& wanted :
       {dsl::ode::tolerance{}, dsl::ode::tolerance{.relative = 1e-7, .absolute = 1e-9},
        dsl::ode::tolerance{.relative = 1e-5, .first_step = 0.01, .largest_step = 0.2}}) {
    auto u = dsl::to_device(std::vector<double>{2, 0.5, -1}),
         v = dsl::to_device(std::vector<double>{0, 1, 0.25});
    const auto us = u.copy_to_host(), vs = v.copy_to_host();
    const auto got = dsl::ode::ensemble(van_der_pol, dsl::state(u, v), 0, 7.5, wanted, 5.0,
                                        dsl::ode::method::dopri5);
    for (std::size_t i = 0; i < 3; ++i) {
      dsl::scalar<double> x = us[i], y = vs[i];
      const auto alone = dsl::ode::integrate(van_der_pol, dsl::state(x, y), 0, 7.5, wanted, 5.0);
      // Sizes of steps are floats: they differ by 1e-7.
      EXPECT_NEAR(static_cast<double>(got.steps.copy_to_host()[i]),
                  static_cast<double>(alone.steps.value()), 1);
      EXPECT_NEAR(got.rejected.copy_to_host()[i], static_cast<double>(alone.rejected.value()), 1);
      EXPECT_NEAR(u.copy_to_host()[i], x.value(), 20 * wanted.relative);
    }
  }
}

// The largest error at the end and at saved times, of an oscillation.
template <class Method, class... Options>
std::pair<double, double> errors_of(const Method& method, const dsl::ode::tolerance& wanted,
                                    const Options&... options) {
  const dsl::array<double> w = dsl::linspace(1.0, 2.0, 20), times = dsl::linspace(0.0, 3.0, 31);
  dsl::array<double> x = dsl::ones<double>(20), v = dsl::zeros<double>(20);
  const auto got = dsl::ode::ensemble(
      [](auto at, auto turns, auto w) { return std::tuple{turns, -w * w * at}; }, dsl::state(x, v),
      0.0, 3.0, wanted, w, method, dsl::ode::save_at(times), options...);
  return {dsl::max(abs(x - cos(3.0 * w))).value(),
          dsl::max(abs(got.template saved<0>() - cos(dsl::expand_dims(times, 1) * w))).value()};
}
TEST_P(more_ensembles, keeps_the_orders_of_its_methods) {
  const auto orders = [](const auto& method, int n, double order, double inside) {
    const auto [one, one_inside] = errors_of(method, {}, dsl::ode::fixed_steps(n));
    const auto [two, two_inside] = errors_of(method, {}, dsl::ode::fixed_steps(2 * n));
    EXPECT_GT(std::log2(one / two), order - 0.4);
    EXPECT_GT(std::log2(one_inside / two_inside), inside - 0.6);
  };
  orders(dsl::ode::method::tsit5, 96, 5, 4);
  orders(dsl::ode::method::vern7, 24, 7, 7);
  orders(dsl::ode::method::rodas5p, 24, 5, 4);
  EXPECT_LT(errors_of(dsl::ode::method::tsit5, fine).second, 3e-9);
  EXPECT_LT(errors_of(dsl::ode::method::vern7, fine).second, 3e-9);
}

// A matrix of complex fields, a view that is not contiguous, a parameter that is the field itself.
TEST_P(more_ensembles, takes_fields_of_any_layout) {
  using c = std::complex<double>;
  const dsl::array<double, 2> w = dsl::reshape(dsl::linspace(0.0, 2.0, 21), 3, 7);
  dsl::array<c, 2> z = dsl::full<c>(c(1, 0), 7, 3);
  auto turned = dsl::transpose(z);
  const dsl::scalar<double> half = 0.5;
  dsl::ode::ensemble([](auto z, auto w, auto h, auto row) { return 2i * h * (w + row) * z; },
                     dsl::state(turned), 0.0, 1.0, fine, w, half, dsl::arange<double>(7));
  const dsl::array<c, 2> expected = exp(1i * (w + dsl::arange<double>(7)));
  EXPECT_LT(dsl::max(abs(dsl::transpose(z) - expected)).value(), 1e-9);

  dsl::array<double> y = dsl::linspace(1.0, 2.0, 100);
  const auto before = y.copy_to_host();
  dsl::ode::ensemble([](auto y, auto first) { return first + 0 * y; }, dsl::state(y), 0.0, 1.0, {},
                     y);
  const auto after = y.copy_to_host();
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], 2 * before[i], 1e-12);
}

TEST_P(more_ensembles, takes_steps_of_a_fixed_size_as_a_loop_does) {
  const auto turns = [](auto u, auto v, auto w) { return std::tuple{v, -w * u}; };
  for (const std::int64_t n : {1, 33, 1000}) {
    const dsl::array<float> w = dsl::linspace(0.5f, 2.0f, n);
    dsl::array<float> u = dsl::ones<float>(n), v = dsl::zeros<float>(n), x = u, y = v;
    const auto got = dsl::ode::ensemble(turns, dsl::state(u, v), 0.0, 2.0, {}, w,
                                        dsl::ode::method::rk4, dsl::ode::fixed_steps(64));
    dsl::iterate(64, dsl::ode::rk4(turns), dsl::state(x, y), w, 2.0f / 64);
    EXPECT_LT(dsl::max(abs(u - x)).value(), 1e-6f);
    EXPECT_EQ(dsl::min(got.steps).value(), 64);
    EXPECT_EQ(dsl::min(got.t).value(), 2);
    EXPECT_TRUE(dsl::all(got.outcome == dsl::ode::outcome::reached).value());
  }
}

template <class Problem, std::size_t... I>
void expect_stiff(double within, std::index_sequence<I...>) {
  std::tuple y{dsl::array<double>(dsl::full<double>(Problem::begin[I], 3))...};
  const auto got = dsl::ode::ensemble(Problem::f, dsl::state(std::get<I>(y)...), 0.0, Problem::end,
                                      {.relative = 1e-9, .absolute = 1e-9 * Problem::scale},
                                      dsl::ode::method::rodas5p);
  EXPECT_TRUE(dsl::all(got.outcome == dsl::ode::outcome::reached).value());
  const std::vector<double> found{std::get<I>(y).copy_to_host()[2]...};
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], Problem::values[i], within * std::abs(Problem::values[i]))
        << "component " << i;
}
template <class Problem>
void expect_stiff() {
  expect_stiff<Problem>(1e-6, std::make_index_sequence<Problem::begin.size()>{});
}
TEST_P(more_ensembles, solves_robertsons_problem_to_its_end) {
  expect_stiff<problems::robertson>();
}
TEST_P(more_ensembles, solves_van_der_pols_problem) { expect_stiff<problems::van_der_pol>(); }
TEST_P(more_ensembles, solves_orego) { expect_stiff<problems::orego>(); }
TEST_P(more_ensembles, solves_hires) { expect_stiff<problems::hires>(); }

}  // namespace

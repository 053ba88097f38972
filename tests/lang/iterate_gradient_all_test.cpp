// dsl::iterate_gradient of other loops beside differences: neighbours, complex numbers, floats,
// views, single values, steppers of ode. They take too long to compile for the quick tests.
#include <dsl/by_key.hpp>
#include <dsl/ode.hpp>

#include "loop_differences.hpp"

namespace {

using namespace loop_differences;

// Two complex fields and their sum, with neighbours beyond every boundary.
auto complex_fields(std::int64_t rows, std::int64_t columns) {
  return loop{
      [=] {
        return std::pair{std::tuple{matrix<complex>(rows, columns, 1), matrix(rows, columns, 2),
                                    scalar<complex>(complex(0.3, -0.2))},
                         std::tuple{matrix<complex>(rows, columns, 3), scalar<double>(0.7),
                                    scalar<complex>(complex(0.5, 1)), 0.1}};
      },
      dsl::vectorize([](auto f, auto g, auto delta, auto source, auto k, auto d, auto h) {
        using dsl::boundary;
        auto moved = dsl::shift(f, 1, boundary::clamp, 0) + dsl::shift(f, -1, boundary::zero, 1) -
                     dsl::shift(f * g, 2, boundary::wrap, 1);
        auto new_f = f + h * (k * moved - dsl::constant(complex(0, 1)) * delta * source);
        auto new_g = g + h * (real(d * f) + dsl::shift(g, -1, boundary::reflect, 0));
        return std::tuple{new_f, new_g, dsl::mean(new_f * conj(source)) * d};
      }),
      [](auto f, auto g, auto delta) { return dsl::sum(abs2(f) * g) + abs2(delta); }};
}

TEST(IterateGradient, OfComplexFieldsAndTheirNeighbours) {
  for (const std::int64_t steps : {1, 2, 7}) check(complex_fields(3, 5), steps);
  check(complex_fields(2, 3), 5);
  check(complex_fields(5, 31), 3);
}

// In three dimensions, with weights of neighbours that are neighbours themselves.
TEST(IterateGradient, OfProductsOfNeighboursInSpace) {
  const auto of = [](std::int64_t planes, std::int64_t rows, std::int64_t columns) {
    return loop{
        [=] {
          const auto field = [&](unsigned seed) {
            return dsl::reshape(line(planes * rows * columns, seed), planes, rows, columns);
          };
          return std::pair{std::tuple{field(1), field(2)}, std::tuple{scalar<double>(0.1)}};
        },
        dsl::vectorize([](auto u, auto v, auto k) {
          using dsl::boundary;
          auto across = dsl::shift(u, 1, boundary::wrap, 2) - dsl::shift(v, -1, boundary::zero, 2),
               down = dsl::shift(u * v, 1, boundary::clamp, 1),
               through =
                   dsl::shift(u, -1, boundary::reflect, 0) - dsl::shift(v, 1, boundary::wrap, 0);
          return std::tuple{u - k * (u * across + v * through), v + k * (v * down - u * through)};
        }),
        [](auto u, auto v) { return dsl::sum(u * u * v); }};
  };
  check(of(1, 3, 5), 2);
  check(of(3, 4, 5), 4);
  check(of(3, 4, 8), 3);
}

// A step without sums is run by loops of several steps between the states that are kept.
auto heat(std::int64_t n) {
  loop made{[n] {
              return std::pair{std::tuple{line<float>(n, 1), line<float>(n, 2)},
                               std::tuple{line<float>(n, 3), scalar<float>(0.3f), 0.1 * dsl::step,
                                          scalar<double>(0.5)}};
            },
            dsl::vectorize([](auto u, auto v, auto source, auto k, auto t, auto d) {
              const auto around = dsl::shift(u, 1, dsl::boundary::wrap) +
                                  dsl::shift(u, -1, dsl::boundary::wrap) - 2 * u;
              return std::tuple{u + k * around + sin(t) * source, dsl::cast<float>(v * d + u)};
            }),
            [](auto u, auto v) { return dsl::sum(u * u) + dsl::sum(v); }};
  made.h = 1e-3;
  return made;
}

TEST(IterateGradient, OfFloats) {
  check(heat(5), 4, 3e-3);
  check(heat(31), 2, 3e-3);
  check(heat(0), 2);
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    const auto run = [&](std::int64_t states) {
      auto given = heat(1000).make();
      return found_in(given, heat(1000).gradient(40, given.first, given.second,
                                                 dsl::memory_limit(states * 8000)));
    };
    const derivatives all = run(40);
    for (const std::int64_t states : {2, 3, 5})
      EXPECT_EQ(run(states), all) << states << " states on " << name;
  }
}

// A stepper of ode, whose right-hand side has parameters.
TEST(IterateGradient, OfAStepper) {
  const auto swing = [](auto x, auto v, auto k, auto length) {
    return std::tuple{v, -k * sin(x) / length};
  };
  const auto pendulums =
      loop{[] {
             return std::pair{std::tuple{line(6, 1), line(6, 2)},
                              std::tuple{scalar<double>(2.0), line(6, 3, 0.5, 2), 0.1}};
           },
           dsl::ode::rk4(swing), [](auto x, auto v) { return dsl::sum(x * x) + dsl::mean(v); }};
  for (const std::int64_t steps : {1, 12}) check(pendulums, steps);
}

// Only single values, and one of them an integer; a table.
TEST(IterateGradient, OfSingleValues) {
  const auto values =
      loop{[] {
             return std::pair{std::tuple{scalar<double>(0.4), scalar<std::int64_t>(1)},
                              std::tuple{scalar<double>(1.7), 0.25, line(4, 1)}};
           },
           dsl::vectorize([](auto x, auto i, auto k, auto h, auto table) {
             return std::tuple{x + h * k * x * (1 - x) + dsl::sum(table * table) * x, i + 1};
           }),
           [](auto x, auto) { return x * x; }};
  for (const std::int64_t steps : {0, 1, 5}) check(values, steps);
}

// A loss of the histories of single values, beside one that is accumulated in the step.
TEST(IterateGradient, OfHistories) {
  const auto f = dsl::vectorize([](auto u, auto m, auto n, auto k, auto h) {
    auto next = u + h * (k * sin(u) - m * u);
    return std::tuple{next, dsl::mean(next * next), n + 1};
  });
  const auto loss = [](auto u, auto, auto, auto means, auto numbers) {
    return dsl::sum(square(means - 0.1 * numbers)) + dsl::sum(u);
  };
  const auto summed = loop{
      [] {
        return std::pair{
            std::tuple{line(7, 1), scalar<double>(0.3), scalar<std::int64_t>(2), scalar<double>(0)},
            std::tuple{scalar<double>(1.7), 0.25}};
      },
      dsl::vectorize([](auto u, auto m, auto n, auto all, auto k, auto h) {
        auto next = u + h * (k * sin(u) - m * u);
        auto mean = dsl::mean(next * next), apart = mean - 0.1 * (n + 1);
        return std::tuple{next, mean, n + 1, all + apart * apart};
      }),
      [](auto u, auto, auto, auto all) { return all + dsl::sum(u); }};
  for (const std::int64_t steps : {0, 1, 6}) {
    const auto expected = expected_of(summed, steps);
    for (const char* const name : devices) {
      const dsl::device_guard guard{dsl::device(name)};
      const auto check_run = [&](std::int64_t asked, const auto&... until) {
        array<double> u = line(7, 1);
        scalar<double> m = 0.3, k = 1.7;
        scalar<std::int64_t> n = 2;
        const auto found = dsl::iterate_gradient(asked, f, loss, dsl::state(u, m, n), k, 0.25,
                                                 until(n)..., dsl::memory_limit(300));
        EXPECT_NEAR(found.loss.value(), expected.first, 1e-9) << steps << " steps on " << name;
        expect_near({on_host(found.template state<0>()), on_host(found.template state<1>()),
                     on_host(found.template parameter<0>())},
                    {expected.second[0], expected.second[1], expected.second[4]}, 1e-7, name);
      };
      check_run(steps);
      if (steps > 0) check_run(50, [steps](const auto& n) { return dsl::until(n >= 2 + steps); });
    }
  }
}

// The state and a parameter are views with strides.
TEST(IterateGradient, OfViews) {
  const auto f = dsl::vectorize([](auto u, auto k) { return u + 0.1 * sin(k * u); });
  const auto loss = [](auto u) { return dsl::sum(u * u * u); };
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    array<double> all = line(12, 1), other = line(18, 2);
    auto u = all(dsl::slice(0, dsl::end, 2));
    const auto k = other(dsl::slice(0, dsl::end, 3));
    array<double> same = u;
    const array<double> same_k = k;
    const std::vector<double> before = all.copy_to_host();
    const auto found = dsl::iterate_gradient(5, f, loss, dsl::state(u), k);
    const auto expected = dsl::iterate_gradient(5, f, loss, dsl::state(same), same_k);
    EXPECT_EQ(on_host(found.template state<0>()), on_host(expected.template state<0>())) << name;
    EXPECT_EQ(on_host(found.template parameter<0>()), on_host(expected.template parameter<0>()));
    EXPECT_EQ(u.copy_to_host(), same.copy_to_host());
    for (std::size_t i = 1; i < 12; i += 2) EXPECT_EQ(all.copy_to_host()[i], before[i]);
  }
}

}  // namespace

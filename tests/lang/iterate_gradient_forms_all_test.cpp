// dsl::iterate_gradient: every element of the derivatives beside central differences of the whole
// loop in doubles, on every device.
#include <dsl/by_key.hpp>

#include "../error_of.hpp"
#include "loop_differences.hpp"

namespace {

using namespace loop_differences;

// Two arrays overwritten in place, a sum of the new state that is used in the next step, and a sum
// that is used in the same one.
auto fed_back(std::int64_t n) {
  return loop{[n] {
                return std::pair{
                    std::tuple{line(n, 1), line(n, 2), scalar<double>(0.2)},
                    std::tuple{line(n, 3), scalar<double>(0.7), 0.1, 0.05 * dsl::step + 1}};
              },
              dsl::vectorize([](auto u, auto v, auto total, auto weight, auto k, auto h, auto t) {
                auto size = dsl::mean(u * v);
                auto new_u = u + h * (sin(k * v) * weight - total * u / (1 + size * size));
                auto new_v = v - h * u * exp(-0.1 * t * k);
                return std::tuple{new_u, new_v, dsl::mean(new_u * new_v * weight)};
              }),
              [](auto u, auto, auto total) { return dsl::sum(u * u) + 3 * total; }};
}

TEST(IterateGradient, OfSumsFedBack) {
  for (const std::int64_t n : {1, 31})
    for (const std::int64_t steps : {0, 1, 2, 33}) check(fed_back(n), steps);
  check(fed_back(1000), 2);
}

TEST(IterateGradient, FromAStep) {
  auto of = fed_back(7);
  for (const std::int64_t first : {-2, 5}) {
    of.first = first;
    check(of, 3);
  }
}

// Elements at positions that are data, of a variable, of an array that is also read, and of tables.
// Several elements have one position; positions count from the end, and are beyond it.
auto taken(std::int64_t rows, std::int64_t columns) {
  return loop{
      [=] {
        const std::int64_t n = rows * columns;
        return std::pair{
            std::tuple{dsl::reshape(line(n, 1), rows, columns),
                       dsl::eval(dsl::cast<std::int64_t>(dsl::reshape(
                           line(n, 2, -2.0 * static_cast<double>(n), 2.0 * static_cast<double>(n)),
                           rows, columns)))},
            std::tuple{dsl::reshape(line(n, 3), rows, columns), line(5, 4), line(3, 6),
                       dsl::to_device(std::vector<std::int64_t>(1, 1))}};
      },
      dsl::vectorize([](auto u, auto at, auto weight, auto table, auto other, auto by) {
        auto there = dsl::take(u, at), along = dsl::take(u * weight, at, 1),
             looked_up = dsl::take(table, at % 5);
        auto next = 0.3 * u + 0.4 * sin(there) * looked_up + 0.2 * along +
                    dsl::take(weight, 1, 0) * dsl::take(other, 0) + dsl::take(table, -1);
        return std::tuple{next, at + by};
      }),
      [](auto u, auto) { return dsl::sum(u * u * u) + dsl::sum(u); }};
}

// The adjoint of a linear step reads no state, so that none is kept; its neighbours lie on the
// other side.
TEST(IterateGradient, OfLinearSteps) {
  const auto of = loop{
      [] { return std::pair{std::tuple{matrix(5, 7, 1)}, std::tuple{matrix(5, 7, 2)}}; },
      dsl::vectorize([](auto u, auto weight) {
        using dsl::boundary;
        auto flow = weight * dsl::shift(u, 2, boundary::wrap, 0) -
                    0.5 * dsl::shift(dsl::shift(u, 1, boundary::zero, 1), -1, boundary::wrap, 0);
        return u + 0.3 * flow;
      }),
      [](auto u) { return dsl::sum(u * u); }};
  auto constant =
      loop{[] { return std::pair{std::tuple{matrix(5, 7, 1)}, std::tuple{0.25}}; }, of.f, of.loss};
  for (const std::int64_t steps : {0, 1, 6}) {
    check(of, steps);
    check(constant, steps);
  }
}

// The weight of a neighbour depends on the state, so that the way back reads neighbours of kept
// states, by the tiles of several blocks and beyond every boundary.
TEST(IterateGradient, OfWeightsThatAreNeighboursThemselves) {
  const auto of = [](std::int64_t rows, std::int64_t columns) {
    return loop{
        [=] {
          return std::pair{std::tuple{matrix(rows, columns, 1), matrix(rows, columns, 2)},
                           std::tuple{matrix(rows, columns, 3), scalar<double>(0.2)}};
        },
        dsl::vectorize([](auto u, auto v, auto source, auto k) {
          using dsl::boundary;
          auto across = dsl::shift(u, 1, boundary::wrap) - dsl::shift(u, -1, boundary::clamp),
               down = dsl::shift(u * v, 2, boundary::reflect, 0) -
                      dsl::shift(v, -1, boundary::zero, 0);
          return std::tuple{u - k * (u * across + source * down),
                            v + k * (across * dsl::shift(source, 1, boundary::wrap) - v * down)};
        }),
        [](auto u, auto v) { return dsl::sum(u * u) + dsl::sum(u * v); }};
  };
  for (const std::int64_t steps : {1, 2, 7}) check(of(3, 4), steps);
  check(of(1, 1), 2);
  check(of(1, 9), 3);
  check(of(9, 23), 3);
  check(of(6, 32), 2);
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    const auto run = [&](std::int64_t states) {
      auto given = of(33, 70).make();
      return found_in(given, of(33, 70).gradient(11, given.first, given.second,
                                                 dsl::memory_limit(states * 2 * 33 * 70 * 8)));
    };
    const derivatives all = run(11);
    for (const std::int64_t states : {2, 4})
      EXPECT_EQ(run(states), all) << states << " on " << name;
  }
}

template <class Loop>
void check_undivided(const Loop& of, std::int64_t steps) {
  std::vector<const char*> where;
  for (const char* const name : devices)
    if (std::string(name) != "sim:0-3") where.push_back(name);
  check(of, steps, 1e-7, where);
}

TEST(IterateGradient, OfTakenElements) {
  for (const std::int64_t steps : {0, 1, 2, 9}) check_undivided(taken(3, 4), steps);
  check_undivided(taken(1, 1), 3);
  check_undivided(taken(31, 7), 2);
}

// Some states are kept and the steps between them are run again, in other numbers at a time.
TEST(IterateGradient, OfFewStatesHasTheSameBits) {
  for (const std::int64_t n : {31, 1000}) {
    const auto of = fed_back(n);
    const std::int64_t state = (2 * n + 1) * 8;
    for (const char* const name : devices) {
      const dsl::device_guard guard{dsl::device(name)};
      const auto run = [&](std::int64_t states) {
        auto given = of.make();
        return found_in(
            given, of.gradient(40, given.first, given.second, dsl::memory_limit(states * state)));
      };
      const derivatives all = run(40);
      for (const std::int64_t states : {0, 2, 3, 5, 39})
        EXPECT_EQ(run(states), all) << states << " states, " << n << " elements on " << name;
      EXPECT_EQ(run(40), all) << name;
    }
  }
}

// The loop's state and its adjoint without a device: a state is the number of its step.
struct reversed_count {
  std::int64_t run = 0, last;
  std::vector<std::int64_t> state;
  explicit reversed_count(std::int64_t steps, std::int64_t places) : last(steps) {
    state.assign(static_cast<std::size_t>(places), -1);
    state[0] = 0;
    dsl::detail::reverse_steps(
        steps, places,
        [&](std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t n) {
          EXPECT_EQ(state.at(static_cast<std::size_t>(from)), first);
          EXPECT_GT(n, 0);
          state.at(static_cast<std::size_t>(to)) = first + n;
          run += n;
        },
        [&](std::int64_t at, std::int64_t first, std::int64_t n) {
          EXPECT_EQ(state.at(static_cast<std::size_t>(at)), first);
          EXPECT_EQ(first + n, last);
          for (std::int64_t k = 0; k < n; ++k)
            state.at(static_cast<std::size_t>(at + k)) = first + k;
          run += n - 1;
          last = first;
        });
    EXPECT_EQ(last, 0);
  }
};

// r l - beta(s + 1, r - 1) for l steps and s states beside the one that is run, where r is the
// least number with l <= beta(s, r) = (s + r)! / (s! r!).
std::int64_t fewest_steps(std::int64_t l, std::int64_t s) {
  const auto beta = [](std::int64_t s, std::int64_t r) {
    long double n = 1;
    for (std::int64_t k = 1; k <= s; ++k) n = n * static_cast<long double>(r + k) / k;
    return n;
  };
  std::int64_t r = 0;
  while (beta(s, r) < static_cast<long double>(l) - 0.5L) ++r;
  return r == 0 ? 0 : r * l - static_cast<std::int64_t>(beta(s + 1, r - 1) + 0.5L);
}

TEST(IterateGradient, RunsAsFewStepsAsPossible) {
  for (std::int64_t steps = 1; steps <= 130; ++steps)
    for (const std::int64_t places : {2, 3, 4, 5, 8, 13, 40, 129, 130, 131})
      EXPECT_EQ(reversed_count(steps, places).run, fewest_steps(steps, places - 1))
          << steps << " steps, " << places << " places";
  EXPECT_EQ(reversed_count(100000, 20).run, fewest_steps(100000, 19));
  EXPECT_EQ(reversed_count(100000, 50000).run, fewest_steps(100000, 49999));
}

// With until the loop that is differentiated has the steps that ran.
TEST(IterateGradient, UntilAConditionHolds) {
  const auto of = fed_back(31);
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    auto whole = of.make(), ended = of.make(), unknown = of.make();
    scalar<std::int64_t> ran = -1;
    const auto run = [&](auto& given, std::int64_t steps, const auto&... option) {
      return found_in(given, of.gradient(steps, given.first, given.second, option...));
    };
    scalar<double>& total = std::get<2>(ended.first);
    const double limit = [&] {
      auto given = of.make();
      of.value(6, given.first, given.second);
      return std::get<2>(given.first).value();
    }();
    const derivatives seven =
        run(ended, 100, dsl::until(abs(total - limit) < 1e-12, ran), dsl::memory_limit(2000));
    EXPECT_EQ(ran.value(), 6);
    EXPECT_EQ(seven, run(whole, 6));
    EXPECT_EQ(std::get<0>(ended.first).copy_to_host(), std::get<0>(whole.first).copy_to_host());
    scalar<double>& other = std::get<2>(unknown.first);
    EXPECT_EQ(seven, run(unknown, 100, dsl::until(abs(other - limit) < 1e-12)));
  }
}

TEST(IterateGradient, Errors) {
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    const auto of = fed_back(5);
    auto given = of.make();
    const auto before = std::get<0>(given.first).copy_to_host();
    const auto text = [&](std::int64_t n, std::int64_t steps) {
      std::get<0>(given.second) = line(n, 3);
      return error_of([&] { of.gradient(steps, given.first, given.second); });
    };
    EXPECT_EQ(text(1, 3),
              "iterate_gradient: parameter number 0 of shape (1): an array among the parameters "
              "has the shape of the loop's variables, (5)");
    EXPECT_NE(text(4, 3).find("(4)"), std::string::npos) << text(4, 3);
    EXPECT_EQ(text(5, -1), "iterate_gradient: -1 steps");
    EXPECT_EQ(std::get<0>(given.first).copy_to_host(), before);
  }
}

}  // namespace

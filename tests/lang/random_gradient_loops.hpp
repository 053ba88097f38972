// Loops drawn at random, for tests of dsl::iterate_gradient beside central differences of the same
// loops in long doubles. Few steps are compiled; drawn are shapes, numbers of steps, the first
// step's number, values, which terms there are (the others have coefficient 0), what ends the loop,
// and how many states are kept.
#pragma once

#include <dsl/by_key.hpp>

#include "boundary_reference.hpp"
#include "wide_differences.hpp"

#include <algorithm>

namespace random_gradient_loops {

using namespace loop_differences;
using dsl::boundary;
using std::int64_t;
using line_of_reals = std::vector<long double>;

struct drawing {
  std::mt19937_64 engine;
  int64_t rows, columns, steps, first, places;
  double a[8];
  unsigned seed;

  explicit drawing(unsigned number) : engine(number), seed(static_cast<unsigned>(engine())) {
    rows = one_of({1, 1, 2, 3, 5});
    columns = one_of({1, 2, 3, 7, 8, 13});
    if (below(5) == 0) rows = one_of({1, 17, 31}), columns = one_of({67, 128});
    steps = below(8) == 0 ? below(2) : 1 + below(12);
    first = one_of({0, -2, -2, 5});
    places = one_of({0, 2, 3, 5});
    std::uniform_real_distribution<double> draw(-1, 1);
    for (double& x : a) x = below(3) == 0 ? 0 : draw(engine);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(engine() % static_cast<unsigned>(n)); }
  int64_t one_of(std::initializer_list<int64_t> all) {
    return all.begin()[below(static_cast<int64_t>(all.size()))];
  }
  int64_t size() const { return rows * columns; }
  template <class T = double>
  array<T, 2> matrix(unsigned k) const {
    return loop_differences::matrix<T>(rows, columns, seed + k);
  }
  dsl::memory_limit limit(int64_t doubles) const { return dsl::memory_limit(places * doubles * 8); }
  std::string text() const {
    return " " + std::to_string(rows) + " x " + std::to_string(columns) + ", " +
           std::to_string(steps) + " steps from " + std::to_string(first) + ", " +
           std::to_string(places) + " states";
  }
  /// Element i of x, shifted; x has rows and columns.
  template <class Values>
  auto shifted(const Values& x, std::size_t of, int64_t by, boundary beyond, int axis) const ->
      typename Values::value_type {
    const auto i = static_cast<int64_t>(of);
    const int64_t n = axis == 0 ? rows : columns, at = axis == 0 ? i / columns : i % columns,
                  from = inside_by_steps(beyond, at - by, n);
    if (from < 0) return 0;
    return x[static_cast<std::size_t>(axis == 0 ? from * columns + i % columns
                                                : i / columns * columns + from)];
  }
};

inline line_of_reals reals(const values& x) {
  line_of_reals made;
  for (const wide e : x) made.push_back(e.real());
  return made;
}
/// The place of position i among n.
inline std::size_t place(int64_t i, int64_t n) {
  return static_cast<std::size_t>(std::clamp<int64_t>(i < 0 ? i + n : i, 0, n - 1));
}

/// Compares a loop's derivatives with those of the reference, on every device: all of them if there
/// are few, otherwise their sum along a random direction.
template <class Loop>
void check_drawn(const Loop& of, double within = 1e-9) {
  const auto given = of.make();
  const drawing& d = of.d;
  const wide_loss reference = of.reference();
  const bool few = d.size() <= 40;
  const derivatives expected = few ? wide_differences(given, reference) : derivatives{};
  const auto loss =
      static_cast<double>(reference(values_of(std::tuple_cat(given.first, given.second))));
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    auto changed = of.make();
    const auto found = of.gradient(changed);
    const std::string where = std::string(" on ") + name + d.text();
    EXPECT_NEAR(static_cast<double>(found.loss.value()), loss, within * (1 + std::fabs(loss)))
        << where;
    if (few) expect_near(found_in(given, found), expected, within, where);
    else expect_change_along(given, reference, found_in(given, found), d.seed, within, where);
  }
}

// Neighbours beyond every boundary, along both axes, of variables, of a product and of a parameter;
// a branch; numbers of the steps.
template <class T>
struct neighbours {
  drawing d;
  auto make() const {
    const auto& a = d.a;
    return std::pair{
        std::tuple{d.matrix<T>(1), d.matrix<T>(2)},
        std::tuple{d.matrix<T>(3), scalar<T>(T(0.6)), dsl::take(line<T>(5, d.seed), dsl::step),
                   0.1 * dsl::step, 0.2, a[0], a[1], a[2], a[3], a[4], a[5]}};
  }
  template <class Given>
  auto gradient(Given& given) const {
    const auto step = dsl::vectorize([](auto u, auto v, auto weight, auto k, auto listed, auto t,
                                        auto h, auto a, auto b, auto c, auto d, auto e, auto f) {
      using dsl::shift;
      auto new_u =
          u + h * (a * sin(k * v) * weight + b * shift(u, 1, boundary::wrap, 0) +
                   c * shift(u * v, -1, boundary::clamp, 1) + e * where(u > k, u * u, v * listed));
      auto new_v = v + h * (d * shift(v, 1, boundary::reflect, 1) * u +
                            b * shift(weight, -2, boundary::zero, 0) + f * t * u);
      return std::tuple{dsl::cast<T>(new_u), dsl::cast<T>(new_v)};
    });
    const auto loss = [](auto u, auto v) { return dsl::sum(u * u * u) + dsl::sum(v); };
    return std::apply(
        [&](const auto&... p) {
          auto& [u, v] = given.first;
          return dsl::iterate_gradient(d.steps, step, loss, dsl::state(u, v), p...,
                                       dsl::from_step(d.first), d.limit(2 * d.size()));
        },
        given.second);
  }
  wide_loss reference() const {
    const std::vector<T> listed = numbers<T>(5, d.seed);
    return [d = d, listed](const all_values& all) {
      line_of_reals u = reals(all[0]), v = reals(all[1]);
      const line_of_reals weight = reals(all[2]);
      const long double k = all[3][0].real(), h = 0.2;
      for (int64_t step = d.first; step < d.first + d.steps; ++step) {
        const long double t = 0.1L * static_cast<long double>(step), l = listed[place(step, 5)];
        line_of_reals new_u = u, new_v = v, product = u;
        for (std::size_t i = 0; i < u.size(); ++i) product[i] = u[i] * v[i];
        for (std::size_t i = 0; i < u.size(); ++i) {
          new_u[i] += h * (d.a[0] * std::sin(k * v[i]) * weight[i] +
                           d.a[1] * d.shifted(u, i, 1, boundary::wrap, 0) +
                           d.a[2] * d.shifted(product, i, -1, boundary::clamp, 1) +
                           d.a[4] * (u[i] > k ? u[i] * u[i] : v[i] * l));
          new_v[i] +=
              h * (d.a[3] * d.shifted(v, i, 1, boundary::reflect, 1) * u[i] +
                   d.a[1] * d.shifted(weight, i, -2, boundary::zero, 0) + d.a[5] * t * u[i]);
        }
        u = new_u;
        v = new_v;
      }
      long double loss = 0;
      for (std::size_t i = 0; i < u.size(); ++i) loss += u[i] * u[i] * u[i] + v[i];
      return loss;
    };
  }
};

// Inner sums that depend on each other, and a sum fed back. With All also a maximum, elements at
// positions, and a counter that ends the loop.
template <bool All>
struct sums {
  drawing d;
  auto make() const {
    const auto& a = d.a;
    const auto [table, at] = [this] {
      if constexpr (All)
        return std::pair{line(3, d.seed),
                         dsl::eval(dsl::reshape(dsl::to_device(positions()), d.rows, d.columns))};
      else return std::pair{scalar<double>(0.4), 2};
    }();
    return std::pair{std::tuple{d.matrix(1), scalar<double>(0.3), scalar<int64_t>(d.first)},
                     std::tuple{d.matrix(2), table, at, scalar<double>(0.7), 0.2, a[0], a[1], a[2],
                                a[3], a[4], a[5]}};
  }
  // Positions from the beginning, from the end, and beyond both.
  std::vector<int64_t> positions() const {
    std::mt19937_64 draw(d.seed + 5);
    std::vector<int64_t> made(static_cast<std::size_t>(d.size()));
    for (int64_t& i : made)
      i = static_cast<int64_t>(draw() % static_cast<std::uint64_t>(4 * d.size())) - 2 * d.size();
    return made;
  }
  template <class Given>
  auto gradient(Given& given) const {
    const auto step =
        dsl::vectorize([](auto u, auto total, auto n, auto weight, auto table, auto at, auto k,
                          auto h, auto a, auto b, auto c, auto d, auto e, auto f) {
          auto mean = dsl::mean(u * weight), spread = dsl::mean(square(u - mean));
          const auto [listed, there, most] = [&] {
            if constexpr (All)
              return std::tuple{dsl::take(table, at), dsl::take(u, at), dsl::max(u)};
            else return std::tuple{table * at, u, mean};
          }();
          auto next = u + h * (a * cos(u) * mean + b * sin(total) * u + c * listed +
                               d * there * weight + e * k * most + f * (u - mean) / (1 + spread));
          return std::tuple{next, dsl::mean(next * next * weight), n + 1};
        });
    const auto loss = [](auto u, auto total, auto) { return dsl::sum(u * u * u) + 3 * total; };
    return std::apply(
        [&](const auto&... p) {
          auto& [u, total, n] = given.first;
          const auto state = dsl::state(u, total, n);
          const auto limit = d.limit(d.size() + 2);
          // The loop ends after d.steps steps, or by its counter.
          if constexpr (All)
            return dsl::iterate_gradient(d.steps == 0 || d.seed % 2 == 0 ? d.steps : 50, step, loss,
                                         state, p..., dsl::until(n >= d.first + d.steps), limit);
          else return dsl::iterate_gradient(d.steps, step, loss, state, p..., limit);
        },
        given.second);
  }
  wide_loss reference() const {
    return [d = d, at = positions()](const all_values& all) {
      line_of_reals u = reals(all[0]);
      const line_of_reals weight = reals(all[3]), table = reals(all[4]);
      long double total = all[1][0].real();
      const long double k = all[6][0].real(), h = 0.2, size = static_cast<long double>(u.size());
      for (int64_t step = 0; step < d.steps; ++step) {
        long double mean = 0, spread = 0, most = u[0], sum = 0;
        for (std::size_t i = 0; i < u.size(); ++i) mean += u[i] * weight[i] / size;
        for (const long double x : u) {
          spread += (x - mean) * (x - mean) / size;
          most = std::max(most, x);
        }
        line_of_reals next = u;
        for (std::size_t i = 0; i < u.size(); ++i) {
          next[i] += h * (d.a[0] * std::cos(u[i]) * mean + d.a[1] * std::sin(total) * u[i] +
                          d.a[2] * (All ? table[place(at[i], 3)] : 2 * table[0]) +
                          d.a[3] * u[All ? place(at[i], d.size()) : i] * weight[i] +
                          d.a[4] * k * (All ? most : mean) + d.a[5] * (u[i] - mean) / (1 + spread));
          sum += next[i] * next[i] * weight[i] / size;
        }
        u = next;
        total = sum;
      }
      long double loss = 3 * total;
      for (const long double x : u) loss += x * x * x;
      return loss;
    };
  }
};

/// Checks the loops of these numbers.
template <class Loop>
void check_loops(unsigned first, unsigned count, double within = 1e-9) {
  for (unsigned number = first; number < first + count; ++number) {
    check_drawn(Loop{drawing(number)}, within);
    if (testing::Test::HasFailure()) FAIL() << "loop " << number;
  }
}

}  // namespace random_gradient_loops

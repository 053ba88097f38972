// Loops whose steps use their own reductions: every kind of reduction and size, NaN, ends, parts.
#include "../scratch_folder.hpp"
#include "iterate_loops.hpp"
#include "particles.hpp"

#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>

namespace {

using dsl::strategy;
using std::int64_t;

struct phases : on_device {
  static constexpr strategy strategies[] = {
      strategy::automatic, strategy::launches,    strategy::graph,    strategy::elementwise,
      strategy::one_block, strategy::cooperative, strategy::streamed, strategy::tiled};
  /// Calls run(strategy) for each strategy that is possible. At least `automatic` and `launches`
  /// are.
  template <class Run>
  static void with_every_strategy(const Run& run) {
    for (const strategy s : strategies) {
      SCOPED_TRACE(testing::Message() << "strategy " << int(s));
      try {
        run(s);
      } catch (const dsl::device_error&) {
        EXPECT_GT(s, strategy::launches);
      }
      if (HasFailure()) return;
    }
  }
};
ON_EVERY_DEVICE(phases);

// Four phases: the maximum; then a sum and the first place of the maximum; then a mean and a
// variance; and the outputs. The number of elements differs from 2^k, so that padding would show.
constexpr auto soften = dsl::vectorize([](auto x, auto s, auto, auto, auto w, auto h) {
  auto most = dsl::max(x);
  auto e = exp(x - most);
  auto sum = dsl::sum(e);
  auto p = e / sum + 0.125 * w;
  auto mean = dsl::mean(p), var = dsl::var(p);
  auto next = x + h * (s * w - (p - mean) / (1 + sqrt(var)));
  return std::tuple{next, 1 / sum, mean + var, dsl::argmax(x)};
});

struct softened {
  std::vector<double> w;
  std::vector<long double> x, sums, moments;
  std::vector<int64_t> places;
  softened(const std::vector<double>& start, int steps) : x(start.begin(), start.end()) {
    const auto n = static_cast<long double>(start.size());
    long double s = 0.5L;
    for (std::size_t i = 0; i < start.size(); ++i) w.push_back(std::cos(static_cast<double>(i)));
    for (int k = 0; k < steps; ++k) {
      std::vector<long double> p(x.size());
      const auto place = std::max_element(x.begin(), x.end());
      long double sum = 0, mean = 0, var = 0;
      places.push_back(place - x.begin());
      const long double most = *place;
      for (std::size_t i = 0; i < x.size(); ++i) sum += p[i] = std::exp(x[i] - most);
      for (std::size_t i = 0; i < x.size(); ++i) mean += (p[i] = p[i] / sum + 0.125L * w[i]) / n;
      for (const long double each : p) var += (each - mean) * (each - mean) / n;
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += 0.25L * (s * w[i] - (p[i] - mean) / (1 + std::sqrt(var)));
      sums.push_back(s = 1 / sum);
      moments.push_back(mean + var);
    }
  }
};
struct soft_state {
  dsl::array<double> x, w;
  dsl::scalar<double> s = 0.5, moments = -1.0;
  dsl::scalar<int64_t> place = int64_t{-1};
  soft_state(const std::vector<double>& start, const std::vector<double>& weights)
      : x(dsl::to_device(start)), w(dsl::to_device(weights)) {}
  template <class... Options>
  auto run(int64_t steps, const Options&... options) {
    return dsl::iterate(steps, soften, dsl::state(x, s, moments, place), w, 0.25, options...);
  }
};
std::vector<double> waves(int64_t n) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(1 + 3.7 * static_cast<double>(i));
  return v;
}

TEST_P(phases, of_every_size) {
  for (const int64_t n : sizes()) {
    if (n == 0 || (simulated() && n > 20'000)) continue;
    const softened want(waves(n), 3);
    with_every_strategy([&](strategy how) {
      soft_state got(waves(n), want.w);
      const auto [sums, moments, places] = got.run(3, how);
      const auto x = got.x.copy_to_host(), all = sums.copy_to_host(),
                 other = moments.copy_to_host();
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(x[i], static_cast<double>(want.x[i]), 1e-14) << n << ", element " << i;
      for (std::size_t k = 0; k < 3; ++k) {
        ASSERT_NEAR(all[k], static_cast<double>(want.sums[k]), 1e-15) << n;
        ASSERT_NEAR(other[k], static_cast<double>(want.moments[k]), 1e-14) << n;
      }
      ASSERT_EQ(places.copy_to_host(), want.places) << n;
      ASSERT_EQ(got.s.value(), all[2]);
    });
  }
}

TEST_P(phases, of_no_elements) {
  soft_state none({}, {});
  EXPECT_THROW(none.run(3), dsl::shape_error);  // the maximum of no elements
  EXPECT_EQ(none.s.value(), 0.5);
  const auto scaled = dsl::vectorize([](auto x, auto, auto) {
    auto length = dsl::norm(x);
    return std::tuple{x / length, length, dsl::sum(x / length) + 1};
  });
  dsl::array<float> empty(0);
  dsl::scalar<float> length = 5.0f, sum;
  const auto [lengths, sums] = dsl::iterate(2, scaled, dsl::state(empty, length, sum));
  EXPECT_EQ(lengths.copy_to_host(), (std::vector<float>{0, 0}));
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{1, 1}));
  auto three = dsl::to_device(std::vector<float>{2, 3, 6});
  EXPECT_TRUE(
      std::get<0>(dsl::iterate(0, scaled, dsl::state(three, length, sum))).copy_to_host().empty());
  EXPECT_EQ(three.copy_to_host(), (std::vector<float>{2, 3, 6}));

  // NaN reaches all elements by way of the norm, and ends the loop after its first step.
  with_every_strategy([&](strategy how) {
    std::vector<float> with_nan(101, 1.0f);
    with_nan[37] = std::numeric_limits<float>::quiet_NaN();
    auto x = dsl::to_device(with_nan);
    dsl::scalar<int64_t> ran;
    const auto [all, unused] =
        dsl::iterate(5, scaled, dsl::state(x, length, sum), how, dsl::until(isnan(length), ran));
    for (const float each : x.copy_to_host()) ASSERT_TRUE(std::isnan(each));
    const auto got = all.copy_to_host();
    EXPECT_TRUE(std::isnan(got[0]));
    EXPECT_EQ(got[1], 0);
    EXPECT_EQ(ran.value(), 1);
  });
}

// A phase's value of 16 bits is rounded as in memory, also where it stays on the chip: 47 * 47 =
// 2209, which is 2208 in either dtype.
template <class H> void round_between_phases() {
  constexpr auto step = dsl::vectorize([](auto x, auto) {
    const auto sum = dsl::cast<H>(dsl::sum(x));
    const auto square = sum * sum;
    return std::tuple{(x + square) - 2208, dsl::cast<float>(dsl::max(x + square))};
  });
  phases::with_every_strategy([&](strategy how) {
    auto x = dsl::to_device(std::vector<H>{H(40.0f), H(4.0f), H(3.0f)});
    dsl::scalar<float> most;
    dsl::iterate(1, step, dsl::state(x, most), how);
    EXPECT_EQ(float(x(2).value()), 3);
    EXPECT_EQ(most.value(), 2248);
  });
}
TEST_P(phases, round_values_of_sixteen_bits) {
  round_between_phases<dsl::half>();
  round_between_phases<dsl::bfloat16>();
}

// The condition reads a scalar of the first, a middle, or the last phase.
TEST_P(phases, ends_on_a_scalar_of_any_phase) {
  const softened want(waves(300), 12);
  const int64_t many = 50'000;
  const auto end = [&](const auto& condition, const std::vector<long double>& values,
                       std::size_t last, strategy how) {
    soft_state got(waves(300), want.w);
    dsl::scalar<int64_t> ran;
    const auto [sums, moments, places] =
        got.run(many, how, dsl::until(condition(got), ran), dsl::every(2));
    const softened then(waves(300), static_cast<int>(last) + 1);
    EXPECT_EQ(ran.value(), static_cast<int64_t>(last) + 1);
    const auto x = got.x.copy_to_host();
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], static_cast<double>(then.x[i]), 1e-13) << i;
    const auto rows = sums.copy_to_host();
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(many / 2));
    for (std::size_t k = 0; k < rows.size(); ++k)
      ASSERT_NEAR(rows[k], 2 * k + 1 <= last ? static_cast<double>(then.sums[2 * k + 1]) : 0, 1e-14)
          << k;
    (void)values;
  };
  with_every_strategy([&](strategy how) {
    end([&](soft_state& s) { return abs(s.s - static_cast<double>(want.sums[0])) < 1e-12; },
        want.sums, 0, how);
    end([&](soft_state& s) { return abs(s.s - static_cast<double>(want.sums[5])) < 1e-12; },
        want.sums, 5, how);
    end(
        [&](soft_state& s) {
          return abs(s.moments - static_cast<double>(want.moments[8])) < 1e-12;
        },
        want.moments, 8, how);
  });
}

// Refused strategies say why, and change nothing.
TEST_P(phases, says_which_strategies_are_impossible) {
  soft_state got(waves(100), waves(100));
  for (const strategy how : strategies) {
    const bool gpu = dsl::device::current().kind == dsl::backend::cuda,
               possible =
                   how <= strategy::launches || (how == strategy::graph && gpu) ||
                   (has_grid() && (how == strategy::one_block || how == strategy::cooperative ||
                                   how == strategy::streamed));
    if (possible) continue;
    EXPECT_THROW(got.run(3, how), dsl::device_error) << int(how);
    EXPECT_THROW(got.run(-1), dsl::shape_error);
  }
  EXPECT_EQ(got.x.copy_to_host(), waves(100));
  EXPECT_EQ(got.s.value(), 0.5);
  EXPECT_EQ(got.place.value(), -1);
}

// A loop in parts, by a callback or with a checkpoint between them, is the same to the bit.
TEST_P(phases, goes_on) {
  with_every_strategy([&](strategy how) {
    const std::vector<double> weights = waves(777);
    soft_state whole(weights, weights), parts(weights, weights);
    const auto all = std::get<0>(whole.run(12, how)).copy_to_host();
    std::vector<double> sums;
    int64_t done = 0;
    while (done < 12) {
      int64_t now = 0;
      const auto some = std::get<0>(parts.run(std::min<int64_t>(12 - done, 5), how,
                                              dsl::progress([&](int64_t k, int64_t) {
                                                now = k;
                                                return done > 0;
                                              })))
                            .copy_to_host();
      ASSERT_EQ(static_cast<int64_t>(some.size()), now);
      sums.insert(sums.end(), some.begin(), some.end());
      done += now;
    }
    EXPECT_EQ(sums, all);
    EXPECT_EQ(parts.x.copy_to_host(), whole.x.copy_to_host());
    const current_scratch_folder folder;
    soft_state first(weights, weights), second(weights, weights);
    first.run(5, how);
    dsl::save_checkpoint("run", 5, first.x, first.s, first.moments, first.place);
    ASSERT_EQ(dsl::load_checkpoint("run", second.x, second.s, second.moments, second.place), 5);
    second.run(7, how);
    EXPECT_EQ(second.x.copy_to_host(), whole.x.copy_to_host());
    EXPECT_EQ(second.place.value(), whole.place.value());
  });
}

// Recorded formulas have reductions of the new state, in the last phase; samples cut the loop.
TEST_P(phases, records) {
  with_every_strategy([&](strategy how) {
    soft_state got(waves(50), waves(50)), other(waves(50), waves(50));
    const auto [sums, moments, places, most, elements] =
        got.run(6, how, dsl::every(2),
                dsl::record([](auto x, auto s, auto, auto) { return dsl::max(x) + s; }),
                dsl::record(got.x(dsl::slice(3, 50, 10))));
    const auto rows = elements.copy_to_host();
    for (std::size_t k = 0; k < 3; ++k) {
      other.run(2, how);
      const auto x = other.x.copy_to_host();
      EXPECT_NEAR(sums(static_cast<int64_t>(k)).value(), other.s.value(), 1e-15);
      EXPECT_NEAR(most(static_cast<int64_t>(k)).value(),
                  *std::max_element(x.begin(), x.end()) + other.s.value(), 1e-14);
      for (std::size_t i = 0; i < 5; ++i) ASSERT_NEAR(rows[5 * k + i], x[3 + 10 * i], 1e-14);
    }
  });
}

// Without scalars in the state, and without a reduction in the last phase; with integers.
TEST_P(phases, of_arrays_alone) {
  const auto step = dsl::vectorize([](auto u, auto v) {
    auto most = dsl::max(u);
    auto count = dsl::cast<int>(dsl::sum(dsl::cast<int>(u == most)));
    return std::tuple{(u * 3 + most + count) % 1009, v + dsl::cast<std::uint8_t>(count & 15)};
  });
  for (const int64_t n : {1, 31, 257, 4099})
    with_every_strategy([&](strategy how) {
      std::vector<int> u;
      for (int64_t i = 0; i < n; ++i) u.push_back(static_cast<int>(i * 7919 % 257));
      std::vector<std::uint8_t> v(u.size(), 3);
      auto on_u = dsl::to_device(u);
      auto on_v = dsl::to_device(v);
      dsl::iterate(9, step, dsl::state(on_u, on_v), how);
      for (int k = 0; k < 9; ++k) {
        const int most = *std::max_element(u.begin(), u.end()),
                  count = static_cast<int>(std::count(u.begin(), u.end(), most));
        for (int& each : u) each = (each * 3 + most + count) % 1009;
        for (std::uint8_t& each : v) each = static_cast<std::uint8_t>(each + (count & 15));
      }
      ASSERT_EQ(on_u.copy_to_host(), u) << n;
      ASSERT_EQ(on_v.copy_to_host(), v) << n;
    });
}

// Values between phases that are wider than all arrays: a complex exponential of doubles.
TEST_P(phases, with_wider_values) {
  using namespace std::complex_literals;
  const auto line = dsl::vectorize([](auto x, auto w) {
    auto z = dsl::mean(exp(1i * x));
    return x + 0.5 * imag(z * exp(-1i * x)) + w;
  });
  const auto plane = dsl::vectorize([](auto x, auto w) {
    const auto ring = dsl::boundary::wrap;
    auto beside = dsl::shift(x, 1, ring, 0) + dsl::shift(x, -1, ring, 1);
    auto z = dsl::mean(exp(1i * x) * beside);
    return x + 0.5 * imag(z * exp(-1i * x)) + w * beside;
  });
  for (const int64_t n : {1, 9, 300})
    with_every_strategy([&](strategy how) {
      std::vector<double> x = waves(n);
      auto on_x = dsl::to_device(x);
      const auto w = dsl::to_device(waves(n));
      const std::vector<double> weights = x;
      dsl::iterate(2, line, dsl::state(on_x), w, how);
      for (int k = 0; k < 2; ++k) {
        std::complex<double> z = 0;
        for (const double each : x) z += std::polar(1.0 / static_cast<double>(n), each);
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] += 0.5 * (z * std::polar(1.0, -x[i])).imag() + weights[i];
      }
      const auto got = on_x.copy_to_host();
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(got[i], x[i], 1e-13) << n << ", " << i;
    });
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{13, 17}, {24, 32}, {40, 31}})
    with_every_strategy([&, r = rows, c = columns](strategy how) {
      const auto n = static_cast<std::size_t>(r * c);
      std::vector<double> x = waves(r * c);
      auto on_x = dsl::eval(dsl::reshape(dsl::to_device(x), r, c));
      dsl::iterate(2, plane, dsl::state(on_x), 0.125, how);
      for (int k = 0; k < 2; ++k) {
        std::vector<double> beside(n);
        std::complex<double> z = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const auto row = static_cast<int64_t>(i) / c, column = static_cast<int64_t>(i) % c;
          beside[i] = x[static_cast<std::size_t>((row + r - 1) % r * c + column)] +
                      x[static_cast<std::size_t>(row * c + (column + 1) % c)];
          z += std::polar(1.0, x[i]) * beside[i] / static_cast<double>(n);
        }
        for (std::size_t i = 0; i < n; ++i)
          x[i] += 0.5 * (z * std::polar(1.0, -x[i])).imag() + 0.125 * beside[i];
      }
      const auto got = on_x.copy_to_host();
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], x[i], 1e-13) << r << ", " << i;
    });
}

TEST_P(phases, of_structs) {
  const auto centre = dsl::vectorize([](auto p, auto h) {
    p.height = p.height - dsl::mean(p.height) + h * p.climb;
    p.climb = p.climb / (1 + dsl::norm(p.height));
    return p;
  });
  with_every_strategy([&](strategy how) {
    particles p = some_particles(100);
    std::vector<double> height = p.height.copy_to_host(), climb = p.climb.copy_to_host();
    for (std::size_t i = 0; i < 100; ++i) height[i] += 0.01 * static_cast<double>(i * i % 17);
    p.height = dsl::to_device(height);
    dsl::iterate(4, centre, dsl::state(p), 0.25, how);
    for (int k = 0; k < 4; ++k) {
      double mean = 0, squares = 0;
      for (const double each : height) mean += each / 100;
      for (std::size_t i = 0; i < 100; ++i) {
        height[i] += 0.25 * climb[i] - mean;
        squares += height[i] * height[i];
      }
      for (double& each : climb) each /= 1 + std::sqrt(squares);
    }
    const auto got = p.height.copy_to_host(), got_climb = p.climb.copy_to_host();
    for (std::size_t i = 0; i < 100; ++i) {
      ASSERT_NEAR(got[i], height[i], 1e-13);
      ASSERT_NEAR(got_climb[i], climb[i], 1e-13);
    }
  });
}

}  // namespace

// For tests of loops whose steps use their own reductions, drawn at random, each compared with the
// same steps in plain C++. Drawn are shapes, layouts, values, parameters, strategy, blocks and
// their order, the number of steps, which are recorded, and what ends the loop. A strategy that
// cannot run is refused before anything changes; then the loop runs again by launches.
#pragma once

#include "../on_device.hpp"
#include "boundary_reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <tuple>

using dsl::boundary;
using dsl::strategy;
using std::int64_t;

struct random_phases : on_device {};

struct drawing {
  std::mt19937 engine;
  int64_t steps{}, first{}, every{};
  strategy how{};
  dsl::launch fixed{};
  std::string order{};
  bool parts{};  // whether arrays may be parts of larger ones
  std::map<strategy, int> ran{};

  int64_t below(int64_t n) { return static_cast<int64_t>(engine() % static_cast<unsigned>(n)); }
  int64_t one_of(std::initializer_list<int64_t> all) {
    return all.begin()[below(static_cast<int64_t>(all.size()))];
  }
  double uniform() { return static_cast<double>(engine() >> 8) / (1 << 24); }
  void next(int64_t most_steps, std::initializer_list<strategy> wanted) {
    steps = below(5) == 0 ? below(2) : 1 + below(most_steps);
    first = one_of({0, 0, 7, -5});
    every = one_of({1, 1, 2, 3, 100});
    how = static_cast<strategy>(below(8));
    if (const int64_t k = below(2 * static_cast<int64_t>(wanted.size()) + 1);
        k < static_cast<int64_t>(wanted.size()))
      how = wanted.begin()[k];
    parts = below(2) == 0;
    fixed = below(2) == 0 ? dsl::launch{}
                          : dsl::launch{.block = static_cast<int>(one_of({32, 64, 96})),
                                        .grid = static_cast<int>(one_of({1, 2, 3, 4, 6, 12}))};
    order = std::to_string(1 + below(1000));
  }
  /// Calls run(strategy, launch); once more by launches, if the strategy is impossible.
  template <class Run>
  void run_loop(const Run& run) {
    const simulated_order shuffled(order.c_str());
    try {
      run(how, how == strategy::automatic || how == strategy::launches ? dsl::launch{} : fixed);
      ++ran[how];
    } catch (const dsl::device_error&) {
      ASSERT_GT(how, strategy::launches);
      run(how = strategy::launches, dsl::launch{});
    }
  }
  /// Strategies that never ran would mean that the rounds test nothing.
  void expect_to_have_run(std::initializer_list<strategy> all) const {
    if (on_device::simulated() && std::getenv("DSL_TEST_MESH") == nullptr)
      for (const strategy s : all) {
        EXPECT_GT(ran.count(s), 0u) << "strategy " << int(s);
      }
  }
};
inline std::ostream& operator<<(std::ostream& out, const drawing& d) {
  return out << d.steps << " steps from " << d.first << ", every " << d.every << ", strategy "
             << int(d.how) << ", " << d.fixed.grid << " blocks of " << d.fixed.block << ", order "
             << d.order;
}

/// An array, or a part of a larger one that begins anywhere, and its elements in row-major order on
/// the host.
template <class T, int R>
struct placed {
  dsl::array<T, R> memory;
  bool contiguous = true;
  dsl::view<T, R> part;
  std::vector<T> host;

  template <class Value>
  placed(drawing& draw, const dsl::extents<R>& n, Value value) : part(whole(draw, n)) {
    int64_t count = 1;
    for (const int64_t each : n) count *= each;
    for (int64_t i = 0; i < count; ++i) host.push_back(static_cast<T>(value()));
    part.copy_from_host(host);
  }
  std::vector<T> got() const { return part.copy_to_host(); }

 private:
  dsl::view<T, R> whole(drawing& draw, const dsl::extents<R>& n) {
    dsl::extents<R> larger = n, first{}, step{};
    const bool is_part = draw.parts && draw.below(2) == 0;
    for (std::size_t d = 0; d < R; ++d) {
      step[d] = is_part && d + 1 == R ? 1 + draw.below(2) : 1;
      first[d] = is_part ? draw.below(3) : 0;
      larger[d] = first[d] + n[d] * step[d] + (is_part ? draw.below(3) : 0);
    }
    memory = dsl::array<T, R>(larger);
    memory = T(0);
    contiguous = !is_part;
    const auto at = [&](std::size_t d) {
      return dsl::slice(first[d], first[d] + n[d] * step[d], step[d]);
    };
    if constexpr (R == 1) return memory(at(0));
    else if constexpr (R == 2) return memory(at(0), at(1));
    else return memory(at(0), at(1), at(2));
  }
};

/// Elements in row-major order, and their neighbours.
template <class T, std::size_t R>
struct grid {
  const std::vector<T>& of;
  std::array<int64_t, R> n;
  T at(int64_t i) const { return of[static_cast<std::size_t>(i)]; }
  /// What dsl::shift(u, by, beyond, axis) has at element i.
  T shifted(int64_t i, int64_t by, boundary beyond, std::size_t axis) const {
    int64_t stride = 1;
    for (std::size_t d = axis + 1; d < R; ++d) stride *= n[d];
    const int64_t mine = i / stride % n[axis], from = inside_by_steps(beyond, mine - by, n[axis]);
    return from < 0 ? T(0) : at(i + (from - mine) * stride);
  }
};
inline int64_t position_of(int64_t index, int64_t n) {
  return std::clamp<int64_t>(index < 0 ? index + n : index, 0, n - 1);
}

// Five phases of whole numbers: s1, m1, s2, m2, and the outputs. `Beside`: reads neighbours of b in
// the first phase, of a value of the third one, and of a parameter. `Takes`: reads elements of a.
template <int Axis, boundary Beyond, bool Beside, bool Takes>
constexpr auto chain = dsl::vectorize(
    [](auto a, auto b, auto s, auto m, auto row, auto k, auto c, auto t, auto i, auto w) {
      auto beside = [&] {
        if constexpr (Beside) return dsl::shift(b, 1, Beyond, Axis) + dsl::shift(b, -2, Beyond, 0);
        else return b;
      }();
      auto a1 = (a * 3 + dsl::cast<int>(beside + s + t)) & 0xfff;
      auto s1 = dsl::sum(dsl::cast<int64_t>(a1));
      auto b1 = (b * 5 + s1 + row) & 0xffff;
      auto m1 = dsl::max(b1);
      auto taken = [&] {
        if constexpr (Takes) return dsl::take(2 * a + dsl::cast<int>((s1 + b) & 15), i);
        else return a;
      }();
      auto a2 = (a1 + dsl::cast<int>(m1) + taken + m) & 0xfff;
      auto s2 = dsl::sum(a2 * (b1 & 7));
      auto b2 = [&] {
        auto value = (b1 + s2 * k + s) & 0xffff;
        if constexpr (Beside)
          return value + dsl::shift(b, 1, Beyond, Axis) + dsl::shift(w, -1, Beyond, 0);
        else return value + w;
      }();
      auto m2 = dsl::min(b2);
      return std::tuple{(a2 + dsl::cast<int>(m2)) & 0xfff, (b2 ^ (m1 & 255)) & 0xffff, s1 + s2 + c,
                        dsl::cast<int>(m2 & 63)};
    });

template <std::size_t R, int Axis, boundary Beyond, bool Beside, bool Takes>
void run_chain(drawing& draw, const dsl::extents<R>& n) {
  int64_t count = 1;
  for (const int64_t each : n) count *= each;
  const auto any = [&] { return draw.below(4096); };
  placed<int, R> a(draw, n, any);
  placed<int64_t, R> b(draw, n, any), w(draw, n, any);
  placed<int64_t, 1> row(draw, {n[R - 1]}, any);
  placed<int64_t, R> index(draw, n, [&] { return draw.below(2 * count + 6) - count - 3; });
  int64_t s = draw.below(99), k = draw.below(99), c = draw.below(9), ran_steps = 0;
  int m = static_cast<int>(draw.below(60));
  // The elements of a row, or one of them.
  const bool whole_row = draw.below(2) == 0;
  dsl::scalar<int64_t> ds = s, dk = k, ran;
  dsl::scalar<int> dm = m;
  const int last = static_cast<int>(draw.one_of({-1, 3, 11, 40}));

  std::vector<int64_t> want_s(static_cast<std::size_t>(draw.steps / draw.every)),
      want_sums = want_s;
  std::vector<int> want_m(want_s.size());
  std::vector<int> a_before = a.host;
  std::vector<int64_t> b_before = b.host;
  ran_steps = draw.first;
  for (int64_t step = 0; step < draw.steps; ++step) {
    const std::vector<int> old_a = a.host;
    const std::vector<int64_t> old_b = b.host;
    const grid<int64_t, R> of_b{old_b, n}, of_w{w.host, n};
    std::vector<int> a1(old_a.size()), a2 = a1;
    std::vector<int64_t> b1(old_b.size()), b2 = b1;
    int64_t s1 = 0, m1 = 0, s2 = 0, m2 = INT64_MAX;
    for (int64_t i = 0; i < count; ++i) {
      const auto e = static_cast<std::size_t>(i);
      const int64_t beside =
          Beside ? of_b.shifted(i, 1, Beyond, Axis) + of_b.shifted(i, -2, Beyond, 0) : old_b[e];
      a1[e] = (old_a[e] * 3 + static_cast<int>(beside + s + draw.first + step)) & 0xfff;
      s1 += a1[e];
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto e = static_cast<std::size_t>(i);
      b1[e] =
          (old_b[e] * 5 + s1 + row.host[static_cast<std::size_t>(whole_row ? i % n[R - 1] : 0)]) &
          0xffff;
      m1 = std::max(m1, b1[e]);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto e = static_cast<std::size_t>(i),
                 from = static_cast<std::size_t>(position_of(index.host[e], count));
      const int taken =
          Takes ? 2 * old_a[from] + static_cast<int>((s1 + old_b[from]) & 15) : old_a[e];
      a2[e] = (a1[e] + static_cast<int>(m1) + taken + m) & 0xfff;
      s2 += a2[e] * (b1[e] & 7);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto e = static_cast<std::size_t>(i);
      b2[e] = (b1[e] + s2 * k + s) & 0xffff;
      b2[e] +=
          Beside ? of_b.shifted(i, 1, Beyond, Axis) + of_w.shifted(i, -1, Beyond, 0) : w.host[e];
      m2 = std::min(m2, b2[e]);
    }
    for (std::size_t e = 0; e < a1.size(); ++e) {
      a.host[e] = (a2[e] + static_cast<int>(m2)) & 0xfff;
      b.host[e] = (b2[e] ^ (m1 & 255)) & 0xffff;
    }
    s = s1 + s2 + c;
    m = static_cast<int>(m2 & 63);
    ++ran_steps;
    if ((step + 1) % draw.every == 0) {
      const auto at = static_cast<std::size_t>(step / draw.every);
      want_s[at] = s;
      want_m[at] = m;
      for (std::size_t e = 0; e < a1.size(); ++e) want_sums[at] += a.host[e] + b.host[e];
    }
    if (m == last) break;
  }

  std::vector<int64_t> got_s, got_sums;
  std::vector<int> got_m;
  const auto run = [&](strategy how, const dsl::launch& fixed) {
    const dsl::view<const int64_t, 1> given = whole_row ? row.part : row.part(dsl::slice(0, 1));
    const auto [all_s, all_m, sums] = dsl::iterate(
        draw.steps, chain<Axis, Beyond, Beside, Takes>, dsl::state(a.part, b.part, ds, dm), given,
        dk, c, dsl::step, index.part, w.part, how, fixed, dsl::from_step(draw.first),
        dsl::every(draw.every), dsl::until(dm == last, ran),
        dsl::record([](auto x, auto y, auto, auto) { return dsl::sum(x + y); }));
    got_s = all_s.copy_to_host();
    got_m = all_m.copy_to_host();
    got_sums = sums.copy_to_host();
  };
  if (Takes && !(a.contiguous && b.contiguous) && count > 1) try {
      run(strategy::launches, {});
    } catch (const dsl::shape_error&) {
      EXPECT_EQ(a.got(), a_before);
      EXPECT_EQ(b.got(), b_before);
      return;
    }
  else draw.run_loop(run);
  ASSERT_EQ(a.got(), a.host);
  ASSERT_EQ(b.got(), b.host);
  EXPECT_EQ(ds.value(), s);
  EXPECT_EQ(dm.value(), m);
  EXPECT_EQ(ran.value(), ran_steps);
  EXPECT_EQ(got_s, want_s);
  EXPECT_EQ(got_m, want_m);
  EXPECT_EQ(got_sums, want_sums);
}

template <class Run>
void rounds(int count, unsigned seed, std::initializer_list<strategy> strategies, const Run& run) {
  drawing draw{std::mt19937(seed)};
  for (int round = 0; round < count; ++round) {
    draw.next(9, strategies);
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << draw);
    run(draw);
    if (testing::Test::HasFailure()) return;
  }
  draw.expect_to_have_run(strategies);
}

inline void expect_near(const std::vector<long double>& want, const auto& got, long double by) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(static_cast<long double>(got[i]) - want[i]), 0,
                static_cast<double>(by))
        << i;
}

// Four phases of floats: the mean, the norm of what differs from it, and where its largest element
// is. Each step reads the norm of the step before.
template <class T>
constexpr auto centred = dsl::vectorize([](auto x, auto length, auto, auto, auto w, auto t) {
  auto y = sin(x) + 0.3f * x + dsl::cast<float>(length) * w + t;
  auto mean = dsl::mean(y);
  auto next_length = dsl::norm(y - mean) + 0.25f * dsl::cast<float>(dsl::sum(abs(x)) * 0 + 1);
  auto next = (y - mean) / next_length;
  return std::tuple{dsl::cast<T>(next), next_length, mean + dsl::var(next), dsl::argmax(next)};
});
template <class T>
void run_centred(drawing& draw, int64_t n, long double tolerance) {
  const auto any = [&] { return 2 * draw.uniform() - 1; };
  placed<T, 1> x(draw, {n}, any);
  placed<float, 1> w(draw, {n}, [&] { return any() / static_cast<double>(n); });
  dsl::scalar<float> length = 0.5f;
  dsl::scalar<double> middle;
  dsl::scalar<int64_t> place;
  std::vector<long double> next(x.host.begin(), x.host.end()), y = next, lengths, middles;
  long double of_length = 0.5L;
  for (int64_t step = 0; step < draw.steps; ++step) {
    long double mean = 0, squares = 0, sum = 0, var = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = std::sin(next[i]) + 0.3L * next[i] + of_length * w.host[i] +
             0.125L * static_cast<long double>(draw.first + step);
      mean += y[i] / static_cast<long double>(n);
    }
    for (const long double each : y) squares += (each - mean) * (each - mean);
    of_length = std::sqrt(squares) + 0.25L;
    for (std::size_t i = 0; i < y.size(); ++i) sum += next[i] = (y[i] - mean) / of_length;
    sum /= static_cast<long double>(n);
    for (const long double each : next)
      var += (each - sum) * (each - sum) / static_cast<long double>(n);
    if ((step + 1) % draw.every != 0) continue;
    lengths.push_back(of_length);
    middles.push_back(mean + var);
  }
  std::vector<float> got_lengths;
  std::vector<double> got_middles;
  draw.run_loop([&](strategy how, const dsl::launch& fixed) {
    const auto [all_lengths, all_middles, places] = dsl::iterate(
        draw.steps, centred<T>, dsl::state(x.part, length, middle, place), w.part,
        0.125f * dsl::step, how, fixed, dsl::from_step(draw.first), dsl::every(draw.every));
    got_lengths = all_lengths.copy_to_host();
    got_middles = all_middles.copy_to_host();
  });
  const auto got = x.got();
  expect_near(next, got, tolerance);
  expect_near(lengths, got_lengths, tolerance * std::sqrt(static_cast<long double>(n)));
  expect_near(middles, got_middles, tolerance);
  const int64_t found =
      draw.steps > 0 ? place.value() : std::max_element(got.begin(), got.end()) - got.begin();
  EXPECT_NEAR(static_cast<double>(got[static_cast<std::size_t>(found)]),
              static_cast<double>(*std::max_element(next.begin(), next.end())), 2e-3);
}

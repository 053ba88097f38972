// Loops drawn at random, each compared with the same steps in plain C++: of arrays, of arrays and
// scalars, of scalars alone. Drawn are layouts, kinds of parameters, number of steps, values, end
// conditions, records, strategy and blocks, and the current device, which may differ from the
// loop's.
#include "../on_device.hpp"

#include <algorithm>
#include <tuple>

namespace {

using dsl::strategy;
using std::int64_t;

struct random_loops : on_device {};
ON_EVERY_DEVICE(random_loops);

constexpr auto arrays = dsl::vectorize([](auto a, auto b, auto t, auto w) {
  auto an = (a * 3 + dsl::cast<int>(b & 127) + dsl::cast<int>(t) + dsl::cast<int>(w & 31)) & 0xfff;
  return std::tuple{an, (b + an + 1) & 0xffff};
});
constexpr auto arrays_and_scalars =
    dsl::vectorize([](auto a, auto b, auto total, auto most, auto t, auto w) {
      auto an = (a * 5 + dsl::cast<int>(b & 255) + dsl::cast<int>(total & 63) + dsl::cast<int>(t)) &
                0xfff;
      auto bn = (b + a + w + most) & 0xffff;
      return std::tuple{an, bn, dsl::sum(an), dsl::max(bn)};
    });
constexpr auto scalars = dsl::vectorize(
    [](auto s, auto r, auto t) { return std::tuple{(s * 5 + r + t) & 255, (r + s) & 1023}; });

// Some elements of an array, both on the host and in device memory: element i is number first + i *
// step.
template <class T>
struct placed {
  std::vector<T> all;
  dsl::array<T> memory;
  int64_t first, n, step;

  placed(std::mt19937& draw, int64_t count)
      : first(static_cast<int64_t>(draw() % 4)),
        n(count),
        step(draw() % 3 == 0 ? 2 + static_cast<int64_t>(draw() % 2) : 1) {
    for (int64_t i = 0; i < first + n * step + 4; ++i)
      all.push_back(static_cast<T>(draw() & 0xfff));
    memory = dsl::to_device(all);
  }
  dsl::view<T, 1> view(int64_t further = 0) {
    return from_element(memory, first + further, n, step);
  }
  T& operator[](int64_t i) { return all[static_cast<std::size_t>(first + i * step)]; }
};

struct drawn {
  std::mt19937& draw;
  int64_t n, steps, first, every;
  strategy how;
  dsl::launch fixed;
  placed<int> a;
  placed<int64_t> b, other;
  enum { own, one_element, variable, beside_variable } parameter;

  drawn(std::mt19937& d, bool none_too)
      : draw(d),
        n(size(none_too)),
        steps(below(4) == 0 ? below(3) : below(40)),
        first(start()),
        every(below(2) == 0 ? 1 : 1 + below(5)),
        how(static_cast<strategy>(below(7))),
        fixed(below(2) == 0   ? dsl::launch{}
              : below(2) == 0 ? dsl::launch{.block = 32, .grid = 3}
                              : dsl::launch{.block = 64, .grid = 2}),
        a(d, n),
        b(d, n),
        other(d, n) {
    parameter = below(2) == 0   ? own
                : below(2) == 0 ? one_element
                : below(4) != 0 ? variable
                                : beside_variable;
  }
  int64_t below(int64_t count) {
    return static_cast<int64_t>(draw() % static_cast<unsigned>(count));
  }
  int64_t size(bool none_too) {
    const int64_t sizes[] = {1, 1, 2, 3, 31, 64, 257, 1025, 3000, 0};
    return sizes[below(none_too ? 10 : 9)];
  }
  int64_t start() {
    switch (below(4)) {
      case 0: return -below(50);
      case 1: return below(50);
      case 2: return below(2) == 0 ? 3'000'000'000 : -3'000'000'000;
      default: return 0;
    }
  }
  int64_t rows() const { return steps / every; }

  dsl::view<const int64_t, 1> given() {
    switch (parameter) {
      case own: return other.view();
      case one_element: return from_element(other.memory, other.first, 1);
      case variable: return b.view();
      default: return b.view(1);
    }
  }
  int64_t parameter_at(int64_t i) {
    switch (parameter) {
      case own: return other[i];
      case one_element: return other[0];
      case variable: return b[i];
      default: return b.all[static_cast<std::size_t>(b.first + 1 + i * b.step)];
    }
  }
  // The parameter is the variable's own elements shifted by one; with a larger step the elements
  // between them.
  bool is_refused() const { return parameter == beside_variable && n > 1 && b.step == 1; }
  bool may_be_impossible() const { return how != strategy::automatic && how != strategy::launches; }
  void expect_same() {
    EXPECT_EQ(a.memory.copy_to_host(), a.all);
    EXPECT_EQ(b.memory.copy_to_host(), b.all);
  }
};
std::ostream& operator<<(std::ostream& out, const drawn& d) {
  return out << d.n << " elements, " << d.steps << " steps from " << d.first << ", every "
             << d.every << ", strategy " << int(d.how) << ", block " << d.fixed.block
             << ", parameter " << d.parameter;
}

dsl::device some_device(drawn& d) { return dsl::device(d.below(2) == 0 ? "host" : "sim"); }

// Runs the loop while some device is current. Returns false if it was refused; then everything must
// be unchanged.
template <class Run>
bool runs(drawn& d, const Run& run) {
  const dsl::device_guard anywhere(some_device(d));
  try {
    run();
  } catch (const dsl::shape_error&) {
    EXPECT_TRUE(d.is_refused());
    return false;
  } catch (const dsl::device_error& e) {
    EXPECT_TRUE(d.may_be_impossible()) << e.what();
    return false;
  }
  EXPECT_FALSE(d.is_refused());
  return true;
}

constexpr unsigned rounds = 250;

TEST_P(random_loops, of_arrays) {
  std::mt19937 draw(1);
  for (unsigned round = 0; round < rounds; ++round) {
    drawn d(draw, true);
    d.fixed.grid = 0;  // kernels without reductions have at most a block for each tile
    SCOPED_TRACE(testing::Message() << "round " << round << ": " << d);
    const bool records = d.below(2) == 0;
    const auto a = d.a.view();
    const auto b = d.b.view(),
               sampled = from_element(d.b.memory, d.b.first, (d.n + 1) / 2, 2 * d.b.step);
    dsl::array<int64_t> sums;
    dsl::array<int64_t, 2> samples;
    const auto run = [&] {
      if (records)
        std::tie(sums, samples) =
            dsl::iterate(d.steps, arrays, dsl::state(a, b), dsl::step, d.given(),
                         dsl::every(d.every), dsl::from_step(d.first), d.how, d.fixed,
                         dsl::record([](auto a, auto b) { return dsl::sum(a) + dsl::sum(b); }),
                         dsl::record(sampled));
      else
        dsl::iterate(d.steps, arrays, dsl::state(a, b), dsl::step, d.given(), dsl::every(d.every),
                     dsl::from_step(d.first), d.how, d.fixed);
    };
    std::vector<int64_t> want_sums, want_samples;
    if (runs(d, run)) {
      for (int64_t k = 0; k < d.steps; ++k) {
        int64_t sum = 0;
        for (int64_t i = 0; i < d.n; ++i) {
          d.a[i] = (d.a[i] * 3 + static_cast<int>(d.b[i] & 127) + static_cast<int>(d.first + k) +
                    static_cast<int>(d.parameter_at(i) & 31)) &
                   0xfff;
          d.b[i] = (d.b[i] + d.a[i] + 1) & 0xffff;
          sum += d.a[i] + d.b[i];
        }
        if ((k + 1) % d.every != 0) continue;
        want_sums.push_back(sum);
        for (int64_t i = 0; i < d.n; i += 2) want_samples.push_back(d.b[i]);
      }
      if (records) {
        EXPECT_EQ(sums.copy_to_host(), want_sums);
        EXPECT_EQ(samples.copy_to_host(), want_samples);
      }
    }
    d.expect_same();
    if (HasFailure()) return;
  }
}

TEST_P(random_loops, of_arrays_and_scalars) {
  std::mt19937 draw(2);
  for (unsigned round = 0; round < rounds; ++round) {
    drawn d(draw, false);
    const int64_t last = d.below(48);  // from 16 on the loop does not end early
    SCOPED_TRACE(testing::Message() << "round " << round << ": " << d << ", until " << last);
    const auto a = d.a.view(),
               sampled = from_element(d.a.memory, d.a.first, (d.n + 1) / 2, 2 * d.a.step);
    const auto b = d.b.view();
    int64_t total = d.below(100), most = d.below(100), ran = -1;
    dsl::scalar<int64_t> dtotal = total, dmost = most, dran(ran, some_device(d));
    dsl::array<int64_t> totals, mosts, least, twice;
    dsl::array<int, 2> samples;
    const auto run = [&] {
      std::tie(totals, mosts, least, twice, samples) =
          dsl::iterate(d.steps, arrays_and_scalars, dsl::state(a, b, dtotal, dmost), dsl::step,
                       d.given(), dsl::every(d.every), dsl::from_step(d.first), d.how, d.fixed,
                       dsl::until((dtotal & 15) == last, dran),
                       dsl::record([](auto a, auto, auto total, auto most) {
                         return std::tuple{dsl::min(a) + most, total * 2 - most};
                       }),
                       dsl::record(sampled));
    };
    const auto rows = static_cast<std::size_t>(d.rows());
    std::vector<int64_t> want_totals(rows), want_mosts(rows), want_least(rows), want_twice(rows);
    std::vector<int> want_samples;
    if (runs(d, run)) {
      bool ended = false;
      ran = d.first;
      for (int64_t k = 0; k < d.steps; ++k) {
        if (!ended) {
          int64_t sum = 0, largest = 0;
          int smallest = 0xfff;
          for (int64_t i = 0; i < d.n; ++i) {
            const int before = d.a[i];
            const int64_t parameter = d.parameter_at(i);
            d.a[i] = (before * 5 + static_cast<int>(d.b[i] & 255) + static_cast<int>(total & 63) +
                      static_cast<int>(d.first + k)) &
                     0xfff;
            d.b[i] = (d.b[i] + before + parameter + most) & 0xffff;
            sum += d.a[i];
            largest = std::max(largest, d.b[i]);
            smallest = std::min(smallest, d.a[i]);
          }
          total = sum;
          most = largest;
          ++ran;
          ended = (total & 15) == last;
          if ((k + 1) % d.every == 0) {
            const auto row = static_cast<std::size_t>(k / d.every);
            want_totals[row] = total;
            want_mosts[row] = most;
            want_least[row] = smallest + most;
            want_twice[row] = total * 2 - most;
          }
        }
        for (int64_t i = 0; (k + 1) % d.every == 0 && i < d.n; i += 2)
          want_samples.push_back(d.a[i]);
      }
      EXPECT_EQ(totals.copy_to_host(), want_totals);
      EXPECT_EQ(mosts.copy_to_host(), want_mosts);
      EXPECT_EQ(least.copy_to_host(), want_least);
      EXPECT_EQ(twice.copy_to_host(), want_twice);
      EXPECT_EQ(samples.copy_to_host(), want_samples);
    }
    d.expect_same();
    EXPECT_EQ(dtotal.value(), total);
    EXPECT_EQ(dmost.value(), most);
    EXPECT_EQ(dran.value(), ran);
    if (HasFailure()) return;
  }
}

TEST_P(random_loops, of_scalars) {
  std::mt19937 draw(3);
  for (unsigned round = 0; round < rounds; ++round) {
    drawn d(draw, false);
    d.parameter = drawn::own;
    d.steps *= d.below(7);
    const int64_t last = d.below(512);
    SCOPED_TRACE(testing::Message() << "round " << round << ": " << d << ", until " << last);
    int64_t s = d.below(256), r = d.below(1024), ran = -1;
    dsl::scalar<int64_t> ds = s, dr = r, dran(ran, some_device(d));
    dsl::array<int64_t> all_s, all_r, differences;
    const auto run = [&] {
      EXPECT_EQ(dsl::plan_of(scalars, dsl::state(ds, dr), dsl::step).where, ds.where());
      std::tie(all_s, all_r, differences) = dsl::iterate(
          d.steps, scalars, dsl::state(ds, dr), dsl::step, dsl::every(d.every),
          dsl::from_step(d.first), d.how, d.fixed, dsl::until(ds == last || dr == last, dran),
          dsl::record([](auto s, auto r) { return s * 10 - r; }));
    };
    const auto rows = static_cast<std::size_t>(d.rows());
    std::vector<int64_t> want_s(rows), want_r(rows), want_differences(rows);
    if (runs(d, run)) {
      ran = d.first;
      for (int64_t k = 0; k < d.steps; ++k) {
        std::tie(s, r) = std::tuple{(s * 5 + r + d.first + k) & 255, (r + s) & 1023};
        ++ran;
        if ((k + 1) % d.every == 0) {
          const auto row = static_cast<std::size_t>(k / d.every);
          want_s[row] = s;
          want_r[row] = r;
          want_differences[row] = s * 10 - r;
        }
        if (s == last || r == last) break;
      }
      EXPECT_EQ(all_s.copy_to_host(), want_s);
      EXPECT_EQ(all_r.copy_to_host(), want_r);
      EXPECT_EQ(differences.copy_to_host(), want_differences);
    }
    EXPECT_EQ(ds.value(), s);
    EXPECT_EQ(dr.value(), r);
    EXPECT_EQ(dran.value(), ran);
    if (HasFailure()) return;
  }
}

}  // namespace

// Loops of two to five phases, drawn at random.
#include "phases_random.hpp"

#include <numeric>

namespace {

ON_EVERY_DEVICE(random_phases);

TEST_P(random_phases, of_whole_numbers) {
  rounds(80, 1, {strategy::one_block, strategy::cooperative, strategy::streamed}, [](drawing& d) {
    run_chain<1, 0, boundary::wrap, false, false>(d,
                                                  {d.one_of({1, 2, 3, 31, 64, 257, 1025, 3001})});
  });
}
TEST_P(random_phases, with_neighbours_in_two_dimensions) {
  rounds(60, 2, {strategy::tiled}, [](drawing& d) {
    run_chain<2, 1, boundary::reflect, true, false>(
        d, {d.one_of({1, 5, 12, 13, 30}), d.one_of({1, 7, 16, 33, 101})});
  });
}
TEST_P(random_phases, with_elements_at_positions) {
  rounds(60, 3, {}, [](drawing& d) {
    run_chain<1, 0, boundary::wrap, true, true>(d, {d.one_of({1, 2, 31, 64, 257, 1025})});
  });
}
// Values that read many neighbours, or elements at positions, and are themselves read elsewhere: a
// is stored in the first phase, c in the second one.
template <boundary Beyond>
constexpr auto stored = dsl::vectorize([](auto u, auto v, auto s, auto i, auto row) {
  const auto across = [](auto x) {
    return x + dsl::shift(x, 1, Beyond, 1) * 3 - dsl::shift(x, -1, Beyond, 1) +
           dsl::shift(x, 2, Beyond, 1);
  };
  auto a =
      (across(dsl::shift(u, 1, Beyond, 0) + dsl::shift(u, -1, Beyond, 0) * 5 + u) + v) & 0xffff;
  auto s1 = dsl::sum(a);
  auto b = (dsl::shift(a, 1, Beyond, 0) + dsl::shift(a, -2, Beyond, 1) * 3 + s1 + s) & 0xffff;
  auto c = (dsl::take(a + v, i) * 7 + b) & 0xffff;
  auto s2 = dsl::max(c);
  auto next = (c + dsl::shift(c + row, 1, Beyond, 1) + s2) & 0xffff;
  return std::tuple{next, (v + dsl::take(c, i)) & 0xfff, dsl::sum(next) + s1 + s2};
});
template <boundary Beyond>
void run_stored(drawing& draw, const dsl::extents<2>& n) {
  const int64_t count = n[0] * n[1];
  const auto any = [&] { return draw.below(4096); };
  placed<int64_t, 2> u(draw, n, any), v(draw, n, any);
  placed<int64_t, 1> row(draw, {n[1]}, any);
  placed<int64_t, 2> index(draw, n, [&] { return draw.below(2 * count + 6) - count - 3; });
  const auto before_u = u.host, before_v = v.host;
  int64_t s = draw.below(99);
  dsl::scalar<int64_t> ds = s;
  std::vector<int64_t> history;
  const std::size_t all = u.host.size();
  for (int64_t step = 0; step < draw.steps; ++step) {
    const auto each = [&](const auto& f) {
      std::vector<int64_t> to;
      for (int64_t i = 0; i < count; ++i) to.push_back(f(i));
      return to;
    };
    const auto at = [&](const std::vector<int64_t>& x, int64_t i) {
      return x[static_cast<std::size_t>(i)];
    };
    const auto beside = [&](const std::vector<int64_t>& x, int64_t i, int64_t by,
                            std::size_t axis) {
      return grid<int64_t, 2>{x, n}.shifted(i, by, Beyond, axis);
    };
    const auto taken = [&](const std::vector<int64_t>& x, int64_t i) {
      return at(x, position_of(at(index.host, i), count));
    };
    const auto around = each([&](int64_t i) {
      return beside(u.host, i, 1, 0) + 5 * beside(u.host, i, -1, 0) + at(u.host, i);
    });
    const auto a = each([&](int64_t i) {
      return (at(around, i) + 3 * beside(around, i, 1, 1) - beside(around, i, -1, 1) +
              beside(around, i, 2, 1) + at(v.host, i)) &
             0xffff;
    });
    const int64_t s1 = std::accumulate(a.begin(), a.end(), int64_t{0});
    const auto c = each([&](int64_t i) {
      const int64_t from = position_of(at(index.host, i), count),
                    b = (beside(a, i, 1, 0) + 3 * beside(a, i, -2, 1) + s1 + s) & 0xffff;
      return ((at(a, from) + at(v.host, from)) * 7 + b) & 0xffff;
    });
    const int64_t s2 = *std::max_element(c.begin(), c.end());
    const auto with_row = each([&](int64_t i) { return at(c, i) + at(row.host, i % n[1]); });
    u.host = each([&](int64_t i) { return (at(c, i) + beside(with_row, i, 1, 1) + s2) & 0xffff; });
    v.host = each([&](int64_t i) { return (at(v.host, i) + taken(c, i)) & 0xfff; });
    s = std::accumulate(u.host.begin(), u.host.end(), s1 + s2);
    if ((step + 1) % draw.every == 0) history.push_back(s);
  }
  std::vector<int64_t> got;
  const auto run = [&](strategy how, const dsl::launch& fixed) {
    got = dsl::iterate(draw.steps, stored<Beyond>, dsl::state(u.part, v.part, ds), index.part,
                       row.part, how, fixed, dsl::every(draw.every))
              .copy_to_host();
  };
  if (all > 1 && !(u.contiguous && v.contiguous && index.contiguous)) try {
      run(strategy::launches, {});
    } catch (const dsl::shape_error&) {
      EXPECT_EQ(u.got(), before_u);
      EXPECT_EQ(v.got(), before_v);
      return;
    }
  else draw.run_loop(run);
  ASSERT_EQ(u.got(), u.host);
  ASSERT_EQ(v.got(), v.host);
  EXPECT_EQ(got, history);
}
TEST_P(random_phases, with_neighbours_and_elements_of_values) {
  rounds(60, 9, {}, [](drawing& d) {
    run_stored<boundary::clamp>(d, {d.one_of({1, 2, 13, 30}), d.one_of({1, 3, 16, 33, 101})});
  });
}

TEST_P(random_phases, of_floats) {
  rounds(40, 5, {strategy::one_block, strategy::cooperative, strategy::streamed}, [](drawing& d) {
    run_centred<float>(d, d.one_of({1, 2, 31, 64, 257, 1031, 4001}), 2e-6L);
  });
}

// Complex fields: the second sum is of what the first one has changed.
constexpr auto fields = dsl::vectorize([](auto f, auto g, auto d, auto w, auto h) {
  using namespace std::complex_literals;
  auto pull = dsl::sum(f * w) + d;
  auto f1 = f - 1i * h * pull * (2 * g - 1);
  auto pull1 = dsl::sum(f1);
  auto g1 = g - 1i * h * (conj(pull1) * f1 - pull1 * conj(f1));
  return std::tuple{f1, g1, dsl::mean(g1) + 0.5f * pull1};
});
TEST_P(random_phases, of_complex_numbers) {
  using c32 = std::complex<float>;
  using exact = std::complex<long double>;
  rounds(
      40, 7, {strategy::one_block, strategy::cooperative, strategy::streamed}, [](drawing& draw) {
        const int64_t n = draw.one_of({1, 3, 64, 255, 1031});
        const auto any = [&] {
          return c32(static_cast<float>(draw.uniform()) - 0.5f, static_cast<float>(draw.uniform()));
        };
        placed<c32, 1> f(draw, {n}, any), g(draw, {n}, any);
        placed<float, 1> w(draw, {n}, [&] { return draw.uniform() / static_cast<double>(n); });
        const float h = 0.1f / static_cast<float>(n);
        dsl::scalar<c32> d = c32(0.25f, -0.5f);
        std::vector<exact> want_f(f.host.begin(), f.host.end()),
            want_g(g.host.begin(), g.host.end());
        exact want_d(0.25L, -0.5L);
        int64_t steps = 0;
        // The loop ends when |d| is larger than in any step up to a drawn one, by a margin.
        std::vector<long double> sizes;
        const exact i1(0, 1);
        const auto advance = [&] {
          exact pull = want_d, pull1 = 0, sum = 0;
          for (std::size_t i = 0; i < want_f.size(); ++i)
            pull += want_f[i] * static_cast<long double>(w.host[i]);
          for (std::size_t i = 0; i < want_f.size(); ++i)
            pull1 += want_f[i] -=
                i1 * static_cast<long double>(h) * pull * (2.0L * want_g[i] - 1.0L);
          for (std::size_t i = 0; i < want_f.size(); ++i)
            sum += want_g[i] -= i1 * static_cast<long double>(h) *
                                (std::conj(pull1) * want_f[i] - pull1 * std::conj(want_f[i]));
          want_d = sum / static_cast<long double>(n) + 0.5L * pull1;
        };
        const auto start_f = want_f, start_g = want_g;
        const exact start_d = want_d;
        for (int64_t k = 0; k < draw.steps; ++k) {
          advance();
          sizes.push_back(std::abs(want_d));
        }
        const float limit =
            sizes.empty()
                ? 0
                : static_cast<float>(sizes[static_cast<std::size_t>(draw.below(draw.steps))] *
                                     (1 - 1e-4L));
        want_f = start_f, want_g = start_g, want_d = start_d;
        bool clear = true;
        for (bool ended = false; steps < draw.steps && !ended; ++steps) {
          advance();
          clear = clear && std::abs(std::abs(want_d) / limit - 1) > 2e-5L;
          ended = std::abs(want_d) > limit;
        }
        dsl::scalar<int64_t> ran = draw.first;
        draw.run_loop([&](strategy how, const dsl::launch& fixed) {
          dsl::iterate(draw.steps, fields, dsl::state(f.part, g.part, d), w.part, h, how, fixed,
                       dsl::from_step(draw.first), dsl::until(abs(d) > limit, ran));
        });
        if (!clear) return;
        EXPECT_EQ(ran.value(), draw.first + steps);
        const auto got_f = f.got(), got_g = g.got();
        const long double by = 1e-5L;
        for (std::size_t i = 0; i < want_f.size(); ++i) {
          ASSERT_LT(std::abs(exact(got_f[i]) - want_f[i]), by) << i;
          ASSERT_LT(std::abs(exact(got_g[i]) - want_g[i]), by) << i;
        }
        EXPECT_LT(std::abs(exact(d.value()) - want_d), by * static_cast<long double>(n));
      });
}

}  // namespace

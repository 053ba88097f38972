// Further loops of several phases, drawn at random.
#include "phases_random.hpp"

namespace {

ON_EVERY_DEVICE(random_phases);

TEST_P(random_phases, with_neighbours_in_three_dimensions) {
  rounds(40, 4, {strategy::tiled}, [](drawing& d) {
    run_chain<3, 2, boundary::clamp, true, false>(
        d, {d.one_of({3, 12, 13, 14}), d.one_of({12, 14, 16}), d.one_of({4, 13, 18, 24})});
  });
}

TEST_P(random_phases, of_half_precision) {
  rounds(25, 6, {strategy::one_block, strategy::cooperative},
         [](drawing& d) { run_centred<dsl::half>(d, d.one_of({1, 7, 64, 513}), 4e-3L); });
}

// Conjugate gradients: neighbours of what changes in one phase only.
constexpr auto conjugate_gradients = dsl::vectorize([](auto x, auto r, auto p, auto rr) {
  const auto none = boundary::zero;
  auto q = 4 * p - dsl::shift(p, 1, none, 0) - dsl::shift(p, -1, none, 0) -
           dsl::shift(p, 1, none, 1) - dsl::shift(p, -1, none, 1);
  auto alpha = rr / dsl::sum(p * q);
  auto next = r - alpha * q;
  auto next_rr = dsl::sum(next * next);
  return std::tuple{x + alpha * p, next, next + next_rr / rr * p, next_rr};
});
TEST_P(random_phases, of_conjugate_gradients) {
  rounds(40, 8, {strategy::tiled}, [](drawing& draw) {
    const dsl::extents<2> n{draw.one_of({3, 12, 13, 31}), draw.one_of({5, 12, 16, 47})};
    placed<double, 2> b(draw, n, [&] { return draw.uniform() - 0.5; }),
        x(draw, n, [] { return 0.0; }),
        r(draw, n, [&, k = std::size_t{0}]() mutable { return b.host[k++]; }),
        p(draw, n, [&, k = std::size_t{0}]() mutable { return b.host[k++]; });
    std::vector<long double> want_x(x.host.begin(), x.host.end()),
        want_r(r.host.begin(), r.host.end()), want_p = want_r, q = want_r, squares;
    long double rr = 0;
    for (const long double each : want_r) rr += each * each;
    dsl::scalar<double> drr = static_cast<double>(rr);
    // Ends below a drawn step's value, by a margin, if none before it is near.
    const int64_t last = draw.below(draw.steps + 3);
    int64_t steps = 0;
    long double limit = 0;
    while (steps < draw.steps) {
      const grid<long double, 2> of_p{want_p, n};
      long double pq = 0, next_rr = 0;
      for (std::size_t i = 0; i < q.size(); ++i) {
        q[i] = 4 * want_p[i];
        for (const std::size_t axis : {0, 1})
          for (const int64_t by : {1, -1})
            q[i] -= of_p.shifted(static_cast<int64_t>(i), by, boundary::zero, axis);
        pq += want_p[i] * q[i];
      }
      for (std::size_t i = 0; i < q.size(); ++i) {
        want_x[i] += rr / pq * want_p[i];
        want_r[i] -= rr / pq * q[i];
        next_rr += want_r[i] * want_r[i];
      }
      for (std::size_t i = 0; i < q.size(); ++i) want_p[i] = want_r[i] + next_rr / rr * want_p[i];
      rr = next_rr;
      ++steps;
      const bool smallest =
          squares.empty() || rr * 1.01L < *std::min_element(squares.begin(), squares.end());
      squares.push_back(rr);
      if (steps > last && smallest) {
        limit = rr * 1.001L;
        break;
      }
    }
    dsl::scalar<int64_t> ran = draw.first;
    std::vector<double> history;
    draw.run_loop([&](strategy how, const dsl::launch& fixed) {
      history =
          dsl::iterate(draw.steps, conjugate_gradients, dsl::state(x.part, r.part, p.part, drr),
                       how, fixed, dsl::from_step(draw.first),
                       dsl::until(drr < static_cast<double>(limit), ran))
              .copy_to_host();
    });
    EXPECT_EQ(ran.value(), draw.first + steps);
    expect_near(want_x, x.got(), 1e-12L);
    expect_near(want_r, r.got(), 1e-12L);
    expect_near(want_p, p.got(), 1e-12L);
    squares.resize(static_cast<std::size_t>(draw.steps));
    expect_near(squares, history, 1e-10L);
  });
}

// Values that take many instructions are reused by later phases: of several phases, of
// several dtypes, and single bits. Compared with launches, which compute them again.
constexpr auto of_two_phases = dsl::vectorize([](auto x, auto w) {
  auto s = dsl::mean(x);
  auto later = exp(-abs(x * s)), sooner = sin(x);  // The later phase's value comes first.
  auto t = dsl::mean(later + sooner);
  return x + 0.1 * (later - sooner) * t + 0 * w;
});
constexpr auto of_several_dtypes = dsl::vectorize([](auto x, auto w) {
  auto s = dsl::mean(dsl::cast<float>(sin(x)));
  auto narrow = dsl::cast<float>(cos(x + w));
  auto t = dsl::mean(narrow * s);
  auto wide = exp(-abs(x * t));
  auto whole = dsl::cast<int>(100 * tanh(x));
  auto u = dsl::mean(wide * narrow + whole);
  return x + 0.01 * (wide - narrow * u + 0.001 * whole) * t;
});
constexpr auto of_bits = dsl::vectorize([](auto x, auto w) {
  auto large = tanh(x) > 0.2;
  auto s = dsl::mean(where(large, x, w));
  auto t = dsl::mean(where(large, x * s, sin(x)));
  return where(large, x - s, x + t) * 0.5;
});
template <class F>
void compare_with_launches(drawing& draw, const F& step) {
  const dsl::extents<1> n{draw.one_of({1, 2, 7, 64, 300, 1031})};
  const auto any = [&] { return 4 * draw.uniform() - 2; };
  placed<double, 1> x(draw, n, any), w(draw, n, any);
  dsl::array<double> same = x.part;
  dsl::iterate(draw.steps, step, dsl::state(same), w.part, strategy::launches);
  draw.run_loop([&](strategy how, const dsl::launch& fixed) {
    dsl::iterate(draw.steps, step, dsl::state(x.part), w.part, how, fixed);
  });
  const auto want = same.copy_to_host();
  expect_near(std::vector<long double>(want.begin(), want.end()), x.got(), 1e-6L);
}
TEST_P(random_phases, of_values_that_are_reused) {
  const auto strategies = {strategy::one_block, strategy::cooperative, strategy::streamed};
  rounds(20, 10, strategies, [](drawing& d) { compare_with_launches(d, of_two_phases); });
  rounds(20, 11, strategies, [](drawing& d) { compare_with_launches(d, of_several_dtypes); });
  rounds(20, 12, strategies, [](drawing& d) { compare_with_launches(d, of_bits); });
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

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

}  // namespace

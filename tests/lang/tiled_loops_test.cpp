// Tiled loops of stencils, each compared bit for bit with one launch a step. Shapes, layouts,
// blocks and their order are drawn at random; boundaries and distances are those of the formulas.
#include "../on_device.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace {

using dsl::boundary;
using dsl::shift;
using dsl::strategy;
using std::int64_t;

struct tiled_loops : on_device {
  void SetUp() override {
    on_device::SetUp();
    if (!IsSkipped() && !has_grid()) GTEST_SKIP() << "no tiles";
  }
};
ON_EVERY_DEVICE(tiled_loops);

// Integers, so that nothing depends on contraction into fma.
template <boundary Beyond, int Rows, int Columns>
constexpr auto one_field = dsl::vectorize([](auto u, auto t) {
  auto diagonal = shift(shift(u, Rows, Beyond, 0), -Columns, Beyond, 1);
  return (u * 3 + shift(u, Rows, Beyond, 0) * 5 + shift(u, -1, Beyond, 0) * 7 +
          shift(u, Columns, Beyond, 1) * 11 + shift(u, -1, Beyond, 1) * 13 + diagonal + t) &
         0xffff;
});

// A shifted formula, whose zeros beyond the ends differ from its operands'; arrays of three sizes,
// one read only in place; reductions are fed back; parameters are broadcast or read as neighbours.
constexpr auto three_fields =
    dsl::vectorize([](auto u, auto v, auto w, auto total, auto row, auto weight, auto t) {
      auto around = shift(u + 1, 1, boundary::zero, 0) + shift(u, -2, boundary::zero, 1) +
                    dsl::cast<int>(shift(w, 1, boundary::wrap, 1));
      auto un = (around * 5 + dsl::cast<int>(v) + row + shift(weight, 1, boundary::clamp, 1) +
                 dsl::cast<int>(t)) &
                0xfff;
      auto vn =
          dsl::cast<std::int16_t>((dsl::cast<int>(v) * 3 + u + dsl::cast<int>(total & 31)) & 0x3ff);
      return std::tuple{un, vn,
                        dsl::cast<std::uint8_t>(shift(w, -1, boundary::wrap, 0) +
                                                dsl::cast<std::uint8_t>(u & 15)),
                        dsl::sum(dsl::cast<int64_t>(un))};
    });

constexpr auto in_space = dsl::vectorize([](auto u) {
  return (u * 3 + shift(u, 1, boundary::wrap, 0) + shift(u, -1, boundary::wrap, 0) * 5 +
          shift(u, 1, boundary::reflect, 1) * 7 + shift(u, -2, boundary::reflect, 1) +
          shift(u, 3, boundary::clamp, 2) * 11 + shift(u, -1, boundary::clamp, 2)) &
         0xffff;
});

struct drawing {
  std::mt19937 engine;
  int64_t below(int64_t n) { return static_cast<int64_t>(engine() % static_cast<unsigned>(n)); }
  int64_t one_of(std::initializer_list<int64_t> all) {
    return all.begin()[below(static_cast<int64_t>(all.size()))];
  }
  dsl::launch blocks() {
    return {.block = static_cast<int>(below(4)) * dsl::properties(dsl::device::current()).warp_size,
            .grid = static_cast<int>(one_of({1, 2, 3, 4, 6, 9, 12}))};
  }
};

// A whole array, or a part of a larger one that begins anywhere.
template <class T, int R>
struct placed {
  dsl::array<T, R> memory;
  dsl::view<T, R> part;
  placed(drawing& draw, dsl::extents<R> n) : part(whole(draw, n)) { for_each_line(draw); }

 private:
  dsl::view<T, R> whole(drawing& draw, dsl::extents<R> n) {
    dsl::extents<R> larger = n, first{};
    if (draw.below(2) == 0)
      for (std::size_t d = 0; d < R; ++d) {
        first[d] = draw.below(3);
        larger[d] = n[d] + first[d] + draw.below(3);
      }
    memory = dsl::array<T, R>(larger);
    const auto at = [&](std::size_t d) { return dsl::slice(first[d], first[d] + n[d]); };
    if constexpr (R == 2) return memory(at(0), at(1));
    else return memory(at(0), at(1), at(2));
  }
  void for_each_line(drawing& draw) {
    std::vector<T> all(static_cast<std::size_t>(memory.size()));
    for (T& x : all) x = static_cast<T>(draw.engine() & 0x7f);
    memory.copy_from_host(all);
  }
};

template <class Run>
void expect_same(drawing& draw, const std::string& what, const Run& run) {
  const unsigned seed = draw.engine();
  const auto of = [&](strategy how, dsl::launch fixed) {
    drawing same{std::mt19937(seed)};
    return run(same, how, fixed);
  };
  const auto want = of(strategy::launches, {});
  dsl::launch fixed = draw.blocks();
  const std::string order = std::to_string(1 + draw.below(1000));
  const simulated_order shuffled(order.c_str());
  const auto on_chip = [&] {
    for (;; fixed.grid *= 2) try {
        return of(strategy::tiled, fixed);
      } catch (const dsl::device_error&) {
        if (fixed.grid > 100) throw;
      }
  };
  ASSERT_EQ(on_chip(), want) << what << ", seed " << seed << ", " << fixed.grid << " blocks of "
                             << fixed.block << ", order " << order;
}

template <boundary Beyond, int Rows, int Columns>
void loops_of_one_field(int rounds) {
  drawing draw{std::mt19937(static_cast<unsigned>(Beyond) * 100 + Rows)};
  for (int round = 0; round < rounds; ++round) {
    const dsl::extents<2> n{draw.one_of({12, 13, 17, 30, 64}),
                            draw.one_of({12, 15, 16, 33, 64, 101, 150})};
    const int64_t steps = draw.one_of({0, 1, 2, 3, 8});
    expect_same(draw, std::to_string(n[0]) + " x " + std::to_string(n[1]),
                [&](drawing& same, strategy how, dsl::launch fixed) {
                  placed<int, 2> u(same, n);
                  dsl::iterate(steps, one_field<Beyond, Rows, Columns>, dsl::state(u.part),
                               dsl::cast<int>(dsl::step), how, fixed);
                  return u.memory.copy_to_host();
                });
  }
}
TEST_P(tiled_loops, with_every_boundary) {
  loops_of_one_field<boundary::wrap, 1, 1>(24);
  loops_of_one_field<boundary::zero, 2, 4>(24);
  loops_of_one_field<boundary::clamp, 4, -3>(24);
  loops_of_one_field<boundary::reflect, -3, 2>(24);
}

TEST_P(tiled_loops, of_several_fields) {
  drawing draw{std::mt19937(7)};
  for (int round = 0; round < 30; ++round) {
    const dsl::extents<2> n{draw.one_of({12, 19, 48}), draw.one_of({12, 31, 80})};
    const int64_t steps = draw.one_of({1, 2, 7});
    expect_same(draw, std::to_string(n[0]) + " x " + std::to_string(n[1]),
                [&](drawing& same, strategy how, dsl::launch fixed) {
                  placed<int, 2> u(same, n), weight(same, n);
                  placed<std::int16_t, 2> v(same, n);
                  placed<std::uint8_t, 2> w(same, n);
                  const auto row = dsl::eval(dsl::cast<int>(dsl::arange<int64_t>(n[1]) & 7));
                  dsl::scalar<int64_t> total = int64_t{5};
                  const auto history =
                      dsl::iterate(steps, three_fields, dsl::state(u.part, v.part, w.part, total),
                                   row, weight.part, dsl::step, dsl::from_step(3), how, fixed);
                  return std::tuple{u.memory.copy_to_host(), v.memory.copy_to_host(),
                                    w.memory.copy_to_host(), total.value(), history.copy_to_host()};
                });
  }
}

TEST_P(tiled_loops, in_three_dimensions) {
  drawing draw{std::mt19937(3)};
  for (int round = 0; round < 20; ++round) {
    const dsl::extents<3> n{draw.one_of({12, 13, 20}), draw.one_of({16, 17, 21}),
                            draw.one_of({12, 16, 35})};
    const int64_t steps = draw.one_of({1, 2, 5});
    expect_same(draw,
                std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]),
                [&](drawing& same, strategy how, dsl::launch fixed) {
                  placed<int, 3> u(same, n);
                  dsl::iterate(steps, in_space, dsl::state(u.part), how, fixed);
                  return u.memory.copy_to_host();
                });
  }
}

// The same in several calls, with an end condition and rows of a history.
TEST_P(tiled_loops, end_and_go_on) {
  const auto step = dsl::vectorize([](auto u, auto total) {
    auto next = (u * 3 + shift(u, 1, boundary::wrap, 0) + shift(u, -1, boundary::wrap, 1)) & 0xff;
    return std::tuple{next, dsl::sum(dsl::cast<int64_t>(next)) + 0 * total};
  });
  const int64_t n = 40;
  const auto begin = [&] {
    return dsl::eval(dsl::reshape(dsl::cast<int>(dsl::arange<int64_t>(n * n) * 7 & 63), n, n));
  };
  const dsl::launch four{.block = 64, .grid = 4};
  for (const int64_t length : {1, 2, 5}) {
    auto u = begin(), v = begin();
    dsl::scalar<int64_t> a = int64_t{0}, b = int64_t{0};
    const auto all = dsl::iterate(10, step, dsl::state(u, a), strategy::launches).copy_to_host();
    std::vector<int64_t> parts;
    for (int64_t k = 0; k < 10; k += length)
      for (const int64_t sum :
           dsl::iterate(length, step, dsl::state(v, b), strategy::tiled, four).copy_to_host())
        parts.push_back(sum);
    EXPECT_EQ(v.copy_to_host(), u.copy_to_host());
    EXPECT_EQ(parts, all);
    // Ends after the step that computed the sum, even or odd.
    for (const std::size_t last : {std::size_t{3}, std::size_t{6}}) {
      auto x = begin(), y = begin();
      dsl::scalar<int64_t> s = int64_t{0}, t = int64_t{0}, ran = int64_t{0};
      const auto rows = dsl::iterate(10, step, dsl::state(x, s), dsl::until(s == all[last], ran),
                                     strategy::tiled, four, dsl::every(2),
                                     dsl::record([](auto field, auto) { return dsl::max(field); }));
      dsl::iterate(ran.value(), step, dsl::state(y, t), strategy::launches);
      EXPECT_EQ(ran.value(), static_cast<int64_t>(last) + 1);
      EXPECT_EQ(x.copy_to_host(), y.copy_to_host());
      EXPECT_EQ(std::get<0>(rows).copy_to_host()[1], all[3]);
    }
    // With a callback between launches.
    auto watched = begin();
    dsl::scalar<int64_t> c = int64_t{0};
    dsl::iterate(10, step, dsl::state(watched, c), strategy::tiled, four,
                 dsl::progress([](int64_t, int64_t) { return true; }));
    EXPECT_EQ(watched.copy_to_host(), u.copy_to_host());
  }
}

TEST_P(tiled_loops, are_chosen_and_refused) {
  auto u = dsl::zeros<int>(40, 40), small = dsl::zeros<int>(8, 64);
  const auto& step = one_field<boundary::wrap, 1, 1>;
  const dsl::loop_plan plan = dsl::plan_of(step, dsl::state(u), dsl::cast<int>(dsl::step));
  EXPECT_EQ(plan.loop, strategy::tiled);
  EXPECT_EQ(plan.tiles[0] * plan.tiles[1] * plan.tiles[2], plan.grid);
  EXPECT_NE(std::string(plan.describe().c_str()).find("tiles"), std::string::npos);
  EXPECT_EQ(dsl::plan_of(step, dsl::state(small), dsl::cast<int>(dsl::step)).loop,
            strategy::launches);
  EXPECT_THROW(dsl::iterate(1, step, dsl::state(small), 1, strategy::tiled), dsl::device_error);
  EXPECT_THROW(dsl::iterate(1, step, dsl::state(u), u, strategy::tiled), dsl::shape_error);
  auto line = dsl::zeros<int>(64);
  EXPECT_THROW(dsl::iterate(1, dsl::vectorize([](auto x) { return x + 1; }), dsl::state(line),
                            strategy::tiled),
               dsl::device_error);
}

}  // namespace

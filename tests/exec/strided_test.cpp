// Index spaces that are not one contiguous dimension: every element of random layouts, on every
// path of the strided kernel.
#include "../on_device.hpp"
#include "layouts.hpp"

#include <bit>
#include <cmath>

namespace {

struct strided : on_device {};
ON_EVERY_DEVICE(strided);

TEST_P(strided, rank_1) { random_layouts<float, float, float, 1>({{1}, {7}, {64}, {1027}}, 8); }
TEST_P(strided, rank_2) {
  random_layouts<float, float, float, 2>(
      {{1, 9}, {3, 5}, {33, 65}, {16, 16}, {17, 130}, {150, 70}, {2, 513}, {600, 3}}, 6);
}
TEST_P(strided, rank_3_of_mixed_sizes) {
  random_layouts<std::int16_t, std::int64_t, std::int64_t, 3>(
      {{2, 3, 4}, {5, 33, 34}, {40, 3, 37}, {300, 2, 3}}, 6);
}
TEST_P(strided, long_rows) {
  random_layouts<float, float, float, 2>({{3, 1030}, {70, 600}, {600, 70}, {20, 513}, {300, 256}},
                                         4);
}
TEST_P(strided, rank_8) {
  random_layouts<float, float, float, 8>({{2, 3, 1, 2, 3, 2, 3, 2}, {2, 1, 5, 2, 2, 3, 1, 7}}, 6);
}

// The target among its operand's elements: in place, between them, or overlapping them, which needs
// a temporary.
TEST_P(strided, target_and_operand_in_one_memory) {
  std::mt19937 engine(7);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(engine() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 400; ++round) {
    const dsl::extents<2> shape{1 + below(round % 4 == 0 ? 20 : 5),
                                1 + below(round % 3 == 0 ? 40 : 4)};
    struct place {
      std::int64_t first;
      dsl::extents<2> strides;
    };
    const std::int64_t gap = 1 + below(3);
    const auto draw = [&](bool may_repeat) {
      const std::int64_t inner = below(4) == 0 ? 1 + below(3) : gap;
      dsl::extents<2> strides{(shape[1] * inner + below(3)) * (below(2) == 0 ? gap : 1), inner};
      if (may_repeat && below(3) == 0) strides[0] = below(6);
      else if (shape[0] == shape[1] && below(2) == 0) std::swap(strides[0], strides[1]);
      std::int64_t first = 300 + below(round % 2 == 0 ? 4 : 60);
      for (std::size_t d = 0; d < 2; ++d)
        if (below(6) == 0) {
          first += (shape[d] - 1) * strides[d];
          strides[d] = -strides[d];
        }
      return place{first, strides};
    };
    const place from = draw(true), to = draw(false);
    std::vector<std::int32_t> want(9000);
    for (auto& x : want) x = static_cast<std::int32_t>(engine() % 1000);
    auto memory = dsl::to_device(want);
    const auto before = want;
    for_each<2>(shape, [&](const dsl::extents<2>& at) {
      const auto place_in = [&](const place& p) {
        return static_cast<std::size_t>(p.first + at[0] * p.strides[0] + at[1] * p.strides[1]);
      };
      want[place_in(to)] = before[place_in(from)] * 3 + 1;
    });
    const auto view_of = [&](const place& p) {
      return dsl::view<std::int32_t, 2>(memory.view().owner(), memory.data() + p.first, shape,
                                        p.strides);
    };
    view_of(to) = view_of(from) * 3 + 1;
    ASSERT_EQ(memory.copy_to_host(), want)
        << round << ": " << shape[0] << " x " << shape[1] << ", " << from.strides[0] << ' '
        << from.strides[1] << " to " << to.strides[0] << ' ' << to.strides[1];
  }
}

TEST_P(strided, neighbours_of_floats) {
  random_neighbours<float, 2>({{1, 9}, {5, 3}, {33, 65}, {4, 700}, {300, 6}, {40, 300}},
                              simulated() ? 5 : 30);
}

TEST_P(strided, blocks_of_any_size) {
  for (const int block : {32, 64, 96, 160, 256, 512, 1024}) {
    const auto hm = random_floats(90 * 70);
    const auto transposed = dsl::transpose(dsl::reshape(dsl::to_device(hm), 90, 70));
    dsl::array<float, 2> out(70, 90);
    dsl::assign(out, transposed + 1, {.block = block});
    const auto got = out.copy_to_host();
    for (std::size_t i = 0; i < 70; ++i)
      for (std::size_t j = 0; j < 90; ++j) ASSERT_EQ(got[i * 90 + j], hm[j * 70 + i] + 1) << block;
  }
}

// In a long formula contiguous arrays use quick forms of quotients, roots and logarithms, others do
// not. The bits are equal, also in place, at the end of a misaligned array, and for operands for
// which the quick forms have no value.
TEST_P(strided, quick_forms_to_the_bit) {
  const auto formula = dsl::vectorize([](auto x, auto y) {
    return std::tuple{x / y, sqrt(x), log(y),          rsqrt(y),
                      1 / x, 3 / y,   log(x) * exp(y), erfc(x) + exp(-y * y)};
  });
  constexpr std::size_t outputs = 8, n = 1037;
  const std::uint32_t rare[] = {0,          0x80000000, 1,          0x80000001,
                                0x007fffff, 0x00800000, 0x0d800000, 0x0d7fffff,
                                0x7e800000, 0x7e800001, 0x7f7fffff, 0x7f800000,
                                0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000};
  std::mt19937 engine(29);
  for (const unsigned one_in : {1u, 50u, 2000u}) {
    std::vector<float> of[2];
    for (auto& v : of)
      for (std::size_t i = 0; i < n; ++i) {
        const auto any = static_cast<std::uint32_t>(engine());
        v.push_back(engine() % one_in != 0
                        ? 0.5f + static_cast<float>(any >> 8) * 0x1p-24f
                        : std::bit_cast<float>(engine() % 2 == 0 ? any : rare[any % 16]));
      }
    for (const std::int64_t skipped : {0, 1}) {
      const dsl::slice taken(skipped, dsl::end);
      const std::int64_t left = static_cast<std::int64_t>(n) - skipped;
      dsl::array<float> x = dsl::to_device(of[0]), y = dsl::to_device(of[1]), quick[outputs];
      dsl::array<float, 2> spread(left, 2), other(left, 2), apart[outputs];
      spread(dsl::slice(), 0) = x(taken);
      other(dsl::slice(), 0) = y(taken);
      const auto p = spread(dsl::slice(), 0), q = other(dsl::slice(), 0);
      for (std::size_t k = 0; k < outputs; ++k) {
        if (k > 1) quick[k] = dsl::zeros<float>(n);
        apart[k] = dsl::zeros<float>(left, 2);
      }
      const auto to = [&](std::size_t k) { return apart[k](dsl::slice(), 0); };
      const auto at = [&](std::size_t k) { return quick[k](taken); };
      const auto assign = [&](const auto& a, const auto& b, auto... targets) {
        dsl::tie(targets...) = formula(a, b);
      };
      assign(p, q, to(0), to(1), to(2), to(3), to(4), to(5), to(6), to(7));
      assign(x(taken), y(taken), x(taken), y(taken), at(2), at(3), at(4), at(5), at(6), at(7));
      for (std::size_t k = 0; k < outputs; ++k) {
        const auto got = dsl::eval(k == 0 ? x(taken) : k == 1 ? y(taken) : at(k)).copy_to_host();
        const auto want = dsl::eval(to(k)).copy_to_host();
        for (std::size_t i = 0; i < want.size(); ++i) {
          if (std::isnan(want[i]) && std::isnan(got[i])) continue;
          const auto j = i + static_cast<std::size_t>(skipped);
          ASSERT_EQ(got[i], want[i]) << "output " << k << " of " << of[0][j] << ", " << of[1][j];
        }
      }
    }
  }
}

TEST_P(strided, paths) {
  if (!has_grid()) GTEST_SKIP() << "this device has no grid";
  const auto rows = dsl::ones<float>(64, 64);
  const auto columns = dsl::transpose(rows);
  dsl::array<float, 2> out(64, 64);
  EXPECT_STREQ(dsl::plan_of(out, rows + 1).path, "linear");
  EXPECT_STREQ(dsl::plan_of(out, rows + columns).path, "transposing");
  EXPECT_STREQ(dsl::plan_of(out, rows + rows(dsl::slice(), dsl::slice(0, 1))).path, "strided");
  const auto transposed = dsl::transpose(out);
  EXPECT_STREQ(dsl::plan_of(transposed, columns + 1).path,
               "linear");  // dimensions are taken in the output's order
}

}  // namespace

// Every set of axes of arrays of any shape, as a user names them. dtypes.cpp tests the traversal of
// every shape and layout, without the types of arrays.
#include "axes.hpp"

using reduction::bytes;
using reduction::compare_shapes;
using reduction::count;
using reduction::row;

namespace {

ON_EVERY_DEVICE(reductions);

TEST_P(reductions, axes_of_rank_1) {
  compare_shapes<std::int32_t, 1, row::sum, row::argmin>({{0}, {1}, {1000}});
}
TEST_P(reductions, axes_of_rank_2) {
  compare_shapes<std::int32_t, 2, row::sum, row::argmin>(
      {{0, 3}, {3, 0}, {33, 65}, {300, 70}, {2, 5000}, {5000, 2}});
}
TEST_P(reductions, axes_of_rank_3) {
  compare_shapes<std::int32_t, 3, row::sum>({{2, 3, 4}, {40, 3, 37}, {3, 0, 5}});
}
TEST_P(reductions, axes_of_rank_4) { compare_shapes<std::int32_t, 4, row::sum>({{5, 7, 11, 13}}); }

TEST_P(reductions, rank_8) {
  const dsl::extents<8> sizes{2, 3, 1, 2, 4, 1, 3, 5};
  const bytes elements =
      reduction::draw(reduction::operand_kind::whole, dsl::dtype::int32, count<8>(sizes));
  const auto flat = stored::to_array<std::int32_t>(elements);
  const auto x = dsl::reshape(flat, sizes);
  const reduction::operand given{dsl::dtype::int32, {sizes.begin(), sizes.end()}, elements};
  reduction::expect_reduced(row::sum, given, {}, reduction::evaluate<row::sum>(x));
  reduction::expect_reduced(row::sum, given, {{1, 4, -1}, false},
                            reduction::evaluate<row::sum>(x, dsl::axis(1, 4, -1)));
  reduction::expect_reduced(
      row::sum, given, {{0, 2, 3, 6}, true},
      reduction::evaluate<row::sum>(x, dsl::axis(0, 2, 3, 6), dsl::keep_dims));
  reduction::expect_reduced(row::argmin, given, {{4}, false},
                            reduction::evaluate<row::argmin>(x, dsl::axis(4)));
  reduction::expect_reduced(row::sum, given, {{0, 1, 2, 3, 4, 5, 6, 7}, false},
                            reduction::evaluate<row::sum>(x, dsl::axis(0, 1, 2, 3, 4, 5, 6, 7)));
}

// The reduced value may be an expression with broadcast operands: i + 100 j + 10,000 k, for which
// every sum is known.
TEST_P(reductions, broadcast_operands) {
  const std::int64_t a = 9, b = 40, c = 70;
  const auto i = dsl::reshape(dsl::arange<std::int64_t>(a), a, 1, 1);
  const auto j = dsl::reshape(dsl::arange<std::int64_t>(b), b, 1);
  const dsl::array<std::int64_t> k = dsl::arange<std::int64_t>(c);
  const auto x = i + 100 * j + 10'000 * k;
  const auto below = [](std::int64_t n) { return n * (n - 1) / 2; };
  EXPECT_EQ(dsl::sum(x).value(),
            below(a) * b * c + 100 * below(b) * a * c + 10'000 * below(c) * a * b);
  const auto along_0 = dsl::eval(dsl::sum(x, dsl::axis(0))).copy_to_host();
  const auto along_1 = dsl::eval(dsl::sum(x, dsl::axis(1))).copy_to_host();
  const auto along_2 = dsl::eval(dsl::max(x, dsl::axis(2))).copy_to_host();
  for (std::int64_t p = 0; p < a; ++p)
    for (std::int64_t q = 0; q < b; ++q)
      for (std::int64_t r = 0; r < c; ++r) {
        ASSERT_EQ(along_0[static_cast<std::size_t>(q * c + r)],
                  below(a) + a * (100 * q + 10'000 * r));
        ASSERT_EQ(along_1[static_cast<std::size_t>(p * c + r)],
                  100 * below(b) + b * (p + 10'000 * r));
        ASSERT_EQ(along_2[static_cast<std::size_t>(p * b + q)], p + 100 * q + 10'000 * (c - 1));
      }
  // One element, broadcast to every place.
  const dsl::array<std::int32_t> one = dsl::full<std::int32_t>(7, 1);
  EXPECT_EQ(dsl::sum(dsl::broadcast_to(one, 30, 50)).value(), 7 * 1500);
  const auto columns =
      dsl::eval(dsl::sum(dsl::broadcast_to(k, 30, c), dsl::axis(0))).copy_to_host();
  for (std::int64_t r = 0; r < c; ++r) ASSERT_EQ(columns[static_cast<std::size_t>(r)], 30 * r);
}

}  // namespace

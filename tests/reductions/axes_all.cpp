// More dtypes, rows and shapes than axes.cpp.
#include "axes.hpp"

using reduction::compare_shapes;
using reduction::row;

namespace {

/// Extents of small arrays; some are 0 or 1.
template <int Rank>
std::vector<dsl::extents<Rank>> random_shapes(int n, std::int64_t largest) {
  std::mt19937 engine(100 + Rank);
  std::vector<dsl::extents<Rank>> all;
  for (int k = 0; k < n; ++k)
    for (std::int64_t& extent : all.emplace_back()) {
      const auto draw =
          static_cast<std::int64_t>(engine() % static_cast<unsigned>(largest * 5 / 4 + 4));
      extent = draw <= largest ? draw : 1;
    }
  return all;
}

TEST_P(reductions, more_axes_of_rank_1) {
  compare_shapes<std::int32_t, 1, row::sum, row::max, row::argmin>(
      {{0}, {1}, {5}, {1000}, {34567}});
  compare_shapes<float, 1, row::var, row::nanmin>({{1}, {2}, {777}});
}
TEST_P(reductions, more_axes_of_rank_2) {
  compare_shapes<std::int32_t, 2, row::sum, row::max, row::argmin>({{0, 3},
                                                                    {3, 0},
                                                                    {1, 9},
                                                                    {9, 1},
                                                                    {33, 65},
                                                                    {65, 33},
                                                                    {16, 16},
                                                                    {2, 5000},
                                                                    {5000, 2},
                                                                    {257, 130},
                                                                    {513, 257},
                                                                    {8, 600},
                                                                    {21, 2500},
                                                                    {17, 513}});
  compare_shapes<float, 2, row::var, row::nanargmax, row::sum_as_double>(
      {{0, 4}, {1, 1}, {17, 100}, {100, 17}, {3, 3000}, {3000, 3}, {25, 2100}, {300, 500}});
  compare_shapes<bool, 2, row::any>({{7, 300}, {300, 7}});
  compare_shapes<dsl::half, 2, row::mean>({{5, 600}, {600, 5}, {19, 530}});
  compare_shapes<std::complex<double>, 2, row::prod>({{4, 70}, {70, 4}});
}
TEST_P(reductions, more_axes_of_rank_3) {
  compare_shapes<std::int32_t, 3, row::sum, row::max, row::argmin>(
      {{2, 3, 4}, {5, 33, 34}, {40, 3, 37}, {300, 2, 3}, {2, 600, 3}, {1, 5, 1}, {3, 13, 520}});
  compare_shapes<std::int32_t, 3, row::sum, row::max, row::argmin>(random_shapes<3>(10, 20));
  compare_shapes<float, 3, row::std>(random_shapes<3>(10, 20));
}
TEST_P(reductions, more_axes_of_rank_4) {
  compare_shapes<std::int32_t, 4, row::sum, row::argmin>({{5, 7, 11, 13}});
  compare_shapes<std::int32_t, 4, row::sum, row::argmin>(random_shapes<4>(8, 9));
}
// Rows and columns longer than a block's tile.
TEST_P(reductions, more_long_axes) {
  const std::int64_t n = simulated() ? 20'011 : 100'003;
  compare_shapes<std::int32_t, 2, row::sum, row::max, row::argmin>(
      {{3, n}, {n, 3}, {1, n}, {n, 1}});
  compare_shapes<float, 2, row::var>({{3, n}, {n, 3}});
}

// Rows at any alignment, longer or shorter than a vector.
TEST_P(reductions, more_misaligned) {
  for (const std::int64_t n : {1, 3, 15, 16, 17, 100, 1025, 5000})
    for (const std::int64_t first : {1, 2, 3, 5}) {
      const reduction::bytes elements =
          reduction::draw(reduction::operand_kind::whole, dsl::dtype::int8, n + first);
      const auto all = stored::to_array<std::int8_t>(elements);
      const reduction::bytes rest(elements.begin() + first, elements.end());
      const auto x = from_element(all, first, n);
      reduction::expect_reduced(row::sum, {dsl::dtype::int8, {n}, rest}, {},
                                reduction::evaluate<row::sum>(x));
      reduction::expect_reduced(row::argmax, {dsl::dtype::int8, {n}, rest}, {},
                                reduction::evaluate<row::argmax>(x));
      if (n % 5 != 0) continue;
      const auto rows = dsl::reshape(x, 5, -1);
      reduction::expect_reduced(row::min, {dsl::dtype::int8, {5, n / 5}, rest}, {{1}, false},
                                reduction::evaluate<row::min>(rows, dsl::axis(1)));
      reduction::expect_reduced(row::min, {dsl::dtype::int8, {5, n / 5}, rest}, {{0}, false},
                                reduction::evaluate<row::min>(rows, dsl::axis(0)));
    }
}

}  // namespace

// Reductions of every dtype, a few together; and every reduction of one: along all axes, in any layout, around every boundary that a block,
// a vector or a chunk has. All of all dtypes are in programs_test.cpp, without kernels.
#include "kernels.hpp"

using reduction::row;

namespace {

const std::vector<std::int64_t> sizes_of_vectors{1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 1536, 20'011};
std::vector<reduction::shape> shapes() { return {{1}, {777}, {33, 65}, {65, 33}, {3, 3000}, {3000, 3}, {17, 513}, {5, 33, 34}, {2, 300, 3}, {5, 4, 11, 3}}; }

// Of one value, and of a value and a position; of four values as well.
template <dsl::dtype D>
reduction::compiled_rows three() { return reduction::compiled<D, row::sum, row::max, row::argmin>(); }
template <dsl::dtype D>
reduction::compiled_rows four() { return reduction::compiled<D, row::sum, row::max, row::var, row::argmin>(); }

void compare(const reduction::compiled_rows& few) {
  compare_sizes(few, sizes_of_vectors);
  compare_shapes(few, shapes());
}

}  // namespace

#define A_FEW_REDUCTIONS(count, type) \
  TEST_P(reductions, count##_of_##type) { compare(count<dsl::dtype::type>()); }
A_FEW_REDUCTIONS(three, boolean)
A_FEW_REDUCTIONS(four, int8)
A_FEW_REDUCTIONS(three, uint8)
A_FEW_REDUCTIONS(three, int16)
A_FEW_REDUCTIONS(three, uint16)
A_FEW_REDUCTIONS(four, float16)
A_FEW_REDUCTIONS(three, bfloat16)
A_FEW_REDUCTIONS(four, int32)
A_FEW_REDUCTIONS(three, uint32)
A_FEW_REDUCTIONS(three, int64)
A_FEW_REDUCTIONS(three, uint64)
A_FEW_REDUCTIONS(four, float64)
A_FEW_REDUCTIONS(four, complex64)
A_FEW_REDUCTIONS(three, complex128)

/// Extents with a few elements, a few of them 0 and 1.
std::vector<reduction::shape> random_shapes(std::size_t rank, int n, std::int64_t largest) {
  std::mt19937 engine(100 + static_cast<unsigned>(rank));
  std::vector<reduction::shape> all;
  for (int k = 0; k < n; ++k)
    for (std::int64_t& extent : all.emplace_back(rank)) {
      const auto draw = static_cast<std::int64_t>(engine() % static_cast<unsigned>(largest * 5 / 4 + 4));
      extent = draw <= largest ? draw : 1;
    }
  return all;
}

// Rows and columns longer than anything that one block takes at once, and shapes of every kind.
TEST_P(reductions, shapes) {
  const auto few = four<dsl::dtype::int32>();
  const std::int64_t n = simulated() ? 20'011 : 100'003;
  compare_shapes(few, {{5}, {1000}, {34567}, {3, n}, {n, 3}, {1, n}, {n, 1}});
  compare_shapes(few, {{0}, {0, 3}, {3, 0}, {1, 9}, {9, 1}, {16, 16}, {2, 5000}, {5000, 2}, {257, 130}, {513, 257}, {8, 600}, {21, 2500}, {2, 3, 4}, {40, 3, 37}, {300, 2, 3}, {2, 600, 3}, {1, 5, 1}, {3, 13, 520}, {5, 7, 11, 13}});
  compare_shapes(few, random_shapes(3, 20, 20));
  compare_shapes(few, random_shapes(4, 5, 9));
  if (!simulated()) compare_sizes(few, {34'567, 1'049'728});
}

// Rows that start anywhere in memory, longer or shorter than a vector.
TEST_P(reductions, misaligned) {
  const auto few = four<dsl::dtype::int8>();
  for (const std::int64_t n : {1, 3, 15, 16, 17, 100, 1025, 5000})
    for (const std::int64_t first : {1, 2, 3, 5}) compare_layout(few, {n}, reduction::in_rows({n}, first)), compare_layout(few, {5, n / 5}, reduction::in_rows({5, n / 5}, first));
}

TEST_P(reductions, every_one_of_float32) {
  const auto of_none_too = reduction::every_row<dsl::dtype::float32, false>(), of_some = reduction::every_row<dsl::dtype::float32, true>();
  for (const auto& each : {of_none_too, of_some}) {
    compare_sizes(each, sizes_of_vectors);
    compare_shapes(each, shapes());
    compare_sizes(each, {0});
    compare_shapes(each, {{3, 0}, {0, 3}, {2, 0, 4}});
  }
}

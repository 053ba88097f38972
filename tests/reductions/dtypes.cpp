// Reductions of every dtype, a few together, and every reduction of one dtype: along all axes, in
// any layout, around every boundary of a block, a vector or a chunk. programs_test.cpp tests all
// reductions of all dtypes, without kernels.
#include "draw_mostly.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <limits>

using reduction::row;

namespace {

const std::vector<std::int64_t> sizes_of_vectors{1,   15,   16,   17,   127,  128,
                                                 129, 1023, 1024, 1025, 1536, 20'011};
std::vector<reduction::shape> shapes() {
  return {{1},       {777},     {33, 65},    {65, 33},    {3, 3000},
          {3000, 3}, {17, 513}, {5, 33, 34}, {2, 300, 3}, {5, 4, 11, 3}};
}

// Reductions with one accumulator, with a value and a position, and with four values.
template <dsl::dtype D>
reduction::compiled_rows three() {
  return reduction::compiled<D, row::sum, row::max, row::argmin>();
}
template <dsl::dtype D>
reduction::compiled_rows four() {
  return reduction::compiled<D, row::sum, row::max, row::var, row::argmin>();
}

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

/// Extents of small arrays; some are 0 or 1.
std::vector<reduction::shape> random_shapes(std::size_t rank, int n, std::int64_t largest) {
  std::mt19937 engine(100 + static_cast<unsigned>(rank));
  std::vector<reduction::shape> all;
  for (int k = 0; k < n; ++k)
    for (std::int64_t& extent : all.emplace_back(rank)) {
      const auto draw =
          static_cast<std::int64_t>(engine() % static_cast<unsigned>(largest * 5 / 4 + 4));
      extent = draw <= largest ? draw : 1;
    }
  return all;
}

// Rows and columns longer than a block's tile, and shapes of every kind.
TEST_P(reductions, shapes) {
  const auto few = four<dsl::dtype::int32>();
  const std::int64_t n = simulated() ? 20'011 : 100'003;
  compare_shapes(few, {{5}, {1000}, {34567}, {3, n}, {20'011, 3}, {1, n}, {20'011, 1}});
  compare_shapes(few, {{0},
                       {0, 3},
                       {3, 0},
                       {1, 9},
                       {9, 1},
                       {16, 16},
                       {2, 5000},
                       {5000, 2},
                       {257, 130},
                       {513, 257},
                       {8, 600},
                       {21, 2500},
                       {2, 3, 4},
                       {40, 3, 37},
                       {300, 2, 3},
                       {2, 600, 3},
                       {1, 5, 1},
                       {3, 13, 520},
                       {5, 7, 11, 13}});
  compare_shapes(few, random_shapes(3, 20, 20));
  compare_shapes(few, random_shapes(4, 5, 9));
  if (!simulated()) compare_sizes(few, {34'567, 1'049'728});
}

// Rows at any alignment, longer or shorter than a vector.
TEST_P(reductions, misaligned) {
  const auto few = four<dsl::dtype::int8>();
  for (const std::int64_t n : {1, 3, 15, 16, 17, 100, 1025, 5000})
    for (const std::int64_t first : {1, 2, 3, 5}) {
      compare_layout(few, {n}, reduction::in_rows({n}, first));
      compare_layout(few, {5, n / 5}, reduction::in_rows({5, n / 5}, first));
    }
}

TEST_P(reductions, every_one_of_float32) {
  const auto of_none_too = reduction::every_row<dsl::dtype::float32, false>(),
             of_some = reduction::every_row<dsl::dtype::float32, true>();
  for (const auto& each : {of_none_too, of_some}) {
    compare_sizes(each, sizes_of_vectors);
    compare_shapes(each, shapes());
    compare_sizes(each, {0});
    compare_shapes(each, {{3, 0}, {0, 3}, {2, 0, 4}});
  }
}

template <class T>
reduction::operand vector_of(const std::vector<T>& elements) {
  return {
      dsl::dtype_v<T>, {static_cast<std::int64_t>(elements.size())}, stored::bytes_of(elements)};
}

// A NaN at any single place.
TEST_P(reductions, nan_anywhere) {
  const auto of_none_too = reduction::every_row<dsl::dtype::float32, false>(),
             of_some = reduction::every_row<dsl::dtype::float32, true>();
  for (const std::size_t n : {1, 16, 17, 1000, 5000})
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> elements(n, 1);
      elements[at] = std::numeric_limits<float>::quiet_NaN();
      const reduction::operand x = vector_of(elements);
      for (const auto& each : {of_none_too, of_some}) {
        const auto got = run(*each.kernel, x, reduction::in_rows(x.extents), {});
        for (std::size_t i = 0; i < got.size(); ++i)
          reduction::expect_reduced(each.rows[i], x, {}, got[i]);
      }
    }
}

template <class T>
void expect_first(const reduction::compiled_rows& kernel, T usual, const std::vector<T>& others,
                  std::size_t n) {
  std::vector<T> v(n);
  for (unsigned draw = 0; draw < 12; ++draw) {
    reduction::draw_mostly(v, usual, others, draw);
    const reduction::operand x = vector_of(v);
    const auto got = run(*kernel.kernel, x, reduction::in_rows(x.extents), {});
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (kernel.rows[i] == row::argmax) {
        ASSERT_EQ(stored::element_at<std::int64_t>(got[i].values, 0),
                  std::max_element(v.begin(), v.end()) - v.begin())
            << n << ", draw " << draw;
      } else if (kernel.rows[i] == row::argmin) {
        ASSERT_EQ(stored::element_at<std::int64_t>(got[i].values, 0),
                  std::min_element(v.begin(), v.end()) - v.begin())
            << n << ", draw " << draw;
      }
    }
  }
}

TEST_P(reductions, positions_of_the_first) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto of_float = reduction::every_row<dsl::dtype::float32, true>(),
             of_bytes = four<dsl::dtype::int8>();
  for (const std::size_t n : {1, 31, 32, 33, 100, 2047, 2048, 2049, 5000, 40'000}) {
    expect_first(of_float, -infinity, {infinity, 0.0f, -0.0f, 1.0f}, n);
    expect_first(of_float, infinity, {-infinity, -1.0f}, n);
    expect_first<std::int8_t>(of_bytes, -128, {127, 0}, n);
    expect_first<std::int8_t>(of_bytes, 127, {-128, 1}, n);
  }
}

// Bit for bit: the order of the terms depends on the shape alone.
TEST_P(reductions, same_every_time) {
  const auto kernel = reduction::every_row<dsl::dtype::float32, false>();
  const std::int64_t n = simulated() ? 30'030 : 204'204;
  for (const reduction::shape& extents : {reduction::shape{n}, {30, n / 30}, {n / 30, 30}}) {
    const reduction::operand x{dsl::dtype::float32, extents, stored::bytes_of(random_floats(n))};
    for (const std::vector<int>& along : reduction::axis_sets(static_cast<int>(extents.size()))) {
      const auto once = [&] {
        std::vector<reduction::bytes> all;
        for (const reduction::outcome& each :
             run(*kernel.kernel, x, reduction::in_rows(extents), {along}))
          all.push_back(each.values);
        return all;
      };
      const auto first = once();
      for (int k = 0; k < 3; ++k) EXPECT_EQ(once(), first);
    }
  }
}

// Every set of axes of arrays of any shape, in every layout.
#include "../random_layout.hpp"
#include "rows.hpp"

namespace {

using reduction::bytes;
using reduction::row;

ON_EVERY_DEVICE(reductions);

template <int Rank>
std::int64_t count(const dsl::extents<Rank>& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()); }

// Kept and dropped axes take turns, and so do counting axes from the start and from the end.
template <row R, class T, class X>
void compare_axis_sets(const reduction::operand& given, const X& x) {
  bool keep = given.extents.size() % 2 == 1;
  for (std::vector<int> along : reduction::axis_sets(X::rank)) {
    if (!reduction::takes_several_axes(R) && along.size() > 1) continue;
    keep = !keep;
    if (keep)
      for (int& axis : along) axis -= X::rank;
    const auto call = [&](const auto&... o) { return reduction::evaluate<R>(x, o...); };
    const reduction::outcome got = keep ? reduction::with_options<X::rank, true, reduction::takes_several_axes(R)>(along, call)
                                        : reduction::with_options<X::rank, false, reduction::takes_several_axes(R)>(along, call);
    reduction::expect_reduced(R, given, {along, keep}, got);
  }
}

template <row R, class T, int Rank>
void compare_shape(const dsl::extents<Rank>& sizes, std::mt19937& engine) {
  const bytes elements = reduction::draw(reduction::written<R>::operand, dsl::dtype_v<T>, count<Rank>(sizes));
  const auto flat = stored::to_array<T>(elements);
  const reduction::operand given{dsl::dtype_v<T>, {sizes.begin(), sizes.end()}, elements};
  const auto x = dsl::reshape(flat, sizes);
  compare_axis_sets<R, T>(given, x);
  const random_layout<Rank> layout(sizes, engine, false);
  dsl::array<T> memory(layout.size);
  const auto scattered = layout.of(memory);
  scattered = x;
  compare_axis_sets<R, T>(given, dsl::view<const T, Rank>(scattered));
}

template <class T, int Rank, row... R>
void compare_shapes(const std::vector<dsl::extents<Rank>>& shapes) {
  std::mt19937 engine(Rank);
  for (const auto& sizes : shapes) (compare_shape<R, T, Rank>(sizes, engine), ...);
}

/// Extents with a few elements, a few of them 0 and 1.
template <int Rank>
std::vector<dsl::extents<Rank>> random_shapes(int n, std::int64_t largest) {
  std::mt19937 engine(100 + Rank);
  std::vector<dsl::extents<Rank>> all;
  for (int k = 0; k < n; ++k)
    for (std::int64_t& extent : all.emplace_back()) {
      const auto draw = static_cast<std::int64_t>(engine() % static_cast<unsigned>(largest * 5 / 4 + 4));
      extent = draw <= largest ? draw : 1;
    }
  return all;
}

TEST_P(reductions, axes_of_rank_1) {
  compare_shapes<std::int32_t, 1, row::sum, row::max, row::argmin>({{0}, {1}, {5}, {1000}, {34567}});
  compare_shapes<float, 1, row::var, row::nanmin>({{1}, {2}, {777}});
}
TEST_P(reductions, axes_of_rank_2) {
  compare_shapes<std::int32_t, 2, row::sum, row::max, row::argmin>(
      {{0, 3}, {3, 0}, {1, 9}, {9, 1}, {33, 65}, {65, 33}, {16, 16}, {2, 5000}, {5000, 2}, {257, 130}, {513, 257}, {8, 600}, {21, 2500}, {17, 513}});
  compare_shapes<float, 2, row::var, row::nanargmax, row::sum_as_double>({{0, 4}, {1, 1}, {17, 100}, {100, 17}, {3, 3000}, {3000, 3}, {25, 2100}});
  compare_shapes<bool, 2, row::any>({{7, 300}, {300, 7}});
  compare_shapes<dsl::half, 2, row::mean>({{5, 600}, {600, 5}, {19, 530}});
  compare_shapes<std::complex<double>, 2, row::prod>({{4, 70}, {70, 4}});
}
TEST_P(reductions, axes_of_rank_3) {
  compare_shapes<std::int32_t, 3, row::sum, row::max, row::argmin>({{2, 3, 4}, {5, 33, 34}, {40, 3, 37}, {300, 2, 3}, {2, 600, 3}, {1, 5, 1}, {3, 13, 520}});
  compare_shapes<std::int32_t, 3, row::sum, row::max, row::argmin>(random_shapes<3>(10, 20));
  compare_shapes<float, 3, row::std>(random_shapes<3>(10, 20));
}
TEST_P(reductions, axes_of_rank_4) {
  compare_shapes<std::int32_t, 4, row::sum, row::argmin>({{5, 7, 11, 13}});
  compare_shapes<std::int32_t, 4, row::sum, row::argmin>(random_shapes<4>(8, 9));
}
// Rows and columns longer than anything that one block takes at once.
TEST_P(reductions, long_axes) {
  const std::int64_t n = simulated() ? 20'011 : 100'003;
  compare_shapes<std::int32_t, 2, row::sum, row::max, row::argmin>({{3, n}, {n, 3}, {1, n}, {n, 1}});
  compare_shapes<float, 2, row::var>({{3, n}, {n, 3}});
}

TEST_P(reductions, rank_8) {
  const dsl::extents<8> sizes{2, 3, 1, 2, 4, 1, 3, 5};
  const bytes elements = reduction::draw(reduction::operand_kind::whole, dsl::dtype::int32, count<8>(sizes));
  const auto flat = stored::to_array<std::int32_t>(elements);
  const auto x = dsl::reshape(flat, sizes);
  const reduction::operand given{dsl::dtype::int32, {sizes.begin(), sizes.end()}, elements};
  reduction::expect_reduced(row::sum, given, {}, reduction::evaluate<row::sum>(x));
  reduction::expect_reduced(row::sum, given, {{1, 4, -1}, false}, reduction::evaluate<row::sum>(x, dsl::axis(1, 4, -1)));
  reduction::expect_reduced(row::sum, given, {{0, 2, 3, 6}, true}, reduction::evaluate<row::sum>(x, dsl::axis(0, 2, 3, 6), dsl::keep_dims));
  reduction::expect_reduced(row::argmax, given, {{4}, false}, reduction::evaluate<row::argmax>(x, dsl::axis(4)));
  reduction::expect_reduced(row::sum, given, {{0, 1, 2, 3, 4, 5, 6, 7}, false}, reduction::evaluate<row::sum>(x, dsl::axis(0, 1, 2, 3, 4, 5, 6, 7)));
}

// Rows that start anywhere in memory, longer or shorter than a vector.
TEST_P(reductions, misaligned) {
  for (const std::int64_t n : {1, 3, 15, 16, 17, 100, 1025, 5000})
    for (const std::int64_t first : {1, 2, 3, 5}) {
      const bytes elements = reduction::draw(reduction::operand_kind::whole, dsl::dtype::int8, n + first);
      const auto all = stored::to_array<std::int8_t>(elements);
      const bytes rest(elements.begin() + first, elements.end());
      const auto x = from_element(all, first, n);
      reduction::expect_reduced(row::sum, {dsl::dtype::int8, {n}, rest}, {}, reduction::evaluate<row::sum>(x));
      reduction::expect_reduced(row::argmax, {dsl::dtype::int8, {n}, rest}, {}, reduction::evaluate<row::argmax>(x));
      if (n % 5 != 0) continue;
      const auto rows = dsl::reshape(x, 5, -1);
      reduction::expect_reduced(row::min, {dsl::dtype::int8, {5, n / 5}, rest}, {{1}, false}, reduction::evaluate<row::min>(rows, dsl::axis(1)));
      reduction::expect_reduced(row::min, {dsl::dtype::int8, {5, n / 5}, rest}, {{0}, false}, reduction::evaluate<row::min>(rows, dsl::axis(0)));
    }
}

// What is reduced may be an expression, and its operands may broadcast: i + 100 j + 10,000 k, of which every sum is known.
TEST_P(reductions, broadcast_operands) {
  const std::int64_t a = 9, b = 40, c = 70;
  const auto i = dsl::reshape(dsl::arange<std::int64_t>(a), a, 1, 1);
  const auto j = dsl::reshape(dsl::arange<std::int64_t>(b), b, 1);
  const dsl::array<std::int64_t> k = dsl::arange<std::int64_t>(c);
  const auto x = i + 100 * j + 10'000 * k;
  const auto below = [](std::int64_t n) { return n * (n - 1) / 2; };
  EXPECT_EQ(dsl::sum(x).value(), below(a) * b * c + 100 * below(b) * a * c + 10'000 * below(c) * a * b);
  const auto along_0 = dsl::eval(dsl::sum(x, dsl::axis(0))).copy_to_host();
  const auto along_1 = dsl::eval(dsl::sum(x, dsl::axis(1))).copy_to_host();
  const auto along_2 = dsl::eval(dsl::max(x, dsl::axis(2))).copy_to_host();
  for (std::int64_t p = 0; p < a; ++p)
    for (std::int64_t q = 0; q < b; ++q)
      for (std::int64_t r = 0; r < c; ++r) {
        ASSERT_EQ(along_0[static_cast<std::size_t>(q * c + r)], below(a) + a * (100 * q + 10'000 * r));
        ASSERT_EQ(along_1[static_cast<std::size_t>(p * c + r)], 100 * below(b) + b * (p + 10'000 * r));
        ASSERT_EQ(along_2[static_cast<std::size_t>(p * b + q)], p + 100 * q + 10'000 * (c - 1));
      }
  // One element in every place.
  const dsl::array<std::int32_t> one = dsl::full<std::int32_t>(7, 1);
  EXPECT_EQ(dsl::sum(dsl::broadcast_to(one, 30, 50)).value(), 7 * 1500);
  const auto columns = dsl::eval(dsl::sum(dsl::broadcast_to(k, 30, c), dsl::axis(0))).copy_to_host();
  for (std::int64_t r = 0; r < c; ++r) ASSERT_EQ(columns[static_cast<std::size_t>(r)], 30 * r);
}

}  // namespace

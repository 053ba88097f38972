// Views of arrays and functions of shape one by one, of every rank.
#include "places.hpp"

namespace {

using dsl::end;
using dsl::slice;

struct all_shapes : on_device {};
ON_EVERY_DEVICE(all_shapes);

TEST_P(all_shapes, slices) {
  auto x = counting(10);
  const auto r = reference(10);
  expect_view(x(slice(1, -1)), r.slice(0, 1, -1, 1));
  expect_view(x(slice(end, end, -1)), r.flip(0));
  expect_view(x(slice(100, -100, -3)), r.slice(0, 100, -100, -3));
  expect_view(x(slice(0, end, 4)), r.slice(0, 0, std::nullopt, 4));
  expect_view(x(slice(4, 4)), r.slice(0, 4, 4, 1));
  auto m = counting(4, 5, 6);
  const auto rm = reference(4, 5, 6);
  expect_view(m(2), rm.pick(0, 2));
  expect_view(m(slice(), -1), rm.pick(1, 4));
  expect_view(m(-1, slice(3, end), slice(end, 1, -2)),
              rm.pick(0, 3).slice(0, 3, std::nullopt, 1).slice(1, std::nullopt, 1, -2));
  expect_view(m(slice(3, 0, -1), slice(), 2)(slice(0, 2), slice(1, end)),
              rm.slice(0, 3, 0, -1).pick(2, 2).slice(0, 0, 2, 1).slice(1, 1, std::nullopt, 1));
  expect_view(m(), rm);
  EXPECT_THROW(m(4), dsl::index_error);
  EXPECT_THROW(m(slice(0, 1, 0)), dsl::index_error);
}

TEST_P(all_shapes, chains_of_views) {
  auto x = counting(4, 5, 6);
  const auto r = reference(4, 5, 6);
  expect_view(dsl::transpose(dsl::flip(x, 1))(slice(1, end, 2), 3),
              r.flip(1).transpose().slice(0, 1, std::nullopt, 2).pick(1, 3));
  expect_view(dsl::permute(x, 2, 0, 1), r.permute({2, 0, 1}));
  expect_view(dsl::permute(x, -1, 0, 1)(0), r.permute({2, 0, 1}).pick(0, 0));
  expect_view(dsl::flip(x), r.flip(0).flip(1).flip(2));
  expect_view(dsl::diagonal(x, -1), r.diagonal(-1));
  expect_view(dsl::diagonal(x), r.diagonal(0));
  expect_view(dsl::broadcast_to(x(slice(), slice(2, 3)), 3, 4, 5, 6),
              r.slice(1, 2, 3, 1).broadcast_to({3, 4, 5, 6}));
  expect_view(dsl::expand_dims(x, 0, -1), r.reshape({1, 4, 5, 6, 1}));
  expect_view(dsl::squeeze(x(slice(1, 2), slice(), slice(-1, end)), 0, -1),
              r.pick(0, 1).pick(1, 5));
  expect_view(dsl::reshape(x, 2, -1, 3), r.reshape({2, 20, 3}));
  expect_view(dsl::reshape(x, dsl::extents<2>{20, 6}), r.reshape({20, 6}));
  expect_view(dsl::ravel(x), r.reshape({120}));
  expect_view(dsl::reshape(x(slice(), slice(0, 4)), 4, 2, 12),
              r.slice(1, 0, 4, 1).reshape({4, 2, 12}));
  EXPECT_THROW(dsl::ravel(dsl::transpose(x)), dsl::shape_error);
}

TEST_P(all_shapes, ranks_0_and_8) {
  dsl::scalar<int> s = 7;
  EXPECT_EQ(dsl::reshape(s, 1, 1).copy_to_host(), ints{7});
  EXPECT_EQ(dsl::broadcast_to(s, 2, 2).copy_to_host(), ints(4, 7));
  EXPECT_EQ(int(dsl::transpose(s)()), 7);
  dsl::array<int, 0> zero(dsl::extents<0>{});
  zero() = 5;
  EXPECT_EQ(dsl::flip(zero).copy_to_host(), ints{5});
  auto x = counting(2, 1, 3, 2, 1, 2, 3, 2);
  const auto r = reference(2, 1, 3, 2, 1, 2, 3, 2);
  expect_view(dsl::transpose(x), r.transpose());
  expect_view(dsl::flip(dsl::permute(x, 7, 6, 5, 4, 0, 1, 2, 3))(slice(), slice(1, end)), [&] {
    auto want = r.permute({7, 6, 5, 4, 0, 1, 2, 3});
    for (std::size_t d = 0; d < 8; ++d) want = want.flip(d);
    return want.slice(1, 1, std::nullopt, 1);
  }());
  EXPECT_EQ(x(1, 0, 2, 1, 0, 1, 2, 1).value(), 143);
}

TEST_P(all_shapes, expressions) {
  auto x = counting(4, 5, 6);
  const auto r = reference(4, 5, 6);
  auto row = dsl::zeros<int>(6);
  auto column = dsl::zeros<int>(5, 1);
  const auto e = x + row + column - dsl::scalar<int>(0) + 0;
  expect(dsl::flip(e), r.flip(0).flip(1).flip(2));
  expect(dsl::flip(e, -1), r.flip(2));
  expect(dsl::transpose(e), r.transpose());
  expect(dsl::permute(e, 1, 0, 2), r.permute({1, 0, 2}));
  expect(e(slice(1, end), 2), r.slice(0, 1, std::nullopt, 1).pick(1, 2));
  expect(dsl::diagonal(e, 1), r.diagonal(1));
  expect(dsl::broadcast_to(e(0, slice(1, 2)), 3, 6),
         r.pick(0, 0).slice(0, 1, 2, 1).broadcast_to({3, 6}));
  expect(dsl::squeeze(dsl::expand_dims(e, 0), 0), r);
  expect(
      dsl::reshape(dsl::reshape(dsl::arange<int>(120), 20, -1)(slice(end, end, -1)) + 0, 20, 2, 3),
      r.reshape({20, 6}).flip(0).reshape({20, 2, 3}));
  EXPECT_THROW(dsl::reshape(e, 120), dsl::shape_error);  // `row` cannot be broadcast to it

  // Flips and slices apply to the broadcast operand.
  const auto ramp = dsl::to_device(ints{0, 1, 2, 3, 4, 5});
  dsl::array<int, 2> cut = (ramp * 10 + dsl::zeros<int>(5, 1))(slice(1, 3), slice(end, 2, -1));
  EXPECT_EQ(cut.copy_to_host(), (ints{50, 40, 30, 50, 40, 30}));
  dsl::scalar<int> one = (x * 2)(3, 4, 5);
  EXPECT_EQ(one.value(), 238);
  dsl::scalar<std::int64_t> position = dsl::index(2, 4, 5, 6)(0, 0, -1);
  EXPECT_EQ(position.value(), 5);
  dsl::array<int, 2> scaled = dsl::broadcast_to(one + 1, 2, 2);
  EXPECT_EQ(scaled.copy_to_host(), ints(4, 239));
  const auto twice = dsl::vectorize([](auto a, auto b) { return a + 2 * b; });
  expect(dsl::transpose(twice(x, row)), r.transpose());
}

TEST_P(all_shapes, generators) {
  dsl::array<std::int64_t, 2> rows = dsl::index(0, 2, 3), columns = dsl::index(-1, 2, 3);
  EXPECT_EQ(rows.copy_to_host(), (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(columns.copy_to_host(), (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}));
  dsl::array<double, 2> radius = sqrt(dsl::cast<double>(dsl::index(0, 4, 4) * dsl::index(0, 4, 4) +
                                                        dsl::index(1, 4, 4) * dsl::index(1, 4, 4)));
  EXPECT_EQ(radius(3, 0), 3.0);
  EXPECT_THROW(dsl::index(2, 4, 4), dsl::shape_error);
  dsl::array<std::int64_t, 2> turned = dsl::flip(dsl::transpose(dsl::index(1, 2, 3)), 0);
  EXPECT_EQ(turned.copy_to_host(), (std::vector<std::int64_t>{2, 2, 1, 1, 0, 0}));

  dsl::array<float, 2> threes = dsl::broadcast_to(3.0f, 2, 2) + dsl::arange<float>(2);
  EXPECT_EQ(threes.copy_to_host(), (std::vector<float>{3, 4, 3, 4}));
  static_assert(
      dsl::dtype_of_expression<decltype(dsl::broadcast_to(1.0, 2) + dsl::arange<float>(2))> ==
      dsl::dtype::float64);
  EXPECT_THROW(dsl::broadcast_to(1.0, -2), dsl::shape_error);
  EXPECT_EQ(dsl::eval(dsl::arange<std::int64_t>(9007199254740992, 9007199254740995)).size(), 3);
  EXPECT_EQ(dsl::eval(dsl::arange<unsigned>(7, 1)).size(), 0);
  EXPECT_THROW(dsl::arange<int>(0, 5, 0), dsl::shape_error);
  EXPECT_THROW(dsl::arange<int>(-1), dsl::shape_error);
}

}  // namespace

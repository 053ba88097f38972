// Selections against plain loops.
#include <dsl/by_key.hpp>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using selections = on_device;
ON_EVERY_DEVICE(selections);

TEST_P(selections, keep_the_order) {
  for (const std::int64_t n : sizes())
    for (const float limit : {-3.f, -1.9f, 0.f, 1.99f, 3.f}) {
      const auto host = random_floats(n);
      const auto x = dsl::to_device(host);
      std::vector<float> want;
      std::vector<std::int64_t> places;
      for (std::size_t i = 0; i < host.size(); ++i)
        if (host[i] > limit)
          want.push_back(2 * host[i]), places.push_back(static_cast<std::int64_t>(i));
      dsl::array<float> kept = dsl::full<float>(-9, n);
      dsl::array<std::int64_t> at;
      dsl::scalar<std::int64_t> count;
      dsl::tie(kept, at, count) = dsl::compress(x > limit, 2 * x, dsl::arange<std::int64_t>(n));
      const auto got = kept.copy_to_host();
      const auto got_places = at.copy_to_host();
      ASSERT_EQ(count.value(), static_cast<std::int64_t>(want.size())) << n;
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], i < want.size() ? want[i] : -9) << n << ", " << i;
        if (i < want.size()) {
          ASSERT_EQ(got_places[i], places[i]);
        }
      }
      const dsl::array<float> exact = dsl::compress(x > limit, 2 * x);
      ASSERT_EQ(exact.copy_to_host(), want);
    }
}

TEST_P(selections, of_several_dimensions) {
  const std::int64_t rows = 23, columns = 41;
  std::vector<std::int8_t> host;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    host.push_back(static_cast<std::int8_t>(i * 37 % 5 - 2));
  const auto all = dsl::to_device(host);
  const auto m = dsl::transpose(dsl::reshape(all, rows, columns));
  std::vector<std::int64_t> want_rows, want_columns;
  for (std::int64_t i = 0; i < columns; ++i)
    for (std::int64_t j = 0; j < rows; ++j)
      if (host[static_cast<std::size_t>(j * columns + i)] != 0)
        want_rows.push_back(i), want_columns.push_back(j);
  dsl::array<std::int64_t> r, c;
  dsl::scalar<std::int64_t> count;
  dsl::tie(r, c, count) = dsl::nonzero(m);
  ASSERT_EQ(count.value(), static_cast<std::int64_t>(want_rows.size()));
  EXPECT_EQ(dsl::eval(r(dsl::slice(0, count.value()))).copy_to_host(), want_rows);
  EXPECT_EQ(dsl::eval(c(dsl::slice(0, count.value()))).copy_to_host(), want_columns);
}

TEST_P(selections, in_place_and_with_too_little_room) {
  auto x = dsl::to_device(std::vector<int>{5, 0, 7, 0, 9, 1});
  dsl::scalar<std::int64_t> count;
  dsl::tie(x, count) = dsl::compress(x > 1, x);
  EXPECT_EQ(x.copy_to_host(), (std::vector<int>{5, 7, 9, 0, 9, 1}));
  dsl::array<int> two = dsl::zeros<int>(3);
  auto room = two(dsl::slice(0, 2));
  dsl::tie(room, count) = dsl::compress(x > 4, x);
  EXPECT_EQ(two.copy_to_host(), (std::vector<int>{5, 7, 0}));
  EXPECT_EQ(count.value(), 4);
}

// They are refused as a formula's are, and keep their elements.
TEST_P(selections, targets_share_no_element) {
  dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(6), fresh;
  dsl::scalar<std::int64_t> count(7);
  auto first = x(dsl::slice(0, 3)), second = x(dsl::slice(2, 5)),
       even = x(dsl::slice(0, dsl::end, 2)), odd = x(dsl::slice(1, dsl::end, 2));
  const auto select = [&](auto& a, auto& b, auto& n) {
    dsl::tie(a, b, n) = dsl::compress(x > 2, x, 10 * x);
  };
  EXPECT_EQ(
      error_of([&] { select(first, second, count); }),
      "two targets have an element in common: number 0 of shape (3) and number 1 of shape (3)");
  EXPECT_EQ(error_of([&] { select(fresh, fresh, count); }),
            "a target stands twice in one statement");
  auto inside = x(2).view();
  EXPECT_EQ(
      error_of([&] { dsl::tie(first, inside) = dsl::unique(x); }),
      "two targets have an element in common: number 0 of shape (3) and number 1 of shape ()");
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(count.value(), 7);
  dsl::array<std::int64_t> elsewhere(dsl::extents<1>{6},
                                     simulated() ? dsl::device("host") : dsl::device("sim"));
  EXPECT_THROW(select(fresh, elsewhere, count), dsl::device_error);
  EXPECT_FALSE(fresh.has_memory());
  select(even, odd, count);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::int64_t>{3, 30, 4, 40, 5, 50}));
}

TEST_P(selections, writing_where_a_condition_holds) {
  auto x = dsl::to_device(std::vector<float>{1, 20, 3, 40});
  dsl::assign_where(x > 15.f, x, 0.f);
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 0, 3, 0}));
  auto last = x(dsl::slice(2, 4));
  dsl::assign_where(last == 0.f, last, x(dsl::slice(0, 2)));
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 0, 3, 0}));
}

}  // namespace

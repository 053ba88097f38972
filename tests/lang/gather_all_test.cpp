// The heat step as one expression, gathers of elements of every size, and expressions in place of
// views.
#include "../on_device.hpp"
#include "boundary_reference.hpp"

#include <algorithm>

namespace {

struct all_gathering : on_device {};
ON_EVERY_DEVICE(all_gathering);

TEST_P(all_gathering, heat_step_is_one_expression) {
  const std::int64_t rows = 70, columns = 131;
  const auto host = random_floats(rows * columns);
  const auto a = dsl::to_device(host);
  const auto u = dsl::reshape(a, rows, columns);
  using dsl::boundary;
  dsl::array<float, 2> next(rows, columns);
  next = u + 0.1 * (dsl::shift(u, 1, boundary::clamp, 0) + dsl::shift(u, -1, boundary::clamp, 0) +
                    dsl::shift(u, 1, boundary::clamp, 1) + dsl::shift(u, -1, boundary::clamp, 1) -
                    4 * u);
  const auto got = next.copy_to_host();
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return double(host[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, rows - 1) * columns +
                                                std::clamp<std::int64_t>(j, 0, columns - 1))]);
  };
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      ASSERT_NEAR(got[static_cast<std::size_t>(i * columns + j)],
                  at(i, j) + 0.1 * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) -
                                    4 * at(i, j)),
                  2e-6);
}

template <class T>
void takes() {
  std::vector<T> host;
  for (int i = 0; i < 100; ++i) host.push_back(static_cast<T>(i % 50));
  const auto x = dsl::to_device(host);
  std::vector<std::int32_t> where;
  for (int i = 0; i < 1000; ++i) where.push_back((i * 37) % 200 - 100);
  const auto index = dsl::to_device(where);
  dsl::array<T> got = dsl::take(x, index),
                every_second = dsl::take(x(dsl::slice(1, dsl::end, 2)), abs(index) / 2);
  const auto a = got.copy_to_host(), b = every_second.copy_to_host();
  for (std::size_t i = 0; i < where.size(); ++i) {
    const int k = where[i];
    ASSERT_EQ(static_cast<double>(a[i]),
              static_cast<double>(host[static_cast<std::size_t>(k < 0 ? k + 100 : k)]))
        << k;
    ASSERT_EQ(
        static_cast<double>(b[i]),
        static_cast<double>(host[static_cast<std::size_t>(2 * std::min(std::abs(k) / 2, 49) + 1)]))
        << k;
  }
}
TEST_P(all_gathering, take_of_every_size) {
  takes<std::int8_t>();
  takes<dsl::half>();
  takes<float>();
  takes<double>();
}

TEST_P(all_gathering, rearranged_where_it_stands) {
  const auto x = dsl::to_device(std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto m = dsl::reshape(x, 2, 3);
  dsl::array<float, 2> turned = dsl::transpose(dsl::shift(m, 1)),
                       rows = dsl::transpose(
                           dsl::take(m, dsl::to_device(std::vector<int>{1, -2, 1}), 0));
  EXPECT_EQ(turned.copy_to_host(), (std::vector<float>{0, 0, 0, 3, 1, 4}));
  EXPECT_EQ(rows.copy_to_host(), (std::vector<float>{3, 0, 3, 4, 1, 4, 5, 2, 5}));
  dsl::array<float> part = (dsl::shift(x, 1) + x)(dsl::slice(1, 3)),
                    back = dsl::flip(dsl::shift(x, -2, dsl::boundary::reflect));
  EXPECT_EQ(part.copy_to_host(), (std::vector<float>{1, 3}));
  EXPECT_EQ(back.copy_to_host(), (std::vector<float>{3, 4, 5, 4, 3, 2}));
  // A single element, also broadcast.
  EXPECT_EQ(dsl::shift(x, 1, dsl::boundary::wrap)(0).value(), 5);
  dsl::array<float, 2> corner =
      dsl::broadcast_to(dsl::shift(m, 1, dsl::boundary::clamp, 0)(1, 2), 2, 2);
  EXPECT_EQ(corner.copy_to_host(), std::vector<float>(4, 2));
  EXPECT_EQ(dsl::sum(dsl::flip(dsl::shift(x, 1))(dsl::slice(0, 3))).value(), 2 + 3 + 4);
  EXPECT_THROW(dsl::reshape(dsl::shift(dsl::transpose(m), 1), 6), dsl::shape_error);
  // A single position.
  dsl::array<float> last = dsl::take(m, -1, 0),
                    first = dsl::take(m, dsl::to_device(std::vector<int>{4, 0})(1), 0) +
                            dsl::take(x, dsl::scalar<int>(5));
  EXPECT_EQ(last.copy_to_host(), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(first.copy_to_host(), (std::vector<float>{5, 6, 7}));
}

}  // namespace

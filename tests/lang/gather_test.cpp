// Neighbours and gathers: every element, every boundary, along every axis.
#include "../on_device.hpp"

#include <algorithm>

namespace {

struct gathering : on_device {};
ON_EVERY_DEVICE(gathering);

// By the definition of the boundary, one step at a time; -1: zero.
std::int64_t walk(dsl::boundary beyond, std::int64_t i, std::int64_t n) {
  switch (beyond) {
    case dsl::boundary::zero: return i < 0 || i >= n ? -1 : i;
    case dsl::boundary::clamp: return std::clamp<std::int64_t>(i, 0, n - 1);
    case dsl::boundary::wrap:
      while (i < 0) i += n;
      return i % n;
    default:
      if (n == 1) return 0;
      while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
      return i;
  }
}
constexpr dsl::boundary boundaries[] = {dsl::boundary::zero, dsl::boundary::wrap, dsl::boundary::clamp, dsl::boundary::reflect};

TEST_P(gathering, shift_along_one_axis) {
  for (const std::int64_t n : {1, 2, 3, 5, 64, 257, 1030}) {
    const auto host = random_floats(n);
    const auto a = dsl::to_device(host);
    for (const auto beyond : boundaries)
      for (const std::int64_t k : {0, 1, -1, 2, -3, 5, 1000, -2500}) {
        dsl::array<float> out = dsl::shift(a, k, beyond) + 1;
        const auto got = out.copy_to_host();
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t from = walk(beyond, i - k, n);
          ASSERT_EQ(got[static_cast<std::size_t>(i)], (from < 0 ? 0 : host[static_cast<std::size_t>(from)]) + 1) << n << ' ' << k << ' ' << int(beyond) << ' ' << i;
        }
      }
  }
}

TEST_P(gathering, shift_along_any_axis_of_any_layout) {
  const std::int64_t sizes[] = {7, 18, 33};
  const auto host = random_floats(7 * 18 * 33);
  const auto a = dsl::to_device(host);
  const auto u = dsl::reshape(a, 7, 18, 33);
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) { return host[static_cast<std::size_t>((i * 18 + j) * 33 + k)]; };
  for (int axis = 0; axis < 3; ++axis)
    for (const auto beyond : boundaries)
      for (const std::int64_t k : {1, -2, 40}) {
        dsl::array<float, 3> plain = dsl::shift(u, k, beyond, axis) - u;
        dsl::array<float, 3> turned = dsl::shift(dsl::transpose(u), k, beyond, 2 - axis) - dsl::transpose(u);
        const auto got = plain.copy_to_host(), other = turned.copy_to_host();
        for (std::int64_t i = 0; i < 7; ++i)
          for (std::int64_t j = 0; j < 18; ++j)
            for (std::int64_t l = 0; l < 33; ++l) {
              std::int64_t from[] = {i, j, l};
              from[axis] = walk(beyond, from[axis] - k, sizes[axis]);
              const float want = (from[axis] < 0 ? 0 : at(from[0], from[1], from[2])) - at(i, j, l);
              ASSERT_EQ(got[static_cast<std::size_t>((i * 18 + j) * 33 + l)], want) << axis << ' ' << k << ' ' << int(beyond);
              ASSERT_EQ(other[static_cast<std::size_t>((l * 18 + j) * 7 + i)], want) << axis << ' ' << k << ' ' << int(beyond);
            }
      }
}

TEST_P(gathering, a_shifted_row_broadcasts_and_a_shift_stretches_nothing) {
  const auto row = dsl::to_device(std::vector<int>{1, 2, 3});
  dsl::array<int, 2> out = dsl::zeros<int>(2, 3) + dsl::shift(row, 1, dsl::boundary::wrap);
  EXPECT_EQ(out.copy_to_host(), (std::vector<int>{3, 1, 2, 3, 1, 2}));
  dsl::array<int, 2> column = dsl::zeros<int>(2, 3) + dsl::shift(dsl::reshape(row, 1, 3), 1, dsl::boundary::zero, 0);
  EXPECT_EQ(column.copy_to_host(), std::vector<int>(6, 0));
}

TEST_P(gathering, heat_step_is_one_expression) {
  const std::int64_t rows = 70, columns = 131;
  const auto host = random_floats(rows * columns);
  const auto a = dsl::to_device(host);
  const auto u = dsl::reshape(a, rows, columns);
  using dsl::boundary;
  dsl::array<float, 2> next(rows, columns);
  next = u + 0.1 * (dsl::shift(u, 1, boundary::clamp, 0) + dsl::shift(u, -1, boundary::clamp, 0) + dsl::shift(u, 1, boundary::clamp, 1) +
                    dsl::shift(u, -1, boundary::clamp, 1) - 4 * u);
  const auto got = next.copy_to_host();
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return double(host[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, rows - 1) * columns + std::clamp<std::int64_t>(j, 0, columns - 1))]);
  };
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      ASSERT_NEAR(got[static_cast<std::size_t>(i * columns + j)], at(i, j) + 0.1 * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) - 4 * at(i, j)), 2e-6);
}

TEST_P(gathering, in_place_the_right_side_comes_first) {
  const auto host = random_floats(5000);
  auto a = dsl::to_device(host);
  a = dsl::shift(a, 1, dsl::boundary::wrap) + a;
  auto got = a.copy_to_host();
  for (std::size_t i = 0; i < 5000; ++i) ASSERT_EQ(got[i], host[(i + 4999) % 5000] + host[i]) << i;
  a = dsl::to_device(host);
  a = dsl::take(a, 4999 - dsl::arange<int>(5000));
  got = a.copy_to_host();
  for (std::size_t i = 0; i < 5000; ++i) ASSERT_EQ(got[i], host[4999 - i]) << i;
}

template <class T>
void takes() {
  std::vector<T> host;
  for (int i = 0; i < 100; ++i) host.push_back(static_cast<T>(i % 50));
  const auto x = dsl::to_device(host);
  std::vector<std::int32_t> where;
  for (int i = 0; i < 1000; ++i) where.push_back((i * 37) % 200 - 100);
  const auto index = dsl::to_device(where);
  dsl::array<T> got = dsl::take(x, index), every_second = dsl::take(x(dsl::slice(1, dsl::end, 2)), abs(index) / 2);
  const auto a = got.copy_to_host(), b = every_second.copy_to_host();
  for (std::size_t i = 0; i < where.size(); ++i) {
    const int k = where[i];
    ASSERT_EQ(static_cast<double>(a[i]), static_cast<double>(host[static_cast<std::size_t>(k < 0 ? k + 100 : k)])) << k;
    ASSERT_EQ(static_cast<double>(b[i]), static_cast<double>(host[static_cast<std::size_t>(2 * std::min(std::abs(k) / 2, 49) + 1)])) << k;
  }
}
TEST_P(gathering, take_of_every_size) { takes<std::int8_t>(), takes<dsl::half>(), takes<float>(), takes<double>(); }

TEST_P(gathering, take_beyond_the_ends_and_of_several_axes) {
  const auto x = dsl::to_device(std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto index = dsl::to_device(std::vector<std::int64_t>{-1, -6, -7, 100, 5});
  dsl::array<float> flat = dsl::take(dsl::reshape(x, 2, 3), index);
  EXPECT_EQ(flat.copy_to_host(), (std::vector<float>{5, 0, 0, 5, 5}));
  const auto m = dsl::reshape(x, 2, 3);
  const auto rows = dsl::to_device(std::vector<int>{1, 0, 1}), columns = dsl::to_device(std::vector<int>{2, 0});
  dsl::array<float, 2> by_row = dsl::take(m, rows, 0), by_column = dsl::take(m, columns, -1);
  EXPECT_EQ(by_row.copy_to_host(), (std::vector<float>{3, 4, 5, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(by_column.copy_to_host(), (std::vector<float>{2, 0, 5, 3}));
  dsl::array<float, 3> blocks = dsl::take(m, dsl::reshape(rows, 3, 1), 0) * 1;
  EXPECT_EQ(blocks.extents(), (dsl::extents<3>{3, 1, 3}));
  EXPECT_EQ(blocks.copy_to_host(), by_row.copy_to_host());
  EXPECT_THROW(dsl::take(dsl::array<float>(0), index), dsl::index_error);
  EXPECT_THROW(dsl::shift(x, 1, dsl::boundary::zero, 1), dsl::shape_error);
}

TEST_P(gathering, from_what_has_no_memory) {
  const dsl::array<float> x;
  const auto i = dsl::arange<int>(3);
  EXPECT_THROW(dsl::take(x, i), dsl::memory_error);
  EXPECT_THROW(dsl::take(x, i, 0), dsl::memory_error);
}

}  // namespace

// dsl::take inside formulas: elements at positions that are data, in statements and in loops.
#include "../error_of.hpp"
#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace {

using dsl::strategy;
using std::int64_t;

struct taking : on_device {};
ON_EVERY_DEVICE(taking);

// The element that an index chooses.
std::size_t position(int64_t index, std::size_t count) {
  const auto n = static_cast<int64_t>(count);
  return static_cast<std::size_t>(std::clamp<int64_t>(index < 0 ? index + n : index, 0, n - 1));
}
// Any elements in order, negative ones, and some beyond both ends.
template <class I>
std::vector<I> indices(int64_t n, int64_t of, unsigned seed = 5) {
  std::mt19937 engine(seed);
  std::vector<I> all;
  for (int64_t i = 0; i < n; ++i) {
    const auto any = static_cast<int64_t>(engine() % static_cast<unsigned>(2 * of + 7)) - of - 3;
    all.push_back(static_cast<I>(std::is_signed_v<I> ? any : std::abs(any)));
  }
  return all;
}

template <class I>
void expect_elements(int64_t n) {
  const auto formula = dsl::vectorize([](auto u, auto v, auto i, auto c) {
    auto both = dsl::take(2 * u + dsl::cast<float>(v) + c, i);  // not multiplied: exact in floats
    return std::tuple{both, dsl::sum(dsl::cast<double>(both))};
  });
  std::vector<float> u;
  std::vector<std::int16_t> v;
  for (int64_t i = 0; i < n; ++i) {
    u.push_back(static_cast<float>(i * 37 % 1001));
    v.push_back(static_cast<std::int16_t>(i * 11 % 301 - 150));
  }
  const std::vector<I> index = indices<I>(n, n);
  const auto on_u = dsl::to_device(u);
  const auto on_v = dsl::to_device(v);
  dsl::array<float> out(n);
  dsl::scalar<double> sum;
  dsl::tie(out, sum) = formula(on_u, on_v, dsl::to_device(index), 0.5f);
  const auto got = out.copy_to_host();
  double want_sum = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t from = position(static_cast<int64_t>(index[i]), u.size());
    ASSERT_EQ(got[i], 2 * u[from] + v[from] + 0.5f) << n << ", element " << i;
    want_sum += got[i];
  }
  EXPECT_EQ(sum.value(), want_sum);
}
TEST_P(taking, with_indices_of_any_dtype) {
  for (const int64_t n : sizes()) {
    if (n == 0) continue;
    expect_elements<int64_t>(n);
    if (n > 2000) continue;
    expect_elements<std::int32_t>(n);
    expect_elements<std::uint64_t>(n);
    expect_elements<std::int8_t>(std::min<int64_t>(n, 60));
  }
}

TEST_P(taking, with_the_largest_indices) {
  const auto formula = dsl::vectorize([](auto u, auto i) { return dsl::take(u, i); });
  const auto u = dsl::to_device(std::vector<int>{10, 11, 12, 13});
  const int64_t least = std::numeric_limits<int64_t>::min(),
                most = std::numeric_limits<int64_t>::max();
  const dsl::array<int> out = formula(u, dsl::to_device(std::vector<int64_t>{least, most, -4, -5}));
  EXPECT_EQ(out.copy_to_host(), (std::vector<int>{10, 13, 10, 10}));
  const std::vector<std::uint64_t> large{~std::uint64_t{0}, std::uint64_t{1} << 63, 2, 4};
  const dsl::array<int> unsigned_ones = formula(u, dsl::to_device(large));
  EXPECT_EQ(unsigned_ones.copy_to_host(), (std::vector<int>{13, 13, 12, 13}));
}

// A C++ integer as the index, a computed one, nested takes, an argument that is an expression.
TEST_P(taking, of_formulas) {
  const std::vector<double> u{1, 2, 4, 8, 16, 32, 64};
  const auto on_u = dsl::to_device(u);
  const auto index = dsl::to_device(std::vector<int>{3, -1, 0, 99, 2, -99, 5});
  const auto formula = dsl::vectorize([](auto u, auto i, auto k, auto w) {
    auto next = dsl::take(i, i + k);
    return std::tuple{dsl::take(u, next), dsl::take(dsl::take(u, i) + w, k),
                      dsl::take(u * u, 2 * k)};
  });
  dsl::array<double> a(7), b(7), c(7);
  dsl::tie(a, b, c) = formula(on_u, index, 1, on_u + 1);
  const std::vector<int> i{3, -1, 0, 99, 2, -99, 5};
  const auto at = [&](int64_t k) { return position(k, 7); };
  for (std::size_t e = 0; e < 7; ++e) {
    EXPECT_EQ(a(static_cast<int64_t>(e)).value(), u[at(i[at(i[e] + 1)])]) << e;
    EXPECT_EQ(b(static_cast<int64_t>(e)).value(), u[at(i[1])] + u[1] + 1) << e;
    EXPECT_EQ(c(static_cast<int64_t>(e)).value(), u[2] * u[2]) << e;
  }
}

// Along each axis, also of views with strides.
TEST_P(taking, along_an_axis) {
  const auto along_rows = dsl::vectorize(
      [](auto u, auto w, auto i) { return dsl::take(u + w, i, 0) * 10 + dsl::take(u, i); });
  const auto along_columns = dsl::vectorize(
      [](auto u, auto, auto i) { return dsl::take(2 * u, i, 1) + dsl::take(u, i, -1); });
  for (const int64_t rows : {1, 3, 13})
    for (const int64_t columns : {1, 4, 33}) {
      const auto index = indices<int>(rows * columns, std::max(rows, columns));
      dsl::array<int, 2> u = dsl::reshape(
                             dsl::cast<int>(dsl::arange<int64_t>(rows * columns) * 7 % 1000), rows,
                             columns),
                         first(rows, columns), second(rows, columns);
      auto wide = dsl::zeros<int>(rows, 2 * columns + 1);
      const auto part = wide(dsl::slice(), dsl::slice(1, dsl::end, 2));
      part = u;
      dsl::array<int, 2> i = dsl::reshape(dsl::to_device(index), rows, columns);
      first = along_rows(u, u, i);
      second = along_columns(part, u, i);
      const auto x = u.copy_to_host(), got = first.copy_to_host();
      const auto other = second.copy_to_host();
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t k = 0; k < columns; ++k) {
          const auto e = static_cast<std::size_t>(r * columns + k);
          const auto row = position(index[e], static_cast<std::size_t>(rows)),
                     column = position(index[e], static_cast<std::size_t>(columns));
          const int in_column =
                        x[row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(k)],
                    in_row = x[static_cast<std::size_t>(r * columns) + column];
          ASSERT_EQ(got[e], 20 * in_column + x[position(index[e], x.size())])
              << rows << " x " << columns << ", " << e;
          ASSERT_EQ(other[e], 3 * in_row) << rows << " x " << columns << ", " << e;
        }
    }
}

TEST_P(taking, says_what_is_wrong) {
  const auto both = dsl::vectorize([](auto u, auto v, auto i) { return dsl::take(u + v, i); });
  auto m = dsl::zeros<int>(4, 6);
  dsl::array<int, 2> out = dsl::ones<int>(4, 6);
  const auto row = dsl::ones<int>(6);
  EXPECT_THROW(out = both(m, row, 1), dsl::shape_error);
  EXPECT_EQ(error_of([&] { out = both(m, row, 1); }),
            "dsl::take of a value that a formula computes from arrays of shapes (4, 6) and (6), "
            "whose positions differ: assign the value to an array and take from that");
  const auto columns = m(dsl::slice(), dsl::slice(0, 3));
  const auto one = dsl::vectorize([](auto u, auto i) { return dsl::take(u, i); });
  dsl::array<int, 2> narrow = dsl::ones<int>(4, 3);
  EXPECT_THROW(narrow = one(columns, 1), dsl::shape_error);  // not at equal distances
  const dsl::array<int> none(0);
  dsl::array<int> still = none;
  EXPECT_THROW(still = one(none, 0), dsl::index_error);
  EXPECT_EQ(out.copy_to_host(), std::vector<int>(24, 1));
  EXPECT_EQ(narrow.copy_to_host(), std::vector<int>(12, 1));
  // A target that is read at other positions.
  auto u = dsl::to_device(std::vector<int>{1, 2, 3, 4});
  u = one(u, dsl::to_device(std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(u.copy_to_host(), (std::vector<int>{4, 3, 2, 1}));

  // In loops: a variable that is not contiguous, and two shapes.
  const auto relax = dsl::vectorize([](auto u, auto i) { return u + dsl::take(u, i); });
  auto v = dsl::to_device(std::vector<int>{1, 2, 3, 4, 5, 6});
  const auto every_second = v(dsl::slice(0, 6, 2));
  EXPECT_THROW(dsl::iterate(2, relax, dsl::state(every_second), 1), dsl::shape_error);
  EXPECT_EQ(v.copy_to_host(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW(dsl::iterate(2, relax, dsl::state(v), 1, strategy::elementwise), dsl::device_error);
  EXPECT_THROW(dsl::iterate(2, relax, dsl::state(v), 1, strategy::cooperative), dsl::device_error);
  EXPECT_EQ(v.copy_to_host(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

// Of variables, those before the step; of a parameter, of both together; with sums within the
// step, of which the second is of what was taken; with rows of a matrix.
TEST_P(taking, in_loops) {
  const auto step = dsl::vectorize([](auto u, auto v, auto s, auto i, auto j, auto w) {
    auto near = dsl::take(u + w, i) + 3 * dsl::take(v, j, 1);
    auto sum = dsl::sum(near);
    auto next = (u + near + sum) % 10'007;
    return std::tuple{next, (v + next + dsl::take(u, dsl::take(i, j)) + s) % 997,
                      dsl::max(next * 2)};
  });
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {5, 13}, {31, 17}})
    for (const strategy how : {strategy::automatic, strategy::launches}) {
      const int64_t n = rows * columns;
      const auto i = indices<int64_t>(n, n), j = indices<int64_t>(n, n, 9);
      const auto shaped = [&, r = rows, c = columns](const std::vector<int64_t>& x) {
        return dsl::eval(dsl::reshape(dsl::to_device(x), r, c));
      };
      std::vector<int64_t> u, v, w;
      for (int64_t k = 0; k < n; ++k) {
        u.push_back(k * 31 % 101);
        v.push_back(k * 17 % 103);
        w.push_back(k % 7);
      }
      auto on_u = shaped(u), on_v = shaped(v);
      dsl::scalar<int64_t> s = int64_t{4}, ran;
      int64_t want_s = 4;
      std::vector<int64_t> history;
      for (int k = 0; k < 5; ++k) {
        auto near = u, old_u = u;
        int64_t sum = 0, most = 0;
        const auto all = u.size();
        for (std::size_t e = 0; e < all; ++e) {
          const std::size_t from = position(i[e], all), row = e /
                                                              static_cast<std::size_t>(columns) *
                                                              static_cast<std::size_t>(columns);
          near[e] =
              u[from] + w[from] + 3 * v[row + position(j[e], static_cast<std::size_t>(columns))];
          sum += near[e];
        }
        for (std::size_t e = 0; e < all; ++e) {
          u[e] = (u[e] + near[e] + sum) % 10'007;
          most = std::max(most, 2 * u[e]);
        }
        for (std::size_t e = 0; e < all; ++e)
          v[e] = (v[e] + u[e] + old_u[position(i[position(j[e], all)], all)] + want_s) % 997;
        want_s = most;
        history.push_back(want_s);
      }
      const auto got = dsl::iterate(50, step, dsl::state(on_u, on_v, s), shaped(i), shaped(j),
                                    shaped(w), how, dsl::until(s == history.back(), ran))
                           .copy_to_host();
      const std::size_t ended =
          static_cast<std::size_t>(std::find(history.begin(), history.end(), history.back()) -
                                   history.begin()) +
          1;
      ASSERT_EQ(ran.value(), static_cast<int64_t>(ended));
      if (ended < 5) continue;
      ASSERT_EQ(on_u.copy_to_host(), u) << n;
      ASSERT_EQ(on_v.copy_to_host(), v) << n;
      EXPECT_EQ(std::vector<int64_t>(got.begin(), got.begin() + 5), history);
    }
}

// A table of another shape than the other arguments, in a statement and as a parameter of a loop
// whose variable is only taken from.
TEST_P(taking, of_a_lookup_table) {
  const std::vector<double> table = {1, 10, 100};
  const std::vector<int> index = {0, 1, 2, 2, -1, 7, 0};
  const auto on_table = dsl::to_device(table);
  const auto on_index = dsl::to_device(index);
  const dsl::array<double> once = dsl::vectorize([](auto t, auto i) {
    return 2 * dsl::take(t, i) + dsl::sum(dsl::take(t, i));
  })(on_table, on_index);
  std::vector<double> taken, want;
  for (const int i : index) taken.push_back(table[position(i, 3)]);
  double sum = 0;
  for (const double t : taken) sum += t;
  for (const double t : taken) want.push_back(2 * t + sum);
  EXPECT_EQ(once.copy_to_host(), want);

  std::vector<double> u = {0, 1, 2, 3, 4, 5, 6};
  dsl::array<double> on_u = dsl::to_device(u);
  const auto step =
      dsl::vectorize([](auto x, auto t, auto i) { return dsl::take(x, i) + dsl::take(t, i + 1); });
  dsl::iterate(4, step, dsl::state(on_u), on_table, on_index);
  for (int k = 0; k < 4; ++k) {
    const std::vector<double> before = u;
    for (std::size_t e = 0; e < u.size(); ++e)
      u[e] = before[position(index[e], u.size())] + table[position(index[e] + 1, 3)];
  }
  EXPECT_EQ(on_u.copy_to_host(), u);
}

TEST_P(taking, the_example) {
  const auto relax = dsl::vectorize([](auto u, auto left, auto right) {
    return 0.5 * (dsl::take(u, left) + dsl::take(u, right));
  });
  const auto u = dsl::to_device(std::vector<double>{1, 2, 4, 8});
  const auto place = dsl::arange<int64_t>(4);
  const dsl::array<double> mean = relax(u, place - 1, place + 1);  // -1 is the last, 4 the end
  EXPECT_EQ(mean.copy_to_host(), (std::vector<double>{5, 2.5, 5, 6}));
}

}  // namespace

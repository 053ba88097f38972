// Neighbours and gathers with other operands, beyond the ends, and rearranged.
#include "../on_device.hpp"
#include "../view_reference.hpp"
#include "boundary_reference.hpp"

#include <algorithm>
#include <limits>

namespace {

struct gathering : on_device {};
ON_EVERY_DEVICE(gathering);

TEST_P(gathering, shift_along_one_axis) {
  for (const std::int64_t n : {1, 2, 3, 5, 63, 64, 65, 257, 1030}) {
    const auto host = random_floats(n);
    const auto a = dsl::to_device(host);
    for (const auto beyond : boundaries)
      for (const std::int64_t k : {0, 1, -1, 2, -3, 5, 1000, -2500}) {
        dsl::array<float> out = dsl::shift(a, k, beyond) + 1;
        const auto got = out.copy_to_host();
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t from = inside_by_steps(beyond, i - k, n);
          ASSERT_EQ(got[static_cast<std::size_t>(i)],
                    (from < 0 ? 0 : host[static_cast<std::size_t>(from)]) + 1)
              << n << ' ' << k << ' ' << int(beyond) << ' ' << i;
        }
      }
  }
}

// The indices of one operand are gathered themselves; the other operand has another dtype.
TEST_P(gathering, places_from_elsewhere) {
  const std::int64_t places = 1000;
  std::vector<std::int32_t> further(places);
  std::vector<double> x(places);
  std::vector<float> y(places);
  for (std::int64_t k = 0; k < places; ++k) {
    const auto at = static_cast<std::size_t>(k);
    further[at] = static_cast<std::int32_t>(k * 377 % 1100 - 50),
    x[at] = static_cast<double>(k * k), y[at] = static_cast<float>(k % 91);
  }
  const auto inside = [&](std::int64_t k) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(k < 0 ? k + places : k, 0, places - 1));
  };
  const auto on_x = dsl::to_device(x);
  const auto on_y = dsl::to_device(y);
  const auto on_further = dsl::to_device(further);
  for (const std::int64_t n : sizes()) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(n));
    std::vector<double> expected;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t k = first[static_cast<std::size_t>(i)] = i * 7919 % 1203 - 100;
      expected.push_back(2 * x[inside(further[inside(k)])] + y[inside(k)]);
      sum += expected.back();
    }
    const auto k = dsl::to_device(first);
    dsl::array<double> out(n);
    dsl::scalar<double> total;
    dsl::tie(out, total) = dsl::vectorize([](auto of_x, auto of_y) {
      const auto both = 2 * of_x + of_y;
      return std::tuple{both, dsl::sum(both)};
    })(dsl::take(on_x, dsl::take(on_further, k)), dsl::take(on_y, k));
    EXPECT_EQ(out.copy_to_host(), expected) << n;
    EXPECT_EQ(total.value(), sum) << n;
  }
}

TEST_P(gathering, shift_along_any_axis_of_any_layout) {
  const std::int64_t sizes[] = {7, 18, 33};
  const auto host = random_floats(7 * 18 * 33);
  const auto a = dsl::to_device(host);
  const auto u = dsl::reshape(a, 7, 18, 33);
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return host[static_cast<std::size_t>((i * 18 + j) * 33 + k)];
  };
  for (int axis = 0; axis < 3; ++axis)
    for (const auto beyond : boundaries)
      for (const std::int64_t k : {1, -2, 40}) {
        dsl::array<float, 3> plain = dsl::shift(u, k, beyond, axis) - u;
        dsl::array<float, 3> turned =
            dsl::shift(dsl::transpose(u), k, beyond, 2 - axis) - dsl::transpose(u);
        const auto got = plain.copy_to_host(), other = turned.copy_to_host();
        for (std::int64_t i = 0; i < 7; ++i)
          for (std::int64_t j = 0; j < 18; ++j)
            for (std::int64_t l = 0; l < 33; ++l) {
              std::int64_t from[] = {i, j, l};
              from[axis] = inside_by_steps(beyond, from[axis] - k, sizes[axis]);
              const float want = (from[axis] < 0 ? 0 : at(from[0], from[1], from[2])) - at(i, j, l);
              ASSERT_EQ(got[static_cast<std::size_t>((i * 18 + j) * 33 + l)], want)
                  << axis << ' ' << k << ' ' << int(beyond);
              ASSERT_EQ(other[static_cast<std::size_t>((l * 18 + j) * 7 + i)], want)
                  << axis << ' ' << k << ' ' << int(beyond);
            }
      }
}

TEST_P(gathering, a_shifted_row_broadcasts_and_a_shift_stretches_nothing) {
  const auto row = dsl::to_device(std::vector<int>{1, 2, 3});
  dsl::array<int, 2> out = dsl::zeros<int>(2, 3) + dsl::shift(row, 1, dsl::boundary::wrap);
  EXPECT_EQ(out.copy_to_host(), (std::vector<int>{3, 1, 2, 3, 1, 2}));
  dsl::array<int, 2> column =
      dsl::zeros<int>(2, 3) + dsl::shift(dsl::reshape(row, 1, 3), 1, dsl::boundary::zero, 0);
  EXPECT_EQ(column.copy_to_host(), std::vector<int>(6, 0));
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

TEST_P(gathering, take_beyond_the_ends_and_of_several_axes) {
  const auto x = dsl::to_device(std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto index = dsl::to_device(std::vector<std::int64_t>{-1, -6, -7, 100, 5});
  dsl::array<float> flat = dsl::take(dsl::reshape(x, 2, 3), index);
  EXPECT_EQ(flat.copy_to_host(), (std::vector<float>{5, 0, 0, 5, 5}));
  const auto huge = dsl::to_device(std::vector<std::uint64_t>{
      2, ~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1, 6});
  dsl::array<float> far = dsl::take(x, huge);
  EXPECT_EQ(far.copy_to_host(), (std::vector<float>{2, 5, 5, 5, 5}));
  const auto lowest = dsl::to_device(std::vector<std::int64_t>{
      std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
  dsl::array<float> ends = dsl::take(x, lowest);
  EXPECT_EQ(ends.copy_to_host(), (std::vector<float>{0, 5}));
  const auto m = dsl::reshape(x, 2, 3);
  const auto rows = dsl::to_device(std::vector<int>{1, 0, 1}),
             columns = dsl::to_device(std::vector<int>{2, 0});
  dsl::array<float, 2> by_row = dsl::take(m, rows, 0), by_column = dsl::take(m, columns, -1);
  EXPECT_EQ(by_row.copy_to_host(), (std::vector<float>{3, 4, 5, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(by_column.copy_to_host(), (std::vector<float>{2, 0, 5, 3}));
  dsl::array<float, 3> blocks = dsl::take(m, dsl::reshape(rows, 3, 1), 0) * 1;
  EXPECT_EQ(blocks.extents(), (dsl::extents<3>{3, 1, 3}));
  EXPECT_EQ(blocks.copy_to_host(), by_row.copy_to_host());
  EXPECT_THROW(dsl::take(dsl::array<float>(0), index), dsl::index_error);
  EXPECT_THROW(dsl::shift(x, 1, dsl::boundary::zero, 1), dsl::shape_error);
}

// Contiguous indices and results merge into one dimension, however far apart the elements are.
TEST_P(gathering, take_along_one_line) {
  const int n = 700;
  const auto host = random_floats(n);
  const auto a = dsl::to_device(host);
  std::vector<int> places;
  for (int i = 0; i < 1037; ++i) places.push_back(i * 29 % 1700 - 850);
  const auto index = dsl::to_device(places);
  for (const std::int64_t first : {0, 1}) {
    dsl::array<float> out = dsl::zeros<float>(1037);
    const dsl::slice taken(first, dsl::end);
    const auto to = out(taken);
    if (has_grid()) {
      EXPECT_STREQ(dsl::plan_of(to, dsl::take(a, index(taken)) + 1).path, "linear");
    }
    to = dsl::take(a, index(taken)) + 1;
    std::vector<float> want(1037);
    for (auto i = static_cast<std::size_t>(first); i < want.size(); ++i) {
      const int place = places[i] < 0 ? places[i] + n : places[i];
      want[i] = host[static_cast<std::size_t>(std::clamp(place, 0, n - 1))] + 1;
    }
    EXPECT_EQ(out.copy_to_host(), want);
    EXPECT_EQ(dsl::max(dsl::take(a, index(taken)) + 1).value(),
              *std::max_element(want.begin(), want.end()));
  }
}

// A chain of functions of shape, chosen at run time, against each one's effect on the elements'
// places. Expressions of one rank have one type.
struct rearrangement {
  std::mt19937& engine;
  const std::vector<int>& values;  // of the expression that the chain began with
  std::string story;

  int pick(std::int64_t n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }

  template <class E>
  void run(const E& e, const view_reference& want, int depth) {
    if (depth == 0) return expect(e, want);
    const int axis = pick(E::rank), kind = pick(4);
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t n = want.shape[at], first = pick(n + 3) - 1, past = pick(n + 3) - 1,
                       step = std::array{1, 2, -1, -3}[static_cast<std::size_t>(pick(4))];
    story += " " + std::to_string(kind) + " " + std::to_string(axis) +
             (kind == 1 ? " " + std::to_string(first) + ":" + std::to_string(past) + ":" +
                              std::to_string(step)
                        : "");
    if (kind == 0) return run(dsl::flip(e, axis), want.flip(at), depth - 1);
    const dsl::slice chosen(first, past, step);
    if constexpr (E::rank == 1) {
      if (kind == 1) return run(e(chosen), want.slice(0, first, past, step), depth - 1);
      if (kind == 2) return run(dsl::broadcast_to(e, 3, n), want.broadcast_to({3, n}), depth - 1);
      if (n % 2 == 0) return run(dsl::reshape(e, n / 2, 2), want.reshape({n / 2, 2}), depth - 1);
      run(dsl::expand_dims(e, 1), want.reshape({n, 1}), depth - 1);
    } else {
      if (kind == 1 && axis == 0)
        return run(e(chosen), want.slice(0, first, past, step), depth - 1);
      if (kind == 1)
        return run(e(dsl::slice(), chosen), want.slice(1, first, past, step), depth - 1);
      if (kind == 2 && step > 0) return run(dsl::transpose(e), want.transpose(), depth - 1);
      if (kind == 2) return run(dsl::diagonal(e, first), want.diagonal(first), depth - 1);
      if (n > 0 && axis == 0) return run(e(past % n), want.pick(0, (past + n) % n), depth - 1);
      if (n > 0) return run(e(dsl::slice(), past % n), want.pick(1, (past + n) % n), depth - 1);
      run(e, want, depth - 1);
    }
  }
  template <class E>
  void expect(const E& e, const view_reference& want) {
    const auto got = dsl::eval(e);
    ASSERT_EQ(std::vector<std::int64_t>(got.extents().begin(), got.extents().end()), want.shape)
        << story;
    std::vector<int> chosen;
    for (const std::int64_t place : want.places)
      chosen.push_back(values[static_cast<std::size_t>(place)]);
    ASSERT_EQ(got.copy_to_host(), chosen) << story;
  }
};

TEST_P(gathering, what_is_shifted_or_taken_is_rearranged) {
  std::mt19937 engine(5);
  const auto pick = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 150; ++round) {
    const std::int64_t rows = 1 + pick(5), columns = 1 + pick(round % 10 == 0 ? 300 : 12);
    const auto positions = [&](std::int64_t n) {
      std::vector<int> chosen;
      for (std::int64_t i = 0; i < n; ++i) chosen.push_back(pick(40) - 20);
      return dsl::to_device(chosen);
    };
    dsl::array<int, 2> a = dsl::reshape(dsl::arange<int>(2 * rows * columns), rows, 2 * columns);
    const dsl::array<int> row = positions(columns);
    const auto boundary = [&] { return boundaries[pick(4)]; };
    const dsl::view<const int, 2> v =
        dsl::flip(a(dsl::slice(), dsl::slice(pick(2), dsl::end, 2)), pick(2));
    const auto e = 7 * dsl::shift(v, pick(50) - 25, boundary(), pick(2)) +
                   1000 * dsl::take(v, positions(rows), 0) +
                   dsl::shift(row, pick(9) - 4, boundary()) -
                   dsl::take(row, dsl::index(1, rows, columns) / 2) + row;
    const dsl::array<int, 2> whole = e;
    const auto values = whole.copy_to_host();
    rearrangement chain{engine, values, std::to_string(round) + ":"};
    chain.run(e, view_reference::of({rows, columns}), 1 + pick(6));
  }
}

TEST_P(gathering, from_what_has_no_memory) {
  const dsl::array<float> x;
  const auto i = dsl::arange<int>(3);
  EXPECT_THROW(dsl::take(x, i), dsl::memory_error);
  EXPECT_THROW(dsl::take(x, i, 0), dsl::memory_error);
}

}  // namespace

// Neighbours inside formulas, of formulas and of neighbours, against plain loops.
#include "../on_device.hpp"
#include "boundary_reference.hpp"

#include <cmath>
#include <functional>
#include <random>

namespace {

using dsl::boundary;

struct neighbours : on_device {};
ON_EVERY_DEVICE(neighbours);

// An array as a plain function of positions.
struct table {
  std::vector<std::int64_t> shape;
  std::vector<double> at;
  std::int64_t size() const {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    return n;
  }
};

std::int64_t step_of(const table& t, int axis) {
  std::int64_t step = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < t.shape.size(); ++d)
    step *= t.shape[d];
  return step;
}

table shifted(const table& t, std::int64_t distance, boundary beyond, int axis) {
  table made = t;
  const std::int64_t n = t.shape[static_cast<std::size_t>(axis)], step = step_of(t, axis);
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const std::int64_t here = i / step % n, from = inside_by_steps(beyond, here - distance, n);
    made.at[static_cast<std::size_t>(i)] =
        from < 0 ? 0 : t.at[static_cast<std::size_t>(i + (from - here) * step)];
  }
  return made;
}

table combined(const table& a, const table& b, const std::function<double(double, double)>& f) {
  table made = a;
  for (std::size_t i = 0; i < a.at.size(); ++i) made.at[i] = f(a.at[i], b.at[i]);
  return made;
}

table random_table(std::vector<std::int64_t> shape, std::mt19937& engine) {
  table t{std::move(shape), {}};
  for (std::int64_t i = 0; i < t.size(); ++i)
    t.at.push_back(static_cast<double>(engine() % 1000) / 8 + 1);
  return t;
}

template <class T, int R>
dsl::array<T, R> to_array(const table& t) {
  dsl::extents<R> sizes{};
  for (std::size_t d = 0; d < R; ++d) sizes[d] = t.shape[d];
  return dsl::reshape(dsl::to_device(std::vector<T>(t.at.begin(), t.at.end())), sizes);
}

template <class Array>
void expect_equal(const Array& got, const table& want, const std::string& what) {
  const auto values = got.copy_to_host();
  ASSERT_EQ(values.size(), want.at.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(static_cast<double>(values[i]), want.at[i]) << what << ", element " << i;
}

template <int R>
std::vector<std::int64_t> draw_shape(std::mt19937& engine) {
  constexpr std::int64_t extents[] = {1, 2, 3, 7, 13, 31};
  std::vector<std::int64_t> shape;
  for (int d = 0; d < R; ++d) shape.push_back(extents[engine() % 6]);
  if (R == 3 || engine() % 4 == 0)
    shape.back() = 140 + static_cast<std::int64_t>(engine() % 150);  // more than a warp's tile
  return shape;
}

// Distances and boundaries that are known at run time.
template <class T, int R>
void shifts_of_shifts(int rounds) {
  std::mt19937 engine(R);
  for (int round = 0; round < rounds; ++round) {
    const table x = random_table(draw_shape<R>(engine), engine), y = random_table(x.shape, engine);
    const auto a = to_array<T, R>(x), b = to_array<T, R>(y);
    const auto distance = [&] {
      return static_cast<std::int64_t>(engine() % 11) - 5 + (engine() % 8 == 0 ? 40 : 0);
    };
    const std::int64_t d1 = distance(), d2 = distance(), d3 = distance();
    const auto b1 = boundaries[round % 4], b2 = boundaries[round / 4 % 4],
               b3 = boundaries[round / 16 % 4];
    const int a1 = static_cast<int>(engine() % R), a2 = static_cast<int>(engine() % R),
              a3 = static_cast<int>(engine() % R);
    const auto formula = [](double p, double q) { return p + 2 * q + 1; };
    dsl::array<T, R> got =
        dsl::shift(dsl::shift(dsl::shift(a, d1, b1, a1) + 2 * b + 1, d2, b2, a2), d3, b3, a3);
    const table want =
        shifted(shifted(combined(shifted(x, d1, b1, a1), y, formula), d2, b2, a2), d3, b3, a3);
    std::string what = "round " + std::to_string(round);
    for (const std::int64_t n : x.shape) what += " x " + std::to_string(n);
    expect_equal(got, want, what);
  }
}
TEST_P(neighbours, of_formulas_and_of_neighbours) {
  shifts_of_shifts<double, 1>(128);
  shifts_of_shifts<double, 2>(128);
  shifts_of_shifts<float, 3>(256);
}

// All pairs of boundaries along one axis, and a formula's neighbours, known at compile time.
template <int D1, int D2, int Axis>
struct pairs_of_shifts {
  template <int K, class X, class Y>
  static constexpr auto nth(X x, Y y) {
    constexpr auto first = static_cast<boundary>(K % 4), second = static_cast<boundary>(K / 4);
    return dsl::shift(dsl::shift(x, D1, first, Axis) + y, D2, second, Axis);
  }
  template <class X, class Y>
  constexpr auto operator()(X x, Y y) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return std::tuple{nth<static_cast<int>(K)>(x, y)...};
    }(std::make_index_sequence<16>{});
  }
};
template <int D1, int D2, int Axis>
void pairs_of_boundaries(int rounds) {
  std::mt19937 engine(D1 * 100 + D2);
  const auto f =
      dsl::vectorize([](auto x, auto y) { return pairs_of_shifts<D1, D2, Axis>{}(x, y); });
  for (int round = 0; round < rounds; ++round) {
    const table x = random_table(draw_shape<2>(engine), engine), y = random_table(x.shape, engine);
    const auto a = to_array<double, 2>(x), b = to_array<double, 2>(y);
    dsl::array<double, 2> got[16];
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      dsl::tie(got[K]...) = f(a, b);
    }(std::make_index_sequence<16>{});
    for (int k = 0; k < 16; ++k) {
      const auto first = static_cast<boundary>(k % 4), second = static_cast<boundary>(k / 4);
      const table want =
          shifted(combined(shifted(x, D1, first, Axis), y, std::plus<double>()), D2, second, Axis);
      expect_equal(got[k], want,
                   std::to_string(x.shape[0]) + " x " + std::to_string(x.shape[1]) + ", pair " +
                       std::to_string(k));
    }
  }
}
TEST_P(neighbours, of_neighbours_in_a_formula) {
  pairs_of_boundaries<2, -3, 0>(12);
  pairs_of_boundaries<-1, 1, 1>(12);
  pairs_of_boundaries<1, 20, 1>(12);
}

// A shift applies to its operand's own shape: a row is shifted before it is broadcast. With `zero`
// the first row of a shifted formula is 0, whatever the formula.
TEST_P(neighbours, along_the_axes_of_what_is_shifted) {
  std::mt19937 engine(5);
  const auto f = dsl::vectorize([](auto m, auto row, auto column, auto one) {
    auto sum = m + row;
    return std::tuple{
        dsl::shift(sum + 1, 1, boundary::zero, 0) + dsl::shift(row, -1, boundary::wrap, 0),
        dsl::shift(column, 1, boundary::zero, 0) + m,
        dsl::shift(dsl::shift(one, 1, boundary::zero, 0) + m, -1, boundary::zero, 0),
        dsl::cast<double>(dsl::index(m, 0) * 100 + dsl::index(row, 0)) + m * 0};
  });
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{5, 7}, {1, 6}, {33, 1}, {64, 70}}) {
    const table x = random_table({rows, columns}, engine), r = random_table({columns}, engine),
                c = random_table({rows, 1}, engine), o = random_table({1, columns}, engine);
    dsl::array<double, 2> first, second, third, fourth;
    dsl::tie(first, second, third, fourth) = f(to_array<double, 2>(x), to_array<double, 1>(r),
                                               to_array<double, 2>(c), to_array<double, 2>(o));
    const table turned = shifted(r, -1, boundary::wrap, 0),
                below = shifted(c, 1, boundary::zero, 0), none = shifted(o, 1, boundary::zero, 0);
    table want = x, next = x, last = x, positions = x;
    const auto at = [columns = columns](std::int64_t i, std::int64_t j) {
      return static_cast<std::size_t>(i * columns + j);
    };
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto k = static_cast<std::size_t>(j);
        want.at[at(i, j)] = (i == 0 ? 0 : x.at[at(i - 1, j)] + r.at[k] + 1) + turned.at[k];
        next.at[at(i, j)] = below.at[static_cast<std::size_t>(i)] + x.at[at(i, j)];
        last.at[at(i, j)] = i + 1 < rows ? none.at[k] + x.at[at(i + 1, j)] : 0;
        positions.at[at(i, j)] = static_cast<double>(100 * i + j);
      }
    expect_equal(first, want, "first");
    expect_equal(second, next, "second");
    expect_equal(third, last, "third");
    expect_equal(fourth, positions, "fourth");
  }
}

// Slices of one array, of any size, so that rows begin at any alignment. Targets: another array,
// slices, and the source itself; other operands: a row, and an array with another layout.
template <class T, int R>
struct places_of_slices {
  static constexpr int count = 5;
  std::array<std::array<std::int64_t, R>, count + 1> begins;  // of the slices, and of the target
  std::array<std::int64_t, R> extents;

  explicit places_of_slices(std::mt19937& engine) {
    const auto below = [&](unsigned n) { return static_cast<std::int64_t>(engine() % n); };
    for (std::size_t d = 0; d < R; ++d) extents[d] = 1 + below(R == 3 ? 12 : 40);
    extents[R - 1] = 64 / static_cast<std::int64_t>(sizeof(T)) * 4 + below(300);
    const std::int64_t most = 1 + below(5);
    for (auto& begin : begins)
      for (auto& b : begin) b = below(static_cast<unsigned>(most) + 1);
  }
  template <class Array, std::size_t... D>
  auto slice_of(Array& all, int k, std::index_sequence<D...>) const {
    const auto& begin = begins[static_cast<std::size_t>(k)];
    return all(dsl::slice(begin[D], begin[D] + extents[D])...);
  }
  template <class Array> auto slice_of(Array& all, int k) const {
    return slice_of(all, k, std::make_index_sequence<R>{});
  }
};
template <class T, int R>
void slices_of_one_array(int rounds) {
  std::mt19937 engine(100 * R + sizeof(T));
  for (int round = 0; round < rounds; ++round) {
    const places_of_slices<T, R> p(engine);
    std::vector<std::int64_t> shape(p.extents.begin(), p.extents.end()), larger = shape;
    for (auto& n : larger) n += 5 + static_cast<std::int64_t>(engine() % 3);
    const std::int64_t whole = std::int64_t{1}
                               << 3 * (engine() % 3);  // rows have equal alignment if it is not 1
    larger.back() = (larger.back() + whole - 1) / whole * whole;
    table x{larger, {}}, w{shape, {}}, row{{shape.back()}, {}};
    for (table* t : {&x, &w, &row})
      for (std::int64_t i = 0; i < t->size(); ++i)
        t->at.push_back(static_cast<double>(engine() % 8));
    const auto a = to_array<T, R>(x), b = to_array<T, R>(w);
    const auto c = to_array<T, 1>(row);
    const bool in_place = round % 4 == 3;
    auto out = round % 4 == 0 ? dsl::array<T, R>{} : to_array<T, R>(x);
    const auto& from = in_place ? out : a;
    const auto s = [&](int k) { return p.slice_of(from, k); };
    const auto formula = s(0) + 2 * s(1) - s(2) * b + s(3) * c + s(4);
    if (round % 4 == 0) out = formula;
    else p.slice_of(out, 5) = formula;
    table want = round % 4 == 0 ? w : x;
    const auto place = [](const table& t, std::int64_t i, const std::array<std::int64_t, R>& begin,
                          const table& within) {
      std::int64_t to = 0, step = 1;
      for (int d = R - 1; d >= 0; --d) {
        const auto k = static_cast<std::size_t>(d);
        to += (i % within.shape[k] + begin[k]) * step;
        i /= within.shape[k];
        step *= t.shape[k];
      }
      return static_cast<std::size_t>(to);
    };
    for (std::int64_t i = 0; i < w.size(); ++i) {
      const auto at = [&](std::size_t k) { return x.at[place(x, i, p.begins[k], w)]; };
      const auto here = static_cast<std::size_t>(i);
      want.at[round % 4 == 0 ? here : place(x, i, p.begins[5], w)] =
          at(0) + 2 * at(1) - at(2) * w.at[here] + at(3) * row.at[here % row.at.size()] + at(4);
    }
    std::string what = "round " + std::to_string(round);
    for (const std::int64_t n : shape) what += " x " + std::to_string(n);
    expect_equal(out, want, what);

    auto written = to_array<T, R>(x);
    auto part = p.slice_of(written, 5);
    part = part + p.slice_of(a, 0) + p.slice_of(a, 1) + p.slice_of(a, 4);
    want = x;
    for (std::int64_t i = 0; i < w.size(); ++i)
      for (const std::size_t k : {0u, 1u, 4u})
        want.at[place(x, i, p.begins[5], w)] += x.at[place(x, i, p.begins[k], w)];
    expect_equal(written, want, what + ", in place");
  }
}
TEST_P(neighbours, by_slices) {
  slices_of_one_array<float, 2>(24);
  slices_of_one_array<float, 3>(16);
  slices_of_one_array<double, 2>(16);
  slices_of_one_array<std::int16_t, 2>(16);
  slices_of_one_array<std::int8_t, 3>(8);
}

TEST_P(neighbours, by_halos_where_they_are_near) {
  const dsl::array<float, 2> m = dsl::zeros<float>(20, 300);
  dsl::array<float, 2> out(20, 300), inner(16, 288);
  const auto path = [](auto& to, const auto& formula) {
    return std::string(dsl::plan_of(to, formula).path);
  };
  const std::string halos = has_grid() ? "halos" : "strided";
  EXPECT_EQ(path(out, dsl::shift(m, 1, boundary::wrap, 0) + dsl::shift(m, -3, boundary::clamp, 1)),
            halos);
  EXPECT_EQ(path(out, dsl::shift(m, 1, boundary::wrap, 1) + dsl::shift(m, -3, boundary::clamp, 1)),
            "strided");
  EXPECT_EQ(path(out, dsl::shift(m, 60)), "strided");
  const auto of = [&m](std::int64_t i, std::int64_t j) {
    return m(dsl::slice(i, i + 16), dsl::slice(j, j + 288));
  };
  EXPECT_EQ(path(inner, of(1, 1) + of(0, 2) + of(4, 3)), halos);
  EXPECT_EQ(path(inner, of(1, 0) + of(2, 0) + of(3, 0)), "strided");
  EXPECT_EQ(path(inner, of(1, 1) + of(0, 2)), "strided");
}

// In place, with all reads before the first write; of a reduction's result; with reductions.
TEST_P(neighbours, in_place_and_beside_reductions) {
  std::mt19937 engine(6);
  const table x = random_table({41, 37}, engine);
  auto u = to_array<double, 2>(x);
  const auto f = dsl::vectorize([](auto v) {
    auto next = v + dsl::shift(v, 1, boundary::clamp, 0) + dsl::shift(v, -2, boundary::reflect, 1);
    return std::tuple{next, dsl::sum(next), dsl::sum(dsl::shift(v, 1, boundary::wrap, 1) * v)};
  });
  const auto plus = [](double p, double q) { return p + q; };
  table want = combined(combined(x, shifted(x, 1, boundary::clamp, 0), plus),
                        shifted(x, -2, boundary::reflect, 1), plus);
  dsl::scalar<double> sum, product;
  dsl::tie(u, sum, product) = f(u);
  expect_equal(u, want, "in place");
  double all = 0, products = 0;
  for (const double v : want.at) all += v;
  const table turned = shifted(x, 1, boundary::wrap, 1);
  for (std::size_t i = 0; i < x.at.size(); ++i) products += turned.at[i] * x.at[i];
  EXPECT_NEAR(sum.value(), all, 1e-9 * all);
  EXPECT_NEAR(product.value(), products, 1e-9 * products);

  // By patches; the reduction is a separate kernel.
  const auto m = to_array<double, 2>(x);
  const auto scaled = dsl::vectorize([](auto v, auto s) {
    return (v + dsl::shift(v, 1, boundary::clamp, 0) + dsl::shift(v, -2, boundary::reflect, 1)) * s;
  });
  double sum_of_x = 0;
  for (const double v : x.at) sum_of_x += v;
  for (double& v : want.at) v *= sum_of_x;
  dsl::array<double, 2> of_sum = scaled(m, dsl::sum(m));
  const auto got = of_sum.copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want.at[i], 1e-9 * std::abs(sum_of_x)) << i;

  dsl::array<double, 2> out = m - dsl::shift(dsl::sum(m, dsl::axis(0)), 1, boundary::wrap, 0);
  for (std::int64_t j = 0; j < 37; ++j) {
    double column = 0;
    for (std::int64_t i = 0; i < 41; ++i)
      column += x.at[static_cast<std::size_t>(i * 37 + (j + 36) % 37)];
    ASSERT_NEAR(out(3, j).value(), x.at[static_cast<std::size_t>(3 * 37 + j)] - column,
                1e-9 * column)
        << j;
  }
}

// Heat in a rod, step by step, with feedback, records and an end condition.
TEST_P(neighbours, of_the_step_before_in_loops) {
  const auto heat = dsl::vectorize([](auto u, auto total, auto k) {
    auto next =
        u + k * (dsl::shift(u, 1, boundary::clamp) + dsl::shift(u, -1, boundary::clamp) - 2 * u);
    return std::tuple{next, dsl::sum(next * next) + 0 * total};
  });
  const std::int64_t n = 201;
  for (const std::int64_t steps : {0, 1, 2, 7, 40}) {
    table x{{n}, std::vector<double>(n, 0.0)};
    x.at[100] = 1;
    auto u = to_array<double, 1>(x);
    dsl::scalar<double> total = 0.0;
    const dsl::array<double> history = dsl::iterate(steps, heat, dsl::state(u, total), 0.25);
    std::vector<double> squares;
    for (std::int64_t s = 0; s < steps; ++s) {
      const table left = shifted(x, 1, boundary::clamp, 0),
                  right = shifted(x, -1, boundary::clamp, 0);
      double sum = 0;
      for (std::size_t i = 0; i < x.at.size(); ++i)
        x.at[i] += 0.25 * (left.at[i] + right.at[i] - 2 * x.at[i]);
      for (const double v : x.at) sum += v * v;
      squares.push_back(sum);
    }
    const auto got = u.copy_to_host(), recorded = history.copy_to_host();
    ASSERT_EQ(recorded.size(), squares.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], x.at[i], 1e-12) << steps << " steps, element " << i;
    for (std::size_t i = 0; i < squares.size(); ++i)
      ASSERT_NEAR(recorded[i], squares[i], 1e-12) << i;
  }
  auto u = dsl::zeros<double>(n);
  u(100) = 1.0;
  dsl::scalar<double> total = 1.0;
  dsl::scalar<std::int64_t> ran = 0;
  dsl::iterate(1000, heat, dsl::state(u, total), 0.25, dsl::until(total < 0.1, ran));
  EXPECT_GT(ran.value(), 5);
  EXPECT_LT(ran.value(), 1000);
  EXPECT_LT(total.value(), 0.1);
  EXPECT_NEAR(dsl::sum(u * u).value(), total.value(), 1e-12);
}

TEST_P(neighbours, example_of_shift) {
  const auto heat = dsl::vectorize(
      [](auto u) { return u + 0.25f * (dsl::shift(u, 1) + dsl::shift(u, -1) - 2 * u); });
  const dsl::array<float> next = heat(dsl::to_device(std::vector<float>{4, 0, 8}));
  EXPECT_EQ(next.copy_to_host(), (std::vector<float>{2, 3, 4}));
}

}  // namespace

// Formulas that read each array at one place, some of them displaced, against plain loops.
#include "../on_device.hpp"
#include "boundary_reference.hpp"

#include <array>
#include <random>
#include <string>

namespace {

using dsl::boundary;

struct displaced : on_device {};
ON_EVERY_DEVICE(displaced);

using extents_of_test = std::array<std::int64_t, 3>;
struct step_of_test {
  std::int64_t distance;
  boundary beyond;
  int axis;
};

// The value of an array's element after steps along different axes.
template <class T>
double value_after(const std::vector<T>& of, const extents_of_test& n, extents_of_test at,
                   std::initializer_list<step_of_test> steps) {
  for (const step_of_test& s : steps) {
    auto& place = at[static_cast<std::size_t>(s.axis)];
    place = inside_by_steps(s.beyond, place - s.distance, n[static_cast<std::size_t>(s.axis)]);
    if (place < 0) return 0;
  }
  return static_cast<double>(of[static_cast<std::size_t>((at[0] * n[1] + at[1]) * n[2] + at[2])]);
}

template <class T>
std::vector<T> drawn(std::int64_t n, std::mt19937& engine) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>(static_cast<int>(engine() % 40)));
  return values;
}

const auto pulled = dsl::vectorize([](auto a, auto b, auto c, auto d, auto e) {
  auto east = dsl::shift(b, 1, boundary::wrap, 2);
  auto corner = dsl::shift(dsl::shift(c, -1, boundary::zero, 0), 2, boundary::clamp, 2);
  auto far = dsl::shift(dsl::shift(d, -3, boundary::reflect, 1), 1, boundary::wrap, 0);
  auto up = dsl::shift(e, 2, boundary::zero, 0);
  return std::tuple{a + 2 * east + 3 * corner, 5 * far - up};
});

// Shapes of odd extents, above and below the shortest that the kernel takes. Arrays that begin one
// element into their memory are read as the others.
TEST_P(displaced, every_boundary_and_alignment) {
  std::mt19937 engine(38);
  const extents_of_test shapes[] = {{12, 13, 17}, {13, 12, 129}, {17, 31, 12}, {19, 16, 65},
                                    {5, 13, 14},  {14, 3, 200},  {12, 12, 1},  {33, 15, 47}};
  for (const extents_of_test& n : shapes) {
    const std::int64_t size = n[0] * n[1] * n[2];
    const auto a = drawn<float>(size, engine), b = drawn<float>(size + 1, engine);
    const auto d = drawn<dsl::half>(size, engine);
    const auto c = drawn<std::int8_t>(size, engine);
    const auto e = drawn<double>(size, engine);
    const auto shaped = [&n](auto of) { return dsl::reshape(of, n[0], n[1], n[2]); };
    const auto da = dsl::to_device(a), db = dsl::to_device(b);
    const auto dd = dsl::to_device(d);
    const auto dc = dsl::to_device(c);
    const auto de = dsl::to_device(e);
    dsl::array<float, 3> first(n[0], n[1], n[2]);
    dsl::array<double, 3> second(n[0], n[1], n[2]);
    const auto step = pulled(shaped(da.view()), shaped(db(dsl::slice(1, dsl::end))),
                             shaped(dc.view()), shaped(dd.view()), shaped(de.view()));
    dsl::tie(first, second) = step;
    const auto got = first.copy_to_host();
    const auto got_second = second.copy_to_host();
    const std::vector<float> behind(b.begin() + 1, b.end());
    for (std::int64_t x = 0, i = 0; x < n[0]; ++x)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t z = 0; z < n[2]; ++z, ++i) {
          const auto k = static_cast<std::size_t>(i);
          const extents_of_test at{x, y, z};
          ASSERT_EQ(
              got[k],
              static_cast<double>(a[k]) + 2 * value_after(behind, n, at, {{1, boundary::wrap, 2}}) +
                  3 * value_after(c, n, at, {{2, boundary::clamp, 2}, {-1, boundary::zero, 0}}))
              << n[0] << " x " << n[1] << " x " << n[2] << ", element " << i;
          ASSERT_EQ(
              got_second[k],
              5 * value_after(d, n, at, {{1, boundary::wrap, 0}, {-3, boundary::reflect, 1}}) -
                  value_after(e, n, at, {{2, boundary::zero, 0}}))
              << n[0] << " x " << n[1] << " x " << n[2] << ", element " << i;
        }
    const bool is_long = n[0] >= 12 && n[1] >= 12 && n[2] >= 12;
    const std::string text = dsl::explain(dsl::tie(first, second), step).text().c_str();
    if (is_long && has_grid()) {
      EXPECT_NE(text.find("displaced"), text.npos) << text;
    }
  }
}

const auto moved_and_summed = dsl::vectorize([](auto a, auto b) {
  auto next = a + dsl::shift(b, -1, boundary::clamp, 0);
  return std::tuple{next, dsl::sum(next)};
});

// With a reduction beside, of one line; in place, where the neighbours that are read change.
TEST_P(displaced, a_sum_beside_and_in_place) {
  std::mt19937 engine(39);
  for (const std::int64_t n : {12, 13, 1000, 4097, 100'003}) {
    const auto a = drawn<std::int64_t>(n, engine), b = drawn<std::int64_t>(n, engine);
    const auto da = dsl::to_device(a);
    auto db = dsl::to_device(b);
    dsl::scalar<std::int64_t> total;
    dsl::tie(db, total) = moved_and_summed(da, db);
    const auto got = db.copy_to_host();
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i),
                 from = static_cast<std::size_t>(std::min(i + 1, n - 1));
      ASSERT_EQ(got[k], a[k] + b[from]) << n << ", element " << i;
      sum += a[k] + b[from];
    }
    ASSERT_EQ(total.value(), sum) << n;
  }
}

const auto streamed = dsl::vectorize([](auto a, auto b, auto c) {
  auto up = dsl::shift(b, 1, boundary::wrap, 0);
  auto back = dsl::shift(dsl::shift(c, -1, boundary::zero, 1), -1, boundary::wrap, 0);
  return std::tuple{up, a + back, back - up};
});

// Planes of one array: to those of another one, to themselves in another order, where every plane
// is read before it is written, and in a loop. Planes of odd sizes begin at any alignment.
TEST_P(displaced, planes_of_one_array) {
  std::mt19937 engine(40);
  for (const auto [rows, columns] : {std::array{12, 16}, {13, 17}, {31, 129}}) {
    const extents_of_test n{rows, columns, 1};
    const auto size = static_cast<std::size_t>(rows * columns);
    std::array<std::vector<float>, 3> now;
    for (auto& plane : now) plane = drawn<float>(rows * columns, engine);
    const auto after = [&] {
      std::array<std::vector<float>, 3> next;
      for (std::int64_t x = 0, i = 0; x < rows; ++x)
        for (std::int64_t y = 0; y < columns; ++y, ++i) {
          const double up = value_after(now[1], n, {x, y, 0}, {{1, boundary::wrap, 0}}),
                       back = value_after(now[2], n, {x, y, 0},
                                          {{-1, boundary::wrap, 0}, {-1, boundary::zero, 1}});
          next[0].push_back(static_cast<float>(up));
          next[1].push_back(now[0][static_cast<std::size_t>(i)] + static_cast<float>(back));
          next[2].push_back(static_cast<float>(back - up));
        }
      return next;
    };
    dsl::array<float, 3> f(3, rows, columns), g(3, rows, columns);
    for (int k = 0; k < 3; ++k)
      f(k) = dsl::reshape(dsl::to_device(now[static_cast<std::size_t>(k)]), rows, columns);
    const auto expect = [&](const dsl::array<float, 3>& x, std::array<int, 3> order,
                            const char* what) {
      for (int k = 0; k < 3; ++k) {
        const auto got = x(order[static_cast<std::size_t>(k)]).copy_to_host();
        for (std::size_t i = 0; i < size; ++i)
          ASSERT_EQ(got[i], now[static_cast<std::size_t>(k)][i])
              << what << ", " << rows << " x " << columns << ", plane " << k << ", element " << i;
      }
    };
    auto f0 = f(0), f1 = f(1), f2 = f(2), g0 = g(0), g1 = g(1), g2 = g(2);
    dsl::tie(g0, g1, g2) = streamed(f0, f1, f2);
    const std::string text =
        dsl::explain(dsl::tie(g0, g1, g2), streamed(f0, f1, f2)).text().c_str();
    if (has_grid()) {
      EXPECT_NE(text.find("displaced"), text.npos) << text;
    }
    now = after();
    expect(g, {0, 1, 2}, "another array");
    dsl::tie(f2, f0, f1) = streamed(f0, f1, f2);
    expect(f, {2, 0, 1}, "the same array");
    dsl::iterate(3, streamed, dsl::state(g0, g1, g2));
    for (int k = 0; k < 3; ++k) now = after();
    expect(g, {0, 1, 2}, "a loop");
  }
}

}  // namespace

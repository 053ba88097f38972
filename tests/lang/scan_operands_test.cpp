// Scans as operands of other expressions: against the same expressions of evaluated scans.
#include "../on_device.hpp"

#include <dsl/by_key.hpp>
#include <dsl/random.hpp>
#include <dsl/scan.hpp>

#include <string>

namespace {

using dsl::array;

struct scan_operands : on_device {};
ON_EVERY_DEVICE(scan_operands);

array<std::int64_t> integers(std::int64_t n, int seed) {
  std::vector<std::int64_t> made;
  for (std::int64_t i = 0; i < n; ++i) made.push_back((i * 37 + seed) % 11 - 4);
  return dsl::to_device(made);
}
template <class A, class B>
void expect_equal(const A& a, const B& b) {
  EXPECT_EQ(dsl::eval(a).copy_to_host(), dsl::eval(b).copy_to_host());
}

TEST_P(scan_operands, of_formulas_and_reductions) {
  for (const std::int64_t n : {0, 1, 7, 1025}) {
    const array<std::int64_t> x = integers(n, 1), y = integers(n, 2);
    const array<std::int64_t> sums = dsl::cumsum(x), before = dsl::cumsum(x * y, dsl::exclusive);
    expect_equal(2 * dsl::cumsum(x) - y, 2 * sums - y);
    expect_equal(dsl::cumsum(x) * dsl::cumsum(x * y, dsl::exclusive), sums * before);
    EXPECT_EQ(dsl::sum(y * dsl::cumsum(x)).value(), dsl::sum(y * sums).value());
    // Scans of scans; of reductions; of elements in every other order.
    expect_equal(1 + dsl::cumsum(y * dsl::cumsum(x)), 1 + dsl::eval(dsl::cumsum(y * sums)));
    expect_equal(1 + dsl::cumsum(x + dsl::sum(dsl::cumsum(x))),
                 1 + dsl::eval(dsl::cumsum(x + dsl::sum(sums))));
    expect_equal(y + dsl::shift(dsl::cumsum(x), 1), y + dsl::shift(sums, 1));
    expect_equal(1 + dsl::cumsum(dsl::flip(x)), 1 + dsl::eval(dsl::cumsum(dsl::flip(x))));
    expect_equal(where(dsl::cumsum(x) > 0, x, y), where(sums > 0, x, y));
  }
}

TEST_P(scan_operands, along_axes) {
  const array<std::int64_t, 2> m = dsl::reshape(integers(7 * 33, 1), 7, 33);
  const array<std::int64_t> row = integers(33, 2), all = dsl::cumsum(m);
  const array<std::int64_t, 2> down = dsl::cumsum(m, dsl::axis(0)),
                               along = dsl::cumsum(m, dsl::axis(1));
  expect_equal(dsl::cumsum(m, dsl::axis(0)) * row, down * row);
  expect_equal(m + dsl::cumsum(row), m + dsl::eval(dsl::cumsum(row)));
  expect_equal(dsl::cumsum(m) + 1, all + 1);
  expect_equal(dsl::max(dsl::cumsum(m, dsl::axis(1)) - m, dsl::axis(1)),
               dsl::max(along - m, dsl::axis(1)));
  expect_equal(dsl::cumsum(m, dsl::axis(1)) -
                   dsl::sum(dsl::cumsum(m, dsl::axis(0)), dsl::axis(1), dsl::keep_dims),
               along - dsl::sum(down, dsl::axis(1), dsl::keep_dims));
  expect_equal(dsl::cumsum(dsl::transpose(m), dsl::axis(0)) + 0,
               dsl::eval(dsl::cumsum(dsl::transpose(m), dsl::axis(0))));
  expect_equal(dsl::apply_along_axis([](auto r) { return r - dsl::min(r); }, dsl::axis(1),
                                     dsl::cumsum(m, dsl::axis(0))),
               dsl::apply_along_axis([](auto r) { return r - dsl::min(r); }, dsl::axis(1), down));
}

TEST_P(scan_operands, of_their_own_target_and_of_several) {
  array<std::int64_t> x = integers(301, 1), y = integers(301, 2), z;
  const array<std::int64_t> sums = dsl::cumsum(x), wanted = x + sums;
  x = x + dsl::cumsum(x);
  expect_equal(x, wanted);
  // All right sides are complete before the first target is written.
  const array<std::int64_t> of_y = y + dsl::cumsum(x), of_x = x - dsl::cumsum(y);
  dsl::tie(y, x) = std::tuple{y + dsl::cumsum(x), x - dsl::cumsum(y)};
  expect_equal(y, of_y);
  expect_equal(x, of_x);
  dsl::scalar<std::int64_t> top;
  const array<std::int64_t> both = x + dsl::eval(dsl::cumsum(y));
  dsl::tie(z, top) = dsl::vectorize(
      [](auto a, auto b) { return std::tuple{a + b, dsl::max(a + b)}; })(x, dsl::cumsum(y));
  expect_equal(z, both);
  EXPECT_EQ(top.value(), dsl::max(both).value());
}

TEST_P(scan_operands, of_keys_selections_and_positions) {
  const array<std::int64_t> x = integers(64, 1), ones = dsl::full<std::int64_t>(1, 64);
  const array<std::int64_t> sums = dsl::cumsum(x), place = dsl::cumsum(ones, dsl::exclusive);
  expect_equal(dsl::sum_by(dsl::cumsum(ones, dsl::exclusive) / 7, dsl::cumsum(x), 10),
               dsl::sum_by(place / 7, sums, 10));
  expect_equal(dsl::compress(dsl::cumsum(x) > 3, dsl::cumsum(x) * x),
               dsl::compress(sums > 3, sums * x));
  expect_equal(dsl::take(x, dsl::cumsum(ones) - 1), x);
  expect_equal(dsl::sort(x - dsl::cumsum(x)), dsl::sort(x - sums));
  array<std::int64_t> groups;
  dsl::scalar<std::int64_t> top;
  dsl::tie(groups, top) =
      std::tuple{dsl::sum_by(place / 7, dsl::cumsum(x), 10), dsl::max(dsl::cumsum(x))};
  expect_equal(groups, dsl::sum_by(place / 7, sums, 10));
  EXPECT_EQ(top.value(), dsl::max(sums).value());
}

// Equal costly operands are computed once, but these differ in what they scan.
TEST_P(scan_operands, differ_by_their_options) {
  const array<double> x = dsl::full<double>(1, 50);
  const dsl::random::key key(7);
  const auto noise = [&](const auto& sums) { return dsl::random::normal<double>(key, 50) + sums; };
  const array<double> drawn = dsl::random::normal<double>(key, 50), all = dsl::cumsum(x),
                      before = dsl::cumsum(x, dsl::exclusive);
  expect_equal(noise(dsl::cumsum(x)) * noise(dsl::cumsum(x, dsl::exclusive)),
               (drawn + all) * (drawn + before));
}

TEST_P(scan_operands, are_statements_of_their_own) {
  const array<float> x = dsl::full<float>(1, 100);
  array<float> y = dsl::full<float>(5, 100);
  const std::string words = dsl::explain(y, 2 * dsl::cumsum(x * x)).text().c_str();
  EXPECT_LT(words.find("cumsum"), words.find("2 * a"));
  EXPECT_EQ(words.find("several"), std::string::npos);
  EXPECT_EQ(y.copy_to_host(), std::vector<float>(100, 5));
  EXPECT_EQ(dsl::plan_of(y, 2 * dsl::cumsum(x)).grid, dsl::plan_of(y, 2 * x).grid);
  array<float> shorter = dsl::full<float>(5, 3);
  EXPECT_THROW(shorter = 2 * dsl::cumsum(x), dsl::shape_error);
  EXPECT_THROW(y = shorter + dsl::cumsum(x), dsl::shape_error);
  EXPECT_EQ(shorter.copy_to_host(), std::vector<float>(3, 5));
  array<float> never;
  EXPECT_THROW(y = 2 * dsl::cumsum(never), dsl::memory_error);
}

TEST(scans_of_several_devices, stay_on_their_operands_device) {
  array<float> there;
  {
    const dsl::device_guard sim{dsl::device("sim:0-3")};
    there = dsl::full<float>(1, 4000);
  }
  const dsl::device_guard host{dsl::device("host")};
  EXPECT_EQ(dsl::sum(dsl::cumsum(there)).value(), 4000 * 4001 / 2);
  const array<float> of_there = there + dsl::cumsum(there * there);
  EXPECT_EQ(of_there.where(), there.where());
  EXPECT_EQ(of_there(3999).value(), 4001);
}

}  // namespace

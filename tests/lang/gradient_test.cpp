// dsl::gradient: of what users write, and errors. More in gradient_all_test.cpp.
#include "gradient_check.hpp"

#include <dsl/by_key.hpp>

namespace {

using namespace gradient_check;
using dsl::array;
using dsl::scalar;

struct gradients : on_device {};
ON_EVERY_DEVICE(gradients);

TEST_P(gradients, of_sums_of_elements) {
  for (const std::int64_t n : {1, 2, 31, 33}) {
    array<double> x = line(n, 1), y = line(n, 2);
    scalar<double> k = 0.3;
    check([&] { return dsl::mean(square(sin(x) * exp(k * y) - x * y)); }, x, k, y);
  }
}

TEST_P(gradients, of_broadcast_operands) {
  array<double, 2> m = matrix(3, 5, 1), column = matrix(3, 1, 2);
  array<double> row = line(5, 4);
  check([&] { return dsl::sum(square(m * row + column - row)); }, m, row, column);
}

TEST_P(gradients, of_rows_and_views) {
  array<double, 2> m = matrix(4, 6, 1);
  array<double> w = line(6, 2), y = line(4, 3);
  check([&] { return dsl::mean(log1p(exp(-y * dsl::sum(m * w, dsl::axis(1))))); }, m, w);
  check([&] { return dsl::sum(square(dsl::shift(w, 1) - dsl::flip(w))); }, w);
}

TEST_P(gradients, of_a_mean_of_neighbours) {
  array<double> x = line(5, 1);
  check([&] { return dsl::mean(dsl::shift(x, 2)); }, x);
}

TEST_P(gradients, of_taken) {
  array<double> x = line(10, 1);
  array<double, 2> m = matrix(4, 3, 2);
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 100, 3}),
                            rows = dsl::to_device(std::vector<std::int64_t>{2, 0, 2});
  check(
      [&] {
        return dsl::sum(exp(dsl::take(x, at)) * dsl::mean(x * x)) +
               dsl::sum(square(dsl::take(m, rows, 0)));
      },
      x, m);
}

TEST_P(gradients, of_a_table) {
  array<double> x = line(6, 1), table = line(5, 2);
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 3});
  const auto look =
      dsl::vectorize([](auto t, auto u, auto i) { return dsl::take(t, i) + u * dsl::take(u, i); });
  check([&] { return dsl::sum(square(look(table, x, at))); }, x, table);
}

TEST_P(gradients, of_targets_and_errors) {
  array<double> x = line(8, 1), other = line(8, 2), kept = line(8, 3);
  const dsl::view<const double, 1> seen = kept.view();
  kept = dsl::gradient(dsl::sum(x * x), x);
  EXPECT_EQ(seen.copy_to_host(), dsl::eval(2 * x).copy_to_host());
  // The target is the variable.
  const array<double> twice = 2 * x;
  x = dsl::gradient(dsl::sum(x * x), x);
  EXPECT_EQ(x.copy_to_host(), twice.copy_to_host());
  array<double> target = line(8, 4);
  const auto before = target.copy_to_host();
  EXPECT_THROW(target = dsl::gradient(dsl::sum(x * x), other), dsl::value_error);
  EXPECT_EQ(target.copy_to_host(), before);
  const auto every_other = x(dsl::slice(0, dsl::end, 2));
  EXPECT_THROW(dsl::eval(dsl::gradient(dsl::sum(x * x), every_other)), dsl::value_error);
  // A variable that is not used with a derivative.
  EXPECT_EQ(dsl::eval(dsl::gradient(dsl::sum(floor(x) * other), x)).copy_to_host(),
            std::vector<double>(8, 0));
  // Memory that nothing else refers to is replaced; a view of it would see the gradient.
  array<double> alone = line(8, 5);
  alone = dsl::gradient(dsl::sum(x * x), x);
  EXPECT_EQ(alone.copy_to_host(), dsl::eval(2 * x).copy_to_host());
  // A part of an array from which elements are taken: some might not be the variable's.
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{1, 2});
  const auto half = x(dsl::slice(4, 8));
  EXPECT_THROW(dsl::eval(dsl::gradient(dsl::sum(half) + dsl::sum(dsl::take(x, at)), half)),
               dsl::value_error);
  array<double> none(0);
  EXPECT_EQ(dsl::eval(dsl::gradient(dsl::sum(none * none), none)).size(), 0);
}

}  // namespace

// dsl::gradient and dsl::value_and_gradient: of what users write, and errors. More in
// gradient_all_test.cpp and gradient_forms_all_test.cpp.
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
  scalar<double> k = 0.5;
  const scalar<double> of_k = dsl::gradient(k * k, k);
  EXPECT_EQ(of_k.value(), 1.0);
  k = dsl::gradient(k * k * k, k);
  EXPECT_EQ(k.value(), 0.75);
}

}  // namespace

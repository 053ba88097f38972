// dsl::gradient of losses with scans: sums, products, extremes and operators of one's own.
#include "gradient_check.hpp"

#include <dsl/scan.hpp>

#include <complex>

namespace {

using namespace gradient_check;
using dsl::array;

struct scan_gradients : on_device {};
ON_EVERY_DEVICE(scan_gradients);

TEST_P(scan_gradients, of_sums) {
  for (const std::int64_t n : {0, 1, 7}) {
    array<double> x = line(n, 1), w = line(n, 2);
    check([&] { return dsl::sum(w * dsl::cumsum(x)); }, x, w);
    check([&] { return dsl::sum(square(dsl::cumsum(x * w, dsl::exclusive) - w)); }, x, w);
  }
  array<double, 2> m = matrix(4, 5, 3);
  array<double> v = line(5, 4);
  check([&] { return dsl::mean(square(dsl::cumsum(m * v, dsl::axis(0)) - v)); }, m, v);
  check(
      [&] {
        return dsl::sum(exp(dsl::cumsum(m, dsl::axis(1), dsl::exclusive)) * v) +
               dsl::sum(square(dsl::cumsum(m)));
      },
      m);
  check([&] { return dsl::sum(dsl::cumsum(v) * dsl::cumsum(square(dsl::cumsum(v)))); }, v);
}

TEST_P(scan_gradients, of_products) {
  array<double> v = line(5, 4);
  v(1) = 0.0;
  v(3) = 0.0;
  check([&] { return dsl::sum(v * dsl::cumprod(v)); }, v);
  array<double, 2> m = matrix(4, 5, 3);
  check([&] { return dsl::sum(m * v * dsl::cumprod(m + 0.5, dsl::axis(0), dsl::exclusive)); }, m,
        v);
}

TEST_P(scan_gradients, of_operators) {
  array<double> x = line(7, 1), w = line(7, 2);
  array<double, 2> m = matrix(4, 7, 3);
  const auto top = dsl::scan([](auto a, auto b) { return max(a, b); });
  check([&] { return dsl::sum(w * top(x)) + dsl::sum(w * top(m, dsl::axis(0))); }, x, w, m);
  const auto joined = dsl::scan([](auto a, auto b) { return a * b + a + b; }, 0.3);
  check([&] { return dsl::sum(w * joined(x) * joined(x, dsl::exclusive)); }, x, w);
}

TEST_P(scan_gradients, with_the_value) {
  for (const std::int64_t n : {0, 33}) {
    array<double> x = line(n, 1), y = line(n, 2);
    check_value(
        0, [&] { return dsl::sum(square(dsl::cumsum(x * y) - dsl::shift(x * y, 1))); }, x, y);
  }
}

TEST_P(scan_gradients, of_other_dtypes) {
  const std::vector<double> given = numbers(40, 1), weights = numbers(40, 2);
  const array<float> x = dsl::eval(dsl::cast<float>(dsl::to_device(given)));
  const array<double> w = dsl::to_device(weights);
  const array<dsl::half> h = dsl::eval(dsl::cast<dsl::half>(dsl::to_device(given)));
  const array<std::complex<double>> z = dsl::eval(x * std::complex<double>(1, 2));
  const auto of_x = dsl::eval(dsl::gradient(dsl::sum(w * dsl::cumsum<double>(x)), x)),
             of_narrow = dsl::eval(dsl::gradient(dsl::sum(w * dsl::cumsum(x)), x));
  const auto of_h = dsl::eval(dsl::gradient(dsl::sum(w * dsl::cumsum(h)), h));
  const auto of_z =
      dsl::eval(dsl::gradient(dsl::sum(real(w * std::complex<double>(0, 1) * dsl::cumsum(z))), z));
  double later = 0;
  for (std::size_t i = 40; i-- > 0;) {
    later += weights[i];
    const auto at = static_cast<std::int64_t>(i);
    EXPECT_NEAR(of_x(at).value(), later, 1e-6);
    EXPECT_NEAR(of_narrow(at).value(), later, 1e-5);
    EXPECT_NEAR(static_cast<float>(of_h(at).value()), later, 2e-2);
    EXPECT_NEAR(std::abs(of_z(at).value() - std::complex<double>(0, later)), 0, 1e-12);
  }
}

TEST(gradients_of_scans_on_several_devices, are_those_of_one) {
  const dsl::device_guard sim{dsl::device("sim:0-3")};
  array<double> x = line(301, 1), w = line(301, 2);
  const auto found = dsl::eval(dsl::gradient(dsl::sum(w * dsl::cumsum(x)), x)).copy_to_host();
  const auto weights = w.copy_to_host();
  double later = 0;
  for (std::size_t i = 301; i-- > 0;) EXPECT_NEAR(found[i], later += weights[i], 1e-12);
}

}  // namespace

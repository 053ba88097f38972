// Scans on an OpenCL device against the same scans on the host.
#include <dsl/scan.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "../error_of.hpp"
#include "on_opencl.hpp"

struct unprintable_sum {
  DSL_FN float operator()(float a, float b) const { return a + b; }
};

namespace {

const std::vector<std::int64_t> scanned_sizes{0, 1, 31, 33, 255, 256, 257, 1000, 4097, 100003};

// Numbers of few digits, so that sums of floats are exact.
template <class T>
std::vector<T> small_numbers(std::int64_t n, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> uniform(-8, 8);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& each : v) each = T(static_cast<std::int8_t>(uniform(engine)));
  return v;
}

struct opencl_scan : on_opencl {
  // `scan` gives the elements of a scan of some numbers.
  template <class T, class Scan>
  static void expect_equal(std::int64_t n, const Scan& scan) {
    const auto compute = [&] { return scan(dsl::to_device(small_numbers<T>(n))).copy_to_host(); };
    ASSERT_EQ(compute(), on_host(compute)) << n;
  }
  template <class T>
  static void expect_sums() {
    for (const std::int64_t n : scanned_sizes)
      expect_equal<T>(n, [](const auto& x) { return dsl::eval(dsl::cumsum(x)); });
  }
};

TEST_F(opencl_scan, sums_of_integers) {
  expect_sums<std::int8_t>();
  expect_sums<std::int32_t>();
  expect_sums<std::uint64_t>();
}
TEST_F(opencl_scan, sums_of_reals) {
  expect_sums<float>();
  expect_sums<double>();
}
TEST_F(opencl_scan, sums_of_halves_are_floats) {
  for (const std::int64_t n : {33, 4097})
    expect_equal<dsl::half>(n, [](const auto& x) -> dsl::array<float> { return dsl::cumsum(x); });
}
TEST_F(opencl_scan, sums_of_complex_numbers) { expect_sums<std::complex<float>>(); }

TEST_F(opencl_scan, exclusive) {
  for (const std::int64_t n : scanned_sizes)
    expect_equal<float>(
        n, [](const auto& x) { return dsl::eval(dsl::cumsum(x * x + 1, dsl::exclusive)); });
}

TEST_F(opencl_scan, along_each_axis) {
  const std::vector<std::vector<std::int64_t>> shapes{{3, 5, 7},   {2, 4099, 3}, {3, 2, 4100},
                                                      {70, 64, 8}, {1, 9000, 1}, {0, 3, 2}};
  for (const auto& shape : shapes)
    for (int axis = 0; axis < 3; ++axis)
      expect_equal<std::int32_t>(shape[0] * shape[1] * shape[2], [&](const auto& x) {
        return dsl::eval(
            dsl::cumsum(dsl::reshape(x, shape[0], shape[1], shape[2]), dsl::axis(axis)));
      });
}

TEST_F(opencl_scan, by_a_rule_whose_order_matters) {
  const auto latest = dsl::scan([](auto a, auto b) { return where(b > 4, b, a); });
  for (const std::int64_t n : scanned_sizes)
    expect_equal<std::int32_t>(n, [&](const auto& x) { return dsl::eval(latest(x)); });
}

TEST_F(opencl_scan, in_place) {
  const auto compute = [] {
    auto x = dsl::to_device(small_numbers<std::int64_t>(10000));
    x = dsl::cumsum(x + 1);
    x = dsl::cumsum(x(dsl::slice(dsl::end, dsl::end, -1)));
    return x.copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}

TEST_F(opencl_scan, products_are_near_those_of_the_host_and_the_same_in_each_run) {
  std::vector<float> h;
  for (int i = 0; i < 50000; ++i) h.push_back(1 + static_cast<float>((i * 37) % 11 - 5) * 1e-4f);
  const auto compute = [&] { return dsl::eval(dsl::cumprod(dsl::to_device(h))).copy_to_host(); };
  const auto got = compute(), wanted = on_host(compute);
  for (std::size_t i = 0; i < h.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], 2e-5 * std::abs(wanted[i])) << i;
  EXPECT_EQ(compute(), got);
}

TEST_F(opencl_scan, of_functors_are_refused_before_anything_is_queued) {
  const auto x = dsl::to_device({1.0f, 2.0f});
  dsl::array<float> y = dsl::full<float>(7, 2);
  EXPECT_NE(error_of([&] { y = dsl::scan(unprintable_sum{})(x); }).find("functor"),
            std::string::npos);
  EXPECT_EQ(y.copy_to_host(), std::vector<float>(2, 7));
}

// Their names in the text are a, b, c, ...
TEST_F(opencl_scan, of_many_operands) {
  const auto compute = [] {
    const std::int64_t n = 1000;
    const auto sum = [](const auto&... x) { return (... + x); };
    auto of = [number = 0]() mutable { return dsl::eval(dsl::arange<std::int64_t>(n) * ++number); };
    const auto a = of(), b = of(), c = of(), d = of(), e = of(), f = of(), g = of(), h = of(),
               i = of(), j = of(), k = of(), l = of();
    return dsl::eval(dsl::cumsum(sum(a, b, c, d, e, f, g, h, i, j, k, l))).copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}

}  // namespace

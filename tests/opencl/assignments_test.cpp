// Formulas on an OpenCL device against the same formulas on the host.
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../error_of.hpp"
#include "../on_device.hpp"
#include "on_opencl.hpp"

namespace {

template <class T>
std::vector<T> drawn(std::int64_t n, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> uniform(1, 100);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& each : v) each = T(static_cast<std::int8_t>(uniform(engine)));
  return v;
}

struct opencl_formula : on_opencl {};

TEST_F(opencl_formula, runs_on_arrays_of_any_size) {
  for (const std::int64_t n : sizes()) {
    SCOPED_TRACE(n);
    const auto ha = random_floats(n, -2, 2, 1), hb = random_floats(n, -2, 2, 2);
    const auto compute = [&] {
      const auto a = dsl::to_device(ha), b = dsl::to_device(hb);
      const dsl::array<float> c = exp(a) + 2 * b;
      return c.copy_to_host();
    };
    expect_near(compute(), on_host(compute), 1e-6);
  }
}

TEST_F(opencl_formula, takes_views) {
  const auto h = random_floats(1000);
  const auto compute = [&] {
    auto x = dsl::to_device(h);
    x(dsl::slice(1, 500)) = 2 * x(dsl::slice(501, dsl::end));
    x(dsl::slice(0, dsl::end, 3)) = x(dsl::slice(dsl::end, dsl::end, -3)) + 1;
    auto m = dsl::reshape(x, 25, 40);
    dsl::array<float, 2> t = dsl::transpose(m) * 2.0f;
    t(dsl::slice(), 3) = 7.0f;
    std::vector<float> all = x.copy_to_host();
    const std::vector<float> more = t.copy_to_host();
    all.insert(all.end(), more.begin(), more.end());
    const std::vector<float> strided = m(dsl::slice(3, 20, 2), dsl::slice(1, -1, 5)).copy_to_host();
    all.insert(all.end(), strided.begin(), strided.end());
    return all;
  };
  EXPECT_EQ(compute(), on_host(compute));
}

TEST_F(opencl_formula, broadcasts) {
  const auto compute = [] {
    const auto row = dsl::to_device(random_floats(33));
    const auto column = dsl::reshape(dsl::to_device(random_floats(17, -2, 2, 3)), 17, 1);
    const dsl::scalar<float> half = 0.5f;
    const dsl::array<float, 2> all = half * row + column * dsl::arange<float>(33) - 3;
    return all.copy_to_host();
  };
  expect_near(compute(), on_host(compute), 1e-6);
}

template <class T>
void expect_alike() {
  const auto ha = drawn<T>(1000, 1), hb = drawn<T>(1000, 2);
  const auto compute = [&] {
    const auto a = dsl::to_device(ha), b = dsl::to_device(hb);
    return dsl::eval(a * b + a - b).copy_to_host();
  };
  const auto got = compute(), wanted = on_host(compute);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], wanted[i]) << i;
}

TEST_F(opencl_formula, computes_with_every_dtype) {
  expect_alike<std::int8_t>();
  expect_alike<std::uint8_t>();
  expect_alike<std::int16_t>();
  expect_alike<std::uint16_t>();
  expect_alike<std::int32_t>();
  expect_alike<std::uint32_t>();
  expect_alike<std::int64_t>();
  expect_alike<std::uint64_t>();
  expect_alike<float>();
  expect_alike<double>();
  expect_alike<std::complex<float>>();
  expect_alike<std::complex<double>>();
  expect_alike<dsl::half>();
  expect_alike<dsl::bfloat16>();
}

TEST_F(opencl_formula, writes_as_if_the_right_side_were_complete) {
  const auto compute = [] {
    auto x = dsl::to_device(random_floats(10'001));
    x = dsl::flip(x) + x;
    x(dsl::slice(1, dsl::end)) = x(dsl::slice(0, -1)) * 2;
    return x.copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}

TEST_F(opencl_formula, reads_neighbours_and_gathers) {
  const auto compute = [] {
    const auto x = dsl::reshape(dsl::to_device(random_floats(2000)), 40, 50);
    const dsl::array<float, 2> smooth = dsl::shift(x, 1, dsl::boundary::clamp, 0) +
                                        dsl::shift(x, -1, dsl::boundary::wrap, 0) +
                                        dsl::shift(x, 1, dsl::boundary::zero, 1) - 4 * x;
    const dsl::array<std::int64_t> positions = (dsl::arange<std::int64_t>(2000) * 7) % 2000;
    const dsl::array<float> taken = dsl::take(dsl::reshape(smooth, 2000), positions) + 1;
    return taken.copy_to_host();
  };
  expect_near(compute(), on_host(compute), 1e-5);
}

struct opencl_reduction : on_opencl {};

// The first element would lie before the memory.
TEST_F(opencl_reduction, of_a_view_without_elements) {
  const dsl::array<double> x = dsl::ones<double>(10);
  EXPECT_EQ(dsl::sum(dsl::flip(x(dsl::slice(0, 0)))).value(), 0);
}

TEST_F(opencl_reduction, of_all_elements) {
  for (const std::int64_t n : sizes()) {
    SCOPED_TRACE(n);
    const auto h = random_floats(n);
    const auto compute = [&] {
      const auto x = dsl::to_device(h);
      const dsl::scalar<float> total = dsl::sum(x * x);
      const dsl::scalar<bool> positive = dsl::all(x > -3.0f);
      return std::vector<float>{total.value(), positive.value() ? 1.f : 0.f};
    };
    expect_near(compute(), on_host(compute), 1e-5);
    EXPECT_EQ(compute(), compute());  // the same bits from run to run
  }
  const auto x = dsl::to_device(random_floats(1000));
  EXPECT_EQ(dsl::max(x).value(),
            on_host([] { return dsl::max(dsl::to_device(random_floats(1000))).value(); }));
}

TEST_F(opencl_reduction, along_axes_and_of_rows) {
  const auto compute = [] {
    const auto m = dsl::reshape(dsl::to_device(random_floats(37 * 300)), 37, 300);
    const dsl::array<float> rows = dsl::sum(m, dsl::axis(1)), columns = dsl::mean(m, dsl::axis(0));
    const dsl::array<float, 2> centred =
        m - dsl::reshape(dsl::array<float>(dsl::mean(m, dsl::axis(1))), 37, 1);
    std::vector<float> all = rows.copy_to_host();
    for (const std::vector<float>& more : {columns.copy_to_host(), centred.copy_to_host()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_near(compute(), on_host(compute), 1e-4);
}

TEST_F(opencl_reduction, within_a_formula) {
  const auto compute = [] {
    const auto m = dsl::reshape(dsl::to_device(random_floats(37 * 300)), 37, 300);
    const auto softmax = dsl::apply_along_axis(
        [](auto row) {
          const auto e = exp(row - dsl::max(row));
          return e / dsl::sum(e);
        },
        dsl::axis(1), m);
    return dsl::eval(softmax).copy_to_host();
  };
  expect_near(compute(), on_host(compute), 1e-5);
}

TEST_F(opencl_formula, runs_from_several_threads_at_once) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([t, &wrong] {
      const dsl::device_guard here("opencl:0");
      const dsl::stream own;
      const dsl::stream_guard on(own);
      for (int i = 0; i < 50; ++i) {
        const auto x = dsl::full<int>(t, 1000);
        const dsl::array<int> y = x * 3 + i;
        if (y.copy_to_host() != std::vector<int>(1000, 3 * t + i)) ++wrong;
      }
    });
  for (std::thread& each : all) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(opencl_formula, is_launched_as_the_call_says) {
  const auto x = dsl::to_device(random_floats(1000));
  dsl::array<float> y(1000);
  dsl::assign(y, x + 1, dsl::launch{.block = 16, .grid = 2});
  EXPECT_EQ(y.copy_to_host(), dsl::eval(x + 1).copy_to_host());
  EXPECT_NE(error_of([&] {
              dsl::assign(y, x + 1, dsl::launch{.block = 1 << 20});
            }).find("a block of 1048576 work-items on opencl:0"),
            std::string::npos);
  EXPECT_NE(std::string(dsl::explain(y, x + 1).text()).find("work-groups of"), std::string::npos);
}

}  // namespace

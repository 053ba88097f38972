// Kernels whose parameters are more than a device takes: they read their values from memory.
#include <dsl/by_key.hpp>
#include <dsl/ode.hpp>
#include <dsl/scan.hpp>

#include <complex>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../error_of.hpp"
#include "on_opencl.hpp"
#include "opencl/device.hpp"

namespace {

// What the device takes, for one test.
class lowered_limit {
 public:
  explicit lowered_limit(std::size_t bytes) { std::swap(limit(), other_ = bytes); }
  ~lowered_limit() { std::swap(limit(), other_); }
  lowered_limit(const lowered_limit&) = delete;

 private:
  static std::size_t& limit() {
    return dsl::detail::opencl::device_state::of(0).can.parameter_bytes;
  }
  std::size_t other_;
};

struct opencl_parameters : on_opencl {
  // A view of `Rank` dimensions. Those whose bit in `number` is set have every other element of the
  // memory, so that no two numbers have the same strides and no dimensions can be merged.
  template <int... D>
  static auto spread(int number, std::integer_sequence<int, D...>) {
    const auto step = [number](int d) { return 1 + (number >> d & 1); };
    const auto extent = [](int d) { return std::int64_t{2 + d % 2}; };
    const std::int64_t all = (... * (extent(D) * step(D)));
    const dsl::array<std::int64_t, sizeof...(D)> memory = dsl::reshape(
        dsl::eval((dsl::arange<std::int64_t>(all) * 7919 + number) % 1009), extent(D) * step(D)...);
    return dsl::array<std::int64_t, sizeof...(D)>(memory)(dsl::slice(0, dsl::end, step(D))...);
  }
  template <class X>
  static auto weighted(const X& x) {
    return x * 1;
  }
  template <class X, class... Others>
  static auto weighted(const X& x, const Others&... others) {
    return x + 3 * weighted(others...);
  }
  template <int Rank>
  static std::vector<std::int64_t> weighted_sums(const char* device) {
    const dsl::device_guard on(device);
    const auto sum = [](auto... number) {
      constexpr auto dimensions = std::make_integer_sequence<int, Rank>();
      return dsl::array<std::int64_t, Rank>(weighted(spread(3 * number + 1, dimensions)...));
    };
    return std::apply(sum, numbers(std::make_integer_sequence<int, 22>())).copy_to_host();
  }
  template <int... K>
  static auto numbers(std::integer_sequence<int, K...>) {
    return std::tuple(K...);
  }
  template <int Rank>
  static void expect_same() {
    EXPECT_EQ(weighted_sums<Rank>("opencl:0"), weighted_sums<Rank>("host")) << Rank;
  }
};

TEST_F(opencl_parameters, of_many_operands_of_high_rank) {
  expect_same<5>();
  expect_same<6>();
  expect_same<7>();
  expect_same<8>();
}

// The same statement on the host and here, where its values are in memory. Of integers.
#ifdef DSL_TEST_ALL
TEST_F(opencl_parameters, of_every_kind_of_work) {
  const lowered_limit limit(96);
  dsl::array<std::int32_t> x;
  dsl::array<std::int32_t, 2> m;
  const auto same = [&](const char* what, const auto& compute) {
    const auto computed_on = [&](const char* device) {
      const dsl::device_guard on(device);
      x = dsl::eval(dsl::arange<std::int32_t>(3001) * 37 % 1000 - 300);
      m = dsl::eval(dsl::reshape(x(dsl::slice(0, 3000)), 50, 60));
      const auto computed = compute();
      x = {};
      m = {};
      return computed;
    };
    EXPECT_EQ(computed_on("opencl:0"), computed_on("host")) << what;
  };
  same("scalars of all sizes", [&] {
    const auto of = [&](auto... scalar) {
      return dsl::eval((... + (dsl::cast<std::complex<double>>(x) * scalar))).copy_to_host();
    };
    return of(std::complex<double>(1, 2), std::complex<float>(3, 4), 5.0, std::int8_t{6}, true);
  });
  same("a strided formula", [&] { return dsl::eval(dsl::transpose(m) * 2 + 1).copy_to_host(); });
  same("neighbours",
       [&] { return dsl::eval(dsl::shift(m, 1, dsl::boundary::wrap, 0) - m).copy_to_host(); });
  same("a sum", [&] { return dsl::sum(x).value(); });
  same("sums of rows", [&] { return dsl::eval(dsl::sum(m, dsl::axis(1))).copy_to_host(); });
  same("sums of columns", [&] { return dsl::eval(dsl::sum(m, dsl::axis(0))).copy_to_host(); });
  same("a scan", [&] { return dsl::eval(dsl::cumsum(x)).copy_to_host(); });
  same("a selection", [&] { return dsl::eval(dsl::compress(x > 10, 2 * x)).copy_to_host(); });
  same("a sort", [&] { return dsl::sort(x).copy_to_host(); });
  same("positions", [&] {
    dsl::array<std::int32_t> to = dsl::zeros<std::int32_t>(3001);
    dsl::put(to, dsl::eval(dsl::arange<std::int64_t>(3001) * 2 % 3001), x);
    return to.copy_to_host();
  });
  same("sums by key",
       [&] { return dsl::eval(dsl::sum_by(dsl::eval(x % 7 + 6), x, 13)).copy_to_host(); });
  same("a loop", [&] {
    dsl::array<std::int32_t> y = dsl::eval(x + 0);
    dsl::iterate(5, dsl::vectorize([](auto v, auto k) { return v + k; }), dsl::state(y), dsl::step);
    return y.copy_to_host();
  });
}
#endif

TEST_F(opencl_parameters, of_an_ensemble) {
  const auto steps = [] {
    dsl::array<double> v = dsl::ones<double>(70);
    const dsl::array<double> rate = dsl::linspace(0.1, 20.0, 70);
    dsl::ode::ensemble([](auto x, auto r) { return -r * x; }, dsl::state(v), 0.0, 1.0, {}, rate);
    return v.copy_to_host();
  };
  const std::vector<double> expected = steps();
  const lowered_limit limit(96);
  EXPECT_EQ(steps(), expected);
}

// A launch keeps its own values while others of the same kernel are queued, here and by threads.
TEST_F(opencl_parameters, of_launches_that_wait) {
  const lowered_limit limit(64);
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(3);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const dsl::device_guard on("opencl:0");
      const dsl::stream own;
      const dsl::stream_guard use(own);
      const auto x = dsl::eval(dsl::arange<std::int64_t>(5000));
      std::vector<dsl::array<std::int64_t>> made;
      for (std::int64_t i = 0; i < 50; ++i)
        made.push_back(dsl::eval(x * i + static_cast<std::int64_t>(t)));
      for (std::int64_t i = 0; i < 50; ++i) {
        const auto got = made[static_cast<std::size_t>(i)].copy_to_host();
        for (std::int64_t e = 0; e < 5000; ++e)
          if (got[static_cast<std::size_t>(e)] != e * i + static_cast<std::int64_t>(t))
            wrong[t] = "launch " + std::to_string(i) + ", element " + std::to_string(e);
      }
    });
  for (std::thread& each : threads) each.join();
  for (const std::string& each : wrong) EXPECT_EQ(each, "");
}

TEST_F(opencl_parameters, of_too_many_arrays) {
  const auto a = dsl::ones<float>(10), b = dsl::ones<float>(10);
  dsl::array<float> c = dsl::ones<float>(10);
  {
    const lowered_limit limit(16);
    EXPECT_EQ(error_of([&] { c = a - b; }),
              "dsl_pass would have 32 bytes of parameters for the memory of its operands alone, "
              "and this OpenCL device takes 16: compute it in several statements");
  }
  EXPECT_EQ(dsl::sum(c).value(), 10);
  c = a - b;
  EXPECT_EQ(dsl::sum(c).value(), 0);
}

}  // namespace

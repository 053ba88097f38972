// Selections on an OpenCL device against the same selections on the host.
#include <dsl/by_key.hpp>

#include <complex>
#include <cstdint>
#include <vector>

#include "../on_device.hpp"
#include "on_opencl.hpp"

namespace {

struct opencl_selection : on_opencl {};

TEST_F(opencl_selection, keeps_the_order) {
  for (const std::int64_t n : {0, 1, 31, 33, 255, 256, 257, 1000, 100003})
    for (const float limit : {-3.f, -1.9f, 0.f, 3.f}) {
      const auto compute = [&] {
        const auto x = dsl::to_device(random_floats(n));
        return dsl::eval(dsl::compress(x > limit, 2 * x)).copy_to_host();
      };
      ASSERT_EQ(compute(), on_host(compute)) << n;
    }
}

TEST_F(opencl_selection, of_several_values_with_too_little_room) {
  const auto compute = [] {
    const std::int64_t n = 5000;
    const auto x = dsl::to_device(random_floats(n));
    dsl::array<float> values = dsl::full<float>(-9, 700);
    dsl::array<std::int64_t> places = dsl::full<std::int64_t>(-9, n);
    dsl::scalar<std::int64_t> count;
    dsl::tie(values, places, count) = dsl::compress(x > 0, x, dsl::arange<std::int64_t>(n));
    std::vector<double> all{static_cast<double>(count.value())};
    for (const float v : values.copy_to_host()) all.push_back(static_cast<double>(v));
    for (const std::int64_t p : places.copy_to_host()) all.push_back(static_cast<double>(p));
    return all;
  };
  EXPECT_EQ(compute(), on_host(compute));
}

TEST_F(opencl_selection, positions_in_several_dimensions) {
  const auto compute = [] {
    const auto m = dsl::transpose(dsl::reshape(dsl::to_device(random_floats(23 * 41)), 23, 41));
    dsl::array<std::int64_t> r, c;
    dsl::scalar<std::int64_t> count;
    dsl::tie(r, c, count) = dsl::nonzero(m > 1);
    const auto chosen = dsl::slice(0, count.value());
    auto all = dsl::eval(r(chosen)).copy_to_host();
    const auto columns = dsl::eval(c(chosen)).copy_to_host();
    all.insert(all.end(), columns.begin(), columns.end());
    return all;
  };
  EXPECT_EQ(compute(), on_host(compute));
}

TEST_F(opencl_selection, in_place_and_of_complex_numbers) {
  const auto compute = [] {
    std::vector<std::complex<float>> h;
    for (int i = 0; i < 3000; ++i) h.emplace_back(static_cast<float>(i % 7), static_cast<float>(i));
    auto z = dsl::to_device(h);
    z = dsl::compress(real(z) > 2, z);
    return z.copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}

}  // namespace

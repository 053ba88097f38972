// Sorting and writing to positions on an OpenCL device against the same on the host.
#include <dsl/by_key.hpp>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "on_opencl.hpp"

namespace {

// Many equal elements; of reals also both zeros, infinities and NaN.
template <class T>
std::vector<T> drawn(std::int64_t n) {
  std::mt19937_64 engine(5);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& each : v) {
    const std::uint64_t bits = engine();
    if constexpr (std::is_floating_point_v<T>) {
      const T special[] = {T(0), -T(0), std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN()};
      each = bits % 16 < 5 ? special[bits % 16]
                           : static_cast<T>(static_cast<std::int32_t>(bits >> 32) % 1000) / T(8);
    } else if (bits % 4 == 0) {
      each = static_cast<T>(bits % 16);
    } else {
      each = static_cast<T>(bits >> 5);
    }
  }
  return v;
}

template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& v) {
  std::vector<unsigned char> bytes(v.size() * sizeof(T));
  if (!v.empty()) std::memcpy(bytes.data(), v.data(), bytes.size());
  return bytes;
}

struct opencl_sort : on_opencl {
  template <class T>
  static void expect_sorted() {
    for (const std::int64_t n : {0, 1, 31, 33, 255, 256, 257, 1000, 100003}) {
      const auto h = drawn<T>(n);
      const auto sorted = [&] { return bytes_of(dsl::sort(dsl::to_device(h)).copy_to_host()); };
      const auto order = [&] { return dsl::argsort(dsl::to_device(h)).copy_to_host(); };
      ASSERT_EQ(sorted(), on_host(sorted)) << n;
      ASSERT_EQ(order(), on_host(order)) << n;
    }
  }
};

TEST_F(opencl_sort, of_integers) { expect_sorted<std::int32_t>(); }
TEST_F(opencl_sort, of_floats) { expect_sorted<float>(); }
#ifdef DSL_TEST_ALL
TEST_F(opencl_sort, of_bytes) { expect_sorted<std::int8_t>(); }
TEST_F(opencl_sort, of_doubles) { expect_sorted<double>(); }
#endif

TEST_F(opencl_sort, distinct_elements) {
  const auto compute = [] {
    return dsl::eval(dsl::unique(dsl::to_device(drawn<std::int32_t>(3000)))).copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}

// Of equal positions the last one wins.
template <class T>
void expect_put() {
  const auto compute = [] {
    std::vector<std::int64_t> places;
    std::vector<T> values;
    for (int i = 0; i < 3000; ++i) {
      places.push_back(i / 3 * 7 % 1100 - 20);
      values.push_back(T(static_cast<std::int8_t>(i % 100)));
    }
    dsl::array<T> target = dsl::to_device(std::vector<T>(2000, T(static_cast<std::int8_t>(1))));
    dsl::put(target(dsl::slice(0, dsl::end, 2)), dsl::to_device(places), dsl::to_device(values));
    return target.copy_to_host();
  };
  EXPECT_EQ(compute(), on_host(compute));
}
TEST_F(opencl_sort, writing_to_positions) {
  expect_put<std::int8_t>();
  expect_put<std::uint16_t>();
  expect_put<float>();
  expect_put<double>();
  expect_put<std::complex<double>>();
}

}  // namespace

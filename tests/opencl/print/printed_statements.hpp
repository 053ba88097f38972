// Statements on the printed device beside the host.
#pragma once

#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <type_traits>
#include <vector>

#include "printed_device.hpp"
#include "ulp.hpp"

struct opencl_statements : testing::Test {
  void SetUp() override {
    if (!printed_device::add()) GTEST_SKIP() << "there is no OpenCL device";
  }
};

// Evaluates f() on the host and on the printed device; all elements agree within `units`. Every
// statement runs at least one pass as printed text.
template <class F> void expect_same(const char* what, const F& f, double units = 0) {
  const auto elements = [&f](const char* device) {
    const dsl::device_guard guard{dsl::device(device)};
    const auto made = dsl::eval(f());
    if constexpr (requires { made.copy_to_host(); }) return made.copy_to_host();
    else return std::vector{made.value()};
  };
  const auto expected = elements("host");
  const int before = printed_device::passes();
  const auto found = elements("host-opencl");
  EXPECT_GT(printed_device::passes(), before) << what;
  ASSERT_EQ(found.size(), expected.size()) << what;
  using T = typename std::remove_cvref_t<decltype(expected)>::value_type;
  constexpr dsl::dtype type = dsl::dtype_v<T>;
  int failures = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const T a = found[i], b = expected[i];
    const double apart = ulp::distance(type, &a, &b);
    if (apart <= units || ++failures > 3) continue;
    ADD_FAILURE() << what << ", element " << i << ": "
                  << ulp::spell(type, reinterpret_cast<const unsigned char*>(&a)) << ", expected "
                  << ulp::spell(type, reinterpret_cast<const unsigned char*>(&b));
  }
}

#define SAME(...) expect_same(#__VA_ARGS__, [&] { return __VA_ARGS__; })

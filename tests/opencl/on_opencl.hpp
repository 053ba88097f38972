// Runs a test on the first OpenCL device; without one the test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <cmath>
#include <optional>
#include <vector>

#include "mem/back_end.hpp"

inline dsl::detail::back_end& opencl_kind() {
  return dsl::detail::back_end::of(dsl::backend::opencl);
}

struct on_opencl : testing::Test {
  void SetUp() override {
    if (opencl_kind().device_count() == 0) GTEST_SKIP() << opencl_kind().why_no_device();
    guard.emplace("opencl:0");
  }
  std::optional<dsl::device_guard> guard;
};

// The same call on the host.
template <class Call>
auto on_host(const Call& call) {
  const dsl::device_guard on("host");
  return call();
}

// Two NaNs are near.
template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& wanted, double relative) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool are_nan = got[i] != got[i] && wanted[i] != wanted[i];
    if (got[i] == wanted[i] || are_nan) continue;
    ASSERT_LE(std::abs(got[i] - wanted[i]), relative * (1 + std::abs(wanted[i]))) << i;
  }
}

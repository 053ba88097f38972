// Runs a test on the first OpenCL device; without one the test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <optional>

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

// Tests of what runs on one device, not on several as one.
#pragma once

#include "../on_device.hpp"

struct on_one_device : on_device {
  void SetUp() override {
    if (name() != std::string(GetParam())) GTEST_SKIP() << "runs on one device";
    on_device::SetUp();
  }
};

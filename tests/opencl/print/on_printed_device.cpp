// Runs a binary of device tests on the printed device: its tests "on host" take "host-opencl".
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "printed_device.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!printed_device::add()) {
    std::printf("skipped: there is no OpenCL device\n");
    return 0;
  }
  setenv("DSL_TEST_MESH", "host-opencl", 1);
  const int result = RUN_ALL_TESTS();
  std::printf("%d passes ran as printed text\n", printed_device::passes());
  return result;
}

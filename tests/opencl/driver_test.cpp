// Machines without OpenCL, and with a broken one.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../error_of.hpp"
#include "mem/absent_back_end.hpp"
#include "on_opencl.hpp"

namespace {

// The driver is looked for once, so each test is a process of its own.
struct opencl_driver : testing::Test {
  void SetUp() override {
    if (dynamic_cast<const dsl::detail::absent_back_end*>(&opencl_kind()) != nullptr)
      GTEST_SKIP() << "this build of dsl has no OpenCL back end";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }

  // In the new process: whether host and sim can be used, and an OpenCL device is an error that
  // gives the reason.
  [[noreturn]] static void expect_none(const char* variable, const char* value,
                                       const std::string& reason) {
    unsetenv("DSL_OPENCL_LIBRARY");
    setenv(variable, value, 1);
    for (const dsl::device each : dsl::devices())
      if (each.kind == dsl::backend::opencl) std::exit(2);
    const dsl::device_guard on("host");
    if (dsl::sum(dsl::ones<float>(10)).value() != 10) std::exit(3);
    const std::string what = error_of([] { dsl::device_guard guard("opencl:0"); });
    std::fprintf(stderr, "%s\n", what.c_str());
    const bool is_right =
        what.starts_with(
            "device \"opencl:0\" was asked for, but no OpenCL device can be used; "
            "valid are \"host\", \"sim\"") &&
        what.find("(no OpenCL device was found: " + reason) != std::string::npos;
    std::exit(is_right ? 0 : 1);
  }
};
using opencl_driver_death = opencl_driver;

TEST_F(opencl_driver_death, that_is_missing_costs_nothing_else) {
  EXPECT_EXIT(expect_none("DSL_OPENCL_LIBRARY", "libno_such_loader.so.1",
                          "OpenCL's loader cannot be opened: libno_such_loader.so.1"),
              testing::ExitedWithCode(0), "");
}

TEST_F(opencl_driver_death, that_lacks_functions_costs_nothing_else) {
  EXPECT_EXIT(expect_none("DSL_OPENCL_LIBRARY", "libm.so.6", "libm.so.6 has no clGetPlatformIDs"),
              testing::ExitedWithCode(0), "");
}

TEST_F(opencl_driver_death, is_not_installed) {
  if (dlopen("libOpenCL.so.1", RTLD_NOW) == nullptr) GTEST_SKIP() << dlerror();
  EXPECT_EXIT(expect_none("OCL_ICD_VENDORS", "/no/such/folder/", "no driver is installed"),
              testing::ExitedWithCode(0), "");
}

}  // namespace

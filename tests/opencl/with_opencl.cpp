// with_opencl PROGRAM ARGUMENT...: runs a program if there is an OpenCL device; else it says why
// not, and its exit status 77 skips the test.
#include <unistd.h>

#include <cstdio>

#include "mem/back_end.hpp"

int main(int, char** arguments) {
  dsl::detail::back_end& devices = dsl::detail::back_end::of(dsl::backend::opencl);
  if (devices.device_count() > 0) {
    execv(arguments[1], arguments + 1);
    std::perror(arguments[1]);
    return 1;
  }
  std::printf("skipped: %s\n", devices.why_no_device().c_str());
  return 77;
}

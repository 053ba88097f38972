// A program, two libraries and one loaded at run time share one libdsl. A formula in two libraries
// is one formula with the devices of both. Memory allocated by one is freed by another. Exceptions
// thrown by one are caught by type in another.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "formulas.hpp"

namespace {

int failed = 0;

void expect(bool right, const char* what) {
  if (!right) {
    std::printf("wrong on %s: %s\n", dsl::device::current().name().c_str(), what);
    ++failed;
  }
}

template <class F>
bool throws_device_error(F f) {
  try {
    f();
  } catch (const dsl::device_error&) {
    return true;
  }
  return false;
}

void check(const dsl::device& d) {
  const dsl::device_guard guard(d);
  const auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  expect(first::doubled(x).copy_to_host() == std::vector<float>{3, 5, 7},
         "the first library's formula");
  expect(second::doubled(x).copy_to_host() == std::vector<float>{3, 5, 7},
         "the second library's formula");
  const dsl::array<float> cubes = x * x * x;
  expect(cubes.copy_to_host() == std::vector<float>{1, 8, 27}, "the program's formula");
  try {
    second::refused(x);
    expect(false, "an error of shapes");
  } catch (const dsl::shape_error&) {}
}

// If nvcc compiled the second library's file and there is a GPU, libdsl launches its kernels.
void check_gpu() {
  for (const dsl::device& d : dsl::devices()) {
    if (d.kind != dsl::backend::cuda || d.index != 0) continue;
    const dsl::device_guard guard(d);
    const auto x = dsl::to_device(std::vector<float>{1, 2, 3});
    expect(first::doubled(x).copy_to_host() == std::vector<float>{3, 5, 7},
           "a formula that the first library compiled for the host alone");
    expect(second::doubled(x).copy_to_host() == std::vector<float>{3, 5, 7},
           "the second library's kernel");
    std::printf("ran on %s\n", d.name().c_str());
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::string release = std::to_string(DSL_VERSION_MAJOR) + "." +
                              std::to_string(DSL_VERSION_MINOR) + "." +
                              std::to_string(DSL_VERSION_PATCH);
  expect(dsl::version() == release, "the release of headers and library");
  for (const char* name : {"host", "sim"}) check(dsl::device(name));
  check_gpu();

  // first is compiled for the host alone, second for host and simulator.
  const dsl::device_guard guard(dsl::device("sim"));
  expect(throws_device_error([] { first::total(dsl::ones<float>(3)); }),
         "a formula that no file compiled for it");

  void* loaded = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) std::printf("%s\n", dlerror());
  expect(loaded != nullptr, "loading a library");
  if (loaded != nullptr) {
    const auto sum_of_squares = reinterpret_cast<float (*)(int)>(dlsym(loaded, "sum_of_squares"));
    for (const dsl::device& d : dsl::devices()) {
      const dsl::device_guard on(d);
      expect(sum_of_squares(4) == 14, "the loaded library's formula");
    }
    dlclose(loaded);
  }
  return failed == 0 ? 0 : 1;
}

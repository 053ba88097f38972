// Runs a test's body on every device: the same code on the host, in the simulator and on a GPU.
#pragma once

#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

struct on_device : testing::TestWithParam<const char*> {
  void SetUp() override {
    if (std::string(GetParam()) == "cuda" && dsl::devices().front().kind != dsl::backend::cuda)
      GTEST_SKIP() << "no GPU";
    guard.emplace(dsl::device(name()));
  }
  // DSL_TEST_MESH names the mesh that replaces the device of its kind: "sim:0-3", "cuda:0-1".
  static const char* name() {
    const char* const mesh = std::getenv("DSL_TEST_MESH");
    return mesh != nullptr && std::string(mesh).starts_with(GetParam()) ? mesh : GetParam();
  }
  static bool simulated() { return dsl::device::current().kind == dsl::backend::sim; }
  // Whether kernels have a grid of blocks, and loops kernels of all their steps; OpenCL's have
  // work-groups.
  static bool has_grid() {
    const dsl::backend kind = dsl::device::current().kind;
    return kind == dsl::backend::cuda || kind == dsl::backend::sim;
  }
  std::optional<dsl::device_guard> guard;
};

// Sets the simulator's order of blocks and warps, chosen by a number.
struct simulated_order {
  explicit simulated_order(const char* seed) { setenv("DSL_SIM_SEED", seed, 1); }
  ~simulated_order() { unsetenv("DSL_SIM_SEED"); }
  simulated_order(const simulated_order&) = delete;
};

// The devices that a test's file is compiled for; or the one that DSL_TEST_DEVICE names, which
// needs no compiled kernels: "opencl".
inline std::vector<const char*> compiled_devices() {
  if (const char* const only = std::getenv("DSL_TEST_DEVICE")) return {only};
  std::vector<const char*> names;
  if (dsl::detail::compiles_host) names.push_back("host");
  if (dsl::detail::compiles_sim) names.push_back("sim");
  if (dsl::detail::compiles_cuda) names.push_back("cuda");
  return names;
}
#define ON_EVERY_DEVICE(suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(devices, suite, testing::ValuesIn(compiled_devices()), \
                           [](const auto& each) { return std::string(each.param); })

// Sizes around every boundary of a kernel's or a host's block.
inline std::vector<std::int64_t> sizes() {
  return {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 16384 + 1, 34567};
}

inline std::vector<float> random_floats(std::int64_t n, float low = -2, float high = 2,
                                        unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = uniform(engine);
  return v;
}

// A view whose first element is not aligned to 16 bytes.
template <class Array>
auto from_element(Array&& a, std::int64_t first, std::int64_t n, std::int64_t step = 1) {
  return decltype(a.view())(a.view().owner(), a.data() + first, {n}, {step});
}

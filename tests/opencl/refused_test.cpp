// What does not run on OpenCL devices: one sentence, before anything is queued.
#include <dsl/by_key.hpp>
#include <dsl/ode.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "../error_of.hpp"
#include "on_opencl.hpp"

namespace {

struct opencl_refusal : on_opencl {
  static std::string sentence(const std::string& what) {
    return "opencl:0: " + what + " do not run on OpenCL devices yet; run them on host or cuda";
  }
};

TEST_F(opencl_refusal, leaves_targets_as_they_were) {
  const auto x = dsl::to_device({3.0f, 1.0f, 2.0f});
  const auto keys = dsl::to_device<int>({0, 1, 0});
  const std::vector<float> before{7, 7, 7};
  dsl::array<float> y = dsl::to_device(before);
  dsl::array<std::int64_t> counts;
  EXPECT_EQ(error_of([&] { y = dsl::sum_by(keys, x, 3); }), sentence("reductions by key"));
  EXPECT_EQ(error_of([&] { counts = dsl::bincount(keys, 3); }), sentence("reductions by key"));
  EXPECT_EQ(error_of([&] { dsl::scatter_add(y, keys, x); }), sentence("reductions by key"));
  EXPECT_EQ(y.copy_to_host(), before);
  EXPECT_FALSE(counts.has_memory());
  EXPECT_THROW(y = dsl::sum_by(keys, x, 3), dsl::device_error);
}

TEST_F(opencl_refusal, of_ensembles) {
  dsl::array<double> left = dsl::ones<double>(3);
  constexpr auto decay = [](auto v) { return -v; };
  EXPECT_EQ(error_of([&] { dsl::ode::ensemble(decay, dsl::state(left), 0.0, 1.0); }),
            sentence("ensembles"));
  EXPECT_EQ(left.copy_to_host(), std::vector<double>(3, 1));
}

TEST_F(opencl_refusal, of_meshes) {
  EXPECT_NE(error_of([] { const dsl::device_guard on("opencl:0-1"); }).find("\"opencl:0-1\""),
            std::string::npos);
}

}  // namespace

// What does not run on OpenCL devices: one sentence, before anything is queued.
#include <dsl/by_key.hpp>
#include <dsl/ode.hpp>
#include <dsl/scan.hpp>

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
  dsl::array<float> y = dsl::to_device(before), none;
  dsl::array<std::int64_t> counts;
  EXPECT_EQ(error_of([&] { y = dsl::cumsum(x); }), sentence("scans"));
  EXPECT_EQ(error_of([&] { y = dsl::sum_by(keys, x, 3); }), sentence("reductions by key"));
  EXPECT_EQ(error_of([&] { counts = dsl::bincount(keys, 3); }), sentence("reductions by key"));
  EXPECT_EQ(error_of([&] { none = dsl::compress(x > 1.5f, x); }), sentence("selections"));
  EXPECT_EQ(error_of([&] { none = dsl::sort(x); }), sentence("sorts"));
  EXPECT_EQ(error_of([&] { dsl::put(y, keys, x); }), sentence("sorts"));
  EXPECT_EQ(y.copy_to_host(), before);
  EXPECT_FALSE(none.has_memory());
  EXPECT_FALSE(counts.has_memory());
  EXPECT_THROW(y = dsl::cumsum(x), dsl::device_error);
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

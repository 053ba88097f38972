// What does not run on OpenCL devices: one sentence, before anything is queued.
#include <dsl/by_key.hpp>
#include <dsl/window.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "../error_of.hpp"
#include "on_opencl.hpp"

namespace {

struct opencl_refusal : on_opencl {};

TEST_F(opencl_refusal, leaves_targets_as_they_were) {
  const auto edges = dsl::to_device({1.0f, 2.0f, 3.0f}), x = dsl::to_device({2.5f, 0.5f});
  const std::vector<std::int64_t> before{7, 7};
  dsl::array<std::int64_t> bins = dsl::to_device(before), none;
  const std::string sentence =
      "a functor in C++ cannot be printed as OpenCL C: write it as a lambda with auto parameters, "
      "which is traced, or run it on another device";
  EXPECT_NE(error_of([&] { bins = dsl::searchsorted(edges, x); }).find(sentence),
            std::string::npos);
  EXPECT_NE(error_of([&] { none = dsl::searchsorted(edges, x); }).find(sentence),
            std::string::npos);
  EXPECT_EQ(bins.copy_to_host(), before);
  EXPECT_FALSE(none.has_memory());
  EXPECT_THROW(bins = dsl::searchsorted(edges, x), dsl::device_error);
}

TEST_F(opencl_refusal, of_convolutions) {
  const auto x = dsl::to_device({1.0f, 2.0f, 3.0f});
  EXPECT_EQ(error_of([&] { (void)dsl::convolve(x, x); }),
            "opencl:0: convolutions do not run on OpenCL devices yet; run them on host or cuda");
  EXPECT_THROW((void)dsl::convolve(x, x), dsl::device_error);
}

TEST_F(opencl_refusal, of_meshes) {
  EXPECT_NE(error_of([] { const dsl::device_guard on("opencl:0-1"); }).find("\"opencl:0-1\""),
            std::string::npos);
}

}  // namespace

// A failed count of the GPUs is not remembered: the error states the reason, and the next call
// counts again. Linked with --wrap: the test supplies the answers, so no GPU is needed.
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <dsl/mem/stream.hpp>

#include <cstdlib>
#include <string>

namespace {

cudaError_t answer = cudaErrorInitializationError;
int driver = 13000, asked = 0;

template <class Call> std::string error_of(const Call& call) {
  try {
    call();
  } catch (const dsl::device_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

extern "C" cudaError_t __wrap_cudaGetDeviceCount(int* count) {
  ++asked;
  *count = 0;
  return answer;
}
extern "C" cudaError_t __wrap_cudaDriverGetVersion(int* version) {
  *version = driver;
  return cudaSuccess;
}

std::string unusable(const char* device, const std::string& why) {
  return std::string("device \"") + device +
         "\" was asked for, but no GPU can be used; valid are \"host\", \"sim\" (" + why + ")";
}

TEST(device_count, failures_are_said_and_not_remembered) {
  unsetenv("DSL_DEVICE");
  setenv("DSL_OPENCL_LIBRARY", "none", 1);  // no device of another kind
  dsl::detail::register_kernels();          // as a file compiled by nvcc does
  for (const cudaError_t failure :
       {cudaErrorInitializationError, cudaErrorUnknown, cudaErrorInsufficientDriver}) {
    answer = failure;
    const std::string reason = std::string("cudaGetDeviceCount failed: ") +
                               cudaGetErrorString(failure) + " (" + cudaGetErrorName(failure) + ")";
    EXPECT_EQ(error_of([] { dsl::stream s("cuda"); }), unusable("cuda:0", reason));
    EXPECT_EQ(error_of([] { dsl::stream::current("cuda:1"); }), unusable("cuda:1", reason));
    EXPECT_EQ(error_of([] { dsl::device::current(); }),
              "no GPU can be used: " + reason +
                  "; DSL_DEVICE=host does without");  // an error, no silent fallback to the host
  }
  driver = 0;  // the runtime gives the last of them even without a driver
  EXPECT_EQ(error_of([] { dsl::stream s("cuda"); }),
            unusable("cuda:0", "no GPU was found: there is no CUDA driver"));
  EXPECT_EQ(dsl::device::current(), dsl::device("host"));
  const int before = asked;
  EXPECT_EQ(dsl::devices().size(), 2u);
  EXPECT_EQ(asked, before);  // successful answers are remembered
}

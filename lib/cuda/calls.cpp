#include "cuda/calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "cuda/back_end.hpp"
#include "exec/plan/text.hpp"

namespace dsl::detail::cuda {

std::string spell_status(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

namespace {

// Errors of a kernel that ran. After one of them every CUDA call of this process fails.
bool is_fault(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

}  // namespace

std::string spell_launch(const queued_kernel& k, const operand* operands) {
  if (k.pass == nullptr) return "a fill of " + std::to_string(k.elements) + " elements";
  return spell_kernel(k.name) + " (" + spell_pass(*k.pass, operands) + ", " +
         std::to_string(k.elements) + " elements, grid " + std::to_string(k.grid) + ", block " +
         std::to_string(k.block) + ")";
}

namespace {

class launch_log {
 public:
  void note(int index, void* stream, const queued_kernel& k) {
    const std::lock_guard lock(mutex_);
    last_.insert_or_assign({index, stream}, k);
  }
  void forget(int index, void* stream) {
    const std::lock_guard lock(mutex_);
    last_.erase({index, stream});
  }
  void forget(int index) {
    const std::lock_guard lock(mutex_);
    std::erase_if(last_, [index](const auto& each) { return each.first.first == index; });
  }
  // Text for an error message: the device's last kernels, with the kernel of stream `first` at the
  // front.
  std::string spell(int index, void* first) {
    const std::lock_guard lock(mutex_);
    std::string kernels;
    constexpr int most = 4;
    int count = 0;
    const auto add = [&](const queued_kernel& k) {
      if (count < most) kernels += (count > 0 ? "; on another stream " : "") + spell_launch(k);
      if (count == most) kernels += "; and others";
      ++count;
    };
    if (const auto own = last_.find({index, first}); own != last_.end()) add(own->second);
    for (const auto& [where, k] : last_)
      if (where.first == index && where.second != first) add(k);
    return count == 0 ? ""
                      : ". A kernel that was queued before failed; queued last was " + kernels +
                            ". With DSL_BLOCKING=1 the error names the kernel";
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, void*>, queued_kernel> last_;
};
launch_log& launches() {
  static launch_log& log = *new launch_log;  // never freed: streams may outlive everything else
  return log;
}

}  // namespace

void note_launch(int index, void* stream, const queued_kernel& k) {
  launches().note(index, stream, k);
}
void forget_launches(int index, void* stream) { launches().forget(index, stream); }
void forget_launches(int index) { launches().forget(index); }

void raise_failure(cudaError_t status, const std::string& call, void* stream) {
  cudaGetLastError();  // clears an error that is not sticky, or the next call would report it again
  int index = 0;
  const bool known = is_fault(status) && cudaGetDevice(&index) == cudaSuccess;
  raise<cuda_error>(call + " failed: " + spell_status(status) +
                    (known ? launches().spell(index, stream) : ""));
}
void check(cudaError_t status, const char* call, void* stream) {
  if (status != cudaSuccess) raise_failure(status, call, stream);
}
void check(cudaError_t status, const char* call) { check(status, call, nullptr); }

bool is_capturing(void* stream) {
  if (stream == nullptr) return false;  // the default stream cannot be captured
  cudaStreamCaptureStatus status{};
  check(cudaStreamIsCapturing(native(stream), &status), "asking whether a stream is captured",
        stream);
  return status != cudaStreamCaptureStatusNone;
}

bool is_blocking() {
  static const bool on = [] {
    const char* const value = std::getenv("DSL_BLOCKING");
    const std::string_view text = value != nullptr ? value : "";
    if (!text.empty() && text != "0" && text != "1")
      raise<device_error>("DSL_BLOCKING is \"" + std::string(text) +
                          "\"; valid are \"0\" and \"1\"");
    return text == "1";
  }();
  return on;
}

namespace {

// "8.0, 9.0" from nvcc's "800,900".
std::string spell_architectures(std::string_view list) {
  std::string all;
  while (!list.empty()) {
    const int number = std::atoi(std::string(list).c_str());
    all += (all.empty() ? "" : ", ") + std::to_string(number / 100) + "." +
           std::to_string(number / 10 % 10);
    list.remove_prefix(std::min(list.size(), list.find(',')));
    if (!list.empty()) list.remove_prefix(1);
  }
  return all.empty() ? "others" : all;
}

}  // namespace

void check_code(cudaError_t status, const std::string& kernel, const char* architectures,
                int index) {
  if (status != cudaErrorNoKernelImageForDevice && status != cudaErrorInvalidDeviceFunction &&
      status != cudaErrorUnsupportedPtxVersion)
    return;
  cudaGetLastError();
  const device_properties& d = gpus.properties(index);
  const std::string number = std::to_string(d.compute_capability);
  raise<device_error>(kernel + " has no code for cuda:" + std::to_string(index) + " (" + d.name +
                      ", compute capability " + spell_architectures(number + "0") +
                      "): its file was compiled for " +
                      spell_architectures(architectures != nullptr ? architectures : "") +
                      "; add -gencode arch=compute_" + number + ",code=sm_" + number +
                      " or, in CMake, " + number + " to CMAKE_CUDA_ARCHITECTURES (" +
                      cudaGetErrorName(status) + ")");
}

}  // namespace dsl::detail::cuda

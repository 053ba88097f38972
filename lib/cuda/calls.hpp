// Calls of the CUDA runtime, and the errors thrown if they fail.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "exec/run/grid_executor.hpp"

namespace dsl::detail::cuda {

std::string spell_status(cudaError_t status);

/// Throws cuda_error. After a kernel's fault the message names the kernels that were queued, those
/// of `stream` first.
[[noreturn]] void raise_failure(cudaError_t status, const std::string& call,
                                void* stream = nullptr);
void check(cudaError_t status, const char* call, void* stream);
void check(cudaError_t status, const char* call);
#define DSL_CHECK(call) ::dsl::detail::cuda::check(call, #call)

// Makes a GPU the calling thread's current device, and restores the previous one at the end,
// because the program may use CUDA itself. Where nothing may be thrown, as at the end of the
// program, `Check` ignores errors.
template <void (*Check)(cudaError_t, const char*)>
class device_switch {
 public:
  explicit device_switch(int index) {
    Check(cudaGetDevice(&previous_), "cudaGetDevice");
    if (previous_ == index) return;
    Check(cudaSetDevice(index), "cudaSetDevice");
    changed_ = true;
  }
  ~device_switch() {
    if (changed_) cudaSetDevice(previous_);
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};
inline void pass_over(cudaError_t, const char*) {}
using current_device = device_switch<check>;
using current_device_quietly = device_switch<pass_over>;

inline cudaStream_t native(void* stream) { return static_cast<cudaStream_t>(stream); }

/// Whether a stream's work is captured into a graph.
bool is_capturing(void* stream);

/// Waits while a stream's work waits for other processes. Throws device_error if they do not come
/// in time.
void wait_for_others(void* stream);

/// The description of a queued kernel for error messages. The pass is null for a fill.
struct queued_kernel {
  const char* name;
  const pass_view* pass;
  std::int64_t elements, grid;
  int block;

  static queued_kernel of(const kernel_launch& k) {
    return {k.name, &k.pass, k.elements, k.grid, k.block};
  }
};
std::string spell_launch(const queued_kernel& k, const operand* operands = nullptr);

/// Remember, for each stream, the last kernel queued since the stream was waited for: a fault is
/// reported by some later call on any stream.
void note_launch(int index, void* stream, const queued_kernel& k);
void forget_launches(int index, void* stream);
void forget_launches(int index);

/// Whether DSL_BLOCKING requests a wait after each launch. Throws device_error if it is neither 0
/// nor 1.
bool is_blocking();

/// Throws device_error if the status says that there is no code for the GPU.
void check_code(cudaError_t status, const std::string& kernel, const char* architectures,
                int index);

}  // namespace dsl::detail::cuda

// What is queued on a GPU's stream: checked, and noted for errors that show later.
#pragma once

#include <mutex>

#include "cuda/calls.hpp"

namespace dsl::detail::cuda {

/// Lets a block of a function have this much shared memory on a GPU.
void allow_shared_memory(const void* function, int bytes, int gpu);

/// Queues so many of a kernel's blocks on the current GPU's stream.
cudaError_t launch_blocks(const kernel_launch& k, std::int64_t blocks, bool begins_early,
                          cudaStream_t stream);

/// With DSL_BLOCKING=1 one kernel runs at a time, in all threads, so that a fault is known to be
/// its own: this is held until it has ended. Else, and where the stream is captured, nothing is
/// held.
std::unique_lock<std::mutex> hold_if_blocking(void* stream);

/// Calls `launch` and notes the kernel. Throws what says why it failed.
template <class Launch>
void queue_kernel(const queued_kernel& k, const operand* operands, const char* architectures,
                  int gpu, void* stream, const Launch& launch) {
  if (const cudaError_t status = launch(); status != cudaSuccess) {
    check_code(status, spell_launch(k, operands), architectures, gpu);
    raise_failure(status, "launching " + spell_launch(k, operands), stream);
  }
  note_launch(gpu, stream, k);
}
/// Waits for a kernel. Throws cuda_error that names it.
void wait_for_kernel(const queued_kernel& k, const operand* operands, int gpu, void* stream);

/// Queues a fill on the current GPU's stream.
void fill_elements(void* at, const void* value, std::size_t size, std::int64_t count, int gpu,
                   cudaStream_t stream);

}  // namespace dsl::detail::cuda

// Launches on a GPU's stream: checked, and noted for errors that appear later.
#pragma once

#include <mutex>

#include "cuda/calls.hpp"

namespace dsl::detail::cuda {

/// Lets blocks of a function have this many bytes of shared memory on a GPU.
void allow_shared_memory(const void* function, int bytes, int gpu);

/// Whether the kernel itself waits for the stream's previous one, so that its launch may begin
/// before that one has ended. Code compiled for less than compute capability 9.0 cannot wait.
bool may_begin_early(const kernel_launch& k, int gpu);

/// Queues this number of a kernel's blocks on a stream of the current GPU.
cudaError_t launch_blocks(const kernel_launch& k, std::int64_t blocks, bool begins_early,
                          cudaStream_t stream);

/// With DSL_BLOCKING=1 only one kernel runs at a time, in all threads, so that a fault can be
/// assigned to its kernel: the caller holds this lock until the kernel has ended. Otherwise, and if
/// the stream is captured, the lock is empty.
std::unique_lock<std::mutex> hold_if_blocking(void* stream);

/// Calls `launch` and notes the kernel. Throws an error that says why the launch failed.
template <class Launch>
void queue_kernel(const queued_kernel& k, const operand* operands, const char* architectures,
                  int gpu, void* stream, const Launch& launch) {
  if (const cudaError_t status = launch(); status != cudaSuccess) {
    check_code(status, spell_launch(k, operands), architectures, gpu);
    raise_failure(status, "launching " + spell_launch(k, operands), stream);
  }
  note_launch(gpu, stream, k);
}
/// Waits for a kernel. Throws cuda_error, which names the kernel.
void wait_for_kernel(const queued_kernel& k, const operand* operands, int gpu, void* stream);

/// Queues a fill on a stream of the current GPU.
void fill_elements(void* at, const void* value, std::size_t size, std::int64_t count, int gpu,
                   cudaStream_t stream);

}  // namespace dsl::detail::cuda

// All that the library asks of the CUDA runtime. cuda.cpp answers with it; no_cuda.cpp stands in where there is no toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dsl/exec/run.hpp>

namespace dsl::detail::cuda {

/// 0 without a driver or a GPU.
int device_count();
device_properties properties(int index);

// A stream is (device index, cudaStream_t). Every failure throws cuda_error that names the call.
void* create_stream(int index);
void destroy_stream(int index, void* stream) noexcept;
void synchronize_stream(int index, void* stream);
void synchronize_device(int index);
/// Orders `stream`'s next work behind all that `other` has queued by now.
void wait_for(int index, void* stream, void* other);

/// Stream-ordered, from the device's pool. Throws memory_error that says how much was asked for and how much is free.
void* allocate(std::size_t bytes, int index, void* stream);
void release(void* memory, int index, void* stream) noexcept;

enum class direction { to_device, to_host, on_device };
void copy(void* to, const void* from, std::size_t bytes, direction way, int index, void* stream);
void set_zero(void* at, std::size_t bytes, int index, void* stream);
/// `value` of size 1, 2, 4, 8 or 16 bytes, `count` times.
void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index, void* stream);

kernel_attributes attributes(const void* function, int block, int index);
/// Whether blocks may wait for each other.
bool is_cooperative(int index);
/// What is launched, and what an error says of it.
struct kernel_launch {
  const void* function;
  std::int64_t grid;
  int block, shared_bytes;
  void** parameters;
  const char* name;  // as program_code's
  const pass_view& pass;
  const operand* operands;
  std::int64_t elements;
  bool cooperative = false;  // all blocks at once on the device
};
/// Queues a kernel. Throws cuda_error that names the kernel, the expression and the sizes.
void launch_kernel(const kernel_launch& k, const stream& on);
/// Where blocks leave partial results, and how many of a group have done so.
struct workspace { void* partials; unsigned* tickets; };
inline constexpr std::size_t max_tickets = 1 << 14;
/// Scratch memory of a stream for `bytes` of partial results; its tickets are zero between kernels.
workspace scratch_of(const stream& on, std::size_t bytes);

}  // namespace dsl::detail::cuda

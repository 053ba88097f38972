// All that the library asks of the CUDA runtime. cuda.cpp answers with it; no_cuda.cpp stands in where there is no toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dsl/exec/run.hpp>

namespace dsl::detail::cuda {

/// 0 without a driver or a GPU, and where the GPUs cannot be counted: then the next call tries again.
int device_count();
/// Why the last count failed; empty where it did not.
std::string device_count_error();
/// Why there is no GPU, where there is none.
std::string why_no_device();
device_properties properties(int index);

// A stream is (device index, cudaStream_t). Every failure throws cuda_error that names the call.
void* create_stream(int index);
void destroy_stream(int index, void* stream) noexcept;
void synchronize_stream(int index, void* stream);
/// Where nothing may be thrown. An error is passed over: the context is lost, and with it the memory.
void wait_quietly(int index, void* stream) noexcept;
void synchronize_device(int index);
/// Orders `stream`'s next work behind all that `other` has queued by now.
void wait_for(int index, void* stream, void* other);

/// Stream-ordered, from the device's pool. Where there is too little it waits for the device, has the pool give back what it does not
/// use, and tries again. Throws memory_error that says how much was asked for, used and free.
void* allocate(std::size_t bytes, int index, void* stream);
void release(void* memory, int index, void* stream) noexcept;

memory_usage usage(int index);
/// Waits for the device.
void release_memory(int index);
void set_release_threshold(int index, std::uint64_t bytes);

enum class direction { to_device, to_host, on_device };
void copy(void* to, const void* from, std::size_t bytes, direction way, int index, void* stream);
void set_zero(void* at, std::size_t bytes, int index, void* stream);
/// `value` of size 1, 2, 4, 8 or 16 bytes, `count` times.
void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index, void* stream);

/// Of one of a program's kernels. Throws device_error where there is no code for the GPU, and says for which there is.
kernel_attributes attributes(const program_code& code, const void* function, int block, int index);
/// Whether blocks may wait for each other.
bool is_cooperative(int index);
/// What is launched, and what an error says of it.
struct kernel_launch {
  const void* function;
  std::int64_t grid;
  int block, shared_bytes;
  void** parameters;
  const char *name, *architectures;  // as program_code's
  const pass_view& pass;
  const operand* operands;
  std::int64_t elements;
  bool cooperative = false;  // all blocks at once on the device
};
/// What an error says of a kernel that was queued before. The pass is null for a fill.
struct queued_kernel {
  const char* name;
  const pass_view* pass;
  std::int64_t elements, grid;
  int block;
};
/// Whether DSL_BLOCKING asks to wait after each launch. Throws device_error where it is neither 0 nor 1.
bool is_blocking();
/// Queues a kernel, or adds it to the graph that the calling thread records. Throws cuda_error that names the kernel, the expression and
/// the sizes.
void launch_kernel(const kernel_launch& k, const stream& on);

/// Kernels one behind the other that are launched together, as often as wanted, with other parameters each time.
class kernel_graph {
 public:
  explicit kernel_graph(const stream& on);
  ~kernel_graph();
  kernel_graph(const kernel_graph&) = delete;
  kernel_graph& operator=(const kernel_graph&) = delete;

  /// What `record` launches becomes the graph, or its kernels' new parameters: the same kernels as before, and as many. Then queues it.
  template <class Record>
  void run(const Record& record) {
    begin();
    try {
      record();
    } catch (...) {
      end();
      throw;
    }
    end();
    launch();
  }
  void add(const kernel_launch& k);

 private:
  void begin();
  void end() noexcept;
  void launch();

  const stream& on_;
  void *graph_ = nullptr, *executable_ = nullptr;
  std::vector<void*> nodes_;
  std::size_t next_ = 0;
  queued_kernel last_{};
};

/// A place in a stream that can be waited for.
class marker {
 public:
  explicit marker(const stream& on);
  ~marker();
  marker(marker&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  marker& operator=(marker&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  void wait() const;

 private:
  void* event_;
};
/// Whether a stream's work is captured into a graph of the program's.
bool is_captured(const stream& on);
/// Where blocks leave partial results, and how many of a group have done so. Of a stream that is captured the memory is the launch's own,
/// to be kept until it is queued.
struct workspace {
  void* partials;
  unsigned* tickets;
  buffer_ref own;
};
inline constexpr std::size_t max_tickets = 1 << 14;
/// Scratch memory of the current stream for `bytes` of partial results; its tickets are zero between kernels.
workspace scratch_of(const stream& on, std::size_t bytes);

/// Where the blocks of one kernel tell each other their sums, and the number that stands for their first step: none of the numbers that
/// the next `steps` ones take is there. Of the current stream's own, or as `workspace`.
struct exchange {
  void* slots;
  unsigned epoch;
  buffer_ref own;
};
exchange exchange_of(const stream& on, std::size_t bytes, std::int64_t steps);

}  // namespace dsl::detail::cuda

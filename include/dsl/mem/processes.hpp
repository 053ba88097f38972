// Several processes as one device: communication between them, and each process's part of an array.
#pragma once

#include <memory>
#include <vector>

#include <dsl/mem/array.hpp>

namespace dsl {

namespace detail {

/// Bytes to send to another process, or to receive from one.
struct process_message {
  void* at;
  std::size_t bytes;
  int process;
};

/// Communication between processes with one GPU each: transfers between the memories of the GPUs,
/// queued on a stream of the own GPU (a cudaStream_t), without waiting. All processes call the same
/// functions in the same order.
class gpu_group {
 public:
  virtual ~gpu_group() = default;
  /// As `process_group::all_gather`, in GPU memory.
  virtual void all_gather(void* all, const std::size_t* bytes, void* stream) = 0;
  /// As `process_group::exchange`, in GPU memory.
  virtual void exchange(const std::vector<process_message>& sent,
                        const std::vector<process_message>& received, void* stream) = 0;

  struct piece {
    void* at;
    std::size_t bytes;
  };
  /// Copies the first process's data to all others.
  virtual void broadcast(const std::vector<piece>& pieces, void* stream) = 0;

  /// Memory of all processes that kernels of all of them read and write: process p's is at `first +
  /// p * step`.
  struct shared_memory {
    unsigned char* first = nullptr;
    std::int64_t step = 0;
  };
  /// A word in which kernels record a timeout while waiting for kernels of other processes. If it
  /// is not 0, the host's next wait throws device_error.
  virtual std::uint64_t* timeout_flag() const = 0;
  /// Allocates zeroed memory of the same size in each process, until the program ends. Null if a
  /// GPU cannot access another's memory. Waits for all processes.
  virtual shared_memory share(std::size_t bytes) = 0;
};

/// Processes numbered from 0, all of which call the same functions in the same order.
class process_group {
 public:
  virtual ~process_group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// A hash of the next operation, used to check that all processes do the same.
  std::uint64_t statement = 0;
  /// Gathers each process's data in all processes. `bytes`: size of each process's part; the parts
  /// follow each other, and the own one must be in its place already. Throws device_error if
  /// processes do not arrive or do something else, and on every later call.
  virtual void all_gather(void* all, const std::size_t* bytes) = 0;
  /// Sends and receives all messages at once. Messages between two processes are received in the
  /// order in which they are sent. All processes must call it. Throws as `all_gather`.
  virtual void exchange(const std::vector<process_message>& sent,
                        const std::vector<process_message>& received) = 0;
  /// The same processes with their GPUs. All processes must call it. Throws device_error if they
  /// cannot be connected.
  virtual std::unique_ptr<gpu_group> with_gpus(device own) = 0;
};

/// Throws device_error that names the processes for which others have waited that long.
[[noreturn]] void throw_missing(const std::vector<int>& processes, double seconds);
/// Throws device_error that names the processes known to do something else than the first one.
[[noreturn]] void throw_different(const std::vector<int>& processes);

/// Connects the GPUs by NCCL. `processes` distributes the first process's identifier. Throws
/// device_error.
std::unique_ptr<gpu_group> join_gpus(process_group& processes, device own);

/// A process's part of elements whose first is at `first`, on the process's own device.
struct own_elements {
  buffer_ref owner;
  void* first;
  mapping elements;
};
/// The process's part of elements of `size` bytes; all of them on a device that is not a mesh of
/// processes. Throws device_error if the elements here do not belong to the process's own rows (of
/// the outermost axis), as for a transposed array.
own_elements own_part(const buffer_ref& owner, void* first, const mapping& elements,
                      std::size_t size);

}  // namespace detail

/// This process's rows of an array or a view on a mesh of processes, as a view on the process's own
/// device. The view shares the memory and may be used like any other. On any other device, a view
/// of all elements. Throws memory_error for an array without memory, and device_error if the
/// process's part is not a block of rows, for example of a transposed array.
template <element T, int Rank>
  requires(Rank > 0)
view<T, Rank> local(const view<T, Rank>& all) {
  detail::require_memory(all.owner(), "dsl::local");
  const auto part = detail::own_part(all.owner(), const_cast<std::remove_const_t<T>*>(all.origin()),
                                     all.mapping(), sizeof(T));
  return {part.owner, static_cast<T*>(part.first), detail::first_of<Rank>(part.elements.extents),
          detail::first_of<Rank>(part.elements.strides)};
}
template <element T, int Rank>
view<T, Rank> local(array<T, Rank>& all) {
  return local(all.view());
}
template <element T, int Rank>
view<const T, Rank> local(const array<T, Rank>& all) {
  return local(all.view());
}

/// The number of the first row of the view that `local` returns. Throws as `local`.
template <element T, int Rank>
std::int64_t first_local_row(const view<T, Rank>& all) {
  detail::require_memory(all.owner(), "dsl::first_local_row");
  return detail::own_part(all.owner(), const_cast<std::remove_const_t<T>*>(all.origin()),
                          all.mapping(), sizeof(T))
      .elements.offset;
}
template <element T, int Rank>
std::int64_t first_local_row(const array<T, Rank>& all) {
  return first_local_row(all.view());
}

}  // namespace dsl

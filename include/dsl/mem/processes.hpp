// Several processes that are one device: how bytes get from one to another, and what each has of an
// array.
#pragma once

#include <memory>
#include <vector>

#include <dsl/mem/array.hpp>

namespace dsl {

namespace detail {

/// Bytes that go to another process, or that come from one.
struct process_message {
  void* at;
  std::size_t bytes;
  int process;
};

/// Processes that have a GPU each: what gets bytes from one GPU's memory to the others', in the
/// order of a stream of the own one (a cudaStream_t). The host waits for nothing. All call the same
/// functions in the same order.
class gpu_group {
 public:
  virtual ~gpu_group() = default;
  /// As `process_group::all_gather`, of memory of the GPU.
  virtual void all_gather(void* all, const std::size_t* bytes, void* stream) = 0;
  /// As `process_group::exchange`, of memory of the GPU.
  virtual void exchange(const std::vector<process_message>& sent,
                        const std::vector<process_message>& received, void* stream) = 0;

  struct piece {
    void* at;
    std::size_t bytes;
  };
  /// Gives all processes what the first one has.
  virtual void broadcast(const std::vector<piece>& pieces, void* stream) = 0;

  /// Memory of each process that kernels of all of them read and write: that of process p is at
  /// `first + p * step`.
  struct shared_memory {
    unsigned char* first = nullptr;
    std::int64_t step = 0;
  };
  /// Where kernels say that they have waited in vain for those of other processes, if it is not 0:
  /// then the next wait of the host throws device_error.
  virtual std::uint64_t* given_up() const = 0;
  /// As much in each, zeros, until the program ends; null where a GPU does not reach another's
  /// memory. Waits for all processes.
  virtual shared_memory share(std::size_t bytes) = 0;
};

/// Processes with numbers from 0 on, which all call the same functions in the same order.
class process_group {
 public:
  virtual ~process_group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// A number of what comes next, by which it is found out whether all processes do the same.
  std::uint64_t statement = 0;
  /// Gives all processes what each has, so many bytes, one behind the other; the own ones are in
  /// their place already. Throws device_error where others do not come, or do something else, and
  /// always from then on.
  virtual void all_gather(void* all, const std::size_t* bytes) = 0;
  /// Sends and receives, all at once; called by all, and throws as `all_gather`. Of messages
  /// between two processes the first one sent is the first one received.
  virtual void exchange(const std::vector<process_message>& sent,
                        const std::vector<process_message>& received) = 0;
  /// The same processes with the GPUs that they have. Called by all. Throws device_error where
  /// nothing can join them.
  virtual std::unique_ptr<gpu_group> with_gpus(device own) = 0;
};

/// Throws device_error, which names processes that others have waited for so long.
[[noreturn]] void throw_missing(const std::vector<int>& processes, double seconds);
/// The same for those that do something else than the first one, as far as it is known which ones.
[[noreturn]] void throw_different(const std::vector<int>& processes);

/// By NCCL, whose identifier goes from the first process to the others by `processes`. Throws
/// device_error.
std::unique_ptr<gpu_group> join_gpus(process_group& processes, device own);

/// What a process has of elements whose first is at `first`, on its own device.
struct own_elements {
  buffer_ref owner;
  void* first;
  mapping elements;
};
/// Of elements of `size` bytes. On a device that is no mesh of processes, all of them. Throws
/// device_error where other rows (of the outermost axis) than the process's own have elements here,
/// as those of a transposed array.
own_elements own_part(const buffer_ref& owner, void* first, const mapping& elements,
                      std::size_t size);

}  // namespace detail

/// Of an array or a view on a mesh of processes this process's rows, as a view on the process's own
/// device: the same memory, used like any other. On another device all of it. Throws memory_error
/// for one without memory, and device_error where a process's part is no rows of it: of a
/// transposed array, say.
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

/// The number of the first row that `local` shows. Throws as `local`.
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

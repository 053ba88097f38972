// Where arrays live and expressions run.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dsl/ir/config.hpp>
#include <dsl/mem/error.hpp>

namespace dsl {

/// cuda: a GPU. host: this machine's cores, threads and SIMD. sim: the CUDA kernels run on the CPU,
/// with every memory access checked. Kinds that a program adds have the numbers that follow.
enum class backend : std::uint8_t { cuda, host, sim };

/// A device, by value, or a mesh: several GPUs that are one device. The default for a thread is the
/// innermost `device_guard`'s, else DSL_DEVICE's, else the first GPU if this program has CUDA
/// kernels and there is one, else host.
struct device {
  backend kind = backend::host;
  int index = 0;  ///< of the GPU, as CUDA counts them; 0 for host and sim; a mesh's is given out
                  ///< with its name

  constexpr device(backend k, int i = 0) : kind(k), index(i) {}
  /// "cuda", "cuda:1", "host", "sim"; a mesh, "cuda:0-3", "cuda:0,2", "cuda:all", or of simulated
  /// GPUs "sim:0-3"; or as a kind that was added names its devices. Throws device_error that lists
  /// the valid names, or says which member a mesh has twice.
  template <class Name>
    requires(std::convertible_to<const Name&, const char*> && !std::same_as<Name, std::nullptr_t>)
  device(const Name& device_name)
      : device(named(device_name)) {}  // no const char*, which a literal 0 would be taken for

  /// The calling thread's device. Throws device_error if DSL_DEVICE names none, or a GPU where
  /// there is none.
  static device current();
  /// "cuda:0", "host", "sim", "cuda:0-3".
  text name() const;
  /// Waits for everything queued on the device. Throws cuda_error where a kernel failed: such a
  /// fault surfaces in whichever call comes after it, here at the latest.
  void synchronize() const;

  friend constexpr bool operator==(const device&, const device&) = default;

 private:
  static device named(const char* name);
};

/// What plans are made of. Read once a device.
struct device_properties {
  char name[256];                  ///< as the driver, or the operating system, calls the processor
  int multiprocessors;             ///< SMs, or threads of the host
  int threads_per_multiprocessor;  ///< that are on an SM at once
  int registers_per_multiprocessor;  ///< of 32 bits
  int compute_capability;            ///< 90 for 9.0; 0 where there is none. Kernels need 80
  std::size_t memory;                ///< bytes of the device's memory
  std::size_t l2;                    ///< bytes of its L2 cache
  std::size_t
      shared_per_block;  ///< bytes of shared memory that a block may ask for; of the simulator too
  int driver, runtime;   ///< CUDA versions, 13000 for 13.0; 0 where there is none
};

/// Throws device_error if there is no such device.
const device_properties& properties(device where);

/// The GPUs (none without a driver), then host and sim, then those of kinds that were added.
std::vector<device> devices();

/// Bytes of a GPU's memory, which arrays take from a pool (CUDA's default one of the device). On
/// host and sim of the machine's, where there is no pool.
struct memory_usage {
  std::size_t used;      ///< of the pool, by arrays and kernels of this program
  std::size_t reserved;  ///< what the pool has of the device, used or not
  std::size_t free;      ///< what no program has
  std::size_t total;     ///< of the device
};
/// Throws device_error if there is no such device.
memory_usage memory_usage_of(device where = device::current());

/// Gives the memory that the pool has and nothing uses back to the device, for other programs;
/// waits for everything queued there. An allocation that finds too little does so by itself. Does
/// nothing on host and sim. Throws device_error or cuda_error.
void release_memory(device where = device::current());

/// What freed memory does from now on: while the pool has more than so many bytes, what nothing
/// uses goes back to the device whenever a stream or the device is waited for
/// (cudaMemPoolAttrReleaseThreshold). At first DSL_RELEASE_THRESHOLD, bytes or a number with K, M
/// or G for powers of 1024, else without limit, so that memory is used again at no cost. Does
/// nothing on host and sim. Throws device_error.
void set_release_threshold(std::size_t bytes, device where = device::current());

/// Makes `where` the calling thread's device until the guard dies. Throws device_error if there is
/// no such device.
class device_guard {
 public:
  explicit device_guard(device where);
  ~device_guard();
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  device previous_;
  bool had_previous_;
};

namespace detail {

/// Says that this program has kernels: one without does not choose a GPU by default.
bool register_kernels() noexcept;

}  // namespace detail
}  // namespace dsl

// Devices: where arrays are stored and expressions run.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dsl/ir/config.hpp>
#include <dsl/mem/error.hpp>

namespace dsl {

/// cuda: a GPU. host: this machine's cores, with threads and SIMD. sim: CUDA kernels run on the
/// CPU, with every memory access checked. opencl: a device of any OpenCL driver, for which formulas
/// are compiled when they first run. Kinds that a program adds get the numbers after these.
enum class backend : std::uint8_t { cuda, host, sim, opencl };

/// A device, by value, or a mesh: several GPUs used as one device. A thread's default device is
/// that of the innermost `device_guard`; else that of DSL_DEVICE; else the first GPU if this
/// program has CUDA kernels and there is a GPU; else host.
struct device {
  backend kind = backend::host;
  /// The GPU's number as CUDA counts; among OpenCL's, the number over all platforms; 0 for host and
  /// sim; a mesh gets a number with its name.
  int index = 0;

  constexpr device(backend k, int i = 0) : kind(k), index(i) {}
  /// A device by name: "cuda", "cuda:1", "host", "sim", "opencl", "opencl:1"; a mesh: "cuda:0-3",
  /// "cuda:0,2", "cuda:all", or of simulated GPUs "sim:0-3"; or a name of an added kind. Throws
  /// device_error that lists the valid names, or names a member that a mesh has twice.
  template <class Name>
    requires(std::convertible_to<const Name&, const char*> && !std::same_as<Name, std::nullptr_t>)
  device(const Name& device_name)
      // Not const char*, because a literal 0 would convert to it.
      : device(named(device_name)) {}

  /// The calling thread's device. Throws device_error if DSL_DEVICE is not a device's name, or is a
  /// GPU and there is none.
  static device current();
  /// "cuda:0", "host", "sim", "cuda:0-3".
  text name() const;
  /// Waits for everything queued on the device. Throws cuda_error if a kernel failed: such an error
  /// is reported by any later call, at the latest by this one.
  void synchronize() const;

  friend constexpr bool operator==(const device&, const device&) = default;

 private:
  static device named(const char* name);
};

/// The properties on which launch plans are based. They are read once for each device.
struct device_properties {
  char name[256];       ///< the processor's name, from the driver or the operating system
  int multiprocessors;  ///< SMs, or threads of the host
  int threads_per_multiprocessor;    ///< maximum number of threads resident on an SM
  int registers_per_multiprocessor;  ///< of 32 bits
  int compute_capability;            ///< 90 for 9.0; 0 if there is none. Kernels need 80
  std::size_t memory;                ///< bytes of the device's memory
  std::size_t l2;                    ///< bytes of its L2 cache
  /// Maximum bytes of shared memory of a block; for the simulator too.
  std::size_t shared_per_block;
  int driver, runtime;  ///< CUDA versions, 13000 for 13.0; 0 if there is none
  int warp_size = 32;   ///< threads of a warp, if there are any
};

/// The properties of a device. Throws device_error if it does not exist.
const device_properties& properties(device where);

/// The GPUs (none without a driver), then host and sim, then OpenCL's devices, then those of added
/// kinds.
std::vector<device> devices();

/// Memory usage in bytes. Arrays on a GPU are allocated from the device's default CUDA pool, those
/// on an OpenCL device from a pool of the library. For host and sim, which have no pool, the
/// numbers are those of the machine.
struct memory_usage {
  std::size_t used;      ///< bytes of the pool used by this program's arrays and kernels
  std::size_t reserved;  ///< bytes that the pool holds, used or not
  std::size_t free;      ///< bytes that no program holds; OpenCL: that this program does not hold
  std::size_t total;     ///< bytes of the device
};
/// Throws device_error if there is no such device.
memory_usage memory_usage_of(device where = device::current());

/// Returns the pool's unused memory to the device, for other programs. Waits for everything queued
/// there. An allocation that fails for lack of memory does this by itself. Does nothing on host and
/// sim. Throws device_error or cuda_error.
void release_memory(device where = device::current());

/// Sets the pool's release threshold in bytes (cudaMemPoolAttrReleaseThreshold): while the pool
/// holds more, unused memory returns to the device whenever a stream or the device is waited for;
/// on OpenCL devices at once.
/// The default is DSL_RELEASE_THRESHOLD, in bytes or with a suffix K, M or G (powers of 1024);
/// without it there is no limit, so that memory is reused at no cost. Does nothing on host and sim.
/// Throws device_error.
void set_release_threshold(std::size_t bytes, device where = device::current());

/// Makes `where` the calling thread's device until the guard is destroyed. Throws device_error if
/// there is no such device.
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

/// Records that this program has kernels: a program without kernels does not choose a GPU by
/// default.
bool register_kernels() noexcept;

}  // namespace detail
}  // namespace dsl

// The devices of all platforms.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <dsl/mem/device.hpp>

#include "opencl/abilities.hpp"
#include "opencl/driver.hpp"
#include "opencl/memory_pool.hpp"

namespace dsl::detail::opencl {

/// A device, with a context and a default queue of its own. Objects live until the program ends.
class device_state {
 public:
  /// Reads the device's properties. Throws opencl_error.
  device_state(int index, cl_platform_id platform, cl_device_id id);
  device_state(const device_state&) = delete;

  /// The device with this number, which must exist. Throws opencl_error.
  static device_state& of(int index);
  /// The same, or null if the program has not used the device yet.
  static device_state* find(int index) noexcept;
  /// The device with this context, or null.
  static device_state* find(cl_context context) noexcept;

  const int index;
  const cl_device_id id;
  device_properties properties{};
  abilities can{};
  std::string driver_version{}, platform_version{};
  /// The most bytes of one allocation.
  std::size_t largest_allocation = 0;

  /// "opencl:0 (NVIDIA H200)"
  std::string name() const;
  /// Throws opencl_error if a call failed. `asked`: text, or a function that makes it.
  template <class Asked>
  void check(cl_int status, const char* call, const Asked& asked) const {
    if (status == CL_SUCCESS) return;
    if constexpr (std::is_invocable_v<Asked>) raise_failure(status, call, asked(), name());
    else raise_failure(status, call, asked, name());
  }
  cl_context context() const noexcept { return context_; }
  memory_pool& pool() noexcept { return *pool_; }

  /// The queue of a stream; the default one for null.
  cl_command_queue queue_of(void* stream) const noexcept {
    return stream != nullptr ? static_cast<cl_command_queue>(stream) : default_queue_;
  }
  /// A new queue, whose commands run in order.
  cl_command_queue create_queue();
  void destroy_queue(cl_command_queue queue) noexcept;
  /// A marker behind all commands of a queue, which begin now at the latest. The caller releases
  /// it.
  cl_event record_marker(cl_command_queue queue) const;
  /// Makes `queue`'s next commands wait for all that `other` has been given.
  void order(cl_command_queue queue, cl_command_queue other) const;
  /// Waits for all queues.
  void finish();

 private:
  cl_context context_ = nullptr;
  cl_command_queue default_queue_ = nullptr;
  std::unique_ptr<memory_pool> pool_{};
  std::mutex mutex_{};  // guards what is below
  std::set<cl_command_queue> queues_{};
};

/// The number of devices; 0 also if there is no driver or it fails.
int count_devices();
/// The reason why there is none.
std::string why_no_device();

}  // namespace dsl::detail::opencl

// Kernels built from their text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "opencl/device.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// A kernel of a device.
struct built_kernel {
  built_kernel() = default;
  built_kernel(const built_kernel&) = delete;
  ~built_kernel() {
    if (kernel != nullptr) driver().clReleaseKernel(kernel);
  }
  cl_kernel kernel = nullptr;
  std::size_t largest_work_group = 0;
  std::size_t work_group_multiple = 0;  ///< work-groups should be multiples of this
  /// A kernel object has one set of arguments: held from the first one until the launch is queued.
  std::mutex mutex{};
};

/// The kernels of a text. They live until the program ends, unless one of them cannot be made.
struct built_program {
  built_kernel first{};
  built_kernel finish{};  ///< if the text has one
  std::deque<built_kernel> more{};
  /// By `kernel_launch::number`.
  built_kernel& at(int number) {
    return number == 0 ? first : number == 1 ? finish : more[static_cast<std::size_t>(number - 2)];
  }
};

/// Builds a text, unless this process has built it before, or a file of the cache has it. `key`
/// stands for what `print()` depends on, which is called only for the first build. With
/// DSL_OPENCL_SOURCE=1 the text goes to stderr then. Throws opencl_error with the first lines of
/// the compiler's log.
built_program& build(device_state& on, std::uint64_t key,
                     const std::function<kernel_text()>& print);

}  // namespace dsl::detail::opencl

// Counts the kernels that are launched on OpenCL devices.
#pragma once

#include <atomic>

#include "opencl/driver.hpp"

class counted_launches {
 public:
  counted_launches() : before_(launch()), count_before_(count) {
    if (before_ == &counting) return;
    real = before_;
    launch() = &counting;
  }
  ~counted_launches() { launch() = before_; }
  counted_launches(const counted_launches&) = delete;
  /// Since this object was made.
  int so_far() const { return count - count_before_; }

 private:
  using function = decltype(&clEnqueueNDRangeKernel);
  // The table of the driver's functions is no constant object.
  static function& launch() {
    using namespace dsl::detail::opencl;
    return const_cast<driver_functions&>(driver()).clEnqueueNDRangeKernel;
  }
  static cl_int CL_API_CALL counting(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const std::size_t* first, const std::size_t* items,
                                     const std::size_t* group, cl_uint waits,
                                     const cl_event* wait_for, cl_event* event) {
    ++count;
    return real(queue, kernel, dimensions, first, items, group, waits, wait_for, event);
  }

  static inline function real = nullptr;
  static inline std::atomic<int> count{0};
  function before_;
  int count_before_;
};

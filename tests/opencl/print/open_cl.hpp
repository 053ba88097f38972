// Runs printed passes on the first OpenCL device, for tests. Memory is the host's: it is copied to
// the device before a pass and back after it.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "opencl/print/kernel_text.hpp"

namespace open_cl {

/// The first device, with a queue.
class device {
 public:
  /// Null if there is none.
  static device* first();

  const dsl::detail::opencl::abilities& can() const { return can_; }
  const std::string& name() const { return name_; }
  /// Whether its work-items compute several elements at once.
  void take_lanes(bool several) { can_.takes_lanes = several; }
  /// Runs a pass on copies of the blocks of host memory in which its operands are.
  /// `blocks`: addresses and sizes. Throws std::runtime_error with the compiler's messages.
  void run(const dsl::detail::bound_pass& pass, const std::map<const void*, std::size_t>& blocks);
  /// The text of the pass that ran last.
  const std::string& last_text() const { return last_text_; }
  /// The texts that ran: as many as keys.
  int texts() const { return static_cast<int>(texts_.size()); }

 private:
  device(cl_device_id id);
  cl_program build(const dsl::detail::opencl::kernel_text& text);

  cl_device_id id_;
  cl_context context_;
  cl_command_queue queue_;
  std::string name_;
  dsl::detail::opencl::abilities can_{};
  std::string last_text_;
  std::map<std::string, cl_program> programs_;
  std::map<std::uint64_t, std::string> texts_;
};

}  // namespace open_cl

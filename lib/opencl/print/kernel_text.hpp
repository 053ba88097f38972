// Passes and other work as OpenCL C 1.2, and how their kernels are launched.
//
// The text depends on the pass, on what kinds of operands it has (dtype, rank, which strides are
// zero or one, scalar by value or in device memory, which results are stored) and on the device's
// abilities, and on nothing else. Sizes, strides, distances and scalars are arguments of the
// kernels. So one text, built once, serves all runs of a formula on operands of the same kinds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dsl/exec/run/run.hpp>

#include "opencl/abilities.hpp"

namespace dsl::detail::opencl {

/// A program in OpenCL C.
struct kernel_text {
  std::string text;
  std::string name;     ///< The kernel that is launched first.
  std::string finish;   ///< The one that combines partial results, launched second; or empty.
  std::string options;  ///< For clBuildProgram.
  std::vector<std::string> more{};  ///< Other kernels.
};

/// An argument of a kernel, in the order of its parameters.
struct kernel_argument {
  enum class kind : std::uint8_t {
    /// An address in device memory: two parameters, `__global uchar* mN` (the memory object) and
    /// `long oN` (bytes from its beginning). 0: none, which the kernel does not read.
    address,
    /// The memory of partial results, `kernel_launches::scratch_bytes` long: two parameters as
    /// well.
    scratch,
    /// `size` bytes by value: one parameter.
    value
  };
  kind what;
  bool is_written = false;    ///< address: whether the kernel writes there.
  std::uint64_t address = 0;  ///< address
  std::uint32_t size = 0;     ///< value
  unsigned char bytes[16]{};  ///< value
};

/// Whether a kernel reads its values from memory, because all its parameters together exceed what
/// the device takes. Values are then those by value and the bytes from the beginning of each memory
/// object, in the parameters' order, and each takes `packed_value_bytes`. The parameters are the
/// memory objects and, last, the one that holds the values.
bool packs_values(const std::vector<kernel_argument>& all, const abilities& can);
constexpr std::size_t packed_value_bytes = 16;

/// One launch of one of the text's kernels.
struct kernel_launch {
  const char* which;  ///< "first" or "finish", for messages.
  std::vector<kernel_argument> arguments;
  /// Work-items that have something to do. If `group` is 0, any number of work-items in groups of
  /// any size computes the same: each takes every n-th element. Otherwise exactly this many are
  /// launched, a multiple of `group`.
  std::int64_t work_items;
  std::int64_t group;
  int number = 0;  ///< Which kernel: 0 is `name`, 1 `finish`, 2 the first of `more`.
};

/// The launches of a text, in order in one queue; later ones read what earlier ones wrote to the
/// scratch memory.
struct kernel_launches {
  std::vector<kernel_launch> launches;  ///< Of a pass: `name`, then `finish` if it is needed.
  std::size_t scratch_bytes = 0;        ///< 0: none is needed.
};

/// Prints a pass that is laid out. Throws device_error, which says what the device lacks, or what
/// cannot be printed: calls of functors, and parts of reductions for several devices.
kernel_text print_pass(const bound_pass& pass, const abilities& can);
/// The launches of that text for the pass's operands and sizes, and its arguments as they are now
/// (`bound_pass::now`, the number of a loop's step). There are none if the pass is empty.
kernel_launches launches_of(const bound_pass& pass, const abilities& can);
/// What the text depends on, as a hash: the key of a cache of kernels within a process, known
/// without printing.
std::uint64_t text_key(const bound_pass& pass, const abilities& can);

/// Both at once, for each launch: what they have in common is computed once.
struct keyed_launches {
  std::uint64_t key;
  kernel_launches all;
};
keyed_launches keyed_launches_of(const bound_pass& pass, const abilities& can);

}  // namespace dsl::detail::opencl

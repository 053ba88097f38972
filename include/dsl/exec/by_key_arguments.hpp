// What a launch of the kernels of a reduction by key tells every thread.
#pragma once

#include <dsl/exec/arguments.hpp>

namespace dsl::detail {

/// Beside the operands, which are the inputs, one that stands for the keys, and the results, whose `argument::descriptor` is how
/// far the next group's is, in elements.
struct by_key_parameters {
  std::int64_t groups;          // all
  std::int64_t first_group;     // that this launch takes, and
  std::int32_t span;            //   how many
  std::int32_t log2_copies;     // of a warp's table of accumulators, which its lanes share out
  std::int32_t ignores_others;  // elements whose keys are of no group are left out; else that is a mistake
  std::int32_t tables;          // that the blocks of the launch before have left
  void* partials;               // a table for each block
};

template <class Arguments> struct by_key_arguments : Arguments { by_key_parameters by_key; };

/// Threads of a block, at most, and of one that makes results.
inline constexpr int by_key_threads = 512, by_key_finish_threads = 256;

/// Groups up to which a warp makes a result, and not a thread.
inline constexpr std::int64_t by_key_warps_to = 4096;

}  // namespace dsl::detail

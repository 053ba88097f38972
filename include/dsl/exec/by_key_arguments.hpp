// What a launch of the kernels of a reduction by key tells every thread.
#pragma once

#include <dsl/exec/arguments.hpp>

namespace dsl::detail {

/// What a launch does. Where there are more groups than a table has room for, elements become pairs of a key and an accumulator,
/// which are sorted; each warp takes a slice of them and leaves what its first and its last run of one key come to, for those may
/// go on in other slices.
enum class by_key_step : std::int32_t { tables, pairs, identities, runs, ends, results };

/// Pairs, sorted or not. An accumulator of 4 bytes is the pair's value itself; else that is its place among them.
struct by_key_pairs {
  std::int64_t count;
  std::uint32_t *keys, *values;
  void* accumulators;
  std::int64_t slices, slice;  // and how long one is
  std::uint32_t* end_keys;     // of each slice's first and last run; the number of groups: there is none
  void* ends;
};

/// Beside the operands, which are the inputs, one that stands for the keys, and the results, whose `argument::descriptor` is how
/// far the next group's is, in elements.
struct by_key_parameters {
  std::int64_t groups;          // all
  std::int64_t first_group;     // that this launch takes, and
  std::int32_t span;            //   how many
  std::int32_t tables;          // that a block's warps share out, and
  std::int32_t log2_copies;     //   copies of each, which a warp's lanes share out
  std::int32_t tags;            // of a warp, by which its lanes see that they have one entry; 0: they never have
  std::int32_t ignores_others;  // elements whose keys are of no group are left out; else that is a mistake
  std::int32_t left_tables;     // that the blocks of the launch before have left
  void* partials;               // a table for each block
  by_key_step step;
  by_key_pairs pairs;
};

template <class Arguments> struct by_key_arguments : Arguments { by_key_parameters by_key; };

/// Entries of a table, of which the last ones, a lane's each, take what is of no group.
DSL_DETAIL_FN constexpr std::int64_t by_key_entries(std::int64_t span, int log2_copies) { return (span << log2_copies) + 32; }

/// Of a block's tags, which its tables stand behind.
DSL_DETAIL_FN constexpr int by_key_tag_bytes(int warps, int tags) {
  return (warps * tags * static_cast<int>(sizeof(unsigned)) + 15) / 16 * 16;
}

/// Threads of a block, at most, and of one that makes results.
inline constexpr int by_key_threads = 512, by_key_finish_threads = 256;

/// Groups up to which a warp makes a result, and not a thread.
inline constexpr std::int64_t by_key_warps_to = 4096;

}  // namespace dsl::detail

// What a launch of the kernels of a reduction by key tells every thread.
#pragma once

#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// What a launch does: makes tables of elements, or of pairs, or results of tables. Where there are
/// more groups than a table has room for, elements become pairs of a key and an accumulator, which
/// are put into buckets by the highest bits of their keys.
enum class by_key_step : std::int32_t { tables, pairs, bounds, buckets, results };

/// An accumulator of 4 bytes is a pair's value itself; else that is its place among them. What is
/// only counted has no values.
struct by_key_pairs {
  std::int64_t count, buckets;
  std::int64_t slice;  // of the pairs, which a block takes
  std::uint32_t *keys, *values, *sorted_keys, *sorted_values;
  void* accumulators;
  std::int64_t* bounds;  // where each bucket begins, and the last one ends
  std::int32_t log2_span;
};

/// Beside the operands, which are the inputs, one that stands for the keys, and the results, whose
/// `argument::descriptor` is how far the next group's is, in elements.
struct by_key_parameters {
  std::int64_t groups;       // all
  std::int64_t first_group;  // that this launch takes, and
  std::int64_t results;      //   how many
  std::int32_t span;         // groups of a table
  std::int32_t tables;       // of a block
  std::int32_t turns;  // of the warps that share a table; 1: each has its own, or adds atomically
  std::int32_t log2_copies;  // of each table's entries, which a warp's lanes share out
  std::int32_t tags;  // of a table, a power of two, by which lanes see that they have one entry; 0:
                      // they never have
  std::int32_t
      ignores_others;  // elements whose keys are of no group are left out; else that is a mistake
  std::int32_t left_tables;  // blocks of the launch that has left tables
  by_key_step step;
  std::int32_t
      warps_of_all;  // of the launch that has left `of_all`; -1: in another launch, or nobody asks
  void* partials;    // a table for each block; of buckets, for each bucket in a block's slice
  void* of_all;      // of each warp what all elements that it has read come to
  by_key_pairs pairs;
};

template <class Arguments> struct by_key_arguments : Arguments { by_key_parameters by_key; };

/// Entries of a table, of which the last ones, a lane's each, take what is of no group.
DSL_DETAIL_FN constexpr std::int64_t by_key_entries(std::int64_t span, int log2_copies) {
  return (span << log2_copies) + 32;
}

/// Of a block's tags, which its tables stand behind. There are none, or at least 4 of each table.
DSL_DETAIL_FN constexpr int by_key_tag_bytes(int tables, int tags) {
  return tables * tags * static_cast<int>(sizeof(unsigned));
}

/// Threads of a block, at most, and of one that makes results; warps that may take turns.
inline constexpr int by_key_threads = 512, by_key_finish_threads = 256, by_key_most_in_turn = 15;

/// Groups up to which a warp makes a result, and not a thread.
inline constexpr std::int64_t by_key_warps_to = 4096;

}  // namespace dsl::detail

// The parameters of the kernels of a reduction by key.
#pragma once

#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// The work of a launch: makes tables from elements or from pairs, or results from tables. If there
/// are more groups than fit in a table, elements become pairs of a key and an accumulator, sorted
/// into buckets by the highest bits of their keys.
enum class by_key_step : std::int32_t { tables, pairs, bounds, buckets, results };

/// Pairs of a key and an accumulator. An accumulator of 4 bytes is stored as the pair's value; a
/// larger one is stored separately, and the value is its index. A pure count has no values.
struct by_key_pairs {
  std::int64_t count, buckets;
  std::int64_t slice;  // Pairs that a block takes.
  std::uint32_t *keys, *values, *sorted_keys, *sorted_values;
  void* accumulators;
  std::int64_t* bounds;  // The beginning of each bucket, and the end of the last one.
  std::int32_t log2_span;
};

/// Parameters in addition to the operands: the inputs, one that stands for the keys, and the
/// results, whose `argument::descriptor` is the distance to the next group's, in elements.
struct by_key_parameters {
  std::int64_t groups;  // All groups.
  // The first group of this launch, and the number of its groups.
  std::int64_t first_group;
  std::int64_t results;
  std::int32_t span;    // Groups of a table.
  std::int32_t tables;  // Tables of a block.
  // Warps that share a table and take turns at it; 1: each has its own, or adds atomically.
  std::int32_t turns;
  // Copies of each table entry (log2), which a warp's lanes share.
  std::int32_t log2_copies;
  // Tags of a table, a power of two, by which lanes detect that they have the same entry; 0: they
  // never have.
  std::int32_t tags;
  // Whether elements with a key of no group are ignored; otherwise they are an error.
  std::int32_t ignores_others;
  std::int32_t left_tables;  // Blocks of the launch that has left tables.
  by_key_step step;
  // Warps of the launch that has left `of_all`; -1: another launch makes these results, or there
  // are none.
  std::int32_t warps_of_all;
  // A table for each block; with buckets, one for each bucket in a block's slice.
  void* partials;
  // For each warp the accumulators of all elements that it has read.
  void* of_all;
  by_key_pairs pairs;
};

template <class Arguments> struct by_key_arguments : without_leads<Arguments> {
  by_key_parameters by_key;
};

/// Table entries, including one dummy per lane for invalid keys.
DSL_DETAIL_FN constexpr std::int64_t by_key_entries(std::int64_t span, int log2_copies,
                                                    int warp_size) {
  return (span << log2_copies) + warp_size;
}

/// Bytes of a block's tags, which precede its tables. Each table has none, or at least 4.
DSL_DETAIL_FN constexpr int by_key_tag_bytes(int tables, int tags) {
  return tables * tags * static_cast<int>(sizeof(unsigned));
}

/// Maximum threads of a block, threads of a block that makes results, and maximum warps that take
/// turns.
inline constexpr int by_key_threads = 512, by_key_finish_threads = 256, by_key_most_in_turn = 15;

/// Maximum number of groups for which a warp, rather than a thread, makes each result.
inline constexpr std::int64_t by_key_warps_to = 4096;

}  // namespace dsl::detail

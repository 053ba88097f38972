// The parameters of the kernel that runs all phases of a chain on rows at once.
#pragma once

#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// How threads share rows. A row is a set of elements that are reduced together. A thread group
/// works on `across` rows in parallel (row-parallel), and a thread takes every `row_threads`-th
/// vector of one row (in-row). A thread's vector is `lanes` elements, `lane_step` apart.
struct row_schedule {
  std::int64_t tiles;  // Tiles of as many rows as a block has at a time.
  std::int64_t rows;   // Rows along the innermost kept dimension.
  std::int32_t count;  // Elements of a row.
  // Elements of a row that a block takes; blocks for each row; rows or tiles that run at once.
  std::int32_t part, parts, groups;
  // Rows of a thread group in parallel; threads of a group, 31 if it is the block.
  std::int32_t log2_across, log2_group_threads;
  // Threads of a thread group, and those of them that share a row.
  std::int32_t group_threads, row_threads;
  std::int32_t thread_groups;                        // Thread groups of a block.
  std::int32_t lane_step, thread_step, vector_step;  // In elements of the row.
  std::int32_t vectors;                              // Vectors of a row that a thread has.
  divisor of_step;  // The distance between a thread's vectors, or between its elements.
  // All threads copy a block's `thread_groups` rows to shared memory; there a thread has whole
  // rows.
  std::int32_t staged;
  std::int32_t in_vectors;  // Whether all arrays are read and written in whole vectors.
  // Rows in vectors that begin or end between aligned vectors: the operand whose addresses tell
  // where, and the lane of its first element; -1: all rows consist of whole vectors.
  std::int32_t aligned_by, first_lane;
  std::int32_t whole;  // Whether every lane of every thread exists, in each part of each row.
  std::int32_t waits;  // Whether threads without a row of their own read another thread's.
  // Whether the blocks of a row are a cluster and exchange through shared memory.
  std::int32_t in_cluster;
  // Bytes of shared memory for values that threads exchange; the rows follow.
  std::int32_t shared_sums;
  std::int32_t outer_rank;  // Kept dimensions beyond the innermost.
  // A bit for each leaf that is not the same array as an earlier leaf, and for each that is read in
  // whole vectors.
  std::uint64_t distinct, vector_leaves;
  std::uint32_t epoch;  // The number of the first exchange between the blocks of a row.
  void* cells;          // Memory for these exchanges.
  // Tiles along the innermost kept dimension, and the other kept dimensions.
  divisor of_parts, across, outer[max_rank - 2];
};

/// The place of short rows in shared memory, as an operand's descriptor: the first row's offset in
/// bytes; the distance between rows and between a row's elements, in elements.
class staged_piece {
 public:
  DSL_DETAIL_FN explicit staged_piece(std::uint64_t word) : word_(word) {}
  staged_piece(int place, int pitch, int step)
      : word_(static_cast<std::uint64_t>(place) | static_cast<std::uint64_t>(pitch) << 32 |
              static_cast<std::uint64_t>(step) << 63) {}
  DSL_DETAIL_FN std::uint32_t place() const { return static_cast<std::uint32_t>(word_); }
  DSL_DETAIL_FN int pitch() const { return static_cast<int>(word_ >> 32 & 0x7fffffff); }
  DSL_DETAIL_FN int step() const { return static_cast<int>(word_ >> 63); }
  std::uint64_t word() const { return word_; }

 private:
  std::uint64_t word_;
};

/// Bytes that blocks exchange for a row, or for `lanes` columns. Every phase takes as much as the
/// largest, so that even and odd exchanges never overlap. `accumulator_bytes`: see
/// `accumulator_bytes_of`.
constexpr int exchanged_bytes(int accumulator_bytes, int lanes) {
  const int unit = lanes > 1 ? 16 : 4;
  return (lanes * accumulator_bytes + unit - 1) / unit * unit;
}

/// Strides: in-row, row-parallel, and of the other dimensions.
template <int Operands>
struct row_arguments : argument_header {
  row_schedule rows_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

}  // namespace dsl::detail

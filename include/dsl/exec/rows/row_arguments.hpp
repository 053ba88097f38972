// What a launch tells the kernel that runs all phases of a chain on rows at once.
#pragma once

#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// How threads share rows out. A row is what is reduced together; it has neighbours across. A crew
/// of threads works on `across` of them, and a thread on every `along`-th vector of one. A thread's
/// vector is `lanes` elements, `lane_step` apart.
struct row_schedule {
  std::int64_t tiles;  // of as many rows as a block has at a time
  std::int64_t rows;   // along the innermost dimension of those that are kept
  std::int32_t count;  // elements of a row
  std::int32_t part, parts,
      groups;  // elements that a block takes of it, blocks a row, rows or tiles at once
  std::int32_t log2_across,
      log2_crew;  // rows that a crew has side by side; its threads, 31 if it is the block
  std::int32_t crew, along;  // threads of a crew, and those of them that share a row
  std::int32_t crews;        // of a block
  std::int32_t lane_step, thread_step, vector_step;  // in elements of the row
  std::int32_t vectors;                              // that a thread has of a row
  divisor of_step;          // from one of a thread's vectors to the next, or of its elements
  std::int32_t staged;      // all threads bring a block's `crews` rows; a thread has whole rows
  std::int32_t in_vectors;  // all arrays are read and written so
  std::int32_t whole;       // every lane of every thread exists, in each part of each row
  std::int32_t waits;       // threads without a row of their own read another's
  std::int32_t in_cluster;  // the blocks of a row, which then exchange through shared memory
  std::int32_t
      shared_sums;  // bytes of shared memory for what threads tell each other, before the rows
  std::int32_t outer_rank;  // of what is kept
  std::uint64_t kept;   // a bit for each leaf that is not the same array as another one before it
  std::uint32_t epoch;  // of the first exchange between the blocks of a row
  void* cells;          // for that
  divisor of_parts, across,
      outer[max_rank - 2];  // tiles along the innermost dimension that is kept, and around it
};

/// Where rows of few elements are in shared memory, as an operand's descriptor: the first one's
/// place in bytes, how far a row lies from the next, and an element of a row from the next, in
/// elements.
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

/// What blocks exchange of a row, or of `lanes` columns: as much for each phase as the largest of
/// them takes, so that what even and odd exchanges write never overlaps. `accumulator_bytes` are
/// those of `accumulator_bytes_of`.
constexpr int exchanged_bytes(int accumulator_bytes, int lanes) {
  const int unit = lanes > 1 ? 16 : 4;
  return (lanes * accumulator_bytes + unit - 1) / unit * unit;
}

/// Strides: along the row, across rows, around.
template <int Operands>
struct row_arguments : argument_header {
  row_schedule rows_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

}  // namespace dsl::detail

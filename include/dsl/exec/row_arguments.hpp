// What a launch tells the kernel that runs all phases of a chain on rows at once.
#pragma once

#include <dsl/exec/arguments.hpp>

namespace dsl::detail {

/// How threads share rows out. A row is what is reduced together; it has neighbours across. A crew of threads works on `across`
/// of them, and a thread on every `along`-th vector of one. A thread's vector is `lanes` elements, `lane_step` apart.
struct row_schedule {
  std::int64_t tiles;                                // of as many rows as a block has at a time
  std::int64_t rows;                                 // along the innermost dimension of those that are kept
  std::int32_t count;                                // elements of a row
  std::int32_t part, parts, groups;                  // elements that a block takes of it, blocks a row, rows or tiles at once
  std::int32_t log2_across, log2_crew;               // rows that a crew has side by side; its threads, 31 if it is the block
  std::int32_t crew, along;                          // threads of a crew, and those of them that share a row
  std::int32_t crews;                                // of a block
  std::int32_t lane_step, thread_step, vector_step;  // in elements of the row
  std::int32_t vectors;                              // that a thread has of a row
  divisor of_step;                                   // from one of a thread's vectors to the next, or of its elements
  std::int32_t in_vectors;                           // all arrays are read and written so
  std::int32_t whole;                                // every lane of every thread exists, in each part of each row
  std::int32_t waits;                                // threads without a row of their own read another's
  std::int32_t in_cluster;                           // the blocks of a row, which then exchange through shared memory
  std::int32_t shared_sums;                          // bytes of shared memory for what threads tell each other, before the rows
  std::int32_t outer_rank;                           // of what is kept
  std::uint64_t kept;                                // a bit for each leaf that is not the same array as another one before it
  std::uint32_t epoch;                               // of the first exchange between the blocks of a row
  void* cells;                                       // for that
  divisor of_parts, across, outer[max_rank - 2];     // tiles along the innermost dimension that is kept, and around it
};

/// Strides: along the row, across rows, around.
template <int Operands>
struct row_arguments : argument_header {
  row_schedule rows_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

}  // namespace dsl::detail

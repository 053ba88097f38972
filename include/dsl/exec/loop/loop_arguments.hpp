// What a launch of a loop's kernel tells every thread.
#pragma once

#include <dsl/exec/team/arguments.hpp>
#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// The steps of a launch, and who holds the state. Its arrays lie as one line of groups of lanes,
/// which blocks take in rows of one a thread, block after block: a block's first rows stay in
/// shared memory, others are streamed through it. What is left, which need not be rows, is divided
/// into a stretch for each block, held in registers.
struct step_schedule {
  std::int64_t steps;      // of this launch
  std::int64_t every;      // a step of each so many is recorded
  std::int64_t recorded;   // rows of the histories that are written already
  std::int64_t to_record;  // steps until the next one that is recorded
  std::int64_t groups;     // of a block's registers
  std::int64_t more_from;  // blocks from this one on have one more
  std::int32_t in_shared;  // rows that stay in shared memory
  std::int32_t streamed;   // rows that are streamed: 0, or more than are on their way
  std::int32_t
      l2_resident;  // of eight rows that are streamed, how many are to stay in the L2 cache
  void* cells;  // blocks' partial results (`tagged`) of two steps, or null; the first member's copy
  std::int64_t copy_bytes;  // from a member's copy to the next one's
  unsigned epoch;           // the first step's number in the cells

  /// A member's copy of something that lies with the cells.
  template <class T>
  DSL_DETAIL_FN T* copy(T* first, int member) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(first) +
                                static_cast<std::uintptr_t>(member * copy_bytes));
  }

  /// Divides so many groups among blocks.
  void divide(std::int64_t all_groups, std::int64_t blocks, int threads) {
    const std::int64_t held = all_groups - blocks * (in_shared + streamed) * threads;
    groups = held / blocks;
    more_from = blocks - held % blocks;
  }
};

/// Which elements are a thread's.
struct loop_rows {
  std::int64_t first, row;   // element of its first row; from one to the next
  std::int64_t first_held;   // element of its first group in registers
  std::int64_t held_groups;  // of its block's registers: threads take them in turn

  // `first` and `blocks` are those of the launch, a member of a mesh has neighbouring elements.
  DSL_DETAIL_FN static loop_rows of(const step_schedule& s, std::int64_t block, std::int64_t first,
                                    std::int64_t blocks, int thread, int threads, int lanes) {
    const std::int64_t row = blocks * (threads * lanes),
                       more = block > s.more_from ? block - s.more_from : 0,
                       rows = s.in_shared + s.streamed, before = first * rows * (threads * lanes),
                       held = before + (block * s.groups + more + thread) * lanes,
                       held_before =
                           (first * s.groups + (first > s.more_from ? first - s.more_from : 0)) *
                           lanes;
    return {before + held_before + ((block - first) * threads + thread) * lanes, row,
            rows * row + held, s.groups + (block >= s.more_from ? 1 : 0)};
  }
};

/// Counts steps to those that are recorded.
struct history_place {
  std::int64_t left, row;
  DSL_DETAIL_FN explicit history_place(const step_schedule& s)
      : left(s.to_record), row(s.recorded) {}
  /// Whether this step is one of them: then `row` is the next one's.
  DSL_DETAIL_FN bool comes(const step_schedule& s) {
    if (--left > 0) return false;
    left = s.every;
    ++row;
    return true;
  }
};

/// Every array contiguous, as in `linear_arguments`.
template <int Operands>
struct loop_arguments : argument_header {
  static constexpr bool strided = false;
  step_schedule loop;
  argument operand[Operands];
  std::uint64_t history[Operands];  // of an output: where reduced values are recorded, or 0
};

/// `argument::descriptor` of a scalar passed by value that is the number of the step.
inline constexpr std::uint64_t counts_steps = 1;

}  // namespace dsl::detail

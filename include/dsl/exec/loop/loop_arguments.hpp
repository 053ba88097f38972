// The parameters of a loop's kernel.
#pragma once

#include <dsl/exec/team/arguments.hpp>
#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// The steps of a launch, and how blocks share the state. Its arrays are one line of groups of
/// lanes. Blocks take them in rows of one group for each thread, block after block: a block's first
/// rows stay in shared memory, the others are streamed through it. The remaining groups, which need
/// not fill rows, are divided into one contiguous piece for each block, held in registers.
struct step_schedule {
  std::int64_t steps;      // Steps of this launch.
  std::int64_t every;      // Record every n-th step.
  std::int64_t recorded;   // Rows already written to the histories.
  std::int64_t to_record;  // Steps until the next record.
  std::int64_t groups;     // Groups in a block's registers.
  std::int64_t more_from;  // Blocks from this one on have one more.
  std::int32_t in_shared;  // Rows that stay in shared memory.
  std::int32_t streamed;   // Streamed rows: 0, or more than are being copied at a time.
  // The number of streamed rows, in every eight, that should stay in the L2 cache.
  std::int32_t l2_resident;
  // Blocks' partial results (`tagged`) of two steps, or null; the first member's copy.
  void* cells;
  std::int64_t copy_bytes;  // Distance between two members' copies.
  unsigned epoch;           // The first step's number in the cells.

  /// A member's copy of data stored with the cells.
  template <class T>
  DSL_DETAIL_FN T* copy(T* first, int member) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(first) +
                                static_cast<std::uintptr_t>(member * copy_bytes));
  }

  /// Divides `all_groups` groups among blocks.
  void divide(std::int64_t all_groups, std::int64_t blocks, int threads) {
    const std::int64_t held = all_groups - blocks * (in_shared + streamed) * threads;
    groups = held / blocks;
    more_from = blocks - held % blocks;
  }
};

/// The elements of a thread.
struct loop_rows {
  std::int64_t first, row;   // Its first row's element, and the distance between rows.
  std::int64_t first_held;   // Its first element in registers.
  std::int64_t held_groups;  // Groups in its block's registers: threads take them in turn.

  // `first` and `blocks` are those of the launch: a mesh's member has consecutive elements.
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

/// Counts the steps until the next record.
struct history_place {
  std::int64_t left, row;
  DSL_DETAIL_FN explicit history_place(const step_schedule& s)
      : left(s.to_record), row(s.recorded) {}
  /// Whether this step is recorded: then `row` is the next record's row.
  DSL_DETAIL_FN bool comes(const step_schedule& s) {
    if (--left > 0) return false;
    left = s.every;
    ++row;
    return true;
  }
};

/// All arrays contiguous, as in `linear_arguments`.
template <int Operands>
struct loop_arguments : argument_header {
  static constexpr bool strided = false;
  step_schedule loop;
  argument operand[Operands];
  // For each input the distance from its elements of one step to those of the next, in elements.
  // For each output: where reduced values are recorded, or, by a loop that keeps its states, an
  // array's elements after each step; or 0.
  std::uint64_t by_step[Operands];
};

/// In place of the number of the output that ends a loop: nothing ends it; nothing ends it, and the
/// state after each step is kept.
inline constexpr int never_ends = -1, keeps_states = -2;
/// The distance between two kept states of an array, in elements: whole vectors of 16 bytes. Single
/// values lie side by side, as their histories do.
DSL_DETAIL_FN constexpr std::int64_t distance_of_states(std::int64_t elements, int element_size) {
  const std::int64_t vector = 16 / element_size;
  return elements == 1 ? 1 : (elements + vector - 1) / vector * vector;
}

/// `argument::descriptor` of a scalar passed by value that is the number of the step.
inline constexpr std::uint64_t counts_steps = 1;

}  // namespace dsl::detail

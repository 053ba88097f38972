// What a launch of a loop's kernel tells every thread, and what a thread keeps of the state.
#pragma once

#include <dsl/exec/arguments.hpp>
#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// How a launch goes through steps. Its arrays lie as one line of groups of lanes, which blocks take in rows of one a thread, block after
/// block: a block's first rows stay in shared memory, others are streamed through it. What is left, which need not be rows, is divided
/// into a stretch for each block, held in registers.
struct loop_walk {
  std::int64_t steps;                       // of this launch
  std::int64_t every, recorded, to_record;  // each so many steps are recorded; rows of the histories before; steps until the next one
  std::int64_t groups, more_from;           // of a block's registers; blocks from this one on have one more
  std::int32_t in_shared, streamed;         // rows; streamed: 0, or more than are on their way
  std::int32_t near;                        // of eight rows that are streamed, how many are to stay in the L2 cache
  void* slots;                              // blocks' sums (`tagged`), twice, or null
  unsigned epoch;                           // what blocks say the first step's number is to each other

  /// Divides so many groups among blocks.
  void divide(std::int64_t all_groups, std::int64_t blocks, int threads) {
    const std::int64_t held = all_groups - blocks * (in_shared + streamed) * threads;
    groups = held / blocks, more_from = blocks - held % blocks;
  }
};

/// Which elements are a thread's.
struct loop_rows {
  std::int64_t first, row;   // element of its first row; from one to the next
  std::int64_t first_held;   // element of its first group in registers
  std::int64_t held_groups;  // of its block's registers: threads take them in turn

  DSL_DETAIL_FN static loop_rows of(const loop_walk& w, std::int64_t block, std::int64_t blocks, int thread, int threads, int lanes) {
    const std::int64_t row = blocks * (threads * lanes), more = block > w.more_from ? block - w.more_from : 0;
    return {(block * threads + thread) * lanes, row, (w.in_shared + w.streamed) * row + (block * w.groups + more + thread) * lanes,
            w.groups + (block >= w.more_from ? 1 : 0)};
  }
};

/// Counts steps to those that are recorded.
struct history_place {
  std::int64_t left, row;
  DSL_DETAIL_FN explicit history_place(const loop_walk& w) : left(w.to_record), row(w.recorded) {}
  /// Whether this step is one of them: then `row` is the next one's.
  DSL_DETAIL_FN bool comes(const loop_walk& w) {
    if (--left > 0) return false;
    left = w.every, ++row;
    return true;
  }
};

/// Every array contiguous, as in `linear_arguments`.
template <int Operands>
struct loop_arguments : argument_header {
  static constexpr bool strided = false;
  loop_walk loop;
  argument operand[Operands];
  std::uint64_t history[Operands];  // of an output: where single values are recorded, or 0
};

/// `argument::extra` of a scalar passed by value that is the number of the step.
inline constexpr std::uint64_t counts_steps = 1;

/// Bytes of a group of lanes of all arrays that a loop carries.
constexpr int state_bytes(const pass_view& p, int states) {
  int bytes = 0;
  for (int i = 0; i < states; ++i)
    if (!p.is_result(i)) bytes += lanes_for(p) * size_of(p.type(i));
  return bytes;
}
/// Threads of the largest block, so that a thread has the registers that a long formula and its groups take.
constexpr int loop_block(const pass_view& p) { return p.elements.nodes <= 256 ? 512 : 256; }
/// Groups of lanes that a thread holds in registers, up to 32 of them. Each takes a copy of the formula's code.
constexpr int groups_held(const pass_view& p, int states) {
  const int bytes = state_bytes(p, states);
  return p.elements.nodes > 256 || bytes > 64 ? 1 : bytes > 32 ? 2 : 4;
}
/// Rows that are on their way while others are computed with: of 512 threads 64 bytes each cover the memory's latency, and what more
/// take is not there for rows that stay.
constexpr int rows_on_their_way(int group_bytes) { return group_bytes <= 16 ? 4 : group_bytes <= 24 ? 3 : 2; }
/// Rows whose sums are joined before they are added to a thread's.
inline constexpr int rows_joined = 16;

/// What is here is not computed again each time it is needed: nvcc takes a quarter more instructions a row for that.
DSL_DETAIL_FN void keep_in_register([[maybe_unused]] int& value) {
#if DSL_DETAIL_ON_DEVICE
  asm volatile("" : "+r"(value));
#endif
}

/// Lanes of the arrays among a loop's variables, as they are in memory.
template <int I, class T, int Lanes> struct held_array { T lane[Lanes]; };
template <class Pass, int Lanes, class Numbers> struct held_arrays;
template <int I, class Pass> using held_element = memory_t<Pass::elements::output(target_word{Pass::target_words[I]}.output()).type()>;
template <int I, class Pass, int Lanes, bool Single> struct held_variable {};
template <int I, class Pass, int Lanes> struct held_variable<I, Pass, Lanes, false> : held_array<I, held_element<I, Pass>, Lanes> {};
template <class Pass, int Lanes, std::size_t... I>
struct held_arrays<Pass, Lanes, std::index_sequence<I...>> : held_variable<static_cast<int>(I), Pass, Lanes, Pass::is_result(static_cast<int>(I))>... {};
template <int I, class T, int Lanes> DSL_DETAIL_FN auto& lanes_of(held_array<I, T, Lanes>& h) { return h.lane; }
template <int I, class T, int Lanes> DSL_DETAIL_FN const auto& lanes_of(const held_array<I, T, Lanes>& h) { return h.lane; }

}  // namespace dsl::detail

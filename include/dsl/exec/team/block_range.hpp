// Which blocks of a grid a launch has.
#pragma once

#include <dsl/ir/config.hpp>

#include <cstdint>

namespace dsl::detail {

/// What a thread says that has waited for a block in vain: which one, and in which step of the
/// launch. Not 0.
struct given_up_wait {
  std::uint64_t word;
  DSL_DETAIL_FN static given_up_wait of(std::int64_t block, unsigned step) {
    return {std::uint64_t{1} << 63 | static_cast<std::uint64_t>(block) << 32 | step};
  }
  std::int64_t block() const { return static_cast<std::int64_t>(word << 1 >> 33); }
  unsigned step() const { return static_cast<unsigned>(word); }
};

/// The blocks of a launch: all of a grid's, or on a mesh of GPUs one member's, each of which has a
/// launch of its own. Every kernel's parameters begin with it.
struct block_range {
  std::uint32_t first = 0, blocks = 0;   // the launch's first one; how many the grid has
  std::int32_t member = 0, members = 1;  // this one, of those that the grid is shared by
  // A thread that waits for another block tries at once so often, then after a pause, and gives up
  // when `most_ticks` of the clock have passed since the first pause, or when another one has: what
  // is here then is the first one's `given_up_wait`, in the host's memory. Null, as on one GPU: it
  // does not.
  std::uint64_t* given_up = nullptr;
  std::uint32_t most_ticks = 0;
  static constexpr std::uint32_t quick_tries = 4096, pause_nanoseconds = 1000;
  static constexpr int tick_bits = 22;  // a tick is 2^22 nanoseconds
  /// What `most_ticks` is of so many seconds.
  static std::uint32_t ticks_in(double seconds) {
    return static_cast<std::uint32_t>(seconds * 1e9 / (1 << tick_bits)) + 1;
  }
};

}  // namespace dsl::detail

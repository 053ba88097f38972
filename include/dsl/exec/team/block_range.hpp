// The blocks of a grid that one launch runs.
#pragma once

#include <dsl/ir/config.hpp>

#include <cstdint>

namespace dsl::detail {

/// The report of a thread that waited in vain for a block: the block and the launch's step. Never
/// 0.
struct given_up_wait {
  std::uint64_t word;
  DSL_DETAIL_FN static given_up_wait of(std::int64_t block, unsigned step) {
    return {std::uint64_t{1} << 63 | static_cast<std::uint64_t>(block) << 32 | step};
  }
  std::int64_t block() const { return static_cast<std::int64_t>(word << 1 >> 33); }
  unsigned step() const { return static_cast<unsigned>(word); }
};

/// The blocks of a launch: all of a grid's; on a mesh of GPUs, where each member has a launch of
/// its own, one member's. Every kernel's parameters begin with it.
struct block_range {
  std::uint32_t first = 0, blocks = 0;   // The launch's first block; blocks of the whole grid.
  std::int32_t member = 0, members = 1;  // This member, and the members that share the grid.
  // A thread that waits for another block first polls `quick_tries` times, then pauses between
  // tries. It gives up when `most_ticks` of the clock have passed since the first pause, or when
  // another thread has given up. The first one's `given_up_wait` is stored here, in the host's
  // memory. Null, as on one GPU: threads never give up.
  std::uint64_t* timeout_flag = nullptr;
  std::uint32_t most_ticks = 0;
  static constexpr std::uint32_t quick_tries = 4096, pause_nanoseconds = 1000;
  static constexpr int tick_bits = 22;  // A tick is 2^22 nanoseconds.
  /// `most_ticks` for a time in seconds.
  static std::uint32_t ticks_in(double seconds) {
    return static_cast<std::uint32_t>(seconds * 1e9 / (1 << tick_bits)) + 1;
  }
};

}  // namespace dsl::detail

// The part of a loop's kernel that one of several processes runs.
#pragma once

#include <dsl/exec/loop/loop.hpp>

#include "exec/run/scratch.hpp"

namespace dsl::detail {

/// One process's part of the kernel.
struct loop_part {
  block_range range;     // The part's blocks.
  exchange_cells cells;  // Cells for the exchange of sums; each process has a copy.
  std::int64_t count;    // Elements of each result over all processes.
};

/// Bytes that the blocks of a loop's kernel need to exchange their accumulators.
std::size_t bytes_of_sums(const loop& of, std::int64_t blocks);

}  // namespace dsl::detail

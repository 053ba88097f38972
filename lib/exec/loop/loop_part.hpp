// A loop's kernel that several processes run together.
#pragma once

#include <dsl/exec/loop/loop.hpp>

#include "exec/run/scratch.hpp"

namespace dsl::detail {

/// What one of the processes has of it.
struct loop_part {
  block_range range;     // its blocks
  exchange_cells cells;  // a copy for each process
  std::int64_t count;    // elements of each result, of all processes
};

/// What the blocks of a loop's kernel tell each other takes so many bytes.
std::size_t bytes_of_sums(const loop& of, std::int64_t blocks);

}  // namespace dsl::detail

// The simulator: runs a kernel's own function as a fiber for each thread of the grid, and checks
// what the threads do.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/exec/team/sim_team.hpp>

#include <algorithm>
#include <vector>

namespace dsl::detail {

/// A range of memory: a buffer's, or the launch's own.
struct simulated_range {
  std::uintptr_t begin;
  std::size_t bytes;
  bool is_written;        // by this launch
  bool is_empty = false;  // nothing was written there before
};

/// The range from the first to the last byte that was touched.
struct byte_range {
  std::uintptr_t first = UINTPTR_MAX, end = 0;

  void add(const byte_range& more) {
    first = std::min(first, more.first);
    end = std::max(end, more.end);
  }
  bool overlaps(const byte_range& other) const {
    return std::max(first, other.first) < std::min(end, other.end);
  }
};
/// Bytes touched by the blocks of one member of a mesh.
struct touched_bytes { byte_range read, written; };
struct touched_memory {
  std::uintptr_t begin;
  std::vector<touched_bytes> by;  // each member
};

struct simulated_launch {
  simulated_entry entry;
  const void* arguments;
  std::int64_t grid;
  int block, shared_bytes;
  bool cooperative;  // all blocks run at once; otherwise as many as the simulator chooses
  int cluster;       // number of consecutive blocks that run at once; 1: no clusters
  std::vector<simulated_range> memory;  // all memory that the kernel may touch
  // For error messages, as in program_code; the pass may be null.
  const char* name;
  const pass_view* pass;
  const operand* operands;
  // On a mesh: the end of each member's blocks.
  std::vector<std::int64_t> member_ends{};
  std::vector<const void*> of_member{};  // arguments of each member, if they differ
  int warp_size = simulated_team::warp_size;
};

/// Runs a launch, and returns when all threads have ended. For a mesh it returns what each member
/// has touched of each piece of memory. Throws memory_error if the kernel does something that a GPU
/// does not allow, or whose result a GPU may change from run to run; the rest of the grid then does
/// not run. DSL_SIM_SEED, a number, chooses another order of blocks and warps.
std::vector<touched_memory> simulate(const simulated_launch& launch);

}  // namespace dsl::detail

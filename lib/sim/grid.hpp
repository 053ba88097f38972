// The simulator: runs a kernel's own function as a fiber for each thread of the grid, and checks
// what the threads do.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/exec/team/sim_team.hpp>

#include <algorithm>
#include <vector>

namespace dsl::detail {

/// Memory of a buffer or of a launch's own.
struct simulated_range {
  std::uintptr_t begin;
  std::size_t bytes;
  bool is_written;        // by this launch
  bool is_empty = false;  // nothing was written there before
};

/// From the first byte to the last one that was touched.
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
/// What the blocks of one member of a mesh did.
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
  bool cooperative;  // all blocks run at once; else as many as it pleases
  int cluster;       // so many blocks one behind the other run at once as well; 1: each for itself
  std::vector<simulated_range> memory;  // all that the kernel may touch
  // For errors: as program_code's; the pass may be null.
  const char* name;
  const pass_view* pass;
  const operand* operands;
  std::vector<std::int64_t>
      member_ends{};  // of a mesh: each member has the blocks from the one before its end on
  std::vector<const void*> of_member{};  // its arguments, where members have some of their own
};

/// Returns when all threads have ended; of a mesh, what its members have touched of each piece of
/// memory. Throws memory_error where the kernel does what a GPU does not allow, or what it answers
/// differently each time; the rest of the grid does not run then. DSL_SIM_SEED, a number, chooses
/// another order of blocks and warps.
std::vector<touched_memory> simulate(const simulated_launch& launch);

}  // namespace dsl::detail

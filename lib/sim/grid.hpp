// The simulator: runs a kernel's own function as a fiber for each thread of the grid, and checks what the threads do.
#pragma once

#include <dsl/exec/operand.hpp>
#include <dsl/exec/sim_team.hpp>

#include <vector>

namespace dsl::detail {

/// Memory of a buffer or of a launch's own.
struct simulated_range {
  std::uintptr_t begin;
  std::size_t bytes;
  bool is_written;        // by this launch
  bool is_empty = false;  // nothing was written there before
};

struct simulated_launch {
  simulated_entry entry;
  const void* arguments;
  std::int64_t grid;
  int block, shared_bytes;
  bool cooperative;                     // all blocks run at once; else as many as it pleases
  int cluster;                          // so many blocks one behind the other run at once as well; 1: each for itself
  std::vector<simulated_range> memory;  // all that the kernel may touch
  // For errors: as program_code's; the pass may be null.
  const char* name;
  const pass_view* pass;
  const operand* operands;
};

/// Returns when all threads have ended. Throws memory_error where the kernel does what a GPU does not allow, or what it answers
/// differently each time; the rest of the grid does not run then. DSL_SIM_SEED, a number, chooses another order of blocks and
/// warps.
void simulate(const simulated_launch& launch);

}  // namespace dsl::detail

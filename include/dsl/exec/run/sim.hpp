// The simulator runs the GPU's kernels on the CPU, with a fiber for each thread, and checks every
// access.
#pragma once

#include <dsl/exec/map/pass_kernel.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl::detail {

/// A pass's entry point in the simulator.
template <class Pass, int Inputs, class Arguments>
DSL_DETAIL_SMALL void simulated_pass(const void* arguments, simulated_thread& self) {
  run_pass<Pass, Inputs>(*static_cast<const Arguments*>(arguments), simulated_memory{&self},
                         simulated_team{&self});
}

/// The same for the kernel that combines partial results.
template <class Pass, int Inputs>
DSL_DETAIL_SMALL void simulated_finish(const void* arguments, simulated_thread& self) {
  using given = linear_arguments<Inputs + Pass::targets>;
  run_finish<Pass, Inputs>(*static_cast<const given*>(arguments), simulated_memory{&self},
                           simulated_team{&self});
}

}  // namespace dsl::detail

// Kernels of passes: on the GPU, in files that nvcc compiles, and in the simulator, which runs the
// same functions on the CPU, with a fiber for each thread, and checks every access.
#pragma once

#include <dsl/exec/map/pass_kernel.hpp>
#include <dsl/exec/team/cuda_team.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl {

#if defined(__CUDACC__)

namespace detail {

template <class Pass> inline constexpr map_policy device_map_policy =
    pass_policy<Pass>(lowest_capability());

}  // namespace detail

/// The GPU's kernels. Profilers show their names and template arguments, so the arguments that
/// identify a kernel for a reader come first, and the formula comes last.
namespace kernels {

/// Writes elements.
template <class Name, class Arguments, int Inputs, class Pass>
__global__ void map(const __grid_constant__ Arguments args) {
  const auto team = detail::team_of_launch(args.range);
  // Without this barrier nvcc takes 39 instead of 32 registers for `h + g` of halves.
  if constexpr (Arguments::strided) team.synchronize();
  detail::run_pass<Pass, Inputs>(args, detail::device_memory{}, team);
}
/// Reduces elements, and may write some as well.
template <class Name, class Arguments, int Inputs, class Pass>
__global__ void reduce(const __grid_constant__ Arguments args) {
  detail::run_pass<Pass, Inputs>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

/// The same for neighbours read in patches. With launch bounds nvcc uses enough registers for all
/// loads of a patch to be in flight before the first value is used; without them it uses fewer, for
/// more threads.
template <class Name, class Arguments, int Inputs, class Pass>
__global__ void __launch_bounds__(detail::device_map_policy<Pass>.patch_block,
                                  detail::device_map_policy<Pass>.patch_blocks)
    patches(const __grid_constant__ Arguments args) {
  detail::run_pass<Pass, Inputs>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

/// Combines the partial results of a launch of `reduce`.
template <class Name, class Arguments, int Inputs, class Pass>
__global__ void __launch_bounds__(detail::finish_threads)
    finish(const __grid_constant__ Arguments args) {
  detail::run_finish<Pass, Inputs>(args, detail::device_memory{},
                                   detail::team_of_launch(args.range));
}

}  // namespace kernels

#endif  // __CUDACC__

namespace detail {

/// The kernel of a pass for one kind of arguments.
template <class Pass, int Inputs, class Arguments>
struct pass_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_pass<Pass, Inputs>(*static_cast<const Arguments*>(arguments), simulated_memory{&self},
                           simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    if constexpr (takes_patches<Arguments>)
      return reinterpret_cast<const void*>(&kernels::patches<Name, Arguments, Inputs, Pass>);
    else if constexpr (Pass::reductions::count > 0)
      return reinterpret_cast<const void*>(&kernels::reduce<Name, Arguments, Inputs, Pass>);
    else return reinterpret_cast<const void*>(&kernels::map<Name, Arguments, Inputs, Pass>);
  }
#endif
};
/// The kernel that combines partial results.
template <class Pass, int Inputs>
struct finish_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    using given = linear_arguments<Inputs + Pass::targets>;
    run_finish<Pass, Inputs>(*static_cast<const given*>(arguments), simulated_memory{&self},
                             simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(
        &kernels::finish<Name, linear_arguments<Inputs + Pass::targets>, Inputs, Pass>);
  }
#endif
};

}  // namespace detail
}  // namespace dsl

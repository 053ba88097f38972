// How a file registers what it compiled of a formula. Each kind of compiled code (passes, chains,
// loops, scans, reductions by key, selections) is one struct, for `compiled`.
#pragma once

#include <dsl/exec/plan/policy.hpp>
#include <dsl/exec/run/back_ends.hpp>
#include <dsl/exec/run/entry_points.hpp>
#include <dsl/exec/team/kernel_name.hpp>

namespace dsl::detail {

// Both depend on how this file is compiled, so neither may be a function, of which a program has
// one.
template <kernel_target Target> inline constexpr const char* architectures_of =
    Target == kernel_target::cuda ? DSL_DETAIL_ARCHITECTURES : nullptr;
/// The compute capability that a target's kernels are tuned for: 0 in the simulator.
template <kernel_target Target> inline constexpr int capability_of =
    Target == kernel_target::cuda ? lowest_capability() : 0;

/// A kernel's address for a target. `Kernel::simulated` is its function in the simulator;
/// `Kernel::with_name<Name>()` its address on a GPU, in files that nvcc compiles. `Naming::entry`
/// gives it the name.
template <kernel_target Target, class Kernel, class Naming>
const void* entry_point() {
  if constexpr (Target == kernel_target::sim)
    return reinterpret_cast<const void*>(&Kernel::simulated);
  else return Naming::template entry<Kernel>();
}

/// The compiled code of a formula, one object that all files of a program share. `Kind` has
///   code_type, kernels_type     types of the code, and of the entry points for a target;
///   made()                      the code before a back end has added its own;
///   add_host(code)              adds the host's loops;
///   has_kernels                 whether there are kernels;
///   kernels<Target>()           their entry points, and the policies of their plans.
template <class Kind>
struct compiled {
  // One object, because each would take a section of its own.
  struct shared_by_files {
    typename Kind::code_type code;
    typename Kind::kernels_type kernels[kernel_targets];
  };
  static inline constinit shared_by_files shared{Kind::made(), {}};

  template <unsigned BackEnds>
  DSL_DETAIL_RARE static void add() {
    if constexpr (has_cuda(BackEnds) && Kind::has_kernels) add_kernels<kernel_target::cuda>();
    if constexpr (has_host(BackEnds)) Kind::add_host(shared.code);
    if constexpr (has_sim(BackEnds) && Kind::has_kernels) add_kernels<kernel_target::sim>();
  }
  /// The code, with what this file compiled.
  static const auto& code() {
    add_to_program<compiled>();
    return shared.code;
  }

 private:
  template <kernel_target Target>
  static void add_kernels() {
    auto& kernels = shared.kernels[static_cast<int>(Target)];
    kernels = Kind::template kernels<Target>();
    shared.code.kernels[static_cast<int>(Target)] = &kernels;
  }
};

}  // namespace dsl::detail

// The kernels of a chain of passes, on the GPU and in the simulator.
#pragma once

#include <dsl/exec/cuda_team.hpp>
#include <dsl/exec/kernel_name.hpp>
#include <dsl/exec/pass_kernel.hpp>
#include <dsl/exec/sim_team.hpp>
#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// One phase of a chain, as a pass of its own: the one that the arguments name.
template <class... Phase, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_phase(std::type_identity<pass_chain<Phase...>>, const Arguments& args, Memory memory, Team team) {
  int number = 0;
  ((number++ == args.phase ? run_pass<typename Phase::pass, Phase::inputs>(args, memory, team) : void()), ...);
}

template <class Chain, class Arguments>
DSL_DETAIL_SMALL void simulated_phase(const void* arguments, simulated_thread& self) {
  run_phase(std::type_identity<Chain>{}, *static_cast<const Arguments*>(arguments), simulated_memory{&self},
            simulated_team{&self});
}

/// The first program with functors. All have the same ones.
template <class... Program> struct first_that_calls { using type = no_program; };
template <std::uint64_t Key, class... Others>
struct first_that_calls<program<Key>, Others...> : first_that_calls<Others...> {};
template <std::uint64_t Key, class Call, class... Calls, class... Others>
struct first_that_calls<program<Key, Call, Calls...>, Others...> {
  using type = program<Key, Call, Calls...>;
};

template <class... Phase> struct chain_words { static constexpr name_words value = words_of_passes(Phase::pass::view()...); };

/// Kernel::with_name<Name>() of the name that a chain's kernels have: of the operations of all phases, where it was given none.
template <class Kernel, class Name, class... Phase>
const void* kernel_of_chain(pass_chain<Phase...>) {
  using calls = typename first_that_calls<typename Phase::pass::elements..., typename Phase::pass::results...>::type;
  if constexpr (!std::is_same_v<Name, unnamed>) return Kernel::template with_name<Name>();
  else return kernel_with_name<Kernel>(std::type_identity<named_formula_t<chain_words<Phase...>, calls>>{});
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

/// A phase of a chain, where not all of them work on the same rows.
template <class Name, class Arguments, class Chain>
__global__ void phase(const __grid_constant__ Arguments args) {
  detail::run_phase(std::type_identity<Chain>{}, args, detail::device_memory{}, detail::device_team{});
}

}  // namespace dsl::kernels

namespace dsl::detail {

template <class Chain, int Operands> struct phase_kernel;
template <class... Phase, int Operands>
struct phase_kernel<pass_chain<Phase...>, Operands> {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::phase<Name, strided_arguments<Operands>, pass_chain<Phase...>>);
  }
};

}  // namespace dsl::detail
#endif

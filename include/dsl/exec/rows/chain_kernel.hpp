// The kernels of a chain of passes, on the GPU and in the simulator.
#pragma once

#include <dsl/exec/map/pass_kernel.hpp>
#include <dsl/exec/rows/column_body.hpp>
#include <dsl/exec/rows/row_body.hpp>
#include <dsl/exec/team/cuda_team.hpp>
#include <dsl/exec/team/kernel_name.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl::detail {

/// Whether a chain's phases leave only single values for each other, because they reduce all
/// elements.
template <class Chain> inline constexpr bool leaves_single_values = false;
template <class... Phase>
inline constexpr bool leaves_single_values<pass_chain<Phase...>> = [] {
  bool all = true;
  const auto look = [&all](const program_view& p, const phase_input* input) {
    for (int i = 0; i < p.nodes; ++i)
      if (head{p.heads[i]}.code() == op::load) all = all && input[p.payloads[i]].is_leaf();
  };
  (look(Phase::pass::elements::view(), Phase::input), ...);
  return all;
}();

/// The kernels of a phase that runs on its own. There is one for contiguous arrays unless a phase
/// reduces along axes: its index space then has two dimensions, one of which may have extent 1. The
/// last block combines partial results.
template <class Chain, class Phase>
inline constexpr kernel_choice kernels_of_phase{
    .linear = (leaves_single_values<Chain> || Phase::pass::reductions::count == 0) &&
              Phase::pass::view().neighbours.nodes == 0,
    .patches = patch_needs_of<typename Phase::pass>().rows > 0};

/// Runs one phase of a chain as a pass of its own: the one that the arguments name.
template <class... Phase, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_phase(std::type_identity<pass_chain<Phase...>>, const Arguments& args,
                                    Memory memory, Team team) {
  const auto run = [&]<class P>(std::type_identity<P>) {
    if constexpr (Arguments::strided || kernels_of_phase<pass_chain<Phase...>, P>.linear)
      run_pass<typename P::pass, P::inputs, true>(args, memory, team);
  };
  int number = 0;
  ((number++ == args.phase ? run(std::type_identity<Phase>{}) : void()), ...);
}

/// Whether there is a kernel for all phases of a chain: only if no neighbours are read.
template <class Chain> inline constexpr bool can_run_rows = false;
template <class... Phase>
inline constexpr bool can_run_rows<pass_chain<Phase...>> =
    (Phase::pass::view().neighbours.nodes + ...) == 0 &&
    chain_operands<pass_chain<Phase...>>::count <= max_operands;
template <class Chain> using row_arguments_of = row_arguments<chain_operands<Chain>::count>;

enum class chain_part { phase, linear_phase, rows, rows_with_ends, rows_in_vectors, columns };

/// Runs all phases of a chain on rows. `Part`: rows in vectors that fit in one block's registers;
/// others in vectors that begin or end between vectors; or any others.
template <class Chain, chain_part Part, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_rows(const row_arguments_of<Chain>& args, Memory memory, Team team) {
  const auto run = [&]<row_share Share>(std::integral_constant<row_share, Share>) {
    row_body<Chain, Share, row_arguments_of<Chain>, Memory, Team>(args, memory, team).run();
  };
  constexpr row_policy policy = row_policy_of<Chain>(Memory::compute_capability);
  // In the simulator one body serves rows with and without ends.
  constexpr bool with_ends = Part == chain_part::rows_with_ends || Memory::calls_formula;
  if constexpr (Part != chain_part::rows_in_vectors) {
    if constexpr (Part == chain_part::rows)
      if (args.rows_of.staged != 0)
        return run(std::integral_constant<row_share, row_share::staged>{});
    run(std::integral_constant<row_share, with_ends ? share_of_rows_with_ends(policy)
                                                    : share_of_other_rows(policy)>{});
  } else {
    // In the simulator the body for most vectors and for ends runs in all cases.
    constexpr int most = Memory::calls_formula ? 1 : policy.vectors_held;
    if constexpr (most > 1)
      if (args.rows_of.vectors == 1)
        return run(std::integral_constant<row_share, row_share::one_vector>{});
    if constexpr (most > 2)
      if (args.rows_of.vectors == 2)
        return run(std::integral_constant<row_share, row_share::two_vectors>{});
    if constexpr (!Memory::calls_formula)
      if (args.rows_of.aligned_by < 0)
        return run(std::integral_constant<row_share, row_share::whole_vectors>{});
    run(std::integral_constant<row_share, row_share::vectors_and_ends>{});
  }
}

/// Runs all phases of a chain on adjacent columns, which are read and written in vectors.
template <class Chain, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_columns(const row_arguments_of<Chain>& args, Memory memory,
                                      Team team) {
  column_body<Chain, row_arguments_of<Chain>, Memory, Team>(args, memory, team).run();
}
/// The first program that calls functors; all such programs call the same ones.
template <class... Program> struct first_that_calls { using type = no_program; };
template <std::uint64_t Key, class... Others>
struct first_that_calls<program<Key>, Others...> : first_that_calls<Others...> {};
template <std::uint64_t Key, class Call, class... Calls, class... Others>
struct first_that_calls<program<Key, Call, Calls...>, Others...> {
  using type = program<Key, Call, Calls...>;
};

template <class... Phase> struct chain_words {
  static constexpr name_words value = words_of_passes(Phase::pass::view()...);
};

/// Names a chain's kernels: `Name`, or one made of the operations of all phases.
template <class Name, class... Phase>
struct named_by_phases {
  template <class Kernel>
  static const void* entry() {
    using calls = typename first_that_calls<typename Phase::pass::elements...,
                                            typename Phase::pass::results...>::type;
    if constexpr (!std::is_same_v<Name, unnamed>) return Kernel::template with_name<Name>();
    else
      return kernel_with_name<Kernel>(
          std::type_identity<named_formula_t<chain_words<Phase...>, calls>>{});
  }
};

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::detail {

template <class Chain> inline constexpr row_policy policy_of_kernel =
    row_policy_of<Chain>(lowest_capability());
template <class Chain> inline constexpr row_share share_of_kernel =
    share_of_other_rows(policy_of_kernel<Chain>);
/// Bounds of the kernel that runs one phase after another: its largest block, and such blocks that
/// should fit on a multiprocessor. The kernel has the code of all phases, so that without bounds
/// the one with the most registers would limit the threads of all. Several accumulators for each
/// lane need their registers. Where arrays are contiguous no phase has many.
struct phase_bounds { int block, blocks; };
template <class... Phase>
constexpr phase_bounds bounds_of_phases(std::type_identity<pass_chain<Phase...>> chain) {
  constexpr row_policy p = policy_of_kernel<pass_chain<Phase...>>;
  const bool is_small = traits_of_chain(chain).reduced_bytes <= 8;
  phase_bounds b{is_small ? p.block : 0, 1};
  const auto hold = [&b](int block) { b.block = block > b.block ? block : b.block; };
  (hold(pass_policy<typename Phase::pass>(lowest_capability()).block), ...);
  if (is_small && p.block * p.blocks > b.block) b.blocks = p.block * p.blocks / b.block;
  return b;
}
template <class Chain, bool Strided> inline constexpr phase_bounds phase_bounds_of =
    Strided ? bounds_of_phases(std::type_identity<Chain>{}) : phase_bounds{0, 0};  // none
template <class Chain> inline constexpr int blocks_of_kernel =
    blocks_held(policy_of_kernel<Chain>, share_of_kernel<Chain>);

}  // namespace dsl::detail

namespace dsl::kernels {

/// A phase of a chain, if not all phases work on the same rows.
template <class Name, class Arguments, class Chain>
__global__ void __launch_bounds__(detail::phase_bounds_of<Chain, Arguments::strided>.block,
                                  detail::phase_bounds_of<Chain, Arguments::strided>.blocks)
    phase(const __grid_constant__ Arguments args) {
  detail::run_phase(std::type_identity<Chain>{}, args, detail::device_memory{},
                    detail::team_of_launch(args.range));
}

/// All phases of a chain: each row is read once and stays on chip. For rows that fit in one block's
/// registers in vectors.
template <class Name, int Operands, class Chain>
__global__ void __launch_bounds__(detail::policy_of_kernel<Chain>.block,
                                  detail::policy_of_kernel<Chain>.blocks)
    rows_in_vectors(const __grid_constant__ detail::row_arguments<Operands> args) {
  detail::run_rows<Chain, detail::chain_part::rows_in_vectors>(args, detail::device_memory{},
                                                               detail::team_of_launch(args.range));
}

/// The same for other rows in vectors that begin or end between vectors.
template <class Name, int Operands, class Chain>
__global__ void __launch_bounds__(detail::policy_of_kernel<Chain>.block,
                                  detail::blocks_of_kernel<Chain>)
    rows_with_ends(const __grid_constant__ detail::row_arguments<Operands> args) {
  detail::run_rows<Chain, detail::chain_part::rows_with_ends>(args, detail::device_memory{},
                                                              detail::team_of_launch(args.range));
}

/// The same for any other rows.
template <class Name, int Operands, class Chain>
__global__ void __launch_bounds__(detail::policy_of_kernel<Chain>.block,
                                  detail::blocks_of_kernel<Chain>)
    rows(const __grid_constant__ detail::row_arguments<Operands> args) {
  detail::run_rows<Chain, detail::chain_part::rows>(args, detail::device_memory{},
                                                    detail::team_of_launch(args.range));
}

/// The same for adjacent columns.
template <class Name, int Operands, class Chain>
__global__ void __launch_bounds__(detail::policy_of_kernel<Chain>.block,
                                  detail::policy_of_kernel<Chain>.blocks)
    columns(const __grid_constant__ detail::row_arguments<Operands> args) {
  detail::run_columns<Chain>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

/// One of a chain's kernels.
template <chain_part Part, class Chain, int Operands> struct chain_kernel;
template <chain_part Part, class... Phase, int Operands>
struct chain_kernel<Part, pass_chain<Phase...>, Operands> {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    using chain = pass_chain<Phase...>;
    const simulated_memory memory{&self};
    const simulated_team team{&self};
    const auto given = [&]<class Arguments>(std::type_identity<Arguments>) -> const Arguments& {
      return *static_cast<const Arguments*>(arguments);
    };
    if constexpr (Part == chain_part::phase)
      run_phase(std::type_identity<chain>{},
                given(std::type_identity<strided_arguments<Operands>>{}), memory, team);
    else if constexpr (Part == chain_part::linear_phase)
      run_phase(std::type_identity<chain>{},
                given(std::type_identity<linear_arguments<Operands>>{}), memory, team);
    else if constexpr (Part == chain_part::columns)
      run_columns<chain>(given(std::type_identity<row_arguments<Operands>>{}), memory, team);
    else
      run_rows<chain, Part == chain_part::rows_with_ends ? chain_part::rows : Part>(
          given(std::type_identity<row_arguments<Operands>>{}), memory, team);
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    if constexpr (Part == chain_part::phase)
      return reinterpret_cast<const void*>(
          &kernels::phase<Name, strided_arguments<Operands>, pass_chain<Phase...>>);
    else if constexpr (Part == chain_part::linear_phase)
      return reinterpret_cast<const void*>(
          &kernels::phase<Name, linear_arguments<Operands>, pass_chain<Phase...>>);
    else if constexpr (Part == chain_part::rows)
      return reinterpret_cast<const void*>(&kernels::rows<Name, Operands, pass_chain<Phase...>>);
    else if constexpr (Part == chain_part::rows_with_ends)
      return reinterpret_cast<const void*>(
          &kernels::rows_with_ends<Name, Operands, pass_chain<Phase...>>);
    else if constexpr (Part == chain_part::rows_in_vectors)
      return reinterpret_cast<const void*>(
          &kernels::rows_in_vectors<Name, Operands, pass_chain<Phase...>>);
    else
      return reinterpret_cast<const void*>(&kernels::columns<Name, Operands, pass_chain<Phase...>>);
  }
#endif
};

}  // namespace dsl::detail

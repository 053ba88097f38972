// Compiled chains of passes: each phase as a pass of its own, and all phases in one launch if they
// work on the same rows.
#pragma once

#include <array>

#include <dsl/exec/rows/chain_kernel.hpp>
#include <dsl/exec/run/run.hpp>

namespace dsl::detail {

/// The kernels that run all phases at once, by `row_kernel`.
struct chain_kernels : entry_points<3> { row_policy policy; };

/// The compiled code of a chain. Its phases are bound, laid out and planned one by one, like other
/// passes; if they turn out to work on the same rows, a statement runs them together.
struct chain_code {
  int phases;
  const program_code* phase;         // An array of `phases` elements.
  const phase_input* const* inputs;  // For each phase.
  const bool* of_rows;               // For each phase: whether its elements are the rows.
  int leaves, lanes;
  // For each leaf: bytes of the lanes that a thread loads at a time, or 0.
  const int* vector_bytes;
  int accumulator_bytes;  // See accumulator_bytes_of.
  bool runs_together;     // Whether all phases can run together, also on the host.
  const chain_kernels* kernels[kernel_targets];
};

template <class Name, class Chain> DSL_DETAIL_RARE void add_chain_kernels();

#if defined(__CUDACC__)
// The pass is spelled anew from its parts: nvcc's stub would name it through the chain, whose types
// are not defined yet.
template <class Name, int Inputs, int Operands, std::uint64_t Key, class... Calls>
const void* kernel_by_patches(pass<Key, Calls...>) {
  return kernel_of_pass<pass_kernel<pass<Key, Calls...>, Inputs, patched_arguments<Operands>>, Name,
                        pass<Key, Calls...>>();
}
template <class Name, int Inputs, int Operands, std::uint64_t Key, class... Calls, class Policy>
const void* kernel_by_patches(tuned<pass<Key, Calls...>, Policy>) {
  return kernel_of_pass<
      pass_kernel<tuned<pass<Key, Calls...>, Policy>, Inputs, patched_arguments<Operands>>, Name,
      tuned<pass<Key, Calls...>, Policy>>();
}
#endif

template <class Name, class Chain> struct compiled_chain;
template <class Name, class... Phase>
struct compiled_chain<Name, pass_chain<Phase...>> {
  template <class P> using tuned_pass = tuned_by_name<typename P::pass, Name>;
  template <class P> using tuned_phase = typename P::template with_pass<tuned_pass<P>>;
  using tuned_chain = pass_chain<tuned_phase<Phase>...>;
  static constexpr int phases = sizeof...(Phase);
  using numbers = std::make_index_sequence<phases>;
  // Maximum operands of a single phase.
  static constexpr int operands = [] {
    int most = 0;
    ((most = most < Phase::inputs + Phase::pass::targets ? Phase::inputs + Phase::pass::targets
                                                         : most),
     ...);
    return most;
  }();
  template <class P> static constexpr kernel_choice kernels_of =
      kernels_of_phase<tuned_chain, tuned_phase<P>>;
  static constexpr bool has_linear = (kernels_of<Phase>.linear || ...);

  static constexpr const phase_input* inputs[phases] = {Phase::input...};
  static constexpr bool of_rows[phases] = {is_of_rows<Phase>...};
  static constexpr chain_operands<pass_chain<Phase...>> all{};
  static constexpr std::array<int, static_cast<std::size_t>(all.leaves) + 1> vector_bytes = [] {
    std::array<int, static_cast<std::size_t>(all.leaves) + 1> bytes{};
    for (std::size_t k = 0; k + 1 < bytes.size(); ++k)
      bytes[k] =
          all.loaded[k].is_loaded ? lanes_of_chain<tuned_chain> * size_of(all.loaded[k].type) : 0;
    return bytes;
  }();
  static chain_code code;
  template <class P>
  static constexpr program_code code_of_phase(int number) {
    program_code made = code_without_kernels<Name, tuned_pass<P>>(P::inputs, kernels_of<P>);
    made.chain = &code;
    made.phase = number;
    made.kernel_operands = operands;
    return made;
  }
  template <std::size_t... P>
  static constexpr std::array<program_code, phases> uncompiled(std::index_sequence<P...>) {
    return {code_of_phase<Phase>(static_cast<int>(P))...};
  }
  static inline constinit std::array<program_code, phases> phase = uncompiled(numbers{});

  // The entry points for a target. One object, because each would take a section of its own.
  struct all_kernels {
    std::array<pass_kernels, phases> of_phases;
    chain_kernels of_rows;
  };
  static constexpr all_kernels without_entry_points(const char* architectures,
                                                    int compute_capability) {
    return {
        {pass_kernels{{architectures, {}}, pass_policy<tuned_pass<Phase>>(compute_capability)}...},
        {{architectures, {}}, row_policy_of<tuned_chain>(compute_capability)}};
  }
  template <kernel_target Target>
  static inline constinit all_kernels kernels =
      Target == kernel_target::sim
          ? without_entry_points(nullptr, 0)
          : without_entry_points(DSL_DETAIL_ARCHITECTURES, lowest_capability());

  template <unsigned BackEnds>
  DSL_DETAIL_RARE static void add() {
    if constexpr (has_cuda(BackEnds)) add_chain_kernels<Name, pass_chain<Phase...>>();
    if constexpr (has_host(BackEnds)) add_host(numbers{});
    if constexpr (has_sim(BackEnds)) add_sim();
  }
  template <std::size_t... P>
  static void add_host(std::index_sequence<P...>) {
    ((phase[P].host = &host_code_of<tuned_pass<Phase>>), ...);
  }
  static void add_sim() {
    const void* linear = nullptr;
    if constexpr (has_linear)
      linear =
          reinterpret_cast<const void*>(&simulated_phase<tuned_chain, linear_arguments<operands>>);
    add_kernels<kernel_target::sim>(
        linear,
        reinterpret_cast<const void*>(&simulated_phase<tuned_chain, strided_arguments<operands>>),
        {simulated_patches<Phase>()...}, numbers{});
    if constexpr (can_run_rows<tuned_chain>)
      add_row_kernels<kernel_target::sim>(
          reinterpret_cast<const void*>(&simulated_rows<tuned_chain, false>),
          reinterpret_cast<const void*>(&simulated_rows<tuned_chain, true>),
          reinterpret_cast<const void*>(&simulated_columns<tuned_chain>));
  }
  // All phases share the other kernels; a kernel with patches belongs to one phase.
  template <class P>
  static const void* simulated_patches() {
    if constexpr (!kernels_of<P>.patches) return nullptr;
    else
      return reinterpret_cast<const void*>(
          &simulated_pass<tuned_pass<P>, P::inputs, patched_arguments<operands>>);
  }
#if defined(__CUDACC__)
  template <class P>
  static const void* patches_kernel() {
    if constexpr (!kernels_of<P>.patches) return nullptr;
    else return kernel_by_patches<Name, P::inputs, operands>(tuned_pass<P>{});
  }
  static std::array<const void*, phases> patches_kernels() { return {patches_kernel<Phase>()...}; }
#endif
  template <kernel_target Target>
  static void add_row_kernels(const void* of_any_rows, const void* in_vectors,
                              const void* of_columns) {
    chain_kernels& made = kernels<Target>.of_rows;
    made.kernel[static_cast<int>(row_kernel::any)] = of_any_rows;
    made.kernel[static_cast<int>(row_kernel::whole)] = in_vectors;
    made.kernel[static_cast<int>(row_kernel::columns)] = of_columns;
    code.kernels[static_cast<int>(Target)] = &made;
  }
  template <kernel_target Target, std::size_t... P>
  static void add_kernels(const void* linear, const void* strided,
                          const std::array<const void*, phases>& patches,
                          std::index_sequence<P...>) {
    std::array<pass_kernels, phases>& made = kernels<Target>.of_phases;
    ((made[P].kernel[pass_linear_or_patches] = kernels_of<Phase>.linear ? linear : patches[P],
      made[P].kernel[pass_strided] = strided,
      phase[P].kernels[static_cast<int>(Target)] = &made[P]),
     ...);
  }
};
template <class Name, class... Phase>
inline constinit chain_code compiled_chain<Name, pass_chain<Phase...>>::code{
    phases,
    phase.data(),
    inputs,
    of_rows,
    all.leaves,
    lanes_of_chain<tuned_chain>,
    vector_bytes.data(),
    accumulator_bytes_of<pass_chain<Phase...>>,
    can_run_rows<tuned_chain>,
    {}};

#if defined(__CUDACC__)
template <class Name, class Chain>
void add_chain_kernels() {
  using compiled = compiled_chain<Name, Chain>;
  using chain = typename compiled::tuned_chain;
  const void* linear = nullptr;
  if constexpr (compiled::has_linear)
    linear =
        kernel_of_chain<chain_kernel<chain_part::linear_phase, chain, compiled::operands>, Name>(
            chain{});
  compiled::template add_kernels<kernel_target::cuda>(
      linear,
      kernel_of_chain<chain_kernel<chain_part::phase, chain, compiled::operands>, Name>(chain{}),
      compiled::patches_kernels(), typename compiled::numbers{});
  if constexpr (can_run_rows<chain>)
    compiled::template add_row_kernels<kernel_target::cuda>(
        kernel_of_chain<chain_kernel<chain_part::rows, chain, compiled::all.count>, Name>(chain{}),
        kernel_of_chain<chain_kernel<chain_part::rows_in_vectors, chain, compiled::all.count>,
                        Name>(chain{}),
        kernel_of_chain<chain_kernel<chain_part::columns, chain, compiled::all.count>, Name>(
            chain{}));
}
#endif

/// The code of a chain. Each phase's `program_code` has as many inputs as the phase has words; a
/// position among the elements of a reduction counts as one.
template <class Name, class Chain>
const chain_code& code_of_chain() {
  using compiled = compiled_chain<Name, Chain>;
  add_to_program<compiled>();
  return compiled::code;
}

}  // namespace dsl::detail

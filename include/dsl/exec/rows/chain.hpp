// Compiled chains of passes: each phase as a pass of its own, and all phases in one launch if they
// work on the same rows.
#pragma once

#include <array>

#include <dsl/exec/rows/chain_kernel.hpp>
#include <dsl/exec/run/run.hpp>

namespace dsl::detail {

/// The kernels that run all phases at once, by `row_kernel`.
struct chain_kernels : entry_points<4> { row_policy policy; };

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
  std::uint64_t loaded_by_several;  // A bit for each leaf that several phases load.
  int accumulator_bytes;            // See accumulator_bytes_of.
  bool runs_together;               // Whether all phases can run together, also on the host.
  const chain_kernels* kernels[kernel_targets];
};

// A phase's kernel with patches. The pass is taken apart, because nvcc's stub would name it through
// the chain, whose types are not defined yet.
template <kernel_target Target, class Name, int Inputs, int Operands, std::uint64_t Key,
          class... Calls>
const void* patches_entry(pass<Key, Calls...>) {
  using bare = pass<Key, Calls...>;
  return entry_point<Target, pass_kernel<pass<Key, Calls...>, Inputs, patched_arguments<Operands>>,
                     named_by_pass<Name, bare>>();
}
template <kernel_target Target, class Name, int Inputs, int Operands, std::uint64_t Key,
          class... Calls, class Policy>
const void* patches_entry(tuned<pass<Key, Calls...>, Policy>) {
  using with_policy = tuned<pass<Key, Calls...>, Policy>;
  return entry_point<
      Target, pass_kernel<tuned<pass<Key, Calls...>, Policy>, Inputs, patched_arguments<Operands>>,
      named_by_pass<Name, with_policy>>();
}

// The kernels of a chain for a target: those of rows, `linear` or null and `strided` for all phases
// alike.
template <kernel_target Target, class Name, int Operands, class... Phase>
chain_kernels kernels_of_rows(pass_chain<Phase...>) {
  using chain = pass_chain<Phase...>;
  using naming = named_by_phases<Name, Phase...>;
  constexpr int all = chain_operands<chain>::count;
  chain_kernels made{{architectures_of<Target>, {}}, row_policy_of<chain>(capability_of<Target>)};
  if constexpr (can_run_rows<chain>) {
    const auto add = [&made](row_kernel number, const void* entry) {
      made.kernel[static_cast<int>(number)] = entry;
    };
    add(row_kernel::any,
        entry_point<Target, chain_kernel<chain_part::rows, pass_chain<Phase...>, all>, naming>());
    add(row_kernel::with_ends,
        entry_point<Target, chain_kernel<chain_part::rows_with_ends, pass_chain<Phase...>, all>,
                    naming>());
    add(row_kernel::whole,
        entry_point<Target, chain_kernel<chain_part::rows_in_vectors, pass_chain<Phase...>, all>,
                    naming>());
    add(row_kernel::columns,
        entry_point<Target, chain_kernel<chain_part::columns, pass_chain<Phase...>, all>,
                    naming>());
  }
  return made;
}
template <kernel_target Target, class Name, chain_part Part, int Operands, class... Phase>
const void* phase_entry(pass_chain<Phase...>) {
  return entry_point<Target, chain_kernel<Part, pass_chain<Phase...>, Operands>,
                     named_by_phases<Name, Phase...>>();
}

template <class Name, class Chain> struct chain_kind;
template <class Name, class... Phase>
struct chain_kind<Name, pass_chain<Phase...>> {
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
  template <class P> static constexpr kernel_choice chosen =
      kernels_of_phase<tuned_chain, tuned_phase<P>>;

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

  using code_type = chain_code;
  struct kernels_type : chain_kernels { std::array<pass_kernels, phases> of_phases; };
  static constexpr bool has_kernels = true;

  static constexpr chain_code made() {
    return {phases,
            phase.data(),
            inputs,
            of_rows,
            all.leaves,
            lanes_of_chain<tuned_chain>,
            vector_bytes.data(),
            all.loaded_by_several,
            accumulator_bytes_of<pass_chain<Phase...>>,
            can_run_rows<tuned_chain>,
            {}};
  }
  static void add_host(chain_code&) { add_host(numbers{}); }
  template <kernel_target Target>
  static kernels_type kernels() {
    return kernels<Target>(numbers{});
  }

 private:
  template <class P>
  static constexpr program_code code_of_phase(int number) {
    program_code made = code_without_kernels<Name, tuned_pass<P>>(P::inputs, chosen<P>);
    made.chain = &compiled<chain_kind>::shared.code;
    made.phase = number;
    made.kernel_operands = operands;
    return made;
  }
  template <std::size_t... P>
  static constexpr std::array<program_code, phases> code_of_phases(std::index_sequence<P...>) {
    return {code_of_phase<Phase>(static_cast<int>(P))...};
  }
  static inline constinit std::array<program_code, phases> phase = code_of_phases(numbers{});

  template <std::size_t... P>
  static void add_host(std::index_sequence<P...>) {
    ((phase[P].host = &host_code_of<tuned_pass<Phase>>), ...);
  }
  // All phases share their kernels but those with patches.
  template <kernel_target Target, std::size_t... P>
  static kernels_type kernels(std::index_sequence<P...>) {
    constexpr int target = static_cast<int>(Target);
    kernels_type made{kernels_of_rows<Target, Name, operands>(tuned_chain{}), {}};
    const void* linear = nullptr;
    if constexpr ((chosen<Phase>.linear || ...))
      linear = phase_entry<Target, Name, chain_part::linear_phase, operands>(tuned_chain{});
    const void* const strided =
        phase_entry<Target, Name, chain_part::phase, operands>(tuned_chain{});
    const auto entry_of = [linear]<class Q>(std::type_identity<Q>) {
      if constexpr (chosen<Q>.patches)
        return patches_entry<Target, Name, Q::inputs, operands>(tuned_pass<Q>{});
      else return chosen<Q>.linear ? linear : nullptr;
    };
    ((made.of_phases[P] = {{architectures_of<Target>,
                            {entry_of(std::type_identity<Phase>{}), strided}},
                           pass_policy<tuned_pass<Phase>>(capability_of<Target>)},
      phase[P].kernels[target] = &compiled<chain_kind>::shared.kernels[target].of_phases[P]),
     ...);
    return made;
  }
};

/// The code of a chain. Each phase's `program_code` has as many inputs as the phase has words; a
/// position among the elements of a reduction counts as one.
template <class Name, class Chain>
const chain_code& code_of_chain() {
  return compiled<chain_kind<Name, Chain>>::code();
}

}  // namespace dsl::detail

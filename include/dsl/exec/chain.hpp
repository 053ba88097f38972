// Chains of passes as they are compiled: each phase a pass of its own, and all of them in one launch where they work on the same
// rows.
#pragma once

#include <dsl/exec/run.hpp>
#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// What a chain was compiled to. Its phases are bound, laid out and planned one by one, as other passes; where they turn out to
/// work on the same rows, a statement runs them together.
struct chain_code {
  int phases;
  const program_code* phase;         // `phases` of them
  const phase_input* const* inputs;  // of each phase
};

template <class Name, class Chain> struct compiled_chain;
template <class Name, class... Phase>
struct compiled_chain<Name, pass_chain<Phase...>> {
  static constexpr int phases = sizeof...(Phase);
  template <class P> using tuned_pass = tuned_by_name<typename P::pass, Name>;

  static constexpr const phase_input* inputs[phases] = {Phase::input...};
  static const chain_code code;
  template <class P>
  static constexpr program_code code_of_phase(int number) {
    program_code made = code_without_kernels<Name, tuned_pass<P>>(P::inputs);
    made.chain = &code;
    made.phase = number;
    return made;
  }
  template <std::size_t... P>
  static constexpr std::array<program_code, phases> uncompiled(std::index_sequence<P...>) {
    return {code_of_phase<Phase>(static_cast<int>(P))...};
  }
  static inline constinit std::array<program_code, phases> phase = uncompiled(std::make_index_sequence<phases>{});
};
template <class Name, class... Phase>
inline constinit const chain_code compiled_chain<Name, pass_chain<Phase...>>::code{phases, phase.data(), inputs};

/// The code of a chain. For each phase its `program_code` has as many inputs as the phase has words, and a position among the
/// elements of a reduction is one of them.
template <class Name, class Chain>
const chain_code& code_of_chain() {
  using compiled = compiled_chain<Name, Chain>;
  return compiled::code;
}

}  // namespace dsl::detail

// A chain as a type: passes over the same rows, run one after another, of which later ones read
// results of earlier ones.
#pragma once

#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// An input of a phase: a leaf of the statement, or the value of an earlier phase's target.
struct phase_input {
  int word;
  static constexpr phase_input leaf(int number) { return {number}; }
  static constexpr phase_input value(int phase, int target) { return {(phase + 1) << 8 | target}; }
  constexpr bool is_leaf() const { return word < 1 << 8; }
  constexpr int phase() const { return (word >> 8) - 1; }
  constexpr int number() const { return word & 0xff; }  // of the leaf, or of the target
  friend constexpr bool operator==(phase_input a, phase_input b) { return a.word == b.word; }
};

/// One phase of a chain: its pass and a `phase_input` word for each input.
template <class Pass, int... Input>
struct chain_phase {
  using pass = Pass;
  static constexpr int inputs = sizeof...(Input);
  static constexpr phase_input input[inputs + 1] = {phase_input{Input}..., phase_input{0}};
  template <class Other> using with_pass = chain_phase<Other, Input...>;
};

/// Phases in order of rising depth. A leaf has one number in all phases; all of them read it as the
/// same operand, with the same dtype and in the same way. If all operands turn out to have one
/// shape, reduced along the same axes, the chain computes the same as its passes one after another.
template <class... Phase> struct pass_chain { static constexpr int phases = sizeof...(Phase); };

}  // namespace dsl::detail

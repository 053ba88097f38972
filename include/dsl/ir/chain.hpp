// Passes that work on the same rows one after another, as a type: what earlier ones leave is read
// by later ones.
#pragma once

#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// What an input of a phase is: a leaf of the statement, or what a target of an earlier phase gets.
struct phase_input {
  int word;
  static constexpr phase_input leaf(int number) { return {number}; }
  static constexpr phase_input value(int phase, int target) { return {(phase + 1) << 8 | target}; }
  constexpr bool is_leaf() const { return word < 1 << 8; }
  constexpr int phase() const { return (word >> 8) - 1; }
  constexpr int number() const { return word & 0xff; }  // of the leaf, or of the target
  friend constexpr bool operator==(phase_input a, phase_input b) { return a.word == b.word; }
};

/// A pass of a chain, and the word of each of its inputs.
template <class Pass, int... Input>
struct chain_phase {
  using pass = Pass;
  static constexpr int inputs = sizeof...(Input);
  static constexpr phase_input input[inputs + 1] = {phase_input{Input}..., phase_input{0}};
  template <class Other> using with_pass = chain_phase<Other, Input...>;
};

/// Passes of rising depth. A leaf has one number in all of them, by which they read the same
/// operand as the same dtype and in the same way. What they do where their operands turn out to
/// have one shape, reduced along the same axes, is the same as what they do one after another.
template <class... Phase> struct pass_chain { static constexpr int phases = sizeof...(Phase); };

}  // namespace dsl::detail

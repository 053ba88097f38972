// The schedule of a statement: its passes in order, reductions before the computations that use
// their values.
#pragma once

#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// Where a pass's output is written. `value`: a temporary that later passes read or that is copied
/// to targets. `target`: directly to a target. -1: not there. `space`: the index space whose
/// reduction gives the output, 0 for elements.
struct output_place {
  int space, value, target;
  // Reducing no elements is an error.
  bool needs_elements;
};
/// A value that is copied to a target after all passes.
struct value_copy { int value, target; };
/// The value of a reduction: its dtype, the rank of its array (0: a single value), the index space
/// that is reduced, and the leaf whose place the value takes.
struct reduced_value {
  dtype type;
  int rank, space, leaf;
};
/// An output of a use, and its number among the pass's outputs.
struct bound_output {
  output_place to;
  int place;
};
/// A compiled pass. It runs once for all of its `uses` that have one index space, if no two of them
/// read different operands at one place. `first_word`: index of its first input word
/// (`phase_input`).
struct scheduled_pass {
  int first_use, uses, first_word, inputs, outputs;
  // It calls functors.
  bool calls;
};
/// One use of a pass: the operands and results of one index space (`space`; 0: several spaces, or
/// elements). They may be a subset of the pass's inputs and outputs. `like`: the next use, after
/// the last the first one, that computes the same function at other places. A use may take any of
/// these uses' places for its own operands and results.
struct pass_use { int space, first_input, inputs, first_output, outputs, like; };
/// An input of a use: the number of a leaf, or of a value (counted after all leaves), and its place
/// among the pass's inputs. `drops_axes`: the reduced axes are dropped.
struct bound_input {
  int input, place;
  bool drops_axes;
};

/// A schedule as library functions see it.
struct schedule_view {
  int leaves = 0, passes = 0, values = 0, copies = 0;
  const scheduled_pass* pass = nullptr;
  const pass_use* use = nullptr;
  const bound_input* input = nullptr;
  const bound_output* output = nullptr;
  const reduced_value* value = nullptr;
  const value_copy* copy = nullptr;
};

/// A schedule at compile time: a chain whose operands are numbered from 0 to `operands`.
template <int Passes, int Uses, int Words, int Inputs, int Outputs, int Values, int Copies>
struct schedule {
  int leaves = 0, operands = 0, passes = 0, uses = 0, words = 0, inputs = 0, outputs = 0,
      values = 0, copies = 0;
  // Bit i: target i receives the result of a reduction.
  std::uint32_t reduced = 0;
  std::array<scheduled_pass, Passes + 1> pass{};
  std::array<pass_use, Uses + 1> use{};
  std::array<int, Words + 1> word{};
  std::array<bound_input, Inputs + 1> input{};
  std::array<bound_output, Outputs + 1> output{};
  std::array<reduced_value, Values + 1> value{};
  std::array<value_copy, Copies + 1> copy{};

  constexpr schedule_view view() const {
    return {leaves,     passes,       values,        copies,       pass.data(),
            use.data(), input.data(), output.data(), value.data(), copy.data()};
  }
  template <int P, int U, int W, int I, int O, int V, int C>
  constexpr schedule<P, U, W, I, O, V, C> exact() const {
    schedule<P, U, W, I, O, V, C> to{leaves, operands, passes, uses,   words,
                                     inputs, outputs,  values, copies, reduced};
    copy_front(pass, to.pass);
    copy_front(use, to.use);
    copy_front(word, to.word);
    copy_front(input, to.input);
    copy_front(output, to.output);
    copy_front(value, to.value);
    copy_front(copy, to.copy);
    return to;
  }
};
using roomy_schedule = schedule<64, 64, 1024, 1024, 512, 128, 128>;

}  // namespace dsl::detail

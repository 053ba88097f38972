// Which passes evaluate a statement, and in which order: reductions before what is computed with
// their values.
#pragma once

#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// Where a pass's output goes: to a target, or to memory of its own, as a value that later passes
/// read or that is copied to targets; number -1: to neither. `space` is the index space whose
/// reduction gives it, 0 for elements.
struct output_place {
  int space, value, target;
  bool needs_elements;  // no elements are an error
};
/// A value that goes to a target when all passes have run.
struct value_copy { int value, target; };
/// A value of a reduction: its dtype, the rank of its array (0: one value), the index space that is
/// reduced, and the number of the leaf that it stands in the place of.
struct reduced_value {
  dtype type;
  int rank, space, leaf;
};
/// A compiled pass: it runs for `uses` index spaces, or once for all of them that read the same
/// operands. `first_word`: where its inputs' words begin (`phase_input`).
struct scheduled_pass {
  int first_use, uses, first_word, inputs, outputs;
  bool calls;  // functors
};
/// A pass on the operands of one index space (`space`; 0: several, or elements), which may be some
/// of its inputs alone.
struct pass_use { int space, first_input, inputs, first_output; };
/// The number of a leaf, or that of a value after all leaves, as one of a pass's inputs;
/// `drops_axes`: without those that were reduced.
struct bound_input {
  int input, place;
  bool drops_axes;
};

/// The passes of a statement, as a library function sees them.
struct schedule_view {
  int leaves = 0, passes = 0, values = 0, copies = 0;
  const scheduled_pass* pass = nullptr;
  const pass_use* use = nullptr;
  const bound_input* input = nullptr;
  const output_place* output = nullptr;
  const reduced_value* value = nullptr;
  const value_copy* copy = nullptr;
};

/// The passes of a statement while the program is being compiled: a chain, whose operands are
/// numbered from 0 to `operands`.
template <int Passes, int Uses, int Words, int Inputs, int Outputs, int Values, int Copies>
struct schedule {
  int leaves = 0, operands = 0, passes = 0, uses = 0, words = 0, inputs = 0, outputs = 0,
      values = 0, copies = 0;
  std::uint32_t reduced = 0;  // a bit for each target that gets what a reduction leaves
  std::array<scheduled_pass, Passes + 1> pass{};
  std::array<pass_use, Uses + 1> use{};
  std::array<int, Words + 1> word{};
  std::array<bound_input, Inputs + 1> input{};
  std::array<output_place, Outputs + 1> output{};
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

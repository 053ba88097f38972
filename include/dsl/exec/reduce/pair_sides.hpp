// The side of its pairs on which each array of a formula is: constant along a row, or along a
// column.
#pragma once

#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// Arrays that vary along rows, a bit for each input: known at run time.
struct any_sides {
  std::uint64_t in_rows;
  template <int N> DSL_DETAIL_FN bool is_in_row() const { return (in_rows >> N & 1) != 0; }
};
/// The same, known at compile time.
template <std::uint64_t InRows>
struct known_sides {
  template <int N> DSL_DETAIL_FN static constexpr bool is_in_row() {
    return (InRows >> N & 1) != 0;
  }
};

/// The most likely sides of a formula's arrays: formulas of pairs take differences between one
/// element's own values and the other's. Arrays without a difference are in the rows. All 0 if
/// nothing is known.
struct likely_sides { std::uint64_t in_rows, alternative_in_rows; };

template <class Program>
constexpr likely_sides likely_sides_of() {
  constexpr program_view p = Program::view();
  std::uint64_t arrays[Program::nodes + 1] = {};  // The arrays that a node is computed from.
  std::uint64_t left = 0, right = 0, all = 0;
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    if (code == op::load) all |= arrays[i] = std::uint64_t{1} << p.payloads[i];
    if (reads_operand(code) || code == op::constant || is_step(code)) continue;
    std::uint64_t of_operand[3] = {};
    for (int k = 0; k < operand_count(code); ++k) {
      const reference r = reference::of(p.payloads[i], k);
      for (int j = 0; j < i; ++j)
        if (head{p.heads[j]}.type() == r.type() && head{p.heads[j]}.slot() == r.slot())
          of_operand[k] = arrays[j];
      arrays[i] |= of_operand[k];
    }
    const bool is_mixed = (arrays[i] & left) != 0 && (arrays[i] & right) != 0;
    if (code != op::subtract || is_mixed || of_operand[0] == 0 || of_operand[1] == 0) continue;
    left |= of_operand[0];
    right |= of_operand[1];
  }
  if (left == 0 || (left & right) != 0) return {};
  return {all & ~left, all & ~right};
}

}  // namespace dsl::detail

// Which of a pass's reductions belong to groups, and which to all elements.
#pragma once

#include <dsl/exec/reduce/reduction.hpp>

#include <bit>

namespace dsl::detail {

/// A bit for each reduction that some of a pass's results depend on.
template <class Pass>
constexpr std::uint32_t reductions_behind(int first, int end) {
  constexpr program_view p = Pass::results::view();
  bool needed[p.nodes + 1] = {};
  for (int i = first; i < end; ++i) needed[node_of(p, p.output(i))] = true;
  std::uint32_t found = 0;
  for (int i = p.nodes - 1; i >= 0; --i) {
    if (!needed[i]) continue;
    const op code = head{p.heads[i]}.code();
    if (code == op::reduced) found |= 1u << (p.payloads[i] & 0xffff);
    for (int k = 0; k < operand_count(code); ++k)
      needed[node_of(p, reference::of(p.payloads[i], k))] = true;
  }
  return found;
}

/// The reductions of a pass that have a bit.
template <std::uint32_t Bits, class Left,
          class Chosen = pass_reductions<>> struct chosen_reductions;
template <std::uint32_t Bits, class... Chosen>
struct chosen_reductions<Bits, pass_reductions<>, pass_reductions<Chosen...>> {
  using type = pass_reductions<Chosen...>;
};
template <std::uint32_t Bits, class First, class... Left, class... Chosen>
struct chosen_reductions<Bits, pass_reductions<First, Left...>, pass_reductions<Chosen...>>
    : chosen_reductions<(Bits >> 1), pass_reductions<Left...>,
                        std::conditional_t<(Bits & 1) != 0, pass_reductions<Chosen..., First>,
                                           pass_reductions<Chosen...>>> {};

/// Results of a pass, [First, End), and the reductions that they depend on.
template <class Pass, int First, int End>
struct results_by_key {
  static constexpr int first = First, end = End;
  static constexpr std::uint32_t bits = reductions_behind<Pass>(First, End);
  using chosen = typename chosen_reductions<bits, typename Pass::reductions>::type;
  using reductions = reductions_of<chosen>;
  using accumulators = typename reductions::accumulators;

  /// A value of reduction J of the pass, or zero if these results do not depend on it.
  template <class T, int J, int K>
  DSL_DETAIL_FN static T value_of(const accumulators& totals) {
    if constexpr ((bits >> J & 1) == 0) return T{};
    else return nth<K>(nth_accumulator<std::popcount(bits & ((1u << J) - 1))>(totals));
  }
};
template <class Pass, int Groups> using results_of_groups = results_by_key<Pass, 0, Groups>;
template <class Pass, int Groups> using results_of_all =
    results_by_key<Pass, Groups, Pass::results::outputs>;

}  // namespace dsl::detail

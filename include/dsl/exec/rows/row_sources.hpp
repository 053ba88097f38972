// Inputs of a phase's programs: for an element, and for a row's results.
#pragma once

#include <dsl/exec/reduce/reduction.hpp>
#include <dsl/exec/rows/row_arguments.hpp>
#include <dsl/exec/rows/row_operands.hpp>

namespace dsl::detail {

/// The inputs of an element of phase P: a thread's leaves, values that earlier phases have left,
/// positions and scalars.
template <class Body, int P, class Packs, class Values, class In>
struct row_element_source {
  using operands = typename Body::operands;
  const Body& body;
  int v;
  const Packs& packs;
  const Values& known;
  int lane;
  In in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    constexpr phase_input from = operands::template phase<P>::input[N];
    if constexpr (!from.is_leaf()) {
      input_of<Head>(in) = value_of_row<operands::target(from.phase(), from.number())>(known);
    } else if constexpr (Code == op::load) {
      input_of<Head>(in) = lanes_of_leaf<from.number()>(packs).lane[lane];
    } else if constexpr (Code == op::index || Code == op::address) {
      constexpr int k = from.number();
      const argument& a = body.args_.operand[k];
      const std::int64_t unit = Code == op::index ? 1 : static_cast<std::int64_t>(a.descriptor);
      input_of<Head>(in) =
          static_cast<value_t<D>>(a.word) +
          static_cast<value_t<D>>(body.template place_of_element<k>(v, lane) * unit);
    } else {
      input_of<Head>(in) = body.template scalar<Code, D, from.number()>();
    }
  }
};

/// The inputs of a row's results of phase P.
template <class Body, int P, class Totals, class Values, class In>
struct row_totals_source {
  using operands = typename Body::operands;
  const Body& body;
  const Totals& totals;
  const Values& known;
  In in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    if constexpr (Code == op::reduced) {
      input_of<Head>(in) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
    } else if constexpr (Code == op::count) {
      input_of<Head>(in) = body.s_.count;
    } else {
      constexpr phase_input word = operands::template phase<P>::input[N];
      if constexpr (word.is_leaf())
        input_of<Head>(in) = body.template scalar<Code, D, word.number()>();
      else input_of<Head>(in) = value_of_row<operands::target(word.phase(), word.number())>(known);
    }
  }
};

}  // namespace dsl::detail

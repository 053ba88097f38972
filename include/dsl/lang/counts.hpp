// Numbers and positions of elements that a statement's elements are computed from, as operands
// after its leaves.
#pragma once

#include <dsl/exec/statement/counts.hpp>
#include <dsl/lang/lower.hpp>

namespace dsl::detail {

/// The index spaces of a traced statement, and the operands that they give.
template <class Trace, int Spaces, int Given>
struct nested_spaces {
  nested_space spaces[Spaces + 1];
  space_operand given[Given] = {};

  constexpr nested_spaces() {
    const auto g = Trace::run();
    const node_origins origins(g);
    for (int i = 0; i < Given; ++i) given[i] = g.of_spaces[i];
    for (int k = 1; k <= Spaces; ++k) {
      const index_space& from = g.spaces[k - 1];
      nested_space& to = spaces[k - 1];
      to = {from.parent, from.first, from.end};
      if (origins.gives_values(k))
        to.gives = !from.reduces || from.rank == 0 ? nested_space::one_value
                   : from.of_rows                  ? nested_space::value_of_each_row
                                                   : nested_space::reduced_along_axes;
    }
  }
};

/// Sets the operands after the leaves of the expressions, which index spaces give. `spaces`: the
/// expressions' index spaces.
template <class Trace, int Given, class... E>
void add_space_operands(operand* leaves, const reduced_space* spaces) {
  constexpr int leaf_count = (0 + ... + detail::leaf_count<E>),
                space_count = (0 + ... + detail::space_count<E>);
  if constexpr (Given > 0) {
    static constexpr nested_spaces<Trace, space_count, Given> of;
    set_space_operands(leaves + leaf_count, of.given, Given,
                       {leaves, leaf_count, of.spaces, spaces, space_count});
  }
}
/// The same, where nothing else needs the index spaces.
template <class Trace, int Given, class... E>
void add_space_operands_of([[maybe_unused]] operand* leaves, [[maybe_unused]] const E&... e) {
  if constexpr (Given > 0) {
    reduced_space spaces[(1 + ... + space_count<E>)], *space = spaces;
    int leaf = 0;
    (add_spaces(e, space, leaf), ...);
    add_space_operands<Trace, Given, E...>(leaves, spaces);
  }
}

}  // namespace dsl::detail

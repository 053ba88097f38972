// The language's nodes for operands whose dtypes are known at compile time, for every signature.
#pragma once

#include "signature.hpp"

#include <dsl/ir/symbol.hpp>

#include <vector>

namespace interpreter {

struct node_maker {
  std::uint64_t key;
  int (*make)(dsl::detail::graph& g, const int* operands);
};

template <op Code, dtype Result, dtype... Operand> int make_node(dsl::detail::graph& g,
                                                                 const int* operands) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (Code == op::convert)
      return (dsl::detail::convert_symbol<Result, false>(dsl::symbol<Operand>{&g, operands[I]}),
              ...)
          .id;
    else
      return dsl::detail::emit<Code, Result, false>(&g, dsl::symbol<Operand>{&g, operands[I]}...)
          .id;
  }(std::make_index_sequence<sizeof...(Operand)>{});
}

template <dtype Family, std::size_t... I> void add_makers(std::vector<node_maker>& to,
                                                          std::index_sequence<I...>) {
  static constexpr signature_list list = signatures_of(Family);
  const auto add = [&to]<std::size_t N>() {
    constexpr signature s = list.of[N];
    if constexpr (s.code == op::complex) return;  // made by freezing alone
    else if constexpr (s.arity == 1)
      to.push_back({s.key(), &make_node<s.code, s.result, s.operand[0]>});
    else if constexpr (s.arity == 2)
      to.push_back({s.key(), &make_node<s.code, s.result, s.operand[0], s.operand[1]>});
    else
      to.push_back(
          {s.key(), &make_node<s.code, s.result, s.operand[0], s.operand[1], s.operand[2]>});
  };
  (add.template operator()<I>(), ...);
}
template <dtype... Family> void add_makers(std::vector<node_maker>& to) {
  (add_makers<Family>(to, std::make_index_sequence<signatures_of(Family).count>{}), ...);
}

// Each is compiled in its own file.
void add_makers_of_integers(std::vector<node_maker>& to);
void add_makers_of_numbers(std::vector<node_maker>& to);

}  // namespace interpreter

// Structs as operands: an expression of their members, whose value is a struct of symbols.
#pragma once

#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// The type of a struct's member while the formula is traced: an operand becomes its symbol, any
/// other type stays as it is.
template <class T> struct symbol_in_place { using type = T; };
template <class T>
  requires lazy_operand<T> || element<T> || is_element_reference<T>
struct symbol_in_place<T> {
  using type = trace_t<operand_t<T>>;
};
template <class T> using struct_of_symbols = typename mapped<T, symbol_in_place>::type;

/// Makes a struct of symbols from the symbols of its members. `S` is the struct of operands.
template <class S>
struct structure_function {
  template <class... Members> static constexpr int rank = broadcast_rank<Members...>();
  template <class...> using calls = tuple<>;
  template <class... M> static constexpr auto trace(tracer&, M... m) {
    static_assert(std::is_same_v<member_types_t<struct_of_symbols<S>>, tuple<M...>>,
                  "the members of a struct that is an operand are of types that its template is "
                  "given: arrays, views, scalars, "
                  "C++ scalars or structs of them");
    return struct_of_symbols<S>{m...};
  }
};

template <class S, class... Members> inline constexpr bool
    is_struct_of_operands<expression<structure_function<S>, Members...>> = true;

template <structured S>
struct operand_of_structure<S> {
  static constexpr auto make(const S& s) {
    return unpack([](const auto&... m) { return make_expression<structure_function<S>>(m...); },
                  structure<S>::members(s));
  }
};

/// Adds the members as operands, each with its member's name.
template <class S, class... Members>
void add_leaves(const expression<structure_function<S>, Members...>& e, operand*& at) {
  operand* const first = at;
  unpack([&at](const auto&... x) { (add_leaves(x, at), ...); }, e.operands);
  int letters = 0;
  for (std::size_t i = 0; i < flat_size<S>; ++i) {
    first[i].member = leaf_names<S>[i];
    first[i].of_same_struct = letters > 0;
    letters += first[i].kind == operand_kind::value ? 0 : 1;
  }
}

}  // namespace dsl::detail

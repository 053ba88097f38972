// A reduction or the like whose value is in memory already: for a gradient still what it is, for
// every other statement its value.
#pragma once

#include <dsl/lang/region.hpp>

namespace dsl {

namespace detail {

/// A cut of an expression (lang/region.hpp) and its values. Statements read the values, as they
/// read those of a scan: lang/materialized.hpp replaces it by them.
template <class E, class T, int R>
struct evaluated_cut {
  using lazy_expression = void;
  static constexpr int rank = R;
  E operand;
  view<const T, R> values;
};

template <class E, class T, int R> inline constexpr bool is_materialized<evaluated_cut<E, T, R>> =
    true;
template <class E, class T, int R>
struct traced<evaluated_cut<E, T, R>> : traced<view<const T, R>> {};

template <class E, class T, int R>
void add_leaves(const evaluated_cut<E, T, R>& e, operand*& at) {
  add_leaves(e.values, at);
}
template <class E, class T, int R, class Map>
auto map_operands(const evaluated_cut<E, T, R>& e, const Map&) {
  return e;
}
template <class E, class T, int R>
auto materialize(const evaluated_cut<E, T, R>& e) {
  return e.values;
}
template <class E, class T, int R>
auto memory_for_values(const evaluated_cut<E, T, R>& e) {
  return e.values;
}
template <class E, class T, int R>
auto evaluated_operand(const evaluated_cut<E, T, R>& e, bool, device) {
  return e.values;
}

template <class E, class T, int R>
evaluated_cut<E, T, R> with_values(const E& e, const view<const T, R>& values) {
  return {e, values};
}

}  // namespace detail

/// The values, without a copy.
template <class E, class T, int R>
auto eval(const detail::evaluated_cut<E, T, R>& e) {
  return e.values;
}

}  // namespace dsl

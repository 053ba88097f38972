// Expressions whose reductions are evaluated before their elements.
#pragma once

#include <dsl/lang/assign.hpp>

namespace dsl::detail {

/// Whether the elements of an expression use reductions, numbers of elements or scans, including
/// those inside its formulas.
template <class E>
constexpr bool uses_reductions() {
  if constexpr (has_materialized<E>) {
    return true;
  } else if constexpr (space_count<E> == 0) {
    return false;
  } else {
    graph g;
    tracer t{&g};
    (void)traced<E>::run(t);
    return g.reduction_count() > 0 || has_counts(g);
  }
}

/// Evaluates each reduction and each scan in an expression, and each formula that reduces, by a
/// statement of its own. Returns the expression with the results, scalars or arrays, in their
/// place. Does not wait.
template <class E>
auto evaluate_reductions(const E& e);

template <class E>
auto evaluate_part(const E& e) {
  return as_operand(eval(e));
}
template <class F, class... Operands>
auto evaluate_part(const expression<F, Operands...>& e) {
  constexpr bool is_elementwise = !may_reduce<F> && (is_symbol<trace_t<Operands>> && ...);
  if constexpr (is_elementwise)
    return map_operands(e, [](const auto& x) { return evaluate_reductions(x); });
  else return as_operand(eval(e));
}

template <class E>
auto evaluate_reductions(const E& e) {
  if constexpr (uses_reductions<E>()) return evaluate_part(e);
  else return e;
}

}  // namespace dsl::detail

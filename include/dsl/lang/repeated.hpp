// Repeated operands, as in x * x: computed once if they are costly.
//
// The type of an expression contains its operations but not its arrays. So two versions are
// compiled: the formula as written, and one that computes equal operands once. The assignment
// chooses between them at run time.
#pragma once

#include <dsl/lang/materialized.hpp>

namespace dsl::detail {

/// Whether an expression draws random numbers (lang/random.hpp).
template <class E> inline constexpr bool draws = false;
template <class F, class... Operands>
inline constexpr bool draws<expression<F, Operands...>> =
    requires { F::draws; } || (draws<Operands> || ...);

/// Whether the two operands of an expression may be computed once: they have the same type and are
/// costly. Scans are evaluated before: equal leaves do not say that they are equal. In x * x + y *
/// y this holds for the factors, not for the terms.
template <class E> inline constexpr bool may_repeat = false;
/// Whether may_repeat holds for any part of an expression.
template <class E> inline constexpr bool has_repeats = false;

template <op Code, class A>
inline constexpr bool may_repeat<expression<table_function<Code>, A, A>> =
    draws<A> && !has_repeats<A> && !has_materialized<A>;
template <class F, class... Operands>
inline constexpr bool has_repeats<expression<F, Operands...>> =
    may_repeat<expression<F, Operands...>> || (has_repeats<Operands> || ...);
template <class F, int R, class... Operands>
inline constexpr bool has_repeats<reduction<F, R, Operands...>> = (has_repeats<Operands> || ...);

/// Whether all operands for which may_repeat holds are equal at run time.
template <class E>
bool repeats_operands(const E& e) {
  if constexpr (!has_repeats<E>) {
    return true;
  } else if constexpr (may_repeat<E>) {
    const leaves_of first(get<0>(e.operands)), second(get<1>(e.operands));
    return std::equal(std::begin(first.at), std::end(first.at), second.at, is_one_operand);
  } else {
    return unpack([](const auto&... x) { return (repeats_operands(x) && ...); }, e.operands);
  }
}

/// A function of two operands, applied to one operand twice.
template <class F>
struct applied_to_one_operand {
  template <class Operand> static constexpr int rank = Operand::rank;
  template <class...> using calls = tuple<>;
  template <class S> static constexpr auto trace(tracer& t, S s) { return F::trace(t, s, s); }
};

/// The expression with the second of two repeated operands removed.
template <class E>
auto without_repeats(const E& e) {
  return e;
}
template <class F, class... Operands>
auto without_repeats(const expression<F, Operands...>& e) {
  if constexpr (may_repeat<expression<F, Operands...>>)
    return make_checked_expression<applied_to_one_operand<F>>(get<0>(e.operands));
  else return map_operands(e, [](const auto& x) { return without_repeats(x); });
}
template <class F, int R, class... Operands>
auto without_repeats(const reduction<F, R, Operands...>& e) {
  return map_operands(e, [](const auto& x) { return without_repeats(x); });
}

}  // namespace dsl::detail

// Operands whose values are written to memory of their own before the statement that reads them:
// scans, and operations on whole arrays.
#pragma once

#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// Whether an expression is such an operand or has some among its operands. Their own operands do
/// not count.
template <class E> inline constexpr bool has_materialized = is_materialized<E>;
template <class F, class... Operands> inline constexpr bool
    has_materialized<expression<F, Operands...>> = (has_materialized<Operands> || ...);
template <class F, int R, class... Operands> inline constexpr bool
    has_materialized<reduction<F, R, Operands...>> = (has_materialized<Operands> || ...);

/// Whether an expression may be one call of a library when it is assigned to a target: an operation
/// on whole arrays that takes the formula around it. If so, `of(target, e)` gives that operation,
/// or nothing if the values or the memory do not allow it.
template <class Target, class E> struct one_call { static constexpr bool is_possible = false; };
/// Whether a statement may be one: it has one target.
template <class Targets, class... E> inline constexpr bool may_be_one_call = false;
template <class Target, class E>
inline constexpr bool may_be_one_call<tuple<Target>, E> = one_call<Target, E>::is_possible;

/// The expression with `replace(operand)` in place of each such operand, from the inside out: a
/// scan of scans is given with its operands replaced.
template <class E, class Replace>
auto replace_materialized(const E& e, const Replace& replace) {
  if constexpr (!has_materialized<E>) {
    return e;
  } else {
    const auto made =
        map_operands(e, [&replace](const auto& x) { return replace_materialized(x, replace); });
    if constexpr (is_materialized<E>) return replace(made);
    else return made;
  }
}
/// The expression with the values of such operands in their place. Queues a statement for each and
/// does not wait.
template <class E>
auto materialize_operands(const E& e) {
  return replace_materialized(e, [](const auto& of) { return as_operand(materialize(of)); });
}
/// The same without the values: arrays of their shapes, never written. For plans.
template <class E>
auto without_materialized(const E& e) {
  return replace_materialized(e, [](const auto& of) { return as_operand(memory_for_values(of)); });
}

/// What evaluates whole statements with an operation among their operands, if the operation names
/// it
/// (`Operation::statement`, lang/array_operation.hpp); else void.
template <class E> struct statement_with { using type = void; };
template <class F, class... Operands> struct statement_with<expression<F, Operands...>> {
  template <class... Found>
  static auto first(std::type_identity<void>, Found... others) {
    return first(others...);
  }
  template <class Statement, class... Found>
  static std::type_identity<Statement> first(std::type_identity<Statement>, Found...) {
    return {};
  }
  static std::type_identity<void> first() { return {}; }
  using type = typename decltype(first(
      std::type_identity<typename statement_with<Operands>::type>{}...))::type;
};
/// Whether what evaluates whole statements evaluates this one, `target = e` for one target.
template <class Targets, class... E> inline constexpr bool runs_in_own_way = false;
template <class Target, class E>
  requires(!std::is_void_v<typename statement_with<E>::type>)
inline constexpr bool runs_in_own_way<tuple<Target>, E> =
    statement_with<E>::type::template takes<std::remove_cv_t<Target>, E>();

/// Calls visit(x) for each operand x of these operands, without those of others inside them.
template <class E, class Visit>
void visit_arguments(const E& e, const Visit& visit) {
  if constexpr (is_materialized<E>) {
    if constexpr (requires { e.operand; }) visit(e.operand);
    else unpack([&visit](const auto&... x) { (visit(x), ...); }, e.arguments);
  } else if constexpr (has_materialized<E>) {
    unpack([&visit](const auto&... x) { (visit_arguments(x, visit), ...); }, e.operands);
  }
}

}  // namespace dsl::detail

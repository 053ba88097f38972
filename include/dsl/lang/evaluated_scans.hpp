// Scans among the operands of an expression: each is evaluated into memory of its own before the
// statement that reads it.
#pragma once

#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// Whether an expression is a scan or has scans among its operands. Their own operands do not
/// count.
template <class E> inline constexpr bool has_scans = is_scan<E>;
template <class F, class... Operands>
inline constexpr bool has_scans<expression<F, Operands...>> = (has_scans<Operands> || ...);
template <class F, int R, class... Operands>
inline constexpr bool has_scans<reduction<F, R, Operands...>> = (has_scans<Operands> || ...);

/// The expression with `replace(scan)` in place of each scan, from the inside out: a scan of scans
/// is given with its operands replaced.
template <class E, class Replace>
auto replace_scans(const E& e, const Replace& replace) {
  if constexpr (!has_scans<E>) {
    return e;
  } else {
    const auto made =
        map_operands(e, [&replace](const auto& x) { return replace_scans(x, replace); });
    if constexpr (is_scan<E>) return replace(made);
    else return made;
  }
}
/// The expression with the values of its scans in their place. Queues a statement for each scan and
/// does not wait.
template <class E>
auto evaluate_scans(const E& e) {
  return replace_scans(e, [](const auto& scan) { return as_operand(evaluate_scan(scan)); });
}
/// The same without the values: arrays of the scans' shapes, never written. For plans.
template <class E>
auto without_scans(const E& e) {
  return replace_scans(e, [](const auto& scan) { return as_operand(memory_for_scan(scan)); });
}

/// Calls visit(scan) for each scan in an expression, without those inside other scans.
template <class E, class Visit>
void visit_scans(const E& e, const Visit& visit) {
  if constexpr (is_scan<E>) visit(e);
  else if constexpr (has_scans<E>)
    unpack([&visit](const auto&... x) { (visit_scans(x, visit), ...); }, e.operands);
}

}  // namespace dsl::detail

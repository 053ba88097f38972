// explain: prints what a statement would do, without running it.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/derivative_cost.hpp>
#include <dsl/lang/gradient.hpp>
#include <dsl/lang/iterate.hpp>

namespace dsl {

namespace detail {

template <class... Targets, class... E>
explanation explain_all(const launch& fixed, const tuple<Targets&...>& targets, const E&... e) {
  if constexpr ((has_repeats<E> || ...)) {
    if ((repeats_operands(e) && ...)) return explain_all(fixed, targets, without_repeats(e)...);
  }
  if constexpr (may_be_one_call<tuple<Targets...>, E...>) {
    auto& target = get<0>(targets);
    if (const auto call = one_call<Targets..., E...>::of(target, e...))
      return explain(target, *call);
  }
  if constexpr (runs_in_own_way<tuple<Targets...>, E...>) {
    explanation all;
    unpack([&](auto&... t) { (..., all.append(statement_with<E>::type::explain(t, e))); }, targets);
    return all;
  } else if constexpr ((has_materialized<E> || ...)) {
    explanation all;
    const auto explained = [&all](const auto& scan) {
      auto values = memory_for_values(scan);
      all.append(explain(values, scan));
      return as_operand(values);
    };
    const tuple rest{replace_materialized(e, explained)...};
    all.append(unpack([&](const auto&... x) { return explain_all(fixed, targets, x...); }, rest));
    return all;
  } else if constexpr (!may_assign<E...>(std::type_identity<tuple<Targets&...>>{})) {
    return {};
  } else if constexpr (DSL_DETAIL_ON_DEVICE &&
                       lowered<types_of_targets<Targets...>, E...>::is_one_pass) {
    // Only the kernels are needed, as in `assign_all`.
    static_cast<void>(assigned<tuple<Targets&...>, E...>::code(e...));
    return {};
  } else {
    auto to = bind_targets(targets, true);
    if constexpr (lowered<types_of_targets<Targets...>, E...>::is_one_pass) {
      using together = assigned<tuple<Targets&...>, E...>;
      return explain_pass(
          bound_pass(together::code(e...), together(all_targets(to), e...).operands(), fixed));
    } else {
      return with_passes(
          to, std::index_sequence_for<Targets...>{},
          [&](evaluation& all) { return all.explain(fixed); }, e...);
    }
  }
}

/// The statements of a gradient. They run, because later ones are made of what earlier ones give;
/// the gradient is dropped.
template <bool Value, class Loss, class... V>
explanation explain_gradient(const gradient_expression<Value, Loss, V...>& e) {
  const explained_runs runs;
  static_cast<void>(evaluate_gradient(e));
  return explanation(runs);
}

}  // namespace detail

/// Describes what an assignment would do: its kernels and why there are several; for each kernel
/// the program in the formula's notation, how each operand is accessed and why it misses the fast
/// path, the launch, the cost, the predicted time, and the resource that limits it.
///
/// Takes the arguments of `assign`; for `tie` also a tuple of expressions. A derivative of a
/// formula has a line that compares its operations with the formula's. Runs nothing, apart from the
/// statements of a `gradient`, whose results are dropped. The first
/// call for a device measures the device, which takes about a third of a second; a thread must not
/// make that first call while it captures a stream. Throws as the assignment would.
/// ```cpp
/// std::cout << dsl::explain(y, exp(a) + 2 * b);
/// ```
template <class... Targets, detail::lazy E>
explanation explain(const tied<Targets...>& targets, const E& expression,
                    const launch& fixed = {}) {
  if constexpr (detail::stands_alone<E>) return detail::explain_gradient(expression);
  else return detail::with_primal<E>(detail::explain_all(fixed, targets.targets, expression));
}
template <class... Targets, class... E>
  requires((detail::lazy<E> || detail::viewable<E>) && ...)
explanation explain(const tied<Targets...>& targets, const std::tuple<E...>& expressions) {
  return detail::unpack(
      [&](const auto&... e) {
        return detail::explain_all({}, targets.targets, detail::as_operand(e)...);
      },
      expressions);
}
template <class Target, class E>
  requires((detail::lazy<E> || detail::viewable<E>) &&
           !detail::is_vectorized<std::remove_const_t<Target>>)
explanation explain(Target& target, const E& expression, const launch& fixed = {}) {
  return explain(dsl::tie(target), detail::as_operand(expression), fixed);
}

/// Describes one step of a loop. Takes the arguments of `iterate` without the number of steps.
/// ```cpp
/// std::cout << dsl::explain(step, dsl::state(phase, z), rate, 2.0, 0.01);
/// ```
template <class Name, class F, class... S, class... Arguments>
explanation explain(const vectorized<Name, F>& f, const loop_state<S...>& s,
                    const Arguments&... arguments) {
  return detail::with_loop(
      f, s, [](const detail::loop& of) { return detail::explain_loop(of); }, arguments...);
}

}  // namespace dsl

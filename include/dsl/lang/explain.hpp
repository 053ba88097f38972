// What a statement would do, printed before or while it runs.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/iterate.hpp>

namespace dsl {

namespace detail {

template <class... Targets, class... E>
explanation explain_all(const launch& fixed, const tuple<Targets&...>& targets, const E&... e) {
  if constexpr ((has_repeats<E> || ...)) {
    if ((repeats_operands(e) && ...)) return explain_all(fixed, targets, without_repeats(e)...);
  }
  if constexpr (!may_assign<E...>(std::type_identity<tuple<Targets&...>>{})) {
    return {};
  } else if constexpr (DSL_DETAIL_ON_DEVICE &&
                       lowered<types_of_targets<Targets...>, E...>::is_one_pass) {
    static_cast<void>(assigned<tuple<Targets&...>, E...>::code(e...));  // as in `assign_all`
    return {};
  } else {
    auto to = bind_targets(targets, true);
    if constexpr (lowered<types_of_targets<Targets...>, E...>::is_one_pass) {
      using together = assigned<tuple<Targets&...>, E...>;
      return explain_pass(
          prepared(together::code(e...), together(all_targets(to), e...).operands(), fixed));
    } else {
      return with_passes(
          to, std::index_sequence_for<Targets...>{},
          [&](evaluation& all) { return all.explain(fixed); }, e...);
    }
  }
}

}  // namespace detail

/// What an assignment would do: its kernels and why there is more than one; of each the program in
/// the formula's own notation, how every operand is reached and why it misses the fast path, the
/// launch, the cost, and the predicted time with what binds. Takes what `assign` takes; a tuple of
/// expressions for `tie` as well. Runs nothing; the first call for a device measures it, in about a
/// third of a second, which a thread must not do while it captures a stream. Throws as the
/// assignment would.
/// ```cpp
/// std::cout << dsl::explain(y, exp(a) + 2 * b);
/// ```
template <class... Targets, detail::lazy E>
explanation explain(const tied<Targets...>& targets, const E& expression,
                    const launch& fixed = {}) {
  return detail::explain_all(fixed, targets.targets, expression);
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

/// A step of a loop. Takes what `iterate` takes after the steps.
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

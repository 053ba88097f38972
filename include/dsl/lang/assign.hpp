// Assignment: expressions become passes, and the passes run.
#pragma once

#include <dsl/lang/assigned.hpp>

namespace dsl {

namespace detail {

/// Evaluates expressions into targets. If something is thrown before the first pass is queued, no
/// target changes.
template <class... Targets, class... E>
void assign_all(const launch& fixed, const tuple<Targets&...>& targets, const E&... e) {
  static_assert((!counts_steps_in<E> && ...),
                "dsl::step is the number of a loop's step: it stands among the parameters of "
                "dsl::iterate alone");
  if constexpr ((has_repeats<E> || ...)) {
    if ((repeats_operands(e) && ...)) return assign_all(fixed, targets, without_repeats(e)...);
  }
  if constexpr (may_be_one_call<tuple<Targets...>, E...>) {
    auto& target = get<0>(targets);
    if (const auto call = one_call<Targets..., E...>::of(target, e...))
      return assign(target, *call);
  }
  if constexpr (runs_in_own_way<tuple<Targets...>, E...>) {
    unpack([&](auto&... t) { (..., statement_with<E>::type::assign(fixed, t, e)); }, targets);
  } else if constexpr ((has_materialized<E> || ...)) {
    const device_guard of_targets(
        unpack([](const auto&... t) { return home_of(as_operand(t)...); }, targets)),
        of_operands(home_of(e...));
    assign_all(fixed, targets, materialize_operands(e)...);
  } else if constexpr (!may_assign<E...>(std::type_identity<tuple<Targets&...>>{})) {
    return;
  } else if constexpr (DSL_DETAIL_ON_DEVICE &&
                       lowered<types_of_targets<Targets...>, E...>::is_one_pass) {
    // Compiled for a device, only the kernels are needed.
    static_cast<void>(assigned<tuple<Targets&...>, E...>::code(e...));
  } else {
    auto to = bind_targets(targets);
    if constexpr (lowered<types_of_targets<Targets...>, E...>::is_one_pass) {
      using together = assigned<tuple<Targets&...>, E...>;
      assign_pass(together::code(e...), together(all_targets(to), e...).operands(), fixed);
    } else {
      with_passes(
          to, std::index_sequence_for<Targets...>{},
          [&fixed](evaluation& all) { all.assign(fixed); }, e...);
    }
    unpack([](auto&... t) { (t.adopt(), ...); }, to);
  }
}

template <class Target, class Source>
auto evaluate_into(Target&& target, const Source& source) {
  if constexpr (lazy<Source> && !is_materialized<Source> && !stands_alone<Source>)
    assign_all({}, tuple<std::remove_reference_t<Target>&>(target), source);
  else assign(target, source);
}
template <lazy E>
auto device_of_operands(const E& expression) {
  if constexpr (requires { expression.where(); }) return expression.where();
  else return device_of(expression);
}

}  // namespace detail

/// Evaluates an expression into an array, a view or a scalar, as if it were complete before the
/// first element is written. Runs as one kernel, plus one for each depth of nested reductions,
/// unless they reduce the rows of the elements (docs/rows.md), and a statement before it for each
/// scan among the operands. Does not wait. Throws shape_error, device_error or memory_error before
/// anything is written and before the target gets memory, or cuda_error. `fixed` overrides the
/// plan.
template <class Target, detail::lazy E>
void assign(Target&& target, const E& expression, const launch& fixed = {}) {
  detail::assign_all(fixed, detail::tuple<std::remove_reference_t<Target>&>(target), expression);
}

/// The same for an array, a scalar or an element.
template <class Target, detail::viewable A>
void assign(Target&& target, const A& source, const launch& fixed = {}) {
  assign(target, detail::as_operand(source), fixed);
}

/// Sets every element of a view to a C++ scalar. Throws overflow_error if the view's dtype cannot
/// hold it.
template <element T, int R, detail::fills<T> V>
void assign(const view<T, R>& target, const V& value) {
  const detail::value_leaf<V> leaf{value};
  if constexpr (kind_of(dtype_v<T>) == kind::integer)
    detail::require_range(detail::operand_of(leaf), {dtype_v<T>, dtype_v<T>});
  assign(target, leaf);
}

/// Several targets of one assignment; the result of `tie`.
template <class... Targets>
struct tied {
  detail::tuple<Targets&...> targets;

  template <class E>
    requires(detail::lazy<E> || detail::viewable<E>)
  const tied& operator=(const E& expression) const {
    if constexpr (detail::stands_alone<E>) assign_tied(targets, expression);  // lang/select.hpp
    else detail::assign_all({}, targets, detail::as_operand(expression));
    return *this;
  }
  template <class... E>
    requires((detail::lazy<E> || detail::viewable<E>) && ...)
  const tied& operator=(const std::tuple<E...>& expressions) const {
    if constexpr ((detail::is_by_key<E> || ...))
      detail::unpack([this](const auto&... e) { assign_by_keys(targets, e...); },
                     expressions);  // lang/tied_by_key.hpp
    else if constexpr ((detail::is_materialized<E> || ...))
      detail::unpack([this](const auto&... e) { assign_each_apart(targets, e...); },
                     expressions);  // lang/tied_apart.hpp
    else
      detail::unpack(
          [this](const auto&... e) { detail::assign_all({}, targets, detail::as_operand(e)...); },
          expressions);
    return *this;
  }
  template <std::same_as<refused> R> tied& operator=(const R&) { return *this; }
};

namespace detail {

template <class... T>
constexpr bool are_targets(std::type_identity<tuple<T&...>>) {
  return (!element<T> && ...);
}
template <class... Targets>
tied<Targets...> tied_to(const tuple<Targets&...>& targets) {
  return {targets};
}

}  // namespace detail

/// Targets for a formula with several outputs, or for the expressions of a std::tuple: arrays for
/// elements, scalars for reductions; a struct stands for its members. Runs as one kernel, except
/// for reductions that read other operands. All right sides are complete before the first element
/// is written. Refers to the caller's variables, as std::tie does: a temporary does not compile,
/// and the variables must live as long as the result. The assignment does not wait. Throws as
/// `assign` does, and shape_error if an element would be written twice.
template <class... Targets>
  requires(!std::is_lvalue_reference_v<Targets> || ...)
refused tie(Targets&&...) {
  static_assert((std::is_lvalue_reference_v<Targets> && ...),
                "targets are their caller's: give each a name, auto part = x(dsl::slice(1, -1)), "
                "dsl::tie(part)");
  return {};
}
template <class... Targets>
auto tie(Targets&... targets) {
  constexpr bool are_targets =
      detail::are_targets(std::type_identity<detail::flat_t<Targets...>>{});
  static_assert(are_targets,
                "a target is an array, a view or a scalar in device memory, not a C++ scalar");
  if constexpr (are_targets) return detail::tied_to(detail::concatenate(detail::flat(targets)...));
  else return refused{};
}

}  // namespace dsl

// Makes auto [s, c] = f(u) an error with a useful message: it finds as many values as f has, and
// their type says that they cannot be bound to names (mem/misused.hpp).
template <class... X>
struct std::tuple_size<dsl::expression<X...>>
    : std::tuple_size<dsl::detail::outputs_of<dsl::expression<X...>>> {};
template <std::size_t I, class... X>
struct std::tuple_element<I, dsl::expression<X...>> {
  using type = dsl::refused;
};
template <class F, int R, class... X>
struct std::tuple_size<dsl::reduction<F, R, X...>>
    : std::tuple_size<dsl::detail::outputs_of<dsl::reduction<F, R, X...>>> {};
template <std::size_t I, class F, int R, class... X>
struct std::tuple_element<I, dsl::reduction<F, R, X...>> {
  using type = dsl::refused;
};

namespace dsl {

/// How an assignment would run: grid, block, path, registers, cost. Runs nothing. Throws as the
/// assignment would.
template <class... Targets, detail::lazy E>
auto plan_of(const tied<Targets...>& targets, const E& expression, const launch& fixed = {}) {
  if constexpr (detail::runs_in_own_way<detail::tuple<Targets...>, E>) {
    return detail::statement_with<E>::type::plan_of(fixed, detail::get<0>(targets.targets),
                                                    expression);
  } else if constexpr (detail::has_materialized<E>) {
    return plan_of(targets, detail::without_materialized(expression), fixed);
  } else if constexpr (detail::may_assign<E>(std::type_identity<detail::tuple<Targets&...>>{})) {
    if constexpr (detail::has_repeats<E>) {
      if (detail::repeats_operands(expression))
        return plan_of(targets, detail::without_repeats(expression), fixed);
    }
    using pass = detail::assigned<detail::tuple<Targets&...>, E>;
    auto to = detail::bind_targets(targets.targets, true);
    const reduction_plan made =
        detail::bound_pass(pass::code(expression),
                           pass(detail::all_targets(to), expression).operands(), fixed)
            .make_plan();
    if constexpr (pass::pass::reductions::count > 0) return made;
    else return detail::as_map(made);
  } else {
    return plan{};
  }
}
template <class Target, class E>
  requires(detail::lazy<E> || detail::viewable<E>)
auto plan_of(Target& target, const E& expression, const launch& fixed = {}) {
  return plan_of(dsl::tie(target), detail::as_operand(expression), fixed);
}

/// Evaluates an expression now. Returns an array of its shape for elements, a scalar for a
/// reduction or an expression of rank 0. Does not wait. Throws as `assign`.
template <detail::lazy E>
auto eval(const E& expression) {
  using outputs = detail::outputs_of<E>;
  constexpr bool is_one = std::tuple_size_v<outputs> == 1;
  static_assert(is_one, "eval takes one value: use dsl::tie for several");
  if constexpr (is_one) {
    using T = element_t<std::tuple_element_t<0, outputs>::type.type>;
    if constexpr (detail::result_rank<E> == 0) {
      scalar<T> value(T{}, device_of(expression));
      dsl::tie(value) = expression;
      return value;
    } else {
      return array<T, detail::result_rank<E>>(expression);
    }
  } else {
    return refused{};
  }
}
inline refused eval(const refused&) { return {}; }
/// A copy of an array, a scalar or an element.
template <detail::viewable A>
auto eval(const A& x) {
  return eval(detail::as_operand(x));
}

template <detail::lazy E>
auto detail::evaluate(const E& expression) {
  return eval(expression);
}

}  // namespace dsl

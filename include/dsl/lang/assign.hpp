// Assignment: expressions become passes, and the passes run.
#pragma once

#include <dsl/lang/assigned.hpp>

namespace dsl {

namespace detail {

/// Whether several expressions give single values, or values along axes, and no elements: each may have an index space of its own.
template <class... E, target_type... Targets>
constexpr bool are_reductions(target_types<Targets...>) {
  if constexpr (sizeof...(E) == 1 || sizeof...(Targets) != std::tuple_size_v<outputs_of<E...>>) return false;
  else if constexpr (((reductions_in<E> > 0) && ...)) return true;
  else {
    using together = typename compiled_for<false, target_types<Targets...>, E...>::spelled;
    bool all = together::folds::count > 0;
    for (int i = 0; i < together::targets; ++i) all = all && together::is_result(i);
    return all;
  }
}

// For each of a statement's expressions the number of the first whose leaves have the same types.
template <class E, class... All>
constexpr std::size_t first_alike() {
  const bool same[] = {std::is_same_v<typename leaf_types<E>::type, typename leaf_types<All>::type>...};
  std::size_t i = 0;
  while (!same[i]) ++i;
  return i;
}
template <class... E> inline constexpr std::array<std::size_t, sizeof...(E)> firsts_alike{first_alike<E, E...>()...};
// Number k of those for which that is First, and how many they are.
template <std::size_t First, class... E>
constexpr std::size_t nth_alike(std::size_t k) {
  std::size_t i = 0;
  while (firsts_alike<E...>[i] != First || k-- > 0) ++i;
  return i;
}
template <std::size_t First, class... E>
constexpr std::size_t count_alike() {
  std::size_t n = 0;
  for (const std::size_t first : firsts_alike<E...>) n += first == First ? 1 : 0;
  return n;
}

/// Reductions and their targets, a pass for each index space: those that read the same operands along the same axes share one, every
/// other has its own. Which do is known when they run; a pass that several share is compiled where their operands' types allow it.
template <class Bound, class... E>
class reductions_apart {
 public:
  reductions_apart(const launch& fixed, Bound& to, const E&... e) : fixed_(fixed), to_(to), from_(e...), all_(sizeof...(E)) {}
  void assign() { add_all(std::index_sequence_for<E...>{}), all_.assign(); }

 private:
  template <std::size_t... I>
  void add_all(std::index_sequence<I...>) { (add_alike<I>(std::make_index_sequence<count_alike<I, E...>()>{}), ...); }
  template <std::size_t First, std::size_t... K>
  void add_alike(std::index_sequence<K...>) {
    if constexpr (sizeof...(K) > 1) {
      const leaves_of_parts leaves(get<nth_alike<First, E...>(K)>(from_)...);
      if (are_same_operands(leaves.all, leaves.parts, leaves.count))
        return add<true>(concatenate(targets_of<nth_alike<First, E...>(K)>()...), get<nth_alike<First, E...>(K)>(from_)...);
    }
    (add<false>(targets_of<nth_alike<First, E...>(K)>(), get<nth_alike<First, E...>(K)>(from_)), ...);
  }
  template <bool Share, class... Targets, class... Some>
  void add(const tuple<bound_target<Targets>&...>& to, const Some&... e) {
    using part = assigned<Share, tuple<Targets&...>, Some...>;
    all_.add(part::code(e...), part(to, e...).operands(), fixed_);
  }
  template <std::size_t I>
  auto targets_of() const {
    constexpr std::array<int, sizeof...(E) + 1> first = sizes_before<outputs_of<E>...>();
    return some_targets<static_cast<std::size_t>(first[I])>(to_, std::make_index_sequence<static_cast<std::size_t>(first[I + 1] - first[I])>{});
  }

  const launch& fixed_;
  Bound& to_;
  tuple<const E&...> from_;
  statement all_;
};

/// Evaluates expressions that are passes. What is thrown before they are queued leaves all targets as they were.
template <class... Targets, class... E>
void assign_passes(const launch& fixed, const tuple<Targets&...>& targets, const E&... e) {
  auto to = bind_targets(targets);
  if constexpr (are_reductions<E...>(target_types<type_of_target<std::remove_const_t<Targets>>...>{})) {
    reductions_apart<decltype(to), E...>(fixed, to, e...).assign();
  } else {
    using together = assigned<false, tuple<Targets&...>, E...>;
    if constexpr (sizeof...(E) > 1 && together::pass::folds::count > 0) {
      const leaves_of_parts leaves(e...);
      require_one_space(leaves.all, leaves.parts, leaves.count, together::pass::view());
    }
    prepared(together::code(e...), together(all_targets(to), e...).operands(), fixed).assign();
  }
  unpack([](auto&... t) { (t.adopt(), ...); }, to);
}

template <class... Targets, class Values, class... E, std::size_t... I>
void assign_substituted(const launch&, const tuple<Targets&...>&, const Values&, const tuple<const E&...>&, std::index_sequence<I...>);

/// Evaluates expressions into targets. Reductions inside them are evaluated first, all of one depth together.
template <class... Targets, class... E>
void assign_all(const launch& fixed, const tuple<Targets&...>& targets, const E&... expressions) {
  static_assert((!counts_steps_in<E> && ...), "dsl::step is the number of a loop's step: it stands among the parameters of dsl::iterate alone");
  if constexpr (!may_assign<E...>(std::type_identity<tuple<Targets&...>>{})) {
    return;
  } else if constexpr (DSL_DETAIL_ON_DEVICE && sizeof...(E) == 1 && (is_pass<E> && ...)) {
    static_cast<void>(assigned<false, tuple<Targets&...>, E...>::code(expressions...));  // the device half takes the kernels alone
  } else if constexpr ((is_pass<E> && ...)) {
    assign_passes(fixed, targets, expressions...);
  } else {
    const device_guard guard(unpack([&](const auto&... t) { return home_of(expressions..., as_operand(t)...); }, targets));
    const auto inner = concatenate(inner_passes(expressions)...);
    auto values = unpack([](const auto&... e) { return tuple<evaluated_t<std::remove_cvref_t<decltype(e)>>...>{empty_for(e)...}; }, inner);
    unpack([&](auto&... v) { unpack([&](const auto&... e) { assign_all({}, references(v...), e...); }, inner); }, values);
    assign_substituted(fixed, targets, values, tuple<const E&...>(expressions...), std::index_sequence_for<E...>{});
  }
}
template <class... Targets, class Values, class... E, std::size_t... I>
void assign_substituted(const launch& fixed, const tuple<Targets&...>& targets, const Values& values, const tuple<const E&...>& expressions, std::index_sequence<I...>) {
  assign_all(fixed, targets, substitute<inner_before<E...>()[I]>(get<I>(expressions), values)...);
}

}  // namespace detail

/// Evaluates an expression into an array, a view or a scalar, as if it were complete before the first element is written: one
/// kernel, and for each depth of reductions inside it one for those that read the same operands, without waiting. Throws shape_error,
/// device_error, memory_error or cuda_error, the first three before anything is written or the target has got memory. `fixed` overrides
/// the plan.
template <class Target, detail::lazy E>
void assign(Target&& target, const E& expression, const launch& fixed = {}) {
  detail::assign_all(fixed, detail::tuple<std::remove_reference_t<Target>&>(target), expression);
}

/// The same for an array, a scalar or an element.
template <class Target, detail::viewable A>
void assign(Target&& target, const A& source, const launch& fixed = {}) {
  assign(target, detail::as_operand(source), fixed);
}

/// Sets every element of a view to a C++ scalar. Throws overflow_error where the dtype does not hold it.
template <element T, int R, detail::fills<T> V>
void assign(const view<T, R>& target, const V& value) {
  const detail::value_leaf<V> leaf{value};
  if constexpr (kind_of(dtype_v<T>) == kind::integer) detail::require_range(detail::operand_of(leaf), {dtype_v<T>, dtype_v<T>});
  assign(target, leaf);
}

/// Several targets at once; what `tie` returns.
template <class... Targets>
struct tied {
  detail::tuple<Targets&...> targets;

  template <class E>
    requires(detail::lazy<E> || detail::viewable<E>)
  const tied& operator=(const E& expression) const {
    detail::assign_all({}, targets, detail::as_operand(expression));
    return *this;
  }
  template <class... E>
    requires((detail::lazy<E> || detail::viewable<E>) && ...)
  const tied& operator=(const std::tuple<E...>& expressions) const {
    detail::unpack([this](const auto&... e) { detail::assign_all({}, targets, detail::as_operand(e)...); }, expressions);
    return *this;
  }
};

namespace detail {

template <class... T>
constexpr bool are_targets(std::type_identity<tuple<T&...>>) { return (!element<T> && ...); }
template <class... Targets>
tied<Targets...> tied_to(const tuple<Targets&...>& targets) { return {targets}; }

}  // namespace detail

/// Targets for a formula with several outputs, or for as many expressions in a std::tuple: arrays for elements, scalars for
/// reductions; of a struct its members. One kernel, but for reductions that do not read the same operands. All right sides are complete
/// before the first element is written. Throws as `assign` does, and shape_error where an element would be written twice.
template <class... Targets>
auto tie(Targets&... targets) {
  constexpr bool are_targets = detail::are_targets(std::type_identity<detail::flat_t<Targets...>>{});
  static_assert(are_targets, "a target is an array, a view or a scalar in device memory, not a C++ scalar");
  if constexpr (are_targets) return detail::tied_to(detail::concatenate(detail::flat(targets)...));
  else return refused{};
}

/// How an assignment would run: grid, block, path, registers, cost. Runs nothing. Throws as the assignment would.
template <class... Targets, detail::lazy E>
plan plan_of(const tied<Targets...>& targets, const E& expression, const launch& fixed = {}) {
  if constexpr (detail::may_assign<E>(std::type_identity<detail::tuple<Targets&...>>{})) {
    using pass = detail::assigned<false, detail::tuple<Targets&...>, E>;
    auto to = detail::bind_targets(targets.targets, true);
    return detail::prepared(pass::code(expression), pass(detail::all_targets(to), expression).operands(), fixed).make_plan();
  } else {
    return {};
  }
}
template <class Target, class E>
  requires(detail::lazy<E> || detail::viewable<E>)
plan plan_of(Target& target, const E& expression, const launch& fixed = {}) {
  return plan_of(dsl::tie(target), detail::as_operand(expression), fixed);
}

/// Evaluates now: an array for elements, a scalar for a reduction or an expression without dimensions.
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

}  // namespace dsl

// Selections: the elements that fulfil a condition, and assignment to such elements only.
#pragma once

#include <dsl/exec/by_key/compress.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/evaluated_reductions.hpp>
#include <dsl/lang/generate.hpp>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::select, Explicit> = true;

/// A selection that is evaluated when it is assigned.
template <class Condition, class... Values>
struct compress_expression {
  using lazy_expression = void;
  static constexpr int rank = 1;
  Condition condition;
  tuple<Values...> values;
};
template <class... E> inline constexpr bool stands_alone<compress_expression<E...>> = true;
template <class... E>
struct traced<compress_expression<E...>> {
  static_assert(sizeof...(E) == 0,
                "a selection is no operand of a formula: evaluate it first, dsl::eval(...)");
  static constexpr symbol<dtype::float64> run(tracer& t) { return {t.g, 0}; }
};

/// The graph of a condition and of values, which are converted to their targets' dtypes.
template <class Types, class Condition, class... Values> struct compress_trace;
template <class... To, class Condition, class... Values>
struct compress_trace<tuple<To...>, Condition, Values...> {
  static constexpr graph run() {
    graph g;
    tracer t{&g};
    g.outputs.push_back(convert_symbol<dtype::boolean, false>(traced<Condition>::run(t)).id);
    (g.outputs.push_back(convert_symbol<dtype_v<To>, false>(traced<Values>::run(t)).id), ...);
    g.operands = t.operands;
    return g;
  }
};
template <class... Calls, class Trace>
auto compiled_trace(std::type_identity<tuple<Calls...>>, std::type_identity<Trace>) {
  return compile<Trace, Calls...>{};
}

/// The operator that adds numbers of selected elements.
struct count_trace {
  static constexpr graph run() {
    graph g;
    tracer t{&g};
    const auto first = operand_symbol<op::value, dtype::int64>(t),
               second = operand_symbol<op::value, dtype::int64>(t);
    g.outputs.push_back(apply<op::add>(first, second).id);
    return g;
  }
};

/// Queues a selection into targets for its values and a target for their number. Its condition and
/// values must not use reductions.
template <class Condition, class... Values, class Count, class... To>
void select_into(const compress_expression<Condition, Values...>& e, const Count& count,
                 const To&... to) {
  using trace = compress_trace<tuple<typename To::value_type...>, Condition, Values...>;
  using calls = decltype(concatenate(std::declval<typename calls_of<Condition>::type>(),
                                     std::declval<typename calls_of<Values>::type>()...));
  using compiled =
      decltype(compiled_trace(std::type_identity<calls>{}, std::type_identity<trace>{}));
  constexpr int inputs = inputs_of_kernel<leaf_count<Condition> + (0 + ... + leaf_count<Values>)>();
  operand all[inputs + sizeof...(To) + 1], *at = all;
  add_leaves(e.condition, at);
  unpack([&at](const auto&... x) { (add_leaves(x, at), ...); }, e.values);
  (add_leaves(as_operand(to), at), ...);
  add_leaves(as_operand(count), at);
  run_compress(compress_code_for<inputs>(typename compiled::spelled{}, program_of<count_trace>{}),
               all);
}

template <class Condition, class... Values>
auto make_selection(const Condition& condition, const Values&... values) {
  return compress_expression<Condition, Values...>{condition, tuple<Values...>{values...}};
}

/// Calls use(selection) after evaluating the reductions inside its condition and its values.
template <class Condition, class... Values, class Use>
void with_selection(const compress_expression<Condition, Values...>& e, const Use& use) {
  if constexpr (uses_reductions<Condition>() || (uses_reductions<Values>() || ...))
    unpack(
        [&](const auto&... x) {
          use(make_selection(evaluate_reductions(e.condition), evaluate_reductions(x)...));
        },
        e.values);
  else use(e);
}

/// The number of elements that a selection chooses from, and their device.
template <class Condition, class... Values>
struct source_of_selection {
  explicit source_of_selection(const compress_expression<Condition, Values...>& e) {
    operand all[leaf_count<Condition> + (0 + ... + leaf_count<Values>)], *at = all;
    add_leaves(e.condition, at);
    unpack([&at](const auto&... x) { (add_leaves(x, at), ...); }, e.values);
    const int count = static_cast<int>(at - all);
    where = home_of_operands(all, count);
    elements = elements_of(all, count, {});
  }
  device where{backend::host};
  std::int64_t elements = 0;
};

template <class... To, class... Values>
constexpr bool may_select(std::type_identity<tuple<To...>>, std::type_identity<tuple<Values...>>) {
  constexpr bool as_many = sizeof...(To) == sizeof...(Values);
  static_assert(as_many,
                "a selection has a target for each of its values, and one for their number, a "
                "dsl::scalar<std::int64_t>");
  if constexpr (as_many) {
    constexpr bool lines = ((To::rank == 1) && ...), writable = (is_writable<To> && ...);
    static_assert(lines, "what is selected has one dimension");
    static_assert(writable, "the target is const: an array that is, or a view that only reads");
    constexpr bool reals =
        (require_real_value<dtype_v<typename To::value_type>, trace_t<Values>::type.type>() && ...);
    constexpr bool wide =
        (assignable(dtype_v<typename To::value_type>, trace_t<Values>::type) && ...);
    static_assert(wide || !reals,
                  "the target's dtype is narrower than the expression's: use dsl::cast");
    return lines && writable && wide;
  } else {
    return false;
  }
}

template <class... Targets, class Condition, class... Values, std::size_t... I>
void assign_selection(const tuple<Targets&...>& targets,
                      const compress_expression<Condition, Values...>& e,
                      std::index_sequence<I...>) {
  using all = tuple<std::remove_const_t<Targets>...>;
  constexpr std::size_t values = sizeof...(I);
  if constexpr (may_select(
                    std::type_identity<tuple<std::tuple_element_t<I, tuple<Targets...>>...>>{},
                    std::type_identity<tuple<Values...>>{})) {
    using number = std::tuple_element_t<values, all>;
    constexpr bool counts =
        number::rank == 0 && std::same_as<typename number::value_type, std::int64_t>;
    static_assert(
        counts,
        "the last target of a selection is the number of elements, a dsl::scalar<std::int64_t>");
    if constexpr (counts) {
      auto to = bind_targets(targets);
      with_selection(e, [&to](const auto& selection) {
        const source_of_selection from(selection);
        // Targets without memory get room for all elements.
        unpack([&from](auto&... t) { (give_elements(t, from.elements, from.where), ...); }, to);
        select_into(selection, get<values>(to).elements(), get<I>(to).elements()...);
      });
      unpack([](auto&... t) { (t.adopt(), ...); }, to);
    }
  }
}
template <class... Targets, class Condition, class... Values>
void assign_tied(const tuple<Targets&...>& targets,
                 const compress_expression<Condition, Values...>& e) {
  static_assert(
      sizeof...(Targets) > 1,
      "the last target of a selection is the number of elements, a dsl::scalar<std::int64_t>");
  if constexpr (sizeof...(Targets) > 1)
    assign_selection(targets, e, std::make_index_sequence<sizeof...(Targets) - 1>{});
}

template <std::size_t, class... E>
refused get(const compress_expression<E...>& e) {
  return no_binding<std::remove_cvref_t<decltype(e)>>();
}

}  // namespace detail
}  // namespace dsl

// Refuses structured bindings, as for an expression (lang/assign.hpp).
template <class... E>
struct std::tuple_size<dsl::detail::compress_expression<E...>>
    : std::integral_constant<std::size_t, sizeof...(E)> {};
template <std::size_t I, class... E>
struct std::tuple_element<I, dsl::detail::compress_expression<E...>> {
  using type = dsl::refused;
};

namespace dsl {

/// The elements of x for which a condition holds, in row-major order: np.compress, or x[condition].
/// There may be several x: arrays, views and expressions that broadcast with the condition. Lazy;
/// its dtype is x's, its rank 1.
///
/// Assigned to an array alone, it waits for the number of elements, and the array gets exactly that
/// size, whatever size it had. With a target for the number, dsl::tie(kept, count) = ..., it does
/// not wait: `kept` is an array or a view, one for each x, and `count` a dsl::scalar<std::int64_t>.
/// The first `count` elements of `kept` are written; those after them do not change. If `kept` has
/// fewer than `count` elements, the remaining values are lost. One pass over memory. Throws
/// shape_error if shapes do not broadcast. Reductions inside the condition and x are evaluated
/// before.
/// ```cpp
/// dsl::array<float> positive = dsl::compress(x > 0, sqrt(x));
/// dsl::tie(kept, count) = dsl::compress(x > 0, sqrt(x));
/// ```
template <class Condition, class... X>
  requires(sizeof...(X) > 0 && detail::any_operand<Condition> && (detail::any_operand<X> && ...) &&
           detail::operands<Condition, X...>)
auto compress(const Condition& condition, const X&... x) {
  if constexpr (!detail::require_operand<Condition>() || !(detail::require_operand<X>() && ...))
    return refused{};
  else return detail::make_selection(detail::as_operand(condition), detail::as_operand(x)...);
}

namespace detail {

template <class X, std::size_t... I>
auto positions_where(const X& x, std::index_sequence<I...>) {
  const auto shape = shape_of(x);
  return make_selection(x, as_operand(index(static_cast<int>(I), shape))...);
}

}  // namespace detail

/// The positions of the nonzero elements, int64: np.nonzero. For several dimensions, one target for
/// the positions along each. Assigned like `compress`.
/// ```cpp
/// dsl::array<std::int64_t> where = dsl::nonzero(x > 0);
/// dsl::tie(rows, columns, count) = dsl::nonzero(m);
/// ```
template <class X>
  requires detail::operands<X>
auto nonzero(const X& x) {
  if constexpr (!detail::require_operand<X>()) {
    return refused{};
  } else {
    constexpr int rank = detail::operand_t<X>::rank;
    static_assert(rank > 0, "a scalar has no positions");
    return detail::positions_where(detail::as_operand(x),
                                   std::make_index_sequence<static_cast<std::size_t>(rank)>{});
  }
}

/// Evaluates a selection of one value into an array, which gets exactly as many elements as are
/// selected. Waits for their number.
template <class T, class Condition, class X>
void assign(array<T, 1>& target, const detail::compress_expression<Condition, X>& e) {
  if constexpr (detail::may_select(std::type_identity<detail::tuple<array<T, 1>>>{},
                                   std::type_identity<detail::tuple<X>>{}))
    detail::with_selection(e, [&target](const auto& selection) {
      const detail::source_of_selection from(selection);
      array<T, 1> room(dsl::extents<1>{from.elements}, from.where);
      scalar<std::int64_t> count(0, from.where);
      detail::select_into(selection, count.view(), room.view());
      const std::int64_t kept = count.value();
      target = kept == from.elements ? std::move(room) : eval(room.view()(slice(0, kept)));
    });
}
/// Evaluates a selection of one value now. Returns an array of exactly the elements selected. Waits
/// for their number.
template <class Condition, class X>
auto eval(const detail::compress_expression<Condition, X>& e) {
  return array<element_t<detail::trace_t<X>::type.type>, 1>(e);
}

/// Sets the elements of an array or a view for which a condition holds, as target[condition] =
/// value. Condition and value broadcast to the target. Does not wait. Throws as an assignment.
/// ```cpp
/// dsl::assign_where(x > 15.f, x, 0.f);
/// ```
template <class Condition, class Target, class Value>
void assign_where(const Condition& condition, Target&& target, const Value& value) {
  assign(target, where(condition, value, target));
}

}  // namespace dsl

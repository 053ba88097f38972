// Expressions with reductions inside: which parts are a pass of their own, and what is left when their values are known.
#pragma once

#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// What a formula returned, as a tuple of outputs: of structs their members.
template <class R>
constexpr auto as_tuple(const R& result) {
  if constexpr (is_tuple<R>) return unpack([](const auto&... r) { return concatenate(as_tuple(r)...); }, result);
  else if constexpr (structured<R>) return unpack([](const auto&... m) { return concatenate(as_tuple(m)...); }, structure<R>::members(result));
  else return tuple<R>{result};
}
template <class... E> using outputs_of = decltype(concatenate(as_tuple(std::declval<trace_t<E>>())...));

/// Reductions in an expression that are not inside others.
template <class E> inline constexpr int reductions_in = 0;
template <class F, class... Operands> inline constexpr int reductions_in<expression<F, Operands...>> = (0 + ... + reductions_in<Operands>);
template <class F, int R, class... Operands> inline constexpr int reductions_in<reduction<F, R, Operands...>> = 1;

/// Whether an expression is of a loop's steps, which it has no value without.
template <class E> inline constexpr bool counts_steps_in = false;
template <class F, class... Operands> inline constexpr bool counts_steps_in<expression<F, Operands...>> = (counts_steps_in<Operands> || ...);
template <class F, int R, class... Operands> inline constexpr bool counts_steps_in<reduction<F, R, Operands...>> = (counts_steps_in<Operands> || ...);

/// Whether all leaves but those of reductions are scalars.
template <class E> inline constexpr bool is_scalar_but_for_reductions = E::rank == 0;
template <class F, class... Operands>
inline constexpr bool is_scalar_but_for_reductions<expression<F, Operands...>> = (is_scalar_but_for_reductions<Operands> && ...);
template <class F, int R, class... Operands> inline constexpr bool is_scalar_but_for_reductions<reduction<F, R, Operands...>> = true;

/// Whether one kernel evaluates an expression: it has no reductions, is one, or computes with the values of one and with scalars.
template <class E> inline constexpr bool is_pass = true;
template <class F, class... Operands>
inline constexpr bool is_pass<expression<F, Operands...>> =
    (0 + ... + reductions_in<Operands>) == 0 ||
    ((0 + ... + reductions_in<Operands>) == 1 && (is_pass<Operands> && ...) && (is_scalar_but_for_reductions<Operands> && ...));
template <class F, int R, class... Operands>
inline constexpr bool is_pass<reduction<F, R, Operands...>> = (0 + ... + reductions_in<Operands>) == 0;

/// What tracing a formula shows: whether it gives reductions, without those among its operands, and a literal outside its dtype.
struct trace_of_formula { bool folds, literal_outside; };
// No constant expression where a formula calls what the compiler does not evaluate.
template <class E>
constexpr trace_of_formula look_at_formula() {
  graph g;
  g.notes_literals = true;
  tracer t{&g};
  traced<E>::run(t);
  return {g.fold_count() > 0, g.literal_outside};
}
template <trace_of_formula Seen> struct seen_formula { static constexpr trace_of_formula value = Seen; };
template <class E, trace_of_formula Seen = look_at_formula<E>()> constexpr seen_formula<Seen> seen(int);
template <class E> constexpr void seen(...);

/// Whether a formula can be traced: std::sqrt(2.0) is a constant expression for GCC and none for nvcc.
template <class E> inline constexpr bool can_be_traced = !std::is_void_v<decltype(seen<E>(0))>;

template <class E>
constexpr trace_of_formula trace_shows() {
  if constexpr (can_be_traced<E>) return decltype(seen<E>(0))::value;
  else return {};
}
template <class E> inline constexpr bool has_folds = trace_shows<E>().folds;
template <class E> inline constexpr bool literals_fit = !trace_shows<E>().literal_outside;

/// The rank of an expression's one value: of a formula that folds its arguments, 0.
template <class E>
constexpr int rank_of_result() {
  if constexpr (E::rank == 0 || reductions_in<E> > 0) return E::rank;
  else return has_folds<E> ? 0 : E::rank;
}
template <class E> inline constexpr int result_rank = rank_of_result<E>();
template <class F, class... Operands> inline constexpr bool is_one_value<expression<F, Operands...>> = result_rank<expression<F, Operands...>> == 0;

/// Where to evaluate what has no operand in memory, among some expressions and their targets.
template <class... E>
device home_of(const E&... e) {
  operand all[(0 + ... + leaf_count<E>)], *at = all;
  (add_leaves(e, at), ...);
  return home_of_operands(all, static_cast<int>(at - all));
}

/// Where the value of an inner pass goes.
template <class E>
using evaluated_t = std::conditional_t<E::rank == 0, scalar<element_t<trace_t<E>::type.type>>, array<element_t<trace_t<E>::type.type>, E::rank == 0 ? 1 : E::rank>>;
template <class E>
evaluated_t<E> empty_for(const E& e) {
  if constexpr (E::rank == 0) return evaluated_t<E>(element_t<trace_t<E>::type.type>{}, device_of(e));
  else return {};
}

/// The largest passes with reductions inside an expression that is no pass itself, as a tuple; of one that is, none.
template <class E> auto passes_of_operands(const E& e);
template <class E>
auto passes_of(const E& e) {
  if constexpr (reductions_in<E> == 0) return tuple<>{};
  else if constexpr (is_pass<E>) return tuple<E>{e};
  else return passes_of_operands(e);
}
template <class E>
auto passes_of_operands(const E& e) {
  return unpack([](const auto&... x) { return concatenate(passes_of(x)...); }, e.operands);
}
template <class E>
auto inner_passes(const E& e) {
  if constexpr (is_pass<E>) return tuple<>{};
  else return passes_of_operands(e);
}
// How many of them there are in the expressions before each one.
template <class... Tuples>
constexpr std::array<int, sizeof...(Tuples) + 1> sizes_before() {
  std::array<int, sizeof...(Tuples) + 1> n{};
  std::size_t k = 0;
  ((n[k + 1] = n[k] + static_cast<int>(std::tuple_size_v<Tuples>), ++k), ...);
  return n;
}
template <class... E> constexpr auto inner_before() { return sizes_before<decltype(inner_passes(std::declval<const E&>()))...>(); }
template <class... E> constexpr auto passes_before() { return sizes_before<decltype(passes_of(std::declval<const E&>()))...>(); }

// An expression with values, from number First on, in the places of its inner passes.
template <int First, class E, class Values> auto substitute(const E& e, const Values& values);
template <int First, class E, class Values>
auto substitute_operand(const E& e, const Values& values) {
  if constexpr (reductions_in<E> == 0) return e;
  else if constexpr (is_pass<E>) return as_operand(get<static_cast<std::size_t>(First)>(values));
  else return substitute<First>(e, values);
}
template <int First, class F, class... Operands, class Values, std::size_t... I>
auto substitute_operands(const expression<F, Operands...>& e, const Values& values, std::index_sequence<I...>) {
  return make_expression<F>(substitute_operand<First + passes_before<Operands...>()[I]>(get<I>(e.operands), values)...);
}
template <int First, class F, int R, class... Operands, class Values, std::size_t... I>
auto substitute_operands(const reduction<F, R, Operands...>& e, const Values& values, std::index_sequence<I...>) {
  const auto operands = tuple{substitute_operand<First + passes_before<Operands...>()[I]>(get<I>(e.operands), values)...};
  return unpack([&e](const auto&... x) { return reduction<F, R, std::remove_cvref_t<decltype(x)>...>{{x...}, e.axes}; }, operands);
}
template <int First, class E, class Values>
auto substitute(const E& e, const Values& values) {
  if constexpr (is_pass<E>) return e;
  else return substitute_operands<First>(e, values, std::make_index_sequence<std::tuple_size_v<decltype(e.operands)>>{});
}

}  // namespace dsl::detail

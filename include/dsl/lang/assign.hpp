// Assignment: expressions become a program, and the program runs.
#pragma once

#include <dsl/exec/run.hpp>
#include <dsl/lang/assignable.hpp>

namespace dsl {

namespace detail {

#if defined(__CUDACC__)
inline const bool kernels_registered = register_kernels();  // in the user's files; the library's own kernels do not count
#endif

/// What an output is assigned to: elements, or one value in device memory.
struct target_type {
  dtype type;
  bool single;
};
template <target_type... T> struct target_types {};

template <target_type T, class Output>
constexpr void add_output(graph& g, const Output& o) {
  constexpr dtype Target = T.type;
  g.single |= static_cast<std::uint32_t>(T.single) << g.outputs.size();
  if constexpr (is_symbol<Output>) {
    g.outputs.push_back(convert_symbol<Target, false>(o).id);
  } else {
    g.outputs.push_back(convert_symbol<Target, false>(lift(&g, o)).id);  // the formula returned a constant
  }
}
/// The graph of expressions assigned to given targets. Where they share their operands each reads the first one's.
template <bool Share, class Targets, class... E> struct assignment;
template <bool Share, target_type... Targets, class... E>
struct assignment<Share, target_types<Targets...>, E...> {
  static constexpr graph run() {
    graph g;
    tracer t{&g};
    const std::tuple<trace_t<E>...> results{trace<E>(t)...};
    const auto all = std::apply([](const auto&... r) { return std::tuple_cat(as_tuple(r)...); }, results);
    std::apply([&g](const auto&... o) { (add_output<Targets>(g, o), ...); }, all);
    g.operands = t.operands;
    return g;
  }
  template <class One>
  static constexpr trace_t<One> trace(tracer& t) {
    if (Share) t.operands = 0;
    return traced<One>::run(t);
  }
};

template <bool Share, class Targets, class Calls, class... E> struct assignment_pass;
template <bool Share, class Targets, class... Calls, class... E>
struct assignment_pass<Share, Targets, std::tuple<Calls...>, E...> : compile<assignment<Share, Targets, E...>, Calls...> {};

// The name of the first expression that has one. Deduced, for the reason given at `code_for`.
inline std::type_identity<unnamed> kernel_name() { return {}; }
template <class E, class... Rest>
auto kernel_name(const E&, const Rest&... rest) { return kernel_name(rest...); }
template <template <class, class> class Function, class Name, class F, class... Operands, class... Rest>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(const expression<Function<Name, F>, Operands...>&, const Rest&...) { return {}; }
template <class F, int R, class E, class... Rest>
auto kernel_name(const reduction<F, R, E>& e, const Rest&... rest) { return kernel_name(std::get<0>(e.operands), rest...); }

template <class T> inline constexpr target_type type_of_target{dtype_v<typename T::value_type>, T::rank == 0};

template <bool Share, class Targets, class... E>
using compiled_for = assignment_pass<Share, Targets, decltype(std::tuple_cat(std::declval<typename calls_of<E>::type>()...)), E...>;

// nvcc writes a kernel's template arguments down again and cannot write a closure type, so they are deduced from values here, never
// spelled by way of the expression that made them.
template <int Inputs, class Name, class... Parts>
const program_code& code_for(std::type_identity<Name>, pass<Parts...>) {
  return code_of<Name, pass<Parts...>, Inputs>();
}

// Whether a pass counts its elements: then an operand follows its leaves.
constexpr bool counts_positions(const program_view& p, int leaves) {
  for (int i = 0; i < p.nodes; ++i)
    if (head{p.heads[i]}.code() == op::index && p.payloads[i] == static_cast<std::uint64_t>(leaves)) return true;
  return false;
}

template <class E> fold_axes fold_axes_of(const E&) { return {E::rank, ~0u}; }
template <class F, int R, class... Operands>
fold_axes fold_axes_of(const reduction<F, R, Operands...>& e) { return {broadcast_rank<Operands...>(), e.axes}; }
// A formula of one reduction and scalars.
template <class F, class... Operands>
  requires((reductions_in<Operands> + ... + 0) > 0)
fold_axes fold_axes_of(const expression<F, Operands...>& e) {
  fold_axes found{};
  std::apply([&found](const auto&... x) { ((found = reductions_in<std::remove_cvref_t<decltype(x)>> > 0 ? fold_axes_of(x) : found), ...); }, e.operands);
  return found;
}

// Without memory an array takes the shape of what it is assigned, for a reduction without the axes that are folded.
template <class T> void give_memory(T&, const geometry&, std::uint32_t) {}
template <class T, int R> void give_memory(array<T, R>& a, const geometry& g, std::uint32_t folded) {
  dsl::extents<R> sizes{};
  if (g.shape_rank == R)
    for (int d = 0; d < R; ++d) sizes[static_cast<std::size_t>(d)] = (folded >> d & 1) != 0 ? 1 : g.shape[d];
  else
    for (int d = 0, k = 0; d < g.shape_rank && k < R; ++d)
      if ((folded >> d & 1) == 0) sizes[static_cast<std::size_t>(k++)] = g.shape[d];
  a = array<T, R>(sizes, g.where);
}

template <class T> bool needs_memory(const T&) { return false; }
template <class T, int R> bool needs_memory(const array<T, R>& a) { return !a.has_memory(); }

// The types of an expression's leaves.
template <class E> struct leaf_types { using type = std::tuple<E>; };
template <class... Operands> struct leaf_types<std::tuple<Operands...>> { using type = decltype(std::tuple_cat(std::declval<typename leaf_types<Operands>::type>()...)); };
template <class F, class... Operands> struct leaf_types<expression<F, Operands...>> : leaf_types<std::tuple<Operands...>> {};
template <class F, int R, class... Operands> struct leaf_types<reduction<F, R, Operands...>> : leaf_types<std::tuple<Operands...>> {};

/// Whether expressions may share their operands: min(a), max(a) and mean(a), which all read a. Whether they do is known when they run.
template <class First, class... E>
inline constexpr bool may_share_operands = sizeof...(E) > 0 && ((reductions_in<First> > 0) && ... && (reductions_in<E> > 0)) &&
                                           (std::is_same_v<typename leaf_types<First>::type, typename leaf_types<E>::type> && ...);

/// Expressions and their targets as a pass: its operands, before they are laid out.
template <bool Share, class TargetTuple, class... E> class assigned;
template <bool Share, class... Targets, class... E>
class assigned<Share, std::tuple<Targets&...>, E...> {
  static_assert((is_pass<E> && ...), "this takes more than one kernel: evaluate the reductions in it first, with dsl::eval");
  using compiled = compiled_for<Share, target_types<type_of_target<std::remove_const_t<Targets>>...>, E...>;
  static_assert(!compiled::mixes, "a formula cannot use its reductions for its elements: apply it to dsl::sum(x) and the like");
  static_assert(!compiled::folds_folds, "a reduction of a reduction: it is one value, not many");

  static constexpr int leaves = Share ? leaf_count<std::tuple_element_t<0, std::tuple<E...>>> : (0 + ... + leaf_count<E>), targets = sizeof...(Targets), expressions = sizeof...(E);

 public:
  using pass = typename compiled::spelled;
  static constexpr int inputs = inputs_of_kernel<leaves + (counts_positions(pass::elements::view(), leaves) ? 1 : 0)>();

 private:
  using target_numbers = std::index_sequence_for<Targets...>;
  static constexpr int expression_of(int target) { return detail::expression_of<E...>(target); }

 public:
  assigned(const std::tuple<Targets&...>& to, const E&... e) {
    operand* at = all_;
    int k = 0;
    ((at = Share ? all_ : at, parts_[k] = {static_cast<int>(at - all_), leaf_count<E>, fold_axes_of(e)}, add_leaves(e, at), ++k), ...);
    if (inputs > leaves) all_[leaves] = position_operand();
    give_memory_to(to, target_numbers{});
    at = all_ + inputs;
    add_targets(to, at, target_numbers{});
  }

  prepared prepare(const launch& fixed, const E&... e) const { return {code(e...), all_, fixed}; }
  /// Inputs, then targets.
  const operand* operands() const { return all_; }
  /// Runs it. Reductions over different index spaces take a pass each.
  void assign(const launch& fixed, const E&... e) {
    if constexpr (!Share && expressions > 1 && pass::folds::count > 0) {
      if (!is_one_space(all_, parts_, expressions)) return assign_apart(code(e...), all_, parts_, expressions, numbers.data(), fixed);
    }
    prepare(fixed, e...).assign();
  }

 private:
  static const program_code& code(const E&... e) { return code_for<inputs>(kernel_name(e...), pass{}); }
  template <std::size_t... I>
  static constexpr std::array<int, sizeof...(I)> expressions_of(std::index_sequence<I...>) { return {expression_of(static_cast<int>(I))...}; }
  static constexpr std::array<int, targets> numbers = expressions_of(target_numbers{});

  template <std::size_t... I>
  void give_memory_to(const std::tuple<Targets&...>& to, std::index_sequence<I...>) {
    if ((needs_memory(std::get<I>(to)) || ...)) (give_memory_to<static_cast<int>(I)>(std::get<I>(to)), ...);
  }
  template <int I, class Target>
  void give_memory_to(Target& target) {
    if (!needs_memory(target)) return;
    const part& mine = parts_[expression_of(I)];
    geometry g;
    if constexpr (pass::is_result(I)) lay_out(g, all_ + mine.first, mine.count, 0, 1, pass::view());
    else lay_out(g, all_, leaves, 0, 1, pass::view());
    give_memory(target, g, pass::is_result(I) ? mine.folds.axes : 0);
  }
  template <std::size_t... I>
  void add_targets(const std::tuple<Targets&...>& to, operand*& at, std::index_sequence<I...>) {
    (add_target<static_cast<int>(I)>(std::get<I>(to), at), ...);
  }
  template <int I, class Target>
  void add_target(const Target& target, operand*& at) {
    using E_ = std::tuple_element_t<static_cast<std::size_t>(expression_of(I)), std::tuple<E...>>;
    static_assert(!pass::is_result(I) || Target::rank == result_rank<E_>, "a reduction is one value: assign it to a dsl::scalar; along axes, to an array of as many dimensions as are left");
    operand* const mine = at;
    add_leaves(as_operand(target), at);
    if constexpr (pass::is_result(I)) lie_along(*mine, parts_[expression_of(I)].folds);
    else mine->kind = operand_kind::array;  // a scalar target of an elementwise expression is an array of rank 0
  }

  operand all_[inputs + targets];
  part parts_[expressions];
};

template <class... E>
bool share_operands(const E&... e) {
  operand all[(0 + ... + leaf_count<E>)], *at = all;
  part parts[sizeof...(E)];
  int k = 0;
  ((parts[k++] = {static_cast<int>(at - all), leaf_count<E>, fold_axes_of(e)}, add_leaves(e, at)), ...);
  return are_same_operands(all, parts, sizeof...(E));
}

/// An expression and its targets, laid out and ready to run.
template <class... Targets, class E>
prepared prepare_assignment(const launch& fixed, const std::tuple<Targets&...>& targets, const E& expression) {
  if constexpr (may_assign<E>(std::type_identity<std::tuple<Targets&...>>{})) return assigned<false, std::tuple<Targets&...>, E>(targets, expression).prepare(fixed, expression);
}

template <class... Targets, class Values, class... E, std::size_t... I>
void assign_substituted(const launch&, const std::tuple<Targets&...>&, const Values&, const std::tuple<const E&...>&, std::index_sequence<I...>);

/// Evaluates expressions into targets. Reductions inside them are evaluated first, all of one depth in one pass.
template <class... Targets, class... E>
void assign_all(const launch& fixed, const std::tuple<Targets&...>& targets, const E&... expressions) {
  static_assert((!counts_steps_in<E> && ...), "dsl::step is the number of a loop's step: it stands among the parameters of dsl::iterate alone");
  if constexpr (!may_assign<E...>(std::type_identity<std::tuple<Targets&...>>{})) {
    return;
  } else if constexpr ((is_pass<E> && ...)) {
    if constexpr (may_share_operands<E...>) {
      if (share_operands(expressions...)) return assigned<true, std::tuple<Targets&...>, E...>(targets, expressions...).assign(fixed, expressions...);
    }
    assigned<false, std::tuple<Targets&...>, E...>(targets, expressions...).assign(fixed, expressions...);
  } else {
    const auto inner = std::tuple_cat(inner_passes(expressions)...);
    auto values = std::apply([](const auto&... e) { return std::tuple<evaluated_t<std::remove_cvref_t<decltype(e)>>...>{empty_for(e)...}; }, inner);
    std::apply([&](auto&... v) { std::apply([&](const auto&... e) { assign_all({}, std::tie(v...), e...); }, inner); }, values);
    assign_substituted(fixed, targets, values, std::tuple<const E&...>(expressions...), std::index_sequence_for<E...>{});
  }
}
template <class... Targets, class Values, class... E, std::size_t... I>
void assign_substituted(const launch& fixed, const std::tuple<Targets&...>& targets, const Values& values, const std::tuple<const E&...>& expressions, std::index_sequence<I...>) {
  assign_all(fixed, targets, substitute<inner_before<E...>()[I]>(std::get<I>(expressions), values)...);
}

}  // namespace detail

/// Evaluates an expression into an array, a view or a scalar, as if it were complete before the first element is written: one
/// kernel, and one more for each depth of reductions inside it, without waiting. Throws shape_error, device_error, memory_error or
/// cuda_error, the first three before anything is written. `fixed` overrides the plan.
template <class Target, detail::lazy E>
void assign(Target&& target, const E& expression, const launch& fixed = {}) {
  detail::assign_all(fixed, std::tuple<std::remove_reference_t<Target>&>(target), expression);
}

/// The same for an array, a scalar or an element.
template <class Target, detail::viewable A>
void assign(Target&& target, const A& source, const launch& fixed = {}) {
  assign(target, detail::as_operand(source), fixed);
}

/// Sets every element of a view to a C++ scalar.
template <element T, int R, detail::fills<T> V>
void assign(const view<T, R>& target, const V& value) {
  assign(target, detail::value_leaf<V>{value});
}

/// Several targets at once; what `tie` returns.
template <class... Targets>
struct tied {
  std::tuple<Targets&...> targets;

  template <class E>
    requires(detail::lazy<E> || detail::viewable<E>)
  const tied& operator=(const E& expression) const {
    detail::assign_all({}, targets, detail::as_operand(expression));
    return *this;
  }
  template <class... E>
    requires((detail::lazy<E> || detail::viewable<E>) && ...)
  const tied& operator=(const std::tuple<E...>& expressions) const {
    std::apply([this](const auto&... e) { detail::assign_all({}, targets, detail::as_operand(e)...); }, expressions);
    return *this;
  }
};

/// Targets for a formula with several outputs, or for as many expressions in a std::tuple: arrays for elements, scalars for
/// reductions. One kernel. All right sides are complete before the first element is written.
template <class... Targets>
tied<Targets...> tie(Targets&... targets) {
  return {std::tuple<Targets&...>(targets...)};
}

/// How an assignment would run: grid, block, path, registers, cost. Runs nothing. Throws as the assignment would.
template <class... Targets, detail::lazy E>
plan plan_of(const tied<Targets...>& targets, const E& expression, const launch& fixed = {}) {
  return detail::prepare_assignment(fixed, targets.targets, expression).make_plan();
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

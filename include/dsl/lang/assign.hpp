// Assignment: expressions become a program, and the program runs.
#pragma once

#include <dsl/exec/run.hpp>
#include <dsl/lang/assignable.hpp>
#include <dsl/lang/targets.hpp>

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
    g.outputs.push_back(convert_operand<Target, false>(o).id);
  } else {
    g.outputs.push_back(convert_operand<Target, false>(lift(&g, o)).id);  // the formula returned a constant
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

// Whether a formula gives integers that were C++ scalars, for a target of another integer dtype: where(mask, 300, 400).
template <class Output>
constexpr bool narrows_scalars(target_type to) {
  if constexpr (is_symbol<Output>) return Output::type.weak && kind_of(to.type) == kind::integer && kind_of(Output::type.type) == kind::integer && Output::type.type != to.type;
  else return false;
}
template <target_type... T, class... Output>
constexpr bool narrows_scalars(target_types<T...>, std::type_identity<std::tuple<Output...>>) { return (narrows_scalars<Output>(T) || ...); }

/// What each leaf has to lie in, should it be a C++ integer.
template <class Assignment, int Leaves>
struct leaf_ranges {
  integer_range at[Leaves];

  constexpr leaf_ranges() {
    const graph g = Assignment::run();
    for (int i = 0; i < g.scalars.size(); ++i) at[i] = g.scalars[i];
  }
};

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

// The types of an expression's leaves.
template <class E> struct leaf_types { using type = std::tuple<E>; };
template <class... Operands> struct leaf_types<std::tuple<Operands...>> { using type = decltype(std::tuple_cat(std::declval<typename leaf_types<Operands>::type>()...)); };
template <class F, class... Operands> struct leaf_types<expression<F, Operands...>> : leaf_types<std::tuple<Operands...>> {};
template <class F, int R, class... Operands> struct leaf_types<reduction<F, R, Operands...>> : leaf_types<std::tuple<Operands...>> {};

/// All expressions' leaves, one after another.
template <class... E>
struct leaves_of_parts {
  static constexpr int count = sizeof...(E);
  explicit leaves_of_parts(const E&... e) {
    operand* at = all;
    int k = 0;
    ((parts[k++] = {static_cast<int>(at - all), leaf_count<E>, fold_axes_of(e)}, add_leaves(e, at)), ...);
  }
  operand all[(0 + ... + leaf_count<E>)];
  part parts[count];
};

// What reductions ask of their operands' shapes.
template <class E> void check_shapes(const E&) {}
template <class F, int R, class... Operands>
void check_shapes(const reduction<F, R, Operands...>& e) {
  if constexpr (requires { F::check_shapes(std::declval<const Operands&>()...); })
    std::apply([](const auto&... x) { F::check_shapes(x...); }, e.operands);
}
template <class F, class... Operands>
  requires((reductions_in<Operands> + ... + 0) > 0)
void check_shapes(const expression<F, Operands...>& e) {
  std::apply([](const auto&... x) { (check_shapes(x), ...); }, e.operands);
}

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
  using types = target_types<type_of_target<std::remove_const_t<Targets>>...>;
  using pass = typename compiled::spelled;
  static constexpr int inputs = inputs_of_kernel<leaves + (counts_positions(pass::elements::view(), leaves) ? 1 : 0)>();

 private:
  using bound = std::tuple<bound_target<Targets>&...>;
  using target_numbers = std::index_sequence_for<Targets...>;
  static constexpr int expression_of(int target) { return detail::expression_of<E...>(target); }

 public:
  assigned(const bound& to, const E&... e) : folds_{fold_axes_of(e)...} {
    operand* at = all_;
    ((at = Share ? all_ : at, add_leaves(e, at)), ...);
    (check_shapes(e), ...);
    if (inputs > leaves) all_[leaves] = position_operand();
    if constexpr (narrows_scalars(types{}, std::type_identity<outputs_of<E...>>{})) {
      constexpr leaf_ranges<assignment<Share, types, E...>, leaves> ranges;
      for (int i = 0; i < leaves; ++i) require_range(all_[i], ranges.at[i]);
    }
    give_memory_to(to, target_numbers{});
    at = all_ + inputs;
    add_targets(to, at, target_numbers{});
  }

  static const program_code& code(const E&... e) { return code_for<inputs>(kernel_name(e...), pass{}); }
  /// Inputs, then targets.
  const operand* operands() const { return all_; }

 private:
  template <std::size_t... I>
  void give_memory_to(const bound& to, std::index_sequence<I...>) {
    if (!(std::get<I>(to).needs_memory() || ...)) return;
    const device_guard of_targets(home_of(as_operand(std::get<I>(to).target)...)), of_operands(home_of_operands(all_, leaves));
    geometry g;
    lay_out(g, all_, leaves, 0, 1, pass::view());
    (std::get<I>(to).give_memory(g, pass::is_result(static_cast<int>(I)) ? folds_[expression_of(static_cast<int>(I))].axes : 0, pass::view(), all_), ...);
  }
  template <std::size_t... I>
  void add_targets(const bound& to, operand*& at, std::index_sequence<I...>) {
    (add_target<static_cast<int>(I), Targets>(std::get<I>(to), at), ...);
  }
  template <int I, class Target>
  void add_target(bound_target<Target>& target, operand*& at) {
    using E_ = std::tuple_element_t<static_cast<std::size_t>(expression_of(I)), std::tuple<E...>>;
    static_assert(!pass::is_result(I) || Target::rank == result_rank<E_>, "a reduction is one value: assign it to a dsl::scalar; along axes, to an array of as many dimensions as are left");
    operand* const mine = at;
    add_leaves(as_operand(target.elements()), at);
    if constexpr (pass::is_result(I)) lie_along(*mine, folds_[expression_of(I)]);
    else mine->kind = operand_kind::array;  // a scalar target of an elementwise expression is an array of rank 0
  }

  operand all_[inputs + targets];
  fold_axes folds_[expressions];
};

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
      const leaves_of_parts leaves(std::get<nth_alike<First, E...>(K)>(from_)...);
      if (are_same_operands(leaves.all, leaves.parts, leaves.count))
        return add<true>(std::tuple_cat(targets_of<nth_alike<First, E...>(K)>()...), std::get<nth_alike<First, E...>(K)>(from_)...);
    }
    (add<false>(targets_of<nth_alike<First, E...>(K)>(), std::get<nth_alike<First, E...>(K)>(from_)), ...);
  }
  template <bool Share, class... Targets, class... Some>
  void add(const std::tuple<bound_target<Targets>&...>& to, const Some&... e) {
    using part = assigned<Share, std::tuple<Targets&...>, Some...>;
    all_.add(part::code(e...), part(to, e...).operands(), fixed_);
  }
  template <std::size_t I>
  auto targets_of() const {
    constexpr std::array<int, sizeof...(E) + 1> first = sizes_before<outputs_of<E>...>();
    return some_targets<static_cast<std::size_t>(first[I])>(to_, std::make_index_sequence<static_cast<std::size_t>(first[I + 1] - first[I])>{});
  }

  const launch& fixed_;
  Bound& to_;
  std::tuple<const E&...> from_;
  statement all_;
};

/// Evaluates expressions that are passes. What is thrown before they are queued leaves all targets as they were.
template <class... Targets, class... E>
void assign_passes(const launch& fixed, const std::tuple<Targets&...>& targets, const E&... e) {
  auto to = bind_targets(targets);
  if constexpr (are_reductions<E...>(target_types<type_of_target<std::remove_const_t<Targets>>...>{})) {
    reductions_apart<decltype(to), E...>(fixed, to, e...).assign();
  } else {
    using together = assigned<false, std::tuple<Targets&...>, E...>;
    if constexpr (sizeof...(E) > 1 && together::pass::folds::count > 0) {
      const leaves_of_parts leaves(e...);
      require_one_space(leaves.all, leaves.parts, leaves.count, together::pass::view());
    }
    prepared(together::code(e...), together(all_targets(to), e...).operands(), fixed).assign();
  }
  std::apply([](auto&... t) { (t.adopt(), ...); }, to);
}

template <class... Targets, class Values, class... E, std::size_t... I>
void assign_substituted(const launch&, const std::tuple<Targets&...>&, const Values&, const std::tuple<const E&...>&, std::index_sequence<I...>);

/// Evaluates expressions into targets. Reductions inside them are evaluated first, all of one depth together.
template <class... Targets, class... E>
void assign_all(const launch& fixed, const std::tuple<Targets&...>& targets, const E&... expressions) {
  static_assert((!counts_steps_in<E> && ...), "dsl::step is the number of a loop's step: it stands among the parameters of dsl::iterate alone");
  if constexpr (!may_assign<E...>(std::type_identity<std::tuple<Targets&...>>{})) {
    return;
  } else if constexpr ((is_pass<E> && ...)) {
    assign_passes(fixed, targets, expressions...);
  } else {
    const device_guard guard(std::apply([&](const auto&... t) { return home_of(expressions..., as_operand(t)...); }, targets));
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
/// kernel, and for each depth of reductions inside it one for those that read the same operands, without waiting. Throws shape_error,
/// device_error, memory_error or cuda_error, the first three before anything is written or the target has got memory. `fixed` overrides
/// the plan.
template <class Target, detail::lazy E>
void assign(Target&& target, const E& expression, const launch& fixed = {}) {
  detail::assign_all(fixed, std::tuple<std::remove_reference_t<Target>&>(target), expression);
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
/// reductions. One kernel, but for reductions that do not read the same operands. All right sides are complete before the first element
/// is written. Throws as `assign` does, and shape_error where an element would be written twice.
template <class... Targets>
tied<Targets...> tie(Targets&... targets) {
  return {std::tuple<Targets&...>(targets...)};
}

/// How an assignment would run: grid, block, path, registers, cost. Runs nothing. Throws as the assignment would.
template <class... Targets, detail::lazy E>
plan plan_of(const tied<Targets...>& targets, const E& expression, const launch& fixed = {}) {
  if constexpr (detail::may_assign<E>(std::type_identity<std::tuple<Targets&...>>{})) {
    using pass = detail::assigned<false, std::tuple<Targets&...>, E>;
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

// Assignment: expressions become a program, and the program runs.
#pragma once

#include <dsl/exec/run.hpp>
#include <dsl/lang/expression.hpp>

namespace dsl {

namespace detail {

#if defined(__CUDACC__)
inline const bool kernels_registered = register_kernels();  // in the user's files; the library's own kernels do not count
#endif

template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class T> inline constexpr bool is_reduced = false;
template <op R, dtype D> inline constexpr bool is_reduced<reduced<R, D>> = true;

/// What a formula returned, as a tuple of outputs.
template <class R>
constexpr auto as_tuple(const R& result) {
  if constexpr (is_tuple<R>) return result;
  else return std::tuple<R>{result};
}
template <class... E> using outputs_of = decltype(std::tuple_cat(as_tuple(std::declval<trace_t<E>>())...));

template <op R, dtype D> constexpr op reduction_of(const reduced<R, D>&) { return R; }

template <dtype Target, class Output>
constexpr void add_output(graph& g, const Output& o) {
  if constexpr (is_reduced<Output>) {
    static_assert(assignable(Target, decltype(o.value)::type), "the target's dtype is narrower than the reduction's: use dsl::cast");
    g.outputs.push_back(output{convert_symbol<Target, false>(o.value).id, reduction_of(o)});
  } else if constexpr (is_symbol<Output>) {
    static_assert(assignable(Target, Output::type), "the target's dtype is narrower than the expression's: use dsl::cast");
    g.outputs.push_back(output{convert_symbol<Target, false>(o).id});
  } else {
    g.outputs.push_back(output{convert_symbol<Target, false>(lift(&g, o)).id});  // the formula returned a constant
  }
}
/// The graph of expressions assigned to targets of given dtypes.
template <class Targets, class... E> struct assignment;
template <dtype... Targets, class... E>
struct assignment<std::integer_sequence<dtype, Targets...>, E...> {
  static_assert(sizeof...(Targets) == std::tuple_size_v<outputs_of<E...>>, "as many targets as the right side has values");
  static constexpr graph run() {
    graph g;
    tracer t{&g};
    const std::tuple<trace_t<E>...> results{traced<E>::run(t)...};
    const auto all = std::apply([](const auto&... r) { return std::tuple_cat(as_tuple(r)...); }, results);
    std::apply([&g](const auto&... o) { (add_output<Targets>(g, o), ...); }, all);
    return g;
  }
};

template <class Targets, class Calls, class... E> struct assignment_program;
template <class Targets, class... Calls, class... E>
struct assignment_program<Targets, std::tuple<Calls...>, E...> { using type = program_of<assignment<Targets, E...>, Calls...>; };

// The name of the first expression that has one. Deduced, for the reason given at `code_for`.
inline std::type_identity<unnamed> kernel_name() { return {}; }
template <class E, class... Rest>
auto kernel_name(const E&, const Rest&... rest) { return kernel_name(rest...); }
template <template <class, class> class Function, class Name, class F, class... Operands, class... Rest>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(const expression<Function<Name, F>, Operands...>&, const Rest&...) { return {}; }

template <class T> struct target_dtype;
template <class T, int R> struct target_dtype<array<T, R>> { static constexpr dtype value = dtype_v<T>; };
template <class T, int R> struct target_dtype<view<T, R>> { static constexpr dtype value = dtype_v<T>; };
template <class T> struct target_dtype<scalar<T>> { static constexpr dtype value = dtype_v<T>; };

// A view writes whether it is const itself or not, as a pointer does.
template <class Target> inline constexpr bool is_writable = !std::is_const_v<Target>;
template <class T, int R> inline constexpr bool is_writable<view<T, R>> = !std::is_const_v<T>;
template <class T, int R> inline constexpr bool is_writable<const view<T, R>> = !std::is_const_v<T>;

template <class Targets, class... E>
using program_for = typename assignment_program<Targets, decltype(std::tuple_cat(std::declval<typename calls_of<E>::type>()...)), E...>::type;

// nvcc writes a kernel's template arguments down again and cannot write a closure type, so they are deduced from values here, never
// spelled by way of the expression that made them.
template <int Inputs, class Name, class... Parts>
const program_code& code_for(std::type_identity<Name>, program<Parts...>) {
  return code_of<Name, program<Parts...>, Inputs>();
}

template <class T> void give_memory(T&, const geometry&) {}
template <class T, int R> void give_memory(array<T, R>& a, const geometry& g) {
  if (a.has_memory()) return;
  dsl::extents<R> sizes{};
  if (g.shape_rank == R)
    for (int d = 0; d < R; ++d) sizes[static_cast<std::size_t>(d)] = g.shape[d];
  a = array<T, R>(sizes, g.where);
}

template <class Output, class Target>
void add_target(const Target& target, operand*& at) {
  static_assert(!is_reduced<Output> || Target::rank == 0, "a reduction is one value: assign it to a dsl::scalar");
  operand* const mine = at;
  add_leaves(as_operand(target), at);
  // A scalar target of an elementwise expression is an array of rank 0.
  mine->kind = is_reduced<Output> ? operand_kind::result : operand_kind::array;
}

template <class T> bool needs_memory(const T&) { return false; }
template <class T, int R> bool needs_memory(const array<T, R>& a) { return !a.has_memory(); }

template <class Outputs, class... Targets, std::size_t... I>
void add_targets(const std::tuple<Targets&...>& targets, operand*& at, std::index_sequence<I...>) {
  (add_target<std::tuple_element_t<I, Outputs>>(std::get<I>(targets), at), ...);
}

/// Expressions and their targets, bound to memory and laid out; ready to run.
template <class... Targets, class... E>
prepared prepare_assignment(const launch& fixed, const std::tuple<Targets&...>& targets, const E&... expressions) {
  using target_dtypes = std::integer_sequence<dtype, target_dtype<std::remove_const_t<Targets>>::value...>;
  static_assert((is_writable<Targets> && ...), "the target is const: an array that is, or a view that only reads");
  using program = program_for<target_dtypes, E...>;
  constexpr int inputs = (0 + ... + leaf_count<E>);
  operand all[inputs + sizeof...(Targets)];
  operand* at = all;
  (add_leaves(expressions, at), ...);
  const bool missing = std::apply([](auto&... t) { return (needs_memory(t) || ...); }, targets);
  if (missing) {
    geometry g;
    lay_out(g, all, inputs, 0, 1, program::view());
    std::apply([&g](auto&... t) { (give_memory(t, g), ...); }, targets);
  }
  add_targets<outputs_of<E...>>(targets, at, std::index_sequence_for<Targets...>{});
  return {code_for<inputs>(kernel_name(expressions...), program{}), all, fixed};
}

}  // namespace detail

/// Evaluates an expression into an array, a view or a scalar, as if it were complete before the first element is written: one
/// kernel, without waiting. Throws shape_error, device_error, memory_error or cuda_error, the first three before anything is
/// written. `fixed` overrides the plan.
template <class Target, detail::lazy E>
void assign(Target&& target, const E& expression, const launch& fixed = {}) {
  detail::prepare_assignment(fixed, std::tuple<std::remove_reference_t<Target>&>(target), expression).assign();
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

  template <detail::lazy E>
  const tied& operator=(const E& expression) const {
    detail::prepare_assignment({}, targets, expression).assign();
    return *this;
  }
  template <detail::lazy... E>
  const tied& operator=(const std::tuple<E...>& expressions) const {
    std::apply([this](const auto&... e) { detail::prepare_assignment({}, targets, e...).assign(); }, expressions);
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
template <class Target, detail::lazy E>
plan plan_of(Target& target, const E& expression, const launch& fixed = {}) {
  return plan_of(tie(target), expression, fixed);
}

/// Evaluates now: an array for elements, a scalar for a reduction or an expression without dimensions.
template <detail::lazy E>
auto eval(const E& expression) {
  using output = std::tuple_element_t<0, detail::outputs_of<E>>;
  static_assert(std::tuple_size_v<detail::outputs_of<E>> == 1, "eval takes one value: use dsl::tie for several");
  if constexpr (detail::is_reduced<output>) return scalar<element_t<decltype(output::value)::type.type>>(expression);
  else if constexpr (E::rank == 0) return scalar<element_t<output::type.type>>(expression);
  else return array<element_t<output::type.type>, E::rank>(expression);
}

}  // namespace dsl

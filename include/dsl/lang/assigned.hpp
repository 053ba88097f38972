// Expressions and their targets as one pass: its program, its operands.
#pragma once

#include <dsl/exec/run.hpp>
#include <dsl/lang/assignable.hpp>
#include <dsl/lang/targets.hpp>

namespace dsl {

namespace detail {

#if defined(__CUDACC__)
inline const bool kernels_registered = compiles_cuda && register_kernels();  // in the user's files; the library's own kernels do not count
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
    const tuple<trace_t<E>...> results{trace<E>(t)...};
    const auto all = unpack([](const auto&... r) { return concatenate(as_tuple(r)...); }, results);
    unpack([&g](const auto&... o) { (add_output<Targets>(g, o), ...); }, all);
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
struct assignment_pass<Share, Targets, tuple<Calls...>, E...> : compile<assignment<Share, Targets, E...>, Calls...> {};

// The name of the first expression that has one. Deduced, for the reason given at `code_for`.
inline std::type_identity<unnamed> kernel_name() { return {}; }
template <class E, class... Rest>
auto kernel_name(const E&, const Rest&... rest) { return kernel_name(rest...); }
template <template <class, class> class Function, class Name, class F, class... Operands, class... Rest>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(const expression<Function<Name, F>, Operands...>&, const Rest&...) { return {}; }
template <class F, int R, class E, class... Rest>
auto kernel_name(const reduction<F, R, E>& e, const Rest&... rest) { return kernel_name(get<0>(e.operands), rest...); }

template <class T> inline constexpr target_type type_of_target{dtype_v<typename T::value_type>, T::rank == 0};

template <bool Share, class Targets, class... E>
using compiled_for = assignment_pass<Share, Targets, decltype(concatenate(std::declval<typename calls_of<E>::type>()...)), E...>;

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
constexpr bool narrows_scalars(target_types<T...>, std::type_identity<tuple<Output...>>) { return (narrows_scalars<Output>(T) || ...); }

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
  unpack([&found](const auto&... x) { ((found = reductions_in<std::remove_cvref_t<decltype(x)>> > 0 ? fold_axes_of(x) : found), ...); }, e.operands);
  return found;
}

// The types of an expression's leaves.
template <class E> struct leaf_types { using type = tuple<E>; };
template <class... Operands> struct leaf_types<tuple<Operands...>> { using type = decltype(concatenate(std::declval<typename leaf_types<Operands>::type>()...)); };
template <class F, class... Operands> struct leaf_types<expression<F, Operands...>> : leaf_types<tuple<Operands...>> {};
template <class F, int R, class... Operands> struct leaf_types<reduction<F, R, Operands...>> : leaf_types<tuple<Operands...>> {};

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
    unpack([](const auto&... x) { F::check_shapes(x...); }, e.operands);
}
template <class F, class... Operands>
  requires((reductions_in<Operands> + ... + 0) > 0)
void check_shapes(const expression<F, Operands...>& e) {
  unpack([](const auto&... x) { (check_shapes(x), ...); }, e.operands);
}

/// Expressions and their targets as a pass: its operands, before they are laid out.
template <bool Share, class TargetTuple, class... E> class assigned;
template <bool Share, class... Targets, class... E>
class assigned<Share, tuple<Targets&...>, E...> {
  static_assert((is_pass<E> && ...), "this takes more than one kernel: evaluate the reductions in it first, with dsl::eval");
  using compiled = compiled_for<Share, target_types<type_of_target<std::remove_const_t<Targets>>...>, E...>;
  static_assert(!compiled::mixes, "a formula cannot use its reductions for its elements: apply it to dsl::sum(x) and the like");
  static_assert(!compiled::folds_folds, "a reduction of a reduction: it is one value, not many");

  static constexpr int leaves = Share ? leaf_count<std::tuple_element_t<0, tuple<E...>>> : (0 + ... + leaf_count<E>), targets = sizeof...(Targets), expressions = sizeof...(E);

 public:
  using types = target_types<type_of_target<std::remove_const_t<Targets>>...>;
  using pass = typename compiled::spelled;
  static constexpr int inputs = inputs_of_kernel<leaves + (counts_positions(pass::elements::view(), leaves) ? 1 : 0)>();

 private:
  using bound = tuple<bound_target<Targets>&...>;
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
    if (!(get<I>(to).needs_memory() || ...)) return;
    const device_guard of_targets(home_of(as_operand(get<I>(to).target)...)), of_operands(home_of_operands(all_, leaves));
    geometry g;
    lay_out(g, all_, leaves, 0, 1, pass::view());
    (get<I>(to).give_memory(g, pass::is_result(static_cast<int>(I)) ? folds_[expression_of(static_cast<int>(I))].axes : 0, pass::view(), all_), ...);
  }
  template <std::size_t... I>
  void add_targets(const bound& to, operand*& at, std::index_sequence<I...>) {
    (add_target<static_cast<int>(I), Targets>(get<I>(to), at), ...);
  }
  template <int I, class Target>
  void add_target(bound_target<Target>& target, operand*& at) {
    using E_ = std::tuple_element_t<static_cast<std::size_t>(expression_of(I)), tuple<E...>>;
    static_assert(!pass::is_result(I) || Target::rank == result_rank<E_>, "a reduction is one value: assign it to a dsl::scalar; along axes, to an array of as many dimensions as are left");
    operand* const mine = at;
    add_leaves(as_operand(target.elements()), at);
    if constexpr (pass::is_result(I)) lie_along(*mine, folds_[expression_of(I)]);
    else mine->kind = operand_kind::array;  // a scalar target of an elementwise expression is an array of rank 0
  }

  operand all_[inputs + targets];
  fold_axes folds_[expressions];
};

}  // namespace detail
}  // namespace dsl

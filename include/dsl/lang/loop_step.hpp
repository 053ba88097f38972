// One step of a loop as a formula: the formula passed to `iterate`, the values recorded, and the
// condition that ends the loop.
#pragma once

#include <dsl/lang/assign.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl {

/// The number of the current step of a loop.
struct step_number {
  using lazy_expression = void;
  static constexpr int rank = 0;
};

namespace detail {

template <> inline constexpr bool counts_steps_in<step_number> = true;
template <> struct traced<step_number> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::value, dtype::int64, true>(t); }
};
template <int, class Change>
step_number remap(const char*, const step_number& number, const Change&) {
  return number;
}
inline void add_leaves(const step_number&, operand*& at) {
  operand& o = *at++;
  o.kind = operand_kind::value;
  o.type = dtype::int64;
  o.counts_steps = true;
}

/// An array that has elements of its own in each step of a loop: those of a step are `distance`
/// elements behind those of the step before. The steps are counted from 0.
template <class T, int R>
struct step_array {
  using lazy_expression = void;
  static constexpr int rank = R;
  view<T, R> first;
  std::int64_t distance;
};
template <class T, int R> struct traced<step_array<T, R>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::load, dtype_v<T>>(t, R); }
};
template <class T, int R>
void add_leaves(const step_array<T, R>& leaf, operand*& at) {
  operand& o = *at;
  add_leaves(leaf.first, at);
  o.word[1] = o.word[0];
  o.step_bytes = leaf.distance * static_cast<std::int64_t>(sizeof(T));
}
/// A bit for each leaf of an expression that is one.
template <class E> inline constexpr std::uint64_t step_arrays_in = 0;
template <class T, int R> inline constexpr std::uint64_t step_arrays_in<step_array<T, R>> = 1;
template <class F, class... X>
inline constexpr std::uint64_t step_arrays_in<expression<F, X...>> = [] {
  std::uint64_t bits = 0;
  int at = 0;
  ((bits |= at < 64 ? step_arrays_in<X> << at : 0, at += leaf_count<X>), ...);
  return bits;
}();

/// Whether an expression consists of single values only, in device memory or not, and so may be the
/// condition that ends a loop.
template <class E> inline constexpr bool is_condition = false;
template <class T> inline constexpr bool is_condition<view<T, 0>> = true;
template <class T> inline constexpr bool is_condition<value_leaf<T>> = true;
template <class F, class... Operands>
inline constexpr bool is_condition<expression<F, Operands...>> = (is_condition<Operands> && ...);

/// Traces an expression with the given symbols as its leaves; its own leaves begin at number First.
template <class E> struct traced_on {
  template <int First, class Symbols> static constexpr auto run(tracer&, const Symbols& leaves) {
    return get<static_cast<std::size_t>(First)>(leaves);
  }
};
template <class F, class... Operands> struct traced_on<expression<F, Operands...>> {
  template <int First, class Symbols> static constexpr auto run(tracer& t, const Symbols& leaves) {
    return call<First>(t, leaves, std::index_sequence_for<Operands...>{});
  }
  static constexpr int leaves_before(std::size_t operand) {
    const int counts[] = {leaf_count<Operands>...};
    int n = 0;
    for (std::size_t i = 0; i < operand; ++i) n += counts[i];
    return n;
  }
  template <int First, class Symbols, std::size_t... I>
  static constexpr auto call(tracer& t, const Symbols& leaves, std::index_sequence<I...>) {
    return F::trace(t, traced_on<Operands>::template run<First + leaves_before(I)>(t, leaves)...);
  }
};

template <std::size_t First, class Tuple, std::size_t... I>
constexpr auto subtuple(const Tuple& all, std::index_sequence<I...>) {
  return tuple{get<First + I>(all)...};
}
/// Elements First to First + Count of a tuple.
template <std::size_t First, std::size_t Count, class Tuple>
constexpr auto subtuple(const Tuple& all) {
  return subtuple<First>(all, std::make_index_sequence<Count>{});
}

/// The condition of a loop without `until`.
struct never {
  using lazy_expression = void;
  static constexpr int rank = 0;
};
template <> inline constexpr int leaf_count<never> = 0;

/// The functors that a function calls when it is applied to the first operands of a list.
template <class Function, class Operands, class Numbers> struct calls_with_first;
template <class Function, class Operands, std::size_t... I>
struct calls_with_first<Function, Operands, std::index_sequence<I...>> {
  using type = typename Function::template calls<std::tuple_element_t<I, Operands>...>;
};

/// A loop's step that is its formula: a function of `Variables` variables and parameters.
template <class Function, int Variables>
struct formula_step {
  template <class... Operands> static constexpr int rank = Function::template rank<Operands...>;
  template <class... S> using calls = typename Function::template calls<S...>;
  template <class... S>
  static constexpr auto trace(tracer& t, S... s) {
    t.g->variables = Variables;
    return Function::trace(t, s...);
  }
};

/// Outputs: those of the formula, then those of the recorders applied to the new variables, then
/// whether `Condition` holds and the number of the next step. Operands: those of the formula, then
/// the condition's leaves, then for each leaf the number of the variable that it reads (-1: none),
/// and the step's number.
template <class Function, int Arguments, class Variables, class Condition,
          class... Recorders> struct loop_step;
template <class Function, int Arguments, target_type... Variables, class Condition,
          class... Recorders>
struct loop_step<Function, Arguments, target_types<Variables...>, Condition, Recorders...> {
  static constexpr std::size_t leaves = static_cast<std::size_t>(leaf_count<Condition>);
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class... S>
  using calls =
      typename calls_with_first<Function, tuple<S...>, std::make_index_sequence<Arguments>>::type;

  template <class... S>
  static constexpr auto trace(tracer& t, S... s) {
    t.g->variables = sizeof...(Variables);
    const tuple<S...> all{s...};
    const auto outputs = as_tuple(unpack([&t](auto... x) { return Function::trace(t, x...); },
                                         subtuple<0, static_cast<std::size_t>(Arguments)>(all)));
    const auto after = unpack(
        [&t](auto... out) { return tuple{as_stored<Variables.type>(lift(t.g, out))...}; }, outputs);
    const auto recorded =
        unpack([](auto... x) { return concatenate(as_tuple(Recorders{}(x...))...); }, after);
    if constexpr (std::is_same_v<Condition, never>) {
      return concatenate(outputs, recorded);
    } else {
      const auto given = subtuple<static_cast<std::size_t>(Arguments), leaves>(all);
      const auto which = subtuple<static_cast<std::size_t>(Arguments) + leaves, leaves>(all);
      const auto stop = traced_on<Condition>::template run<0>(
          t, values_after(t, after, given, which, std::make_index_sequence<leaves>{}));
      const auto next = apply<op::add>(get<static_cast<std::size_t>(Arguments) + 2 * leaves>(all),
                                       constant<dtype::int64>(t.g, 1));
      return concatenate(outputs, recorded,
                         tuple{convert_symbol<dtype::boolean, false>(stop),
                               convert_symbol<dtype::int64, false>(next)});
    }
  }

 private:
  // An output as a variable of dtype D stores it: values of widened dtypes are rounded before they
  // become another dtype.
  template <dtype D, class Output>
  static constexpr auto as_stored(Output output) {
    if constexpr (is_widened(D))
      return convert_symbol<D, false>(convert_symbol<computed_in(D), false>(output));
    else return convert_symbol<D, false>(output);
  }
  // A leaf of the condition reads the new value of its variable. The state's scalars are known at
  // compile time, but which of them a leaf reads, if any, is known only when the loop runs.
  template <class After, class Given, class Which, std::size_t... I>
  static constexpr auto values_after(tracer& t, const After& after, const Given& given,
                                     const Which& which, std::index_sequence<I...>) {
    return tuple{value_after<0>(t, after, get<I>(given), get<I>(which))...};
  }
  template <std::size_t K, class After, class Leaf, class Which>
  static constexpr auto value_after(tracer& t, const After& after, Leaf leaf, Which which) {
    constexpr target_type variables[] = {Variables...};
    if constexpr (K == sizeof...(Variables) || Leaf::type.weak) {
      return leaf;
    } else if constexpr (!variables[K].single || variables[K].type != Leaf::type.type) {
      return value_after<K + 1>(t, after, leaf, which);
    } else {
      const auto is_it =
          apply<op::equal>(which, constant<dtype::int32>(t.g, static_cast<std::int32_t>(K)));
      return value_after<K + 1>(t, after, apply<op::where>(is_it, get<K>(after), leaf), which);
    }
  }
};

// The step has the kernel name of its formula.
template <template <class, class> class Function, class Name, class F, int Arguments,
          class Variables, class Condition, class... Recorders, class... Operands>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(
    const expression<loop_step<Function<Name, F>, Arguments, Variables, Condition, Recorders...>,
                     Operands...>&) {
  return {};
}

template <template <class, class> class Function, class Name, class F, int Variables,
          class... Operands>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(
    const expression<formula_step<Function<Name, F>, Variables>, Operands...>&) {
  return {};
}

}  // namespace detail
}  // namespace dsl

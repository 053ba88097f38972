// Tracing of expressions, and the functions that make expressions of operands.
#pragma once

#include <dsl/ir/counts.hpp>
#include <dsl/lang/operands.hpp>

namespace dsl {
namespace detail {

/// Counters while an expression's type is traced: operands and functors are numbered in the order
/// in which they are met.
struct tracer {
  graph* g;
  int operands = 0, calls = 0;
};

template <class E> struct traced;  // symbol(s) of an expression type: traced<E>::run(tracer)

template <class E> using trace_t = decltype(traced<E>::run(std::declval<tracer&>()));

/// `rank`: the operand's rank, if it has axes.
template <op Code, dtype D, bool Weak = false>
constexpr symbol<D, Weak> operand_symbol(tracer& t, int rank = -1) {
  if (rank >= 0) t.g->note_rank(t.operands, rank);
  return {t.g, t.g->add(Code, D, {static_cast<std::uint64_t>(t.operands++)})};
}

template <class T, int R> struct traced<view<T, R>> {
  static constexpr auto run(tracer& t) {
    return operand_symbol<R == 0 ? op::load_scalar : op::load, dtype_v<T>>(t, R);
  }
};
template <class T> struct traced<value_leaf<T>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::value, dtype_v<T>, true>(t); }
};
template <int R> struct traced<index_leaf<R>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::index, dtype::int64>(t, R); }
};
/// Whether a function may reduce its arguments, after they are broadcast together.
template <class F> inline constexpr bool may_reduce = false;

// Adds the results of a formula to the outputs of its index space.
template <class R>
constexpr void note_outputs(index_space& space, const R& result) {
  if constexpr (is_symbol<R>) space.outputs.push_back(result.id);
  else if constexpr (structured<R>)
    unpack([&space](const auto&... m) { (note_outputs(space, m), ...); },
           structure<R>::members(result));
  else if constexpr (is_tuple<R>)
    unpack([&space](const auto&... r) { (note_outputs(space, r), ...); }, result);
}

// The same results; those that are computed from numbers of elements alone as results of
// reductions.
template <class R>
constexpr R as_results([[maybe_unused]] graph& g, R result) {
  if constexpr (is_symbol<R>) result.id = result_of_counts(g, result.id);
  else if constexpr (is_tuple<R>)
    unpack([&g](auto&... r) { ((r = as_results(g, r)), ...); }, result);
  return result;
}

template <class F, class... Operands> struct traced<expression<F, Operands...>> {
  static constexpr auto run(tracer& t) {
    if constexpr (may_reduce<F>) {
      const int space = t.g->open_space(t.operands, false, 0);
      const auto result = as_results(*t.g, call(t));
      note_outputs(t.g->spaces[space - 1], result);
      t.g->close_space(t.operands);
      return result;
    } else {
      return call(t);
    }
  }
  static constexpr auto call(tracer& t) {
    const tuple<trace_t<Operands>...> symbols{
        traced<Operands>::run(t)...};  // braces: evaluated left to right
    return call(t, symbols, std::index_sequence_for<Operands...>{});
  }
  template <class Symbols, std::size_t... I>
  static constexpr auto call(tracer& t, const Symbols& symbols, std::index_sequence<I...>) {
    return F::trace(t, get<I>(symbols)...);
  }
};

/// The rank of the operand of a row formula (lang/apply_along_axis.hpp); 0 if F is none.
template <class F> inline constexpr int row_rank = 0;

template <class F, int R, class... Operands> struct traced<reduction<F, R, Operands...>> {
  static constexpr auto run(tracer& t) {
    constexpr bool of_rows = row_rank<F> > 0;
    const int space = t.g->open_space(t.operands, !of_rows || R != row_rank<F>,
                                      of_rows ? row_rank<F> : R, of_rows);
    const auto result = as_results(*t.g, traced<expression<F, Operands...>>::call(t));
    note_outputs(t.g->spaces[space - 1], result);
    t.g->close_space(t.operands);
    return result;
  }
};

/// The functors that an expression calls, in the tracer's order.
template <class E> struct calls_of { using type = tuple<>; };
template <class F, class... Operands> struct calls_of<expression<F, Operands...>> {
  using type =
      decltype(concatenate(std::declval<typename calls_of<Operands>::type>()...,
                           std::declval<typename F::template calls<trace_t<Operands>...>>()));
};

template <class F, int R, class... Operands> struct calls_of<reduction<F, R, Operands...>>
    : calls_of<expression<F, Operands...>> {};

/// The function of a row of the op table.
template <op Code>
struct table_function {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class... S> static constexpr auto trace(tracer&, S... s) { return apply<Code>(s...); }
};

/// Two rows of the op table applied to one operand: a tuple of two values.
template <op First, op Second>
struct pair_function {
  template <class Operand> static constexpr int rank = Operand::rank;
  template <class...> using calls = tuple<>;
  template <class S> static constexpr auto trace(tracer&, S s) {
    return tuple{apply<First>(s), apply<Second>(s)};
  }
};

template <dtype D>
struct cast_function {
  template <class Operand> static constexpr int rank = Operand::rank;
  template <class...> using calls = tuple<>;
  template <class S> static constexpr auto trace(tracer&, S s) {
    require_real_value<D, S::type.type>();
    return convert_symbol<D, false>(s);
  }
};

// Whether a row of the table is defined for the operands' dtypes.
template <op Code, class... T>
constexpr bool is_defined() {
  if constexpr ((is_symbol<trace_t<operand_t<T>>> && ...))
    return resolve(Code, trace_t<operand_t<T>>::type...).valid;
  else return false;
}

struct identity_function {
  template <class Operand> static constexpr int rank = Operand::rank;
  template <class...> using calls = tuple<>;
  template <class S> static constexpr auto trace(tracer&, S s) { return s; }
};

template <class T>
operand operand_of(const value_leaf<T>& v) {
  const literal bits = to_literal(to_value(v.value));
  return {operand_kind::value, dtype_v<T>, 0, {bits.bits, bits.second}};
}

/// Whether an expression is a struct of operands (lang/structure.hpp), whose members count as
/// operands of the function.
template <class E> inline constexpr bool is_struct_of_operands = false;

template <class E> inline constexpr bool has_integer_leaf = false;
template <math::wraps T> inline constexpr bool has_integer_leaf<value_leaf<T>> = true;
template <class F, class... M> inline constexpr bool has_integer_leaf<expression<F, M...>> =
    is_struct_of_operands<expression<F, M...>> && (has_integer_leaf<M> || ...);

template <class E> inline constexpr int own_operands = 1;
template <class F, class... M> inline constexpr int own_operands<expression<F, M...>> =
    is_struct_of_operands<expression<F, M...>> ? (0 + ... + own_operands<M>) : 1;

// A symbol of an operand's dtype, a struct of such symbols, or the (empty) result of a formula that
// returns neither.
template <class E> constexpr trace_t<E> stand_in(tracer& t);
template <class F, class... M>
constexpr auto stand_in(std::type_identity<expression<F, M...>>, tracer& t) {
  const tuple<trace_t<M>...> members{stand_in<M>(t)...};
  return unpack([&t](const auto&... m) { return F::trace(t, m...); }, members);
}
template <class E> constexpr trace_t<E> stand_in(tracer& t) {
  if constexpr (is_struct_of_operands<E>) {
    return stand_in(std::type_identity<E>{}, t);
  } else {
    using S = trace_t<E>;
    const int number = t.operands++;
    if (E::rank > 0) t.g->note_rank(number, E::rank);
    if constexpr (is_symbol<S>)
      return {t.g, t.g->add(E::rank > 0 ? op::load : op::value, S::type.type,
                            {static_cast<std::uint64_t>(number)})};
    else return S{};
  }
}
/// For each operand of a function that is a C++ integer, the range it must be in.
template <class Function, class... Operands>
struct scalar_ranges {
  integer_range at[(0 + ... + own_operands<Operands>)];

  constexpr scalar_ranges() {
    graph g;
    g.has_types_alone = true;
    tracer t{&g};
    const tuple<trace_t<Operands>...> symbols{stand_in<Operands>(t)...};
    unpack([&t](const auto&... s) { (void)Function::trace(t, s...); }, symbols);
    for (int i = 0; i < g.scalars.size(); ++i) at[i] = g.scalars[i];
  }
};

template <class E>
constexpr void require_scalars_fit(const E& operand, const integer_range*& range) {
  if constexpr (is_struct_of_operands<E>) {
    unpack([&range](const auto&... m) { (require_scalars_fit(m, range), ...); }, operand.operands);
  } else {
    if constexpr (has_integer_leaf<E>) {
      const bool is_outside = range->outside(to_literal(to_value(operand.value)).bits,
                                             std::is_signed_v<decltype(operand.value)>) != nullptr;
      if (is_outside)
        require_range(operand_of(operand), *range);  // not allowed in a constant expression
    }
    ++range;
  }
}
// A row of the table narrows a C++ integer only next to integers and bools. Next to a float the
// check, and with it the tracing, is skipped.
template <class Function, class... Operands> inline constexpr bool may_narrow = true;
template <op Code, class... Operands>
inline constexpr bool may_narrow<table_function<Code>, Operands...> =
    ((kind_of(trace_t<Operands>::type.type) <= kind::integer && !trace_t<Operands>::type.weak) ||
     ...);

/// Throws overflow_error if one of the C++ integers among a function's operands is converted to a
/// dtype that cannot hold it.
template <class Function, class... Operands>
constexpr void require_scalars_fit(const tuple<Operands...>& operands) {
  if constexpr ((has_integer_leaf<Operands> || ...) && may_narrow<Function, Operands...>) {
    constexpr scalar_ranges<Function, Operands...> ranges;
    const integer_range* range = ranges.at;
    unpack([&range](const auto&... operand) { (require_scalars_fit(operand, range), ...); },
           operands);
  }
}

/// An expression: a function applied to operands. Throws overflow_error as require_scalars_fit.
template <class Function, class... T>
constexpr auto make_expression(const T&... x) {
  expression<Function, operand_t<T>...> made{{}, {as_operand(x)...}};
  require_scalars_fit<Function>(made.operands);
  return made;
}

/// The same for operands that were checked when another expression took them.
template <class Function, class... T>
constexpr expression<Function, operand_t<T>...> make_checked_expression(const T&... x) {
  return {{}, {as_operand(x)...}};
}

// Lifts expressions of dsl::constant, which consist of constants only, next to symbols.
template <class T>
constexpr auto lift(graph* g, const value_leaf<T>& x) {
  return lift(g, x.value);
}
template <class F, class... Operands>
constexpr auto lift(graph* g, const expression<F, Operands...>& e) {
  tracer t{g};
  return unpack([&](const auto&... x) { return F::trace(t, lift(g, x)...); }, e.operands);
}

template <int Arity, int Given>
constexpr bool require_operands() {
  static_assert(Given == Arity || Arity != 1, "this function takes one operand");
  static_assert(Given == Arity || Arity != 2, "this function takes two operands");
  static_assert(Given == Arity || Arity != 3, "this function takes three operands");
  return Given == Arity;
}

/// Whether a value may be used inside a formula: a symbol, a C++ number or dsl::constant.
template <class T> inline constexpr bool is_of_formula = is_symbol<T> || element<T>;
template <class T> inline constexpr bool is_of_formula<value_leaf<T>> = true;
template <class F, class... Operands>
inline constexpr bool is_of_formula<expression<F, Operands...>> = (is_of_formula<Operands> && ...);
template <class T>
constexpr bool require_of_formula() {
  static_assert(is_of_formula<T>,
                "inside a formula there is one element of each array: an array, a view or a "
                "dsl::scalar is an argument of it, "
                "dsl::vectorize(f)(x, a)");
  return is_of_formula<T>;
}

/// The graph of the symbols among these values.
template <class... T>
constexpr graph* owner_among(const T&... x) {
  graph* g = nullptr;
  const auto note = [&g](const auto& s) {
    if constexpr (is_symbol<std::remove_cvref_t<decltype(s)>>) g = s.owner;
  };
  (note(x), ...);
  return g;
}
template <op Code, class... T>
constexpr auto apply_in_formula(const T&... x) {
  graph* const g = owner_among(x...);
  return apply<Code>(lift(g, x)...);
}

/// Applies a row of the table: to symbols at once, to arrays when the expression is assigned.
template <op Code, class... T>
constexpr auto apply_function(const T&... x) {
  if constexpr (!require_operands<info(Code).arity, static_cast<int>(sizeof...(T))>()) {
    return refused{};
  } else if constexpr ((std::same_as<T, refused> || ...)) {
    return refused{};
  } else if constexpr (!(require_operand<T>() && ...)) {
    return refused{};
  } else if constexpr ((is_symbol<T> || ...)) {
    if constexpr (!(require_of_formula<T>() && ...)) return refused{};
    else return apply_in_formula<Code>(x...);
  } else {
    constexpr bool is_valid = is_defined<Code, T...>();
    static_assert(is_valid, "this operation is not defined for operands of these dtypes");
    if constexpr (is_valid) return make_expression<table_function<Code>>(x...);
    else return refused{};
  }
}

template <op First, op Second, class A>
constexpr auto apply_pair(const A& a) {
  if constexpr (is_symbol<A>) return tuple{apply<First>(a), apply<Second>(a)};
  else return make_expression<pair_function<First, Second>>(a);
}

}  // namespace detail
}  // namespace dsl

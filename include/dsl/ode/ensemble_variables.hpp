// The variables of an ensemble's elements, and the symbols that stand for them.
#pragma once

#include <dsl/exec/ensemble/element_loop.hpp>
#include <dsl/ode/integrate.hpp>

namespace dsl::ode::detail {

using dsl::detail::add_leaves;
using dsl::detail::as_operand;
using dsl::detail::graph;
using dsl::detail::literal;
using dsl::detail::operand;
using dsl::detail::operand_t;
using dsl::detail::variable_list;

/// Count consecutive variables.
template <int First, class Numbers> struct variables_from;
template <int First, int... I>
struct variables_from<First, std::integer_sequence<int, I...>> {
  using type = variable_list<(First + I)...>;
};
template <int First, int Count> using variable_range =
    typename variables_from<First, std::make_integer_sequence<int, Count>>::type;
template <bool Exists, class List> using variables_if =
    std::conditional_t<Exists, List, variable_list<>>;

template <class... Lists> struct joined_variables { using type = variable_list<>; };
template <int... A> struct joined_variables<variable_list<A...>> {
  using type = variable_list<A...>;
};
template <int... A, int... B, class... Rest>
struct joined_variables<variable_list<A...>, variable_list<B...>, Rest...>
    : joined_variables<variable_list<A..., B...>, Rest...> {};
template <class... Lists> using variables_joined = typename joined_variables<Lists...>::type;

/// The scalars that every ensemble has, in the order of their operands; then come the parameters
/// that are single values.
enum ensemble_scalar : int {
  scalar_t0,
  scalar_t1,
  scalar_relative,  // The tolerances, in units that are moderate as floats.
  scalar_absolute,
  scalar_unit,  // A tolerance in these units.
  scalar_first_step,
  scalar_largest_step,
  scalar_most_steps,
  scalar_part,  // Of the whole time that a step of a fixed size takes.
  ensemble_scalars
};

/// A parameter that is an array: the given array number `Number`. One that is a single value: the
/// scalar number `Number` of dtype D, read by `Code`.
template <int Number> struct array_parameter {};
template <int Number, op Code, dtype D, bool Weak> struct scalar_parameter {};

/// Variables as they are numbered: their dtypes.
template <class P>
struct numbered_variables {
  int count = 0;
  dtype types[dsl::detail::max_program_nodes / 8]{};

  constexpr int add(int n, dtype type) {
    const int first = count;
    for (int i = 0; i < n; ++i) types[count++] = type;
    return first;
  }
  constexpr void add_of_fields(int& first, int each) {
    first = count;
    for (int i = 0; i < P::fields; ++i) add(each, P::field_types[i]);
  }
  constexpr void add_arrays(int& first) {
    first = count;
    for (int i = 0; i < P::arrays; ++i) add(1, P::array_types[i]);
  }
};

/// The numbers of an element's variables. -1: it has none of them.
template <class P>
struct ensemble_layout : numbered_variables<P> {
  int y = -1, given = -1, t1 = -1;  // The arrays that are read; t is t0 where that is one.
  int position = -1, key = -1;      // The element's number, and the key of its random numbers.
  int first_step = -1, largest_step = -1, most_steps = -1;  // Limits that are arrays.
  // The time; the next step, a float unless all are alike, which is what is left until t1 if it is
  // the last one; the binary logarithm of the squared error of the last accepted step.
  int t = -1, h = -1, is_last = -1, log_error = -1;
  int steps = -1, rejected = -1, outcome = -1, running = -1;
  int growth = -1;  // A float: the most by which the next step may grow.
  int slope = -1;   // Of each field at t, where the last stage of a step is the first of the next.
  // The last accepted step: its beginning, its size, and the polynomials of the continuous
  // extension, by field and then by power of theta.
  int old_t = -1, taken = -1, old_y = -1, power = -1;
  // Whether the last step was accepted, and its number among those that were.
  int keeps_step = -1, kept_step = -1;
  // Saved rows: the next row and its time, and the time of the row after it; whether it is due; the
  // row that is being saved, and its values.
  int row = -1, next = -1, after = -1, saving = -1, saved_row = -1, stores = -1, saved = -1;
  int until_saved = -1;  // Accepted steps until the next row, where steps are saved.
  // Events: their functions' values, or signs, at t. While a root is sought: the bracket, as parts
  // of the step, and the values at its ends; the bound of the next guess; and whether a root was
  // found.
  int value = -1, seeking = -1, low = -1, high = -1, value_low = -1, value_high = -1, radius = -1,
      acting = -1;
  // How often each event has happened; its number and whether it happens now, if its times are
  // kept.
  int happened = -1, kept_row = -1, keeps = -1;
};
template <class P>
constexpr ensemble_layout<P> lay_out_variables() {
  constexpr dtype real = dtype::float64, whole = dtype::int32, flag = dtype::boolean;
  ensemble_layout<P> v;
  v.add_of_fields(v.y, 1);
  v.add_arrays(v.given);
  if (P::draws) v.position = v.add(1, dtype::int64);
  v.t = v.add(1, real);
  if (P::t1_varies) v.t1 = v.add(1, real);
  if (P::first_varies) v.first_step = v.add(1, dtype::float32);
  if (P::largest_varies) v.largest_step = v.add(1, dtype::float32);
  if (P::most_varies) v.most_steps = v.add(1, whole);
  v.h = v.add(1, P::has_fixed_steps && !(P::counts_steps && P::is_single) ? real : dtype::float32);
  v.is_last = v.add(1, flag);
  v.log_error = v.add(1, dtype::float32);
  v.steps = v.add(1, whole);
  v.rejected = v.add(1, whole);
  v.outcome = v.add(1, dtype::uint8);
  v.running = v.add(1, flag);
  v.growth = v.add(1, dtype::float32);
  if (P::draws) v.key = v.add(1, dtype::uint64);
  if (P::reuses_slope) v.add_of_fields(v.slope, 1);
  if (P::keeps_last) {
    v.old_t = v.add(1, real);
    v.taken = v.add(1, real);
    v.add_of_fields(v.old_y, 1);
  }
  if (P::is_dense) v.add_of_fields(v.power, P::powers);
  if (P::records) {
    v.keeps_step = v.add(1, flag);
    v.kept_step = v.add(1, whole);
  }
  if (P::saves_times || P::saves_steps) {
    v.row = v.add(1, whole);
    v.saving = v.add(1, flag);
    v.saved_row = v.add(1, whole);
    v.stores = v.add(1, flag);
  }
  if (P::saves_times) {
    v.next = v.add(1, real);
    v.after = v.add(1, real);
    v.add_of_fields(v.saved, 1);
  }
  if (P::saves_steps) v.until_saved = v.add(1, whole);
  if (P::events > 0) {
    v.value = v.add(P::events, real);
    v.seeking = v.add(1, flag);
    v.low = v.add(1, real);
    v.high = v.add(1, real);
    v.value_low = v.add(P::events, real);
    v.value_high = v.add(P::events, real);
    v.radius = v.add(1, real);
    v.acting = v.add(1, flag);
    v.happened = v.add(P::events, whole);
    v.kept_row = v.add(P::events, whole);
    v.keeps = v.add(P::events, flag);
  }
  return v;
}
template <class P> inline constexpr ensemble_layout<P> variables_of = lay_out_variables<P>();

template <class P, class Numbers> struct ensemble_types;
template <class P, std::size_t... V>
struct ensemble_types<P, std::index_sequence<V...>> {
  using type = dsl::detail::variable_types<variables_of<P>.types[V]...>;
};

/// The symbols of an element's variables and scalars, in a graph.
template <class P>
struct ensemble_symbols {
  static constexpr auto v = variables_of<P>;
  using fields = std::make_index_sequence<static_cast<std::size_t>(P::fields)>;
  graph* g;

  template <int V>
  constexpr auto variable() const {
    constexpr dtype type = v.types[V];
    g->note_rank(V, 1);
    return symbol<type>{g, g->add(op::load, type, {static_cast<std::uint64_t>(V)})};
  }
  template <int S, dtype D = dtype::float64, bool Weak = false, op Code = op::value>
  constexpr auto scalar() const {
    return symbol<D, Weak>{g, g->add(Code, D, {static_cast<std::uint64_t>(v.count + S)})};
  }
  /// One variable for each field, from number First on, `Step` apart.
  template <int First, int Step = 1>
  constexpr auto of_fields() const {
    return of_fields<First, Step>(fields{});
  }
  constexpr auto t0() const {
    if constexpr (P::t0_varies) return variable<v.t>();
    else return scalar<scalar_t0>();
  }
  constexpr auto t1() const {
    if constexpr (P::t1_varies) return variable<v.t1>();
    else return scalar<scalar_t1>();
  }
  constexpr auto first_step() const {
    if constexpr (P::first_varies) return variable<v.first_step>();
    else return scalar<scalar_first_step, dtype::float32>();
  }
  constexpr auto largest_step() const {
    if constexpr (P::largest_varies) return variable<v.largest_step>();
    else return scalar<scalar_largest_step, dtype::float32>();
  }
  constexpr auto most_steps() const {
    if constexpr (P::most_varies) return variable<v.most_steps>();
    else return scalar<scalar_most_steps, dtype::int32>();
  }
  /// `Count` variables from number First on.
  template <int First, int Count>
  constexpr auto several() const {
    return several<First>(std::make_integer_sequence<int, Count>{});
  }
  /// How often event number E may happen.
  template <int E>
  constexpr auto most_events() const {
    return scalar<ensemble_scalars + P::parameter_scalars + E, dtype::int32>();
  }
  /// How many accepted steps lie between saved ones.
  constexpr auto steps_of_row() const {
    return scalar<ensemble_scalars + P::parameter_scalars + P::events, dtype::int32>();
  }
  /// The key of an element's random numbers.
  constexpr auto key_of_element() const {
    const auto all = scalar<ensemble_scalars + P::parameter_scalars + P::events + P::saves_steps,
                            dtype::uint64>();
    const auto number = dsl::detail::convert_symbol<dtype::uint64, false>(variable<v.position>());
    return symbol<dtype::uint64>{
        g, g->add(op::random_key, dtype::uint64, dsl::detail::fields(all.id, number.id))};
  }
  constexpr auto parameters() const { return parameters(typename P::parameters{}); }

 private:
  template <int First, int... I>
  constexpr auto several(std::integer_sequence<int, I...>) const {
    return tuple{variable<First + I>()...};
  }
  template <int First, int Step, std::size_t... I>
  constexpr auto of_fields(std::index_sequence<I...>) const {
    return tuple{variable<First + static_cast<int>(I) * Step>()...};
  }
  template <class... X>
  constexpr auto parameters(tuple<X...>) const {
    return tuple<decltype(parameter(X{}))...>{parameter(X{})...};
  }
  template <int N>
  constexpr auto parameter(array_parameter<N>) const {
    return variable<v.given + N>();
  }
  template <int N, op Code, dtype D, bool Weak>
  constexpr auto parameter(scalar_parameter<N, Code, D, Weak>) const {
    return scalar<ensemble_scalars + N, D, Weak, Code>();
  }
};

/// Adds the new values of variables to a graph's outputs, converted to their dtypes.
template <class P>
struct ensemble_outputs {
  graph& g;
  constexpr explicit ensemble_outputs(graph& of) : g(of) {
    g.most_outputs = static_cast<int>(dsl::detail::max_image_words);
  }
  template <int... V, class... S>
  constexpr void put(variable_list<V...>, const S&... values) {
    (g.outputs.push_back(
         dsl::detail::convert_symbol<variables_of<P>.types[V], false>(dsl::detail::lift(&g, values))
             .id),
     ...);
  }
  template <int... V, class... S>
  constexpr void put(variable_list<V...> of, const tuple<S...>& values) {
    unpack([&](const S&... s) { put(of, s...); }, values);
  }
  template <int... V>
  constexpr void put_zeros(variable_list<V...> of) {
    put(of, (0 * V)...);
  }
};

/// A right-hand side's derivatives, each in its field's precision.
template <class P, class T, class... Y, class... X>
constexpr auto derivatives(const T& t, const tuple<Y...>& y, const tuple<X...>& others) {
  const auto time = [&] {
    if constexpr (right_side<typename P::function>::times == 0) return no_time{};
    else return symbol<T::type.type, true>{t.owner, t.id};
  }();
  return unpack(
      [&](const Y&... fields) {
        return unpack(
            [&](const X&... x) {
              return unpack([&](const auto&... k) { return tuple{slope(fields, k)...}; },
                            as_tuple(right_side<typename P::function>::at(time, fields..., x...)));
            },
            others);
      },
      y);
}

}  // namespace dsl::ode::detail

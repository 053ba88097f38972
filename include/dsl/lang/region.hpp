// Regions of an expression: the elementwise parts between its reductions, and their derivatives.
#pragma once

#include <dsl/lang/apply_along_axis.hpp>
#include <dsl/lang/evaluated_reductions.hpp>
#include <dsl/lang/shift.hpp>
#include <dsl/lang/taken_gradient.hpp>

namespace dsl::detail {

/// Whether a formula reduces or counts the elements of its arguments.
template <class F, class... Operands>
constexpr bool formula_reduces() {
  graph g;
  tracer t{&g};
  g.open_space(0, false, 0);
  const tuple<trace_t<Operands>...> symbols{stand_in<Operands>(t)...};
  unpack([&t](const auto&... s) { (void)F::trace(t, s...); }, symbols);
  return g.reduction_count() > 0 || has_counts(g);
}

/// A part of an expression that ends a region, because the derivative crosses it by a statement of
/// its own: a reduction, a scan, a formula that reduces, a shift, a gather.
template <class E> inline constexpr bool is_cut = is_materialized<E>;
template <class F, int R, class... X> inline constexpr bool is_cut<reduction<F, R, X...>> = true;
template <class... X> inline constexpr bool is_cut<expression<shifted_value, X...>> = true;
template <dtype D, class... X>
inline constexpr bool is_cut<expression<gather_function<D>, X...>> = true;
template <class Name, class F, class... X>
inline constexpr bool is_cut<expression<formula<Name, F>, X...>> =
    formula_reduces<formula<Name, F>, X...>();

template <class Name, class F, auto Takes, class... X>
inline constexpr bool is_cut<expression<formula<Name, taking<F, Takes>>, X...>> = true;

/// The operands of the region that ends with an expression's value, in order: leaves and cuts.
/// A cut itself is the only operand of its region.
template <class E>
constexpr auto region_operands(const E& e) {
  return tuple<E>(e);
}
template <class F, class... X>
constexpr auto region_operands(const expression<F, X...>& e) {
  if constexpr (is_cut<expression<F, X...>>) return tuple<expression<F, X...>>(e);
  else
    return unpack([](const auto&... x) { return concatenate(region_operands(x)...); }, e.operands);
}
template <class E> using region_operands_t = decltype(region_operands(std::declval<const E&>()));
template <class E>
inline constexpr std::size_t region_size = std::tuple_size_v<region_operands_t<E>>;

/// The value of a region's expression, given the symbols of its operands from number First on.
template <class E> struct region_value {
  template <std::size_t First, class Symbols>
  static constexpr auto trace(tracer&, const Symbols& s) {
    return get<First>(s);
  }
};
template <class F, class... X> struct region_value<expression<F, X...>> {
  template <std::size_t First, class Symbols>
  static constexpr auto trace(tracer& t, const Symbols& s) {
    if constexpr (is_cut<expression<F, X...>>) return get<First>(s);
    else return trace<First>(t, s, std::index_sequence_for<X...>{});
  }

 private:
  template <std::size_t First, class Symbols, std::size_t... I>
  static constexpr auto trace(tracer& t, const Symbols& s, std::index_sequence<I...>) {
    constexpr std::size_t sizes[] = {region_size<X>..., 0};
    constexpr auto before = [sizes](std::size_t i) {
      std::size_t n = First;
      for (std::size_t k = 0; k < i; ++k) n += sizes[k];
      return n;
    };
    return F::trace(t, region_value<X>::template trace<before(I)>(t, s)...);
  }
};

/// The leaf's own type, and its neighbours.
template <class E> inline constexpr bool is_neighbour_leaf = false;
template <class T, int R> inline constexpr bool is_neighbour_leaf<neighbour_leaf<T, R>> = true;
template <class E> inline constexpr bool is_view_leaf = false;
template <class T, int R> inline constexpr bool is_view_leaf<view<T, R>> = true;

/// The weights of operands K of the region of E, for a weight of its value. The arguments are the
/// weight, then the operands.
template <class E, std::size_t... K>
struct region_weights {
  template <class S, class... X>
  static constexpr auto trace(tracer& t, S seed, X... x) {
    const tuple<X...> operands(x...);
    const auto value = region_value<E>::template trace<0>(t, operands);
    graph& g = *value.owner;
    derivative_inputs inputs(g);
    (inputs.add(get<K>(operands).id), ...);
    adjoint_sweep sweep(g, inputs, g.size(), false);
    sweep.seed(value.id, {&g, seed.id});
    sweep.run();
    int k = 0;
    sequence<term> found;
    for (; k < inputs.count(); ++k) found.push_back(sweep.of(k));
    return found;
  }
};

/// Whether the weight of operand K of a region depends on the value of operand I.
template <class E, std::size_t I, std::size_t K>
constexpr bool weights_read() {
  constexpr bool reads = []<class... X>(std::type_identity<tuple<X...>>) {
    graph g;
    tracer t{&g};
    const symbol<trace_t<E>::type.type> seed = operand_symbol<op::value, trace_t<E>::type.type>(t);
    const tuple<trace_t<X>...> operands{stand_in<X>(t)...};
    const sequence<term> weights = unpack(
        [&](const auto&... x) { return region_weights<E, K>::trace(t, seed, x...); }, operands);
    if (weights[0].is_zero()) return false;
    sequence<int> root;
    root.push_back(weights[0].id);
    return needed_by(g, root)[get<I>(operands).id] != 0;
  }(std::type_identity<region_operands_t<E>>{});
  return reads;
}

/// A contribution to the gradient of an array: the sum of the weights of those operands K of a
/// region whose flag is set. Operands: a flag for each K, a displacement for each K, the weight of
/// the region's value, the region's operands. All K have dtype D.
template <class E, dtype D, std::size_t... K>
struct region_gradient {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = typename calls_of<E>::type;

  template <class... S> static constexpr symbol<D> trace(tracer& t, const S&... s) {
    constexpr std::size_t n = sizeof...(K);
    return trace(t, tuple<S...>(s...), std::make_index_sequence<n>{},
                 std::make_index_sequence<sizeof...(S) - 2 * n - 1>{});
  }

 private:
  template <class All, std::size_t... J, std::size_t... X>
  static constexpr symbol<D> trace(tracer& t, const All& all, std::index_sequence<J...>,
                                   std::index_sequence<X...>) {
    constexpr std::size_t n = sizeof...(J);
    const auto seed = get<2 * n>(all);
    const sequence<term> weights =
        region_weights<E, K...>::trace(t, seed, get<2 * n + 1 + X>(all)...);
    const bool is_shared = rank_of_node(*t.g, seed.id) == 0;
    term sum;
    (add(sum, weights[static_cast<int>(J)], {t.g, get<J>(all).id},
         is_neighbour_leaf<std::tuple_element_t<K, region_operands_t<E>>>
             ? (*t.g)[get<n + J>(all).id].field(0)
             : -1,
         get<2 * n + 1 + K>(all).id, is_shared),
     ...);
    return symbol_of<D>(t.g, sum);
  }
  static constexpr bool reads(const term& weight, int node) {
    sequence<int> root;
    root.push_back(weight.id);
    return needed_by(*weight.g, root)[node] != 0;
  }
  // `is_shared`: the region's weight is one for all elements. Otherwise each element has its own,
  // so that `weight` has all of the region's extents, by which a shift tells what is beyond an end.
  static constexpr void add(term& sum, term weight, const term& flag, int displacement, int element,
                            bool is_shared) {
    if (weight.is_zero()) return;
    weight = converted(weight, D);
    if (displacement >= 0) {
      if (is_shared && !reads(weight, element)) weight = beside_element(weight, element);
      path_step by;
      by.slot = displacement;
      weight = shifted(weight, by);
    }
    // A single operand contributes whenever the statement runs.
    if (sizeof...(K) > 1) weight = terms::where(flag, weight, constant_term(weight.g, D, 0));
    sum = terms::sum(sum, weight);
  }
};

/// The same for operands of rank 0: the sums over the region's elements, one for each K. Operands:
/// the weight of the region's value, the region's operands.
template <class E, dtype D, std::size_t... K>
struct region_sums {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = typename calls_of<E>::type;

  template <class S, class... X> static constexpr auto trace(tracer& t, S seed, const X&... x) {
    return sums(t, region_weights<E, K...>::trace(t, seed, x...),
                std::make_index_sequence<sizeof...(K)>{});
  }

 private:
  template <std::size_t... J>
  static constexpr auto sums(tracer& t, const sequence<term>& weights, std::index_sequence<J...>) {
    return one_or_all(
        tuple{sum_as<D>::trace(t, symbol_of<D>(t.g, weights[static_cast<int>(J)]))...});
  }
};
template <class E, dtype D, std::size_t... K>
inline constexpr bool may_reduce<region_sums<E, D, K...>> = true;

/// The weight of a reduction's elements, for a weight of its result: a formula of rows, as the
/// reduction is. The arguments are an element, the weight, the reduction's parameters.
template <class F>
struct reduction_adjoint {
  template <class X, class W, class... Parameters>
  constexpr auto operator()(X x, W w, Parameters... p) const {
    graph* const g = x.owner;
    tracer t{g};
    const bool again = g->reads_rows_again;
    g->reads_rows_again = true;
    const auto result = F::trace(t, x, p...);
    g->reads_rows_again = again;
    derivative_inputs inputs(*g);
    inputs.add(x.id);
    adjoint_sweep sweep(*g, inputs, g->size(), true);
    sweep.seed(result.id, term{g, w.id});
    sweep.run();
    return symbol_of<X::type.type>(g, sweep.of(0));
  }
};

/// The weight of argument I of a formula that reduces. The arguments are the weight of its value,
/// then its own. `Takes`: what the formula takes of the argument is added elsewhere.
template <class F, std::size_t I, bool Takes = false>
struct argument_adjoint {
  template <class W, class... S> constexpr auto operator()(W w, S... s) const {
    using call_type = traced_call<F, std::uint64_t{1} << I, S...>;
    const tuple<S...> given(s...);
    call_type made(w.owner, given);
    made.sums = true;
    sequence<int> nodes;
    sequence<term> weights;
    nodes.push_back(made.ids[0]);
    weights.push_back(converted({w.owner, w.id}, (*w.owner)[made.ids[0]].type));
    sequence<term> taken;
    return made.template result<std::tuple_element_t<I, tuple<S...>>::type.type>(
        made.weights_and_taken(nodes, weights, Takes ? &taken : nullptr)[0]);
  }
};

/// The weights and the positions of the elements that a formula takes (Takes: `takes_of`). The
/// arguments are those of argument_adjoint.
template <class F, class Takes>
struct taken_adjoint {
  template <class W, class... S> constexpr auto operator()(W w, S... s) const {
    using call_type = traced_call<F, Takes::inputs, S...>;
    call_type made(w.owner, tuple<S...>(s...));
    made.sums = true;
    sequence<int> nodes;
    sequence<term> weights, taken;
    nodes.push_back(made.ids[0]);
    weights.push_back(converted({w.owner, w.id}, (*w.owner)[made.ids[0]].type));
    (void)made.weights_and_taken(nodes, weights, &taken);
    return taken_results<Takes>(made, taken);
  }
};

/// The weight of an element of a row, for a weight of the row's result: of a reduction, or of a
/// formula of rows.
template <class F> struct adjoint_of_rows : reduction_adjoint<F> {};
template <class Name, class F, int Rank, int Left, std::uint32_t Values>
struct adjoint_of_rows<row_formula<Name, F, Rank, Left, Values>> {
  template <class X, class W, class... Parameters>
  constexpr auto operator()(X x, W w, Parameters... p) const {
    return argument_adjoint<F, 0>{}(w, x, p...);
  }
};

template <std::size_t... A, std::size_t... B>
constexpr std::index_sequence<A..., B...> join(std::index_sequence<A...>,
                                               std::index_sequence<B...>) {
  return {};
}
constexpr std::index_sequence<> join() { return {}; }
template <class A> constexpr A join(A a) { return a; }
template <class A, class B, class C, class... Rest>
constexpr auto join(A a, B b, C c, Rest... rest) {
  return join(join(a, b), c, rest...);
}
/// The numbers K of a region's operands for which a condition on K holds.
template <class Condition, std::size_t... K>
constexpr auto chosen(std::index_sequence<K...>) {
  return join(std::conditional_t<Condition::template holds<K>, std::index_sequence<K>,
                                 std::index_sequence<>>{}...);
}

/// A value as an operand in memory: of a reduction and the like that is evaluated. If only its
/// shape is needed, it is not evaluated.
template <class E>
auto evaluated_operand(const E& e, [[maybe_unused]] bool is_needed, [[maybe_unused]] device where) {
  if constexpr (!is_cut<E>) {
    return e;
  } else {
    using value = decltype(eval(e));
    using T = typename value::value_type;
    if (is_needed) return eval(e);
    if constexpr (value::rank == 0) return value(T{}, where);
    else return value(shape_of_expression(e), where);
  }
}

/// A value as an operand that is a leaf.
template <class E>
auto in_memory_operand(const E& e) {
  if constexpr (is_materialized<E> || requires { e.operands; }) return as_operand(eval(e));
  else return e;
}

template <class F> inline constexpr bool is_sum = std::same_as<F, sum_function>;
template <dtype D> inline constexpr bool is_sum<sum_as<D>> = true;

}  // namespace dsl::detail

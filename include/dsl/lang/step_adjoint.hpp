// The adjoint of one step of a loop: as a formula, and as the step of a loop that runs backwards.
#pragma once

#include <bit>

#include <dsl/lang/iterate.hpp>
#include <dsl/lang/taken_gradient.hpp>

namespace dsl::detail {

/// The adjoint of one step of a loop. The arguments are the step's variables and parameters, then
/// the weights of the new variables, then the derivatives so far with respect to the parameters
/// that have a bit in `Inputs` and not in `Tables`. The results are the weights of the variables
/// before the step, and these derivatives with the step's added; then, of each element that the
/// step takes of these variables and parameters, the weight and the position (Takes: `takes_of`).
template <class F, std::size_t Variables, std::size_t Parameters, class Takes>
struct step_adjoint {
  template <class... S> constexpr auto operator()(S... s) const {
    constexpr std::size_t arguments = Variables + Parameters;
    return differentiate(tuple<S...>(s...), std::make_index_sequence<arguments>{},
                         std::make_index_sequence<Variables>{},
                         std::make_index_sequence<sizeof...(S) - arguments - Variables>{});
  }

 private:
  static constexpr std::size_t first_weight = Variables + Parameters,
                               first_derivative = first_weight + Variables;
  // The argument that is the parameter of derivative number d.
  static constexpr std::size_t argument_of(std::size_t d) {
    std::size_t at = Variables;
    for (std::size_t k = 0;; ++at)
      if (((Takes::inputs & ~Takes::tables) >> at & 1) != 0 && k++ == d) return at;
  }
  template <class... S, std::size_t... A, std::size_t... V, std::size_t... D>
  static constexpr auto differentiate(const tuple<S...>& s, std::index_sequence<A...>,
                                      std::index_sequence<V...>, std::index_sequence<D...>) {
    using all = tuple<S...>;
    using call_type = traced_call<F, Takes::inputs, std::tuple_element_t<A, all>...>;
    graph* const g = get<0>(s).owner;
    call_type made(g, tuple<std::tuple_element_t<A, all>...>(get<A>(s)...));
    made.sums = true;
    sequence<int> nodes;
    sequence<term> weights;
    ((nodes.push_back(made.ids[V]), weights.push_back(weight_of(*g, get<first_weight + V>(s)))),
     ...);
    sequence<term> taken;
    const sequence<term> found =
        made.weights_and_taken(nodes, weights, Takes::reads.count > 0 ? &taken : nullptr);
    const auto weight = [&](std::size_t argument) {
      const int number = made.call.input_number(argument);
      return number < 0 ? term{} : found[number];
    };
    return concatenate(
        tuple{made.template result<std::tuple_element_t<first_weight + V, all>::type.type>(
            weight(V))...},
        tuple{added(made, get<first_derivative + D>(s), weight(argument_of(D)))...},
        taken_results<Takes>(made, taken));
  }
  template <class S>
  static constexpr term weight_of(graph& g, const S& s) {
    return may_have_derivative(S::type.type) ? term{&g, s.id} : term{};
  }
  template <class Call, class S>
  static constexpr symbol<S::type.type> added(const Call& made, const S& so_far,
                                              const term& weight) {
    if (weight.is_zero()) return so_far;
    return symbol_of<S::type.type>(
        made.g, term{made.g, so_far.id} + converted(made.call.without_marks(weight), S::type.type));
  }
};

/// The operand of which a node reads an element, its own or a neighbour; -1 if it reads none.
constexpr int operand_with_element(const graph& g, int id) {
  const op code = g[id].code;
  if (code == op::load || code == op::load_scalar) return g[id].field(0);
  if (code != op::neighbour) return -1;
  const neighbour_path path = path_of(g, id);
  return path.base == op::load ? path.slot : -1;
}
/// The variables before a step of which its adjoint reads elements or neighbours, a bit for each.
/// E: the adjoint's expression, whose first `Variables` operands are the variables.
template <class E, std::size_t Variables>
constexpr std::uint64_t reads_of_state() {
  graph g;
  tracer t{&g};
  const auto results = result_symbols(&g, traced<E>::run(t));
  sequence<char> roots(g.size(), 0);
  unpack([&](const auto&... r) { ((roots[r.id] = 1), ...); }, results);
  const sequence<char> needed = needed_in_pass(g, std::move(roots), sequence<char>(g.size(), 0));
  std::uint64_t found = 0;
  for (int i = 0; i < g.size(); ++i) {
    const int leaf = needed[i] != 0 ? operand_with_element(g, i) : -1;
    if (leaf < 0 || leaf >= static_cast<int>(Variables)) continue;
    found |= std::uint64_t{1} << leaf;
  }
  return found;
}

/// The adjoint of a step as the step of a loop that runs backwards. Its variables are the weights
/// of the forward loop's variables and the derivatives of `step_adjoint`. Then come the forward
/// loop's variables, as they are in any step, and its parameters; then, of each variable that has a
/// bit in `Read`, the values before the step; and for each that has one in `Recorded` the weight of
/// its value after the step.
template <class F, std::size_t Variables, std::size_t Derivatives, std::size_t Parameters,
          class Takes, std::uint64_t Read, std::uint64_t Recorded>
struct backward_step {
  template <class... S> constexpr auto operator()(S... s) const {
    const tuple<S...> all(s...);
    constexpr std::size_t states = Variables + Derivatives;
    const auto weights = unpack_numbers<Variables>(
        [&](auto... i) { return tuple{after<static_cast<std::size_t>(i)>(all)...}; });
    const auto results = unpack(
        [](const auto&... x) { return step_adjoint<F, Variables, Parameters, Takes>{}(x...); },
        concatenate(subtuple<states, Variables + Parameters>(all), weights,
                    subtuple<Variables, Derivatives>(all)));
    graph& g = *get<0>(all).owner;
    const auto replacement = [&](int id, const sequence<int>&) {
      const int leaf = operand_with_element(g, id);
      int value = -1;
      if (leaf >= 0)
        unpack_numbers<Variables>([&](auto... i) {
          ((value = before<static_cast<std::size_t>(i)>(g, leaf, all, value)), ...);
        });
      if (value < 0 || g[id].code != op::neighbour) return value;
      node moved = g[id];  // The same path from the other array's element.
      set_field(moved, 0, g[value].field(0));
      return g.add(moved.code, moved.type, moved.word);
    };
    return unpack(
        [&](const auto&... r) {
          return tuple<std::remove_cvref_t<decltype(r)>...>{
              std::remove_cvref_t<decltype(r)>{&g, replace_nodes(g, r.id, replacement)}...};
        },
        results);
  }

 private:
  static constexpr std::size_t first_read = Variables + Derivatives + Variables + Parameters;
  static constexpr std::size_t bits_before(std::uint64_t bits, std::size_t i) {
    return static_cast<std::size_t>(std::popcount(bits & ((std::uint64_t{1} << i) - 1)));
  }
  template <std::size_t N, class Use>
  static constexpr auto unpack_numbers(const Use& use) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return use(std::integral_constant<std::size_t, I>{}...);
    }(std::make_index_sequence<N>{});
  }
  template <std::size_t I, class All>
  static constexpr auto after(const All& all) {
    constexpr std::size_t reads = bits_before(Read, Variables);
    if constexpr ((Recorded >> I & 1) != 0)
      return get<I>(all) + get<first_read + reads + bits_before(Recorded, I)>(all);
    else return get<I>(all);
  }
  // The value before the step if `leaf` is variable I, otherwise `other`.
  template <std::size_t I, class All>
  static constexpr int before(const graph& g, int leaf, const All& all, int other) {
    if constexpr ((Read >> I & 1) != 0)
      if (g[get<Variables + Derivatives + I>(all).id].field(0) == leaf)
        return get<first_read + bits_before(Read, I)>(all).id;
    return other;
  }
};

/// Whether a formula can be the step of a loop in one kernel; says nothing if it can't.
template <class Variables, class Formula>
constexpr bool is_step_of_loop() {
  using step = lowered_step<Variables, Formula, tuple<>, tuple<>>;
  if constexpr (step::takes) return step::type::is_one_pass || runs_in_phases<typename step::type>;
  else return false;
}

/// A parameter of a loop in a given step: the step's number k, an operand, takes the place of
/// dsl::step.
template <class E, class K>
auto at_step(const E& e, const K&) {
  return e;
}
template <class K>
K at_step(const step_number&, const K& k) {
  return k;
}
/// dsl::take(x, dsl::step) in a step of known number is the element itself: a formula that gathers
/// is computed in several rounds on the host, and takes longer to compile.
template <dtype D, class T>
using element_at_step = expression<gather_function<D>, address_leaf<T, 0>, step_number,
                                   value_leaf<std::int64_t>, value_leaf<std::int64_t>>;
template <dtype D, class T>
view<const T, 0> at_step(const element_at_step<D, T>& e, const value_leaf<std::int64_t>& k) {
  const std::int64_t n = get<2>(e.operands).value, from_start = k.value < 0 ? k.value + n : k.value,
                     i = from_start < 0   ? 0
                         : from_start < n ? from_start
                                          : n - 1;
  const view<const T, 0>& first = get<0>(e.operands).of;
  return {first.owner(), first.origin() + i * get<3>(e.operands).value, {}, {}};
}
/// Whether an expression has such an element.
template <class E> inline constexpr bool has_element_at_step = false;
template <class F, class... X> inline constexpr bool has_element_at_step<expression<F, X...>> =
    (has_element_at_step<X> || ...);
template <dtype D, class T> inline constexpr bool has_element_at_step<element_at_step<D, T>> = true;
template <class F, class... X, class K>
auto at_step(const expression<F, X...>& e, const K& k) {
  return map_operands(e, [&k](const auto& x) { return at_step(x, k); });
}

}  // namespace dsl::detail

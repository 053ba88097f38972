// A time loop and its adjoint, step by step.
#pragma once

#include <vector>

#include <dsl/lang/checkpoints.hpp>
#include <dsl/lang/gradient.hpp>
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

/// A parameter of a loop in a given step: its number takes the place of dsl::step.
template <class E>
auto at_step(const E& e, std::int64_t) {
  return e;
}
inline value_leaf<std::int64_t> at_step(const step_number&, std::int64_t k) { return {k}; }
/// dsl::take(x, dsl::step) becomes the element itself, which is cheaper to compile: a formula that
/// gathers is computed in several rounds on the host.
template <dtype D, class T>
view<const T, 0> at_step(const expression<gather_function<D>, address_leaf<T, 0>, step_number,
                                          value_leaf<std::int64_t>, value_leaf<std::int64_t>>& e,
                         std::int64_t k) {
  const std::int64_t n = get<2>(e.operands).value, from_start = k < 0 ? k + n : k,
                     i = from_start < 0   ? 0
                         : from_start < n ? from_start
                                          : n - 1;
  const view<const T, 0>& first = get<0>(e.operands).of;
  return {first.owner(), first.origin() + i * get<3>(e.operands).value, {}, {}};
}
template <class F, class... X>
auto at_step(const expression<F, X...>& e, std::int64_t k) {
  return unpack(
      [k](const auto&... x) {
        return expression<F, decltype(at_step(x, k))...>{{}, {at_step(x, k)...}};
      },
      e.operands);
}

/// Whether a derivative with respect to a loop's parameter is computed: it is in device memory, of
/// floating point numbers.
template <class P>
constexpr bool is_differentiated() {
  if constexpr (is_array<P> || is_scalar<P> || is_view_leaf<P>)
    return may_have_derivative(dtype_v<std::remove_const_t<typename P::value_type>>);
  else return false;
}
template <class X>
auto zeros_like(const X& x) {
  const auto of = as_operand(x);
  auto made = gradient_like(of, of.owner().where());
  made = typename decltype(made)::value_type{};
  return made;
}
/// What there is instead of the derivative of a parameter that has none.
struct no_derivative_of_parameter {};
template <class P>
auto derivative_memory(const P& parameter) {
  if constexpr (is_differentiated<P>()) return zeros_like(parameter);
  else return no_derivative_of_parameter{};
}

template <class V>
auto copy_of_variable(const V& v) {
  return eval(as_operand(v));
}
/// A variable after the last step; a copy of a view, which may not be contiguous.
template <class V>
auto last_of_variable(const V& v) {
  if constexpr (is_view_leaf<V>) return copy_of_variable(v);
  else return as_operand(v);
}

/// The number of true values before number i.
template <bool... Is>
constexpr std::size_t count_before(std::size_t i) {
  constexpr bool is[] = {Is...};
  std::size_t n = 0;
  for (std::size_t k = 0; k < i; ++k) n += is[k] ? 1 : 0;
  return n;
}

/// The weights of a loop's last variables, for a loss; zeros of those that have no derivative.
template <class Loss, class... V>
auto weights_of_last(const Loss& loss, const V&... variables) {
  const auto differentiated = concatenate([&] {
    if constexpr (is_differentiated<V>()) return tuple<const V&>(variables);
    else return tuple<>{};
  }()...);
  auto found =
      unpack([&](const auto&... v) { return evaluate_gradient(gradient(loss, v...), false); },
             differentiated);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<std::size_t K, class X>(const X& x) {
      if constexpr (is_differentiated<X>())
        return std::move(get<count_before<is_differentiated<V>()...>(K)>(found));
      else return zeros_like(x);
    };
    return tuple{one.template operator()<I>(variables)...};
  }(std::index_sequence_for<V...>{});
}

/// The expression of a loop's step: of the variables, and of the parameters in step k.
template <class F, class State, class Parameters>
auto step_of(const State& s, const Parameters& parameters, std::int64_t k) {
  return unpack(
      [&](const auto&... v) {
        return unpack(
            [&](const auto&... p) {
              return vectorized<unnamed, F>{}(v..., at_step(as_operand(p), k)...);
            },
            parameters);
      },
      s);
}

/// Throws shape_error if a parameter with axes has another shape than the variables that have axes.
void require_parameter_shape(int number, const operand& parameter, const operand* variables,
                             int count);
/// Throws value_error if one of a parameter's leaves may have an element of a variable.
void require_apart(int number, const operand* leaves, int leaf_count, const operand* variables,
                   int count);

/// A loop and its adjoint. `states`: copies of the variables before some steps.
/// `history_weights`: if the loss reads the histories of the variables that are scalars, an array
/// for each of these, with the weight of its value after each step.
template <class F, class Variables, class Parameters, class HistoryWeights> class reversed_loop;
template <class F, class... V, class... P, class HistoryWeights>
class reversed_loop<F, tuple<V...>, tuple<P...>, HistoryWeights> {
 public:
  using state = tuple<V...>;

  reversed_loop(const tuple<const P&...>& parameters, std::int64_t first_step)
      : parameters_(parameters), first_step_(first_step) {}

  std::vector<state> states;
  state weights;
  HistoryWeights history_weights;
  tuple<decltype(derivative_memory(std::declval<const P&>()))...> derivatives;

  /// Checks the parameters beside the caller's variables. Throws shape_error if one with a
  /// derivative for each element has another shape, value_error if one reads a variable.
  template <class... X>
  void require_parameters(const X&... variables) const {
    operand of[sizeof...(X)], *at = of;
    (add_leaves(as_operand(variables), at), ...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (require_parameter<I>(of), ...);
    }(std::index_sequence_for<P...>{});
  }

  /// Runs `steps` steps from the state at place `from` to that at place `to`.
  ///
  /// A loop may add in another order than a statement. So that the bits do not depend on the number
  /// of states that are kept, a step that reduces is always a statement.
  void advance(std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t steps) {
    while (static_cast<std::int64_t>(states.size()) <= to) states.push_back(like(states[0]));
    state& source = states[static_cast<std::size_t>(from)];
    state& target = states[static_cast<std::size_t>(to)];
    if (steps == 1 || has_reductions<step_formula>) {
      run_step(source, target, first);
      for (std::int64_t k = 1; k < steps; ++k) {
        state& last = spare();
        run_step(target, last, first + k);
        std::swap(target, last);
      }
      return;
    }
    copy(source, target, numbers{});
    unpack(
        [&](auto&... v) {
          unpack(
              [&](const auto&... p) {
                iterate(steps, vectorized<unnamed, F>{}, dsl::state(v...), p...,
                        from_step(first_step_ + first), no_histories{});
              },
              parameters_);
        },
        target);
  }
  /// Runs the adjoint of a step, whose state is at a place.
  void adjoin(std::int64_t at, std::int64_t step) {
    const state& s = states[static_cast<std::size_t>(at)];
    auto so_far = of_parameters(std::index_sequence_for<P...>{});
    const auto operands = unpack(
        [&](const auto&... d) {
          return unpack(
              [&](const auto&... p) {
                return concatenate(as_operands(s),
                                   tuple{at_step(as_operand(p), first_step_ + step)...},
                                   weights_after(step, numbers{}), tuple{as_operand(d)...});
              },
              parameters_);
        },
        so_far);
    using adjoint = step_adjoint<F, sizeof...(V), sizeof...(P), takes>;
    const auto all =
        unpack([](const auto&... x) { return vectorized<unnamed, adjoint>{}(x...); }, operands);
    state& before = spare();
    unpack([&](auto&... to) { dsl::tie(to...) = all; },
           concatenate(unpack([](auto&... w) { return tuple<decltype(w)...>(w...); }, before),
                       so_far, targets_of_taken(taken_)));
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (add_taken<takes::reads.at[K].axis>(weights_of_argument<takes::reads.at[K].argument>(before),
                                          get<K>(taken_)),
       ...);
    }(takes::numbers);
    std::swap(weights, before);
  }
  static state like(const state& s) {
    return unpack([](const auto&... v) { return state{like_variable(v)...}; }, s);
  }

 private:
  using numbers = std::index_sequence_for<V...>;
  template <class X>
  static X like_variable(const X& v) {
    if constexpr (X::rank == 0) return X(typename X::value_type{}, v.where());
    else return X(v.extents(), v.where());
  }
  template <std::size_t... I>
  static void copy(const state& from, state& to, std::index_sequence<I...>) {
    ((get<I>(to) = get<I>(from)), ...);
  }
  // The weights of the variables after a step.
  template <std::size_t... I>
  auto weights_after([[maybe_unused]] std::int64_t step, std::index_sequence<I...>) const {
    const auto one = [&]<std::size_t K>() {
      using variable = std::tuple_element_t<K, state>;
      const auto of_last = as_operand(get<K>(weights));
      constexpr bool has_history = std::tuple_size_v<HistoryWeights> > 0 && is_scalar<variable> &&
                                   is_differentiated<variable>();
      if constexpr (has_history)
        return of_last + get<count_before<is_scalar<V>...>(K)>(history_weights)(step);
      else return of_last;
    };
    return tuple{one.template operator()<I>()...};
  }
  static auto as_operands(const state& s) {
    return unpack([](const auto&... v) { return tuple{as_operand(v)...}; }, s);
  }
  using step_formula = decltype(step_of<F>(std::declval<const state&>(),
                                           std::declval<const tuple<const P&...>&>(), 0));
  static constexpr std::uint64_t inputs = [] {
    std::uint64_t bits = 0, bit = 1;
    ((bits |= is_differentiated<V>() ? bit : 0, bit <<= 1), ...);
    ((bits |= is_differentiated<P>() ? bit : 0, bit <<= 1), ...);
    return bits;
  }();
  using takes = takes_of<step_formula, inputs>;
  static constexpr int rank = broadcast_rank<step_formula, V...>();

  // A parameter with a derivative that is not only a table of which elements are taken.
  template <std::size_t I> static constexpr bool is_own =
      ((inputs & ~takes::tables) >> (sizeof...(V) + I) & 1) != 0;
  template <std::size_t I>
  void require_parameter(const operand (&of)[sizeof...(V)]) const {
    constexpr int number = static_cast<int>(I), count = static_cast<int>(sizeof...(V));
    const auto& parameter = get<I>(parameters_);
    const leaves_of<operand_t<std::tuple_element_t<I, tuple<P...>>>> leaves(as_operand(parameter));
    require_apart(number, leaves.at, static_cast<int>(std::size(leaves.at)), of, count);
    if constexpr (is_own<I>) require_parameter_shape(number, leaves.at[0], of, count);
  }
  template <std::size_t... I>
  auto of_parameters(std::index_sequence<I...>) {
    return concatenate([&] {
      if constexpr (!is_own<I>) return tuple<>{};
      else return tuple<std::tuple_element_t<I, decltype(derivatives)>&>(get<I>(derivatives));
    }()...);
  }
  template <int Argument>
  auto& weights_of_argument(state& before) {
    constexpr auto at = static_cast<std::size_t>(Argument);
    if constexpr (at < sizeof...(V)) return get<at>(before);
    else return get<at - sizeof...(V)>(derivatives);
  }
  state& spare() {
    if (!has_spare_) {
      spare_ = like(weights);
      has_spare_ = true;
    }
    return spare_;
  }
  void run_step(const state& from, state& to, std::int64_t step) {
    const auto next = step_of<F>(from, parameters_, first_step_ + step);
    unpack([&](auto&... v) { dsl::tie(v...) = next; }, to);
  }

  tuple<const P&...> parameters_;
  std::int64_t first_step_;
  state spare_;
  bool has_spare_ = false;
  all_taken_weights<takes, rank> taken_;
};

}  // namespace dsl::detail

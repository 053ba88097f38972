// The gradient of a loss of a time loop's last state: iterate_gradient.
#pragma once

#include <vector>

#include <dsl/lang/checkpoints.hpp>
#include <dsl/lang/gradient.hpp>
#include <dsl/lang/iterate.hpp>

namespace dsl {

namespace detail {

/// The adjoint of one step of a loop. The arguments are the step's variables and parameters, then
/// the weights of the new variables, then the derivatives so far with respect to the parameters
/// that have a bit in `Inputs`. The results are the weights of the variables before the step, and
/// these derivatives with the step's added.
template <class F, std::size_t Variables, std::size_t Parameters, std::uint64_t Inputs>
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
  // The parameter of derivative number d.
  static constexpr std::size_t parameter_of(std::size_t d) {
    std::size_t at = 0;
    for (std::size_t k = 0;; ++at)
      if ((Inputs >> at & 1) != 0 && k++ == d) return at;
  }
  template <class... S, std::size_t... A, std::size_t... V, std::size_t... D>
  static constexpr auto differentiate(const tuple<S...>& s, std::index_sequence<A...>,
                                      std::index_sequence<V...>, std::index_sequence<D...>) {
    using all = tuple<S...>;
    constexpr std::uint64_t variables = (std::uint64_t{1} << Variables) - 1;
    constexpr std::uint64_t differentiable =
        ((may_have_derivative(std::tuple_element_t<V, all>::type.type) ? std::uint64_t{1} << V
                                                                       : std::uint64_t{0}) |
         ... | std::uint64_t{0});
    using call_type = traced_call<F, (differentiable & variables) | Inputs << Variables,
                                  std::tuple_element_t<A, all>...>;
    graph* const g = get<0>(s).owner;
    call_type made(g, tuple<std::tuple_element_t<A, all>...>(get<A>(s)...));
    made.sums = true;
    sequence<int> nodes;
    sequence<term> weights;
    ((nodes.push_back(made.ids[V]), weights.push_back(weight_of(*g, get<first_weight + V>(s)))),
     ...);
    const sequence<term> found = made.weights(nodes, weights);
    const auto weight = [&](std::size_t argument) {
      const int number = made.call.input_number(argument);
      return number < 0 ? term{} : found[number];
    };
    return tuple{
        made.template result<std::tuple_element_t<first_weight + V, all>::type.type>(weight(V))...,
        added(made, get<first_derivative + D>(s), weight(Variables + parameter_of(D)))...};
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
template <class P> inline constexpr bool is_differentiated =
    (is_array<P> || is_scalar<P> || is_view_leaf<P>) && may_have_derivative([] {
      if constexpr (requires { typename P::value_type; }) return dtype_v<typename P::value_type>;
      else return dtype::boolean;
    }());
template <class... P>
constexpr std::uint64_t differentiated_parameters() {
  std::uint64_t bits = 0, bit = 1;
  ((bits |= is_differentiated<P> ? bit : 0, bit <<= 1), ...);
  return bits;
}
/// What there is instead of the derivative of a parameter that has none.
struct no_derivative_of_parameter {};
template <class P>
auto derivative_memory(const P& parameter) {
  if constexpr (!is_differentiated<P>) {
    return no_derivative_of_parameter{};
  } else {
    auto made = gradient_like(as_operand(parameter), parameter.view().owner().where());
    made = typename P::value_type{};
    return made;
  }
}

template <class V>
auto copy_of_variable(const V& v) {
  return eval(as_operand(v));
}

/// A loop and its adjoint. `states`: copies of the variables before some steps.
template <class F, class Variables, class Parameters> class reversed_loop;
template <class F, class... V, class... P>
class reversed_loop<F, tuple<V...>, tuple<P...>> {
 public:
  using state = tuple<V...>;
  static constexpr std::uint64_t inputs = differentiated_parameters<P...>();

  reversed_loop(const tuple<const P&...>& parameters, std::int64_t first_step)
      : parameters_(parameters), first_step_(first_step) {}

  std::vector<state> states;
  state weights;
  tuple<decltype(derivative_memory(std::declval<const P&>()))...> derivatives;

  /// Runs `steps` steps from the state at place `from` to that at place `to`.
  void advance(std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t steps) {
    while (static_cast<std::int64_t>(states.size()) <= to) states.push_back(like(states[0]));
    state& source = states[static_cast<std::size_t>(from)];
    state& target = states[static_cast<std::size_t>(to)];
    if (steps == 1) return run_step(source, target, first);
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
    if (!has_other_) {
      other_ = like(weights);
      has_other_ = true;
    }
    const state& s = states[static_cast<std::size_t>(at)];
    auto so_far = unpack([](auto&... d) { return concatenate(derivative(d)...); }, derivatives);
    const auto operands = unpack(
        [&](const auto&... d) {
          return unpack(
              [&](const auto&... p) {
                return concatenate(as_operands(s),
                                   tuple{at_step(as_operand(p), first_step_ + step)...},
                                   as_operands(weights), tuple{as_operand(d)...});
              },
              parameters_);
        },
        so_far);
    using adjoint = step_adjoint<F, sizeof...(V), sizeof...(P), inputs>;
    const auto all = unpack(
        [](const auto&... x) { return make_checked_expression<formula<unnamed, adjoint>>(x...); },
        operands);
    unpack([&](auto&... w) { unpack([&](auto&... d) { dsl::tie(w..., d...) = all; }, so_far); },
           other_);
    std::swap(weights, other_);
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
  static auto as_operands(const state& s) {
    return unpack([](const auto&... v) { return tuple{as_operand(v)...}; }, s);
  }
  template <class D>
  static auto derivative(D& d) {
    if constexpr (std::same_as<D, no_derivative_of_parameter>) return tuple<>{};
    else return tuple<D&>(d);
  }
  void run_step(const state& from, state& to, std::int64_t step) {
    const auto next = unpack(
        [&](const auto&... v) {
          return unpack(
              [&](const auto&... p) {
                return vectorized<unnamed, F>{}(v...,
                                                at_step(as_operand(p), first_step_ + step)...);
              },
              parameters_);
        },
        from);
    unpack([&](auto&... v) { dsl::tie(v...) = next; }, to);
  }

  tuple<const P&...> parameters_;
  std::int64_t first_step_;
  state other_;
  bool has_other_ = false;
};

struct only_memory_limit {
  template <class T> static constexpr bool passes = std::is_same_v<T, memory_limit>;
};
template <class T>
inline constexpr bool is_gradient_option = is_loop_option<T> || std::is_same_v<T, memory_limit>;
struct only_loop_parameters {
  template <class T> static constexpr bool passes = !is_gradient_option<T>;
};
struct only_loop_options {
  template <class T> static constexpr bool passes =
      is_loop_option<T> && !is_until<T> && !std::is_same_v<T, from_step>;
};
template <class... T>
constexpr std::type_identity<tuple<T...>> plain_types(std::type_identity<tuple<const T&...>>) {
  return {};
}

/// The number of states that may be kept, of `bytes` each; at least 2.
std::int64_t states_that_fit(std::int64_t bytes, std::int64_t limit, device where);
void require_steps(std::int64_t steps);

}  // namespace detail

/// The loss of a loop's last state and its derivatives; the result of `iterate_gradient`.
template <class Loss, class State, class Derivatives>
struct loop_gradient {
  Loss loss;  ///< a dsl::scalar
  State of_state;
  Derivatives of_parameters;

  /// The derivative with respect to variable I before the first step: an array or a scalar.
  template <std::size_t I> const auto& state() const {
    static_assert(I < std::tuple_size_v<State>, "the loop has no variable of this number, from 0");
    return detail::get<I>(of_state);
  }
  /// The derivative with respect to parameter I: an array for an array, a dsl::scalar for one.
  template <std::size_t I> const auto& parameter() const {
    static_assert(I < std::tuple_size_v<Derivatives>,
                  "the loop has no parameter of this number, from 0");
    constexpr bool has_derivative =
        !std::same_as<std::tuple_element_t<I, Derivatives>, detail::no_derivative_of_parameter>;
    static_assert(has_derivative,
                  "a derivative is with respect to an array or a dsl::scalar of floating point "
                  "numbers: a C++ number, an integer or an expression among a loop's parameters is "
                  "constant");
    return detail::get<I>(of_parameters);
  }
};

/// Runs the loop of `iterate`, and computes a loss of its last state and the loss's derivatives
/// with respect to the variables before the first step and to the parameters.
///
/// steps, f, s and the parameters are those of `iterate`; f is a lambda with `auto` parameters. A
/// parameter is an array of the variables' shape or a dsl::scalar, in device memory, with respect
/// to which there is a derivative; or a C++ number or an expression, which are constant. loss: a
/// function of the variables that returns an expression with one value. Options: from_step,
/// memory_limit, until, and those of `iterate` that do not record. With `until` the loop that is
/// differentiated has the steps that ran; it then waits for their number.
///
/// Afterwards the variables hold the last state, as after `iterate`. The derivatives are those of
/// the steps as they are computed, the same bits in every run. States before steps are kept in
/// device memory: all if they fit into memory_limit or half of the free memory, otherwise some,
/// from which the steps between are run again. Throws as `iterate` and `gradient` do, and
/// shape_error for a parameter of another shape.
/// ```cpp
/// const auto found = dsl::iterate_gradient(
///     100, decay, [](auto last) { return dsl::sum(last * last); }, dsl::state(s), rate, 0.01);
/// const dsl::array<double> d_start = found.state<0>();
/// ```
template <class Name, class F, class Loss, class... S, class... Arguments>
auto iterate_gradient(std::integral auto steps, const vectorized<Name, F>& f, const Loss& loss,
                      const loop_state<S...>& s, const Arguments&... arguments) {
  using namespace detail;
  const auto parameters = filter(only_loop_parameters{}, arguments...);
  const auto variables = unpack(
      [](const auto&... v) {
        return tuple<decltype(copy_of_variable(v))...>{copy_of_variable(v)...};
      },
      s.variables);
  using states = std::remove_const_t<decltype(variables)>;
  using parameter_types = typename decltype(plain_types(identity_of(parameters)))::type;
  const device_guard guard(get<0>(variables).where());
  const std::int64_t first = option_or(from_step(0), arguments...).number;
  std::int64_t count = static_cast<std::int64_t>(steps);
  require_steps(count);

  // Forward: the caller's variables get the last state.
  const auto conditions = filter(only_conditions{}, arguments...);
  const auto run = [&](const auto&... options) {
    unpack(
        [&](const auto&... p) {
          iterate(count, f, s, p..., from_step(first), no_histories{}, options...);
        },
        parameters);
  };
  const auto options = filter(only_loop_options{}, arguments...);
  if constexpr (std::tuple_size_v<std::remove_const_t<decltype(conditions)>> > 0) {
    scalar<std::int64_t> ran(first);
    auto condition = get<0>(conditions);
    scalar<std::int64_t>* const wanted = condition.ran;
    condition.ran = &ran;
    unpack([&](const auto&... o) { run(condition, o...); }, options);
    if (wanted != nullptr) *wanted = ran;
    count = ran.value() - first;
  } else {
    unpack(run, options);
  }

  // The weights of the last state.
  const auto value = unpack([&](const auto&... v) { return loss(as_operand(v)...); }, s.variables);
  auto loss_value = eval(value);
  reversed_loop<F, states, parameter_types> loop(parameters, first);
  loop.weights =
      unpack([&](const auto&... v) { return evaluate_gradient(dsl::gradient(value, v...), false); },
             s.variables);
  loop.derivatives = unpack(
      [](const auto&... p) {
        return tuple<decltype(derivative_memory(p))...>{derivative_memory(p)...};
      },
      parameters);

  // Backward.
  std::int64_t bytes = 0;
  unpack(
      [&bytes](const auto&... v) {
        ((bytes +=
          static_cast<std::int64_t>(sizeof(typename std::remove_cvref_t<decltype(v)>::value_type)) *
          as_operand(v).size()),
         ...);
      },
      variables);
  const std::int64_t places = states_that_fit(bytes, option_or(memory_limit(0), arguments...).bytes,
                                              get<0>(variables).where());
  loop.states.push_back(variables);
  if (count > 0)
    reverse_steps(
        count, places,
        [&](std::int64_t from, std::int64_t to, std::int64_t step, std::int64_t n) {
          loop.advance(from, to, step, n);
        },
        [&](std::int64_t at, std::int64_t step) { loop.adjoin(at, step); });
  return loop_gradient<decltype(loss_value), states, decltype(loop.derivatives)>{
      std::move(loss_value), std::move(loop.weights), std::move(loop.derivatives)};
}

}  // namespace dsl

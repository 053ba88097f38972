// The gradient of a loss of a time loop's last state: iterate_gradient.
#pragma once

#include <dsl/lang/loop_adjoint.hpp>

namespace dsl {

namespace detail {

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
  template <std::size_t I> decltype(auto) parameter() const {
    static_assert(I < std::tuple_size_v<Derivatives>,
                  "the loop has no parameter of this number, from 0");
    constexpr bool has_derivative =
        !std::same_as<std::tuple_element_t<I, Derivatives>, detail::no_derivative_of_parameter>;
    static_assert(has_derivative,
                  "a derivative is with respect to an array or a dsl::scalar of floating point "
                  "numbers: a C++ number, an integer or an expression among a loop's parameters is "
                  "constant");
    if constexpr (has_derivative) return (detail::get<I>(of_parameters));
    else return refused{};
  }
};

namespace detail {

/// Whether a loss is a function of a loop's state; if not, a compile-time error says why.
template <class Loss, class... S>
constexpr bool require_loss_of_state() {
  constexpr bool is_function =
      requires(const Loss& loss, const S&... v) { loss(as_operand(v)...); };
  static_assert(is_function,
                "the loss of dsl::iterate_gradient is a function of the loop's variables: [](auto "
                "x, ...) { return dsl::sum(...); }");
  if constexpr (!is_function) return false;
  else
    return require_loss<decltype(std::declval<const Loss&>()(
        as_operand(std::declval<const S&>())...))>();
}

template <class Name, class F, class Loss, class... S, class... Arguments>
auto gradient_of_loop(std::int64_t count, const vectorized<Name, F>& f, const Loss& loss,
                      const loop_state<S...>& s, const Arguments&... arguments) {
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
  require_steps(count);
  reversed_loop<F, states, parameter_types> loop(parameters, first);
  loop.require_parameters(variables);

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
  const auto last = unpack(
      [](const auto&... v) {
        return tuple<decltype(last_of_variable(v))...>{last_of_variable(v)...};
      },
      s.variables);
  const auto value = unpack([&](const auto&... v) { return loss(as_operand(v)...); }, last);
  auto loss_value = eval(value);
  loop.weights =
      unpack([&](const auto&... v) { return weights_of_last(value, as_operand(v)...); }, last);
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

}  // namespace detail

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
  if constexpr (!require_loss_of_state<Loss, S...>()) return refused{};
  else return gradient_of_loop(static_cast<std::int64_t>(steps), f, loss, s, arguments...);
}
// Other calls: a compile-time error says what `iterate_gradient` takes.
template <class Steps, class F, class Loss, class... Arguments>
  requires(!detail::begins_a_loop<Steps, F, Arguments...>)
refused iterate_gradient(const Steps&, const F&, const Loss&, const Arguments&...) {
  if constexpr (!std::same_as<F, refused> && !(std::same_as<Arguments, refused> || ...)) {
    constexpr bool begins = detail::begins_a_loop<Steps, F, Arguments...>;
    static_assert(begins,
                  "dsl::iterate_gradient(steps, dsl::vectorize(f), loss, dsl::state(x, ...), "
                  "parameters...): an integer number of steps, the loop's formula, a function of "
                  "the last state, and what iterate takes");
  }
  return {};
}

}  // namespace dsl

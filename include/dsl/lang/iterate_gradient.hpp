// The gradient of a loss of a time loop's last state: iterate_gradient.
#pragma once

#include <optional>

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

// The histories that `iterate` returns, of the first `steps` steps.
template <class T>
auto as_histories(const array<T, 1>& one, std::int64_t steps) {
  return tuple<array<T, 1>>(one(slice(0, steps)));
}
template <class... H>
auto as_histories(const std::tuple<H...>& all, std::int64_t steps) {
  return std::apply([steps](const auto&... h) { return tuple<H...>(H(h(slice(0, steps)))...); },
                    all);
}
inline tuple<> as_histories(const tuple<>&, std::int64_t) { return {}; }

template <class T> using last_t = decltype(last_of_variable(std::declval<const T&>()));
/// Whether a loss takes the variables alone, without the histories of those that are scalars.
template <class Loss, class... V>
inline constexpr bool takes_last_alone = std::is_invocable_v<const Loss&, operand_t<last_t<V>>...>;

/// Runs the loop; returns the histories if the loss reads them.
template <bool Histories, class F, class S, class Parameters, class... Options>
auto forward_loop(std::int64_t steps, const F& f, const S& s, const Parameters& parameters,
                  std::int64_t first, const Options&... options) {
  return unpack(
      [&](const auto&... p) {
        if constexpr (Histories) return iterate(steps, f, s, p..., from_step(first), options...);
        else return iterate(steps, f, s, p..., from_step(first), no_histories{}, options...);
      },
      parameters);
}

/// Whether a loop has these variables and options; if not, a compile-time error says why.
template <class... S, class... Arguments>
constexpr bool require_differentiable_loop(std::type_identity<loop_state<S...>>,
                                           std::type_identity<tuple<const Arguments&...>>) {
  constexpr bool are_flat = (!structured<S> && ...),
                 has_derivative = (is_differentiated<S>() || ...);
  static_assert(are_flat,
                "the variables of iterate_gradient are arrays, views and scalars: instead of a "
                "struct, give its members");
  static_assert(!are_flat || has_derivative,
                "a derivative is with respect to floating point numbers: none of the loop's "
                "variables has any");
  constexpr bool records = ((is_record<Arguments> || is_sample<Arguments> ||
                             is_progress<Arguments> || std::is_same_v<Arguments, every>) ||
                            ...);
  static_assert(!records,
                "iterate_gradient takes no record, every or progress: its loss may read the "
                "history of each variable that is a scalar");
  return are_flat && has_derivative && !records;
}

template <class Step>
constexpr bool require_step() {
  constexpr bool takes = takes_possible<Step>;
  static_assert(takes,
                "the step of a loop that is differentiated takes no elements of neighbours or of "
                "positions: dsl::take of variables and parameters, and of what is computed from "
                "these");
  return takes;
}
/// Whether a loss is a function of a loop's last variables, or of these and the histories of those
/// that are scalars, with one value; if not, a compile-time error says why.
template <class Loss, class... S>
constexpr bool require_loss_of_state() {
  return []<class... H>(std::type_identity<tuple<H...>>) {
    constexpr bool is_function =
        takes_last_alone<Loss, S...> ||
        std::is_invocable_v<const Loss&, operand_t<last_t<S>>..., operand_t<H>...>;
    static_assert(is_function,
                  "the loss of dsl::iterate_gradient is a function of the loop's variables: "
                  "[](auto x, ...) { return dsl::sum(...); }");
    if constexpr (takes_last_alone<Loss, S...>)
      return require_loss<std::invoke_result_t<const Loss&, operand_t<last_t<S>>...>>();
    else if constexpr (is_function)
      return require_loss<
          std::invoke_result_t<const Loss&, operand_t<last_t<S>>..., operand_t<H>...>>();
    else return false;
  }(std::type_identity<scalar_histories<S...>>{});
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

template <class Name, class F, class Loss, class... S, class... Arguments>
auto loop_and_adjoint(std::int64_t count, const vectorized<Name, F>& f, const Loss& loss,
                      const loop_state<S...>& s, const Arguments&... arguments) {
  const auto parameters = filter(only_loop_parameters{}, arguments...);
  auto variables = unpack(
      [](const auto&... v) {
        return tuple<decltype(copy_of_variable(v))...>{copy_of_variable(v)...};
      },
      s.variables);
  using states = decltype(variables);
  using parameter_types = typename decltype(plain_types(identity_of(parameters)))::type;
  const device where = get<0>(variables).where();
  const device_guard guard(where);
  const std::int64_t first = option_or(from_step(0), arguments...).number;
  require_steps(count);
  constexpr bool with_histories = !takes_last_alone<Loss, S...>;
  using histories_type = std::conditional_t<with_histories, scalar_histories<S...>, tuple<>>;
  std::int64_t bytes = 0;
  unpack(
      [&bytes](const auto&... v) {
        ((bytes +=
          static_cast<std::int64_t>(sizeof(typename std::remove_cvref_t<decltype(v)>::value_type)) *
          as_operand(v).size()),
         ...);
      },
      variables);
  reversed_loop<F, states, parameter_types, histories_type> loop(std::move(variables), parameters,
                                                                 first);
  unpack([&](const auto&... v) { loop.require_parameters(v...); }, s.variables);

  loop.derivatives = unpack(
      [](const auto&... p) {
        return tuple<decltype(derivative_memory(p))...>{derivative_memory(p)...};
      },
      parameters);
  const std::int64_t places =
      states_that_fit(bytes, option_or(memory_limit(0), arguments...).bytes, where);

  // The loss of the last state, and its weights and those of the histories.
  const auto loss_of = [&](const auto& last, const auto& histories) {
    const auto value = unpack(
        [&](const auto&... v) {
          return unpack([&](const auto&... h) { return loss(as_operand(v)..., as_operand(h)...); },
                        histories);
        },
        last);
    auto weights = unpack(
        [&](const auto&... v) {
          return unpack(
              [&](const auto&... h) {
                return weights_of_last(value, as_operand(v)..., as_operand(h)...);
              },
              histories);
        },
        last);
    [&]<std::size_t... V, std::size_t... H>(std::index_sequence<V...>, std::index_sequence<H...>) {
      ((get<V>(loop.weights) = std::move(get<V>(weights))), ...);
      ((get<H>(loop.history_weights) = std::move(get<sizeof...(V) + H>(weights))), ...);
    }(std::index_sequence_for<S...>{},
      std::make_index_sequence<std::tuple_size_v<histories_type>>{});
    return eval(value);
  };
  const auto last_of = [&] {
    return unpack(
        [](const auto&... v) {
          return tuple<decltype(last_of_variable(v))...>{last_of_variable(v)...};
        },
        s.variables);
  };

  // Forward: the caller's variables get the last state. Without histories it is that of the steps
  // whose states are kept, before which a loop is run only to find the step at which it ends.
  const auto conditions = filter(only_conditions{}, arguments...);
  const auto options = filter(only_loop_options{}, arguments...);
  const auto run = [&](std::int64_t steps, const auto&... more) {
    return forward_loop<with_histories>(steps, f, s, parameters, first, more...);
  };
  using loss_type = decltype(loss_of(last_of(), std::declval<const histories_type&>()));
  std::optional<loss_type> loss_value;
  constexpr bool is_run_first = with_histories || !decltype(loop)::reads_states() ||
                                std::tuple_size_v<std::remove_const_t<decltype(options)>> > 0;
  const auto recorded = [&] {
    if constexpr (std::tuple_size_v<std::remove_const_t<decltype(conditions)>> > 0) {
      scalar<std::int64_t> ran(first);
      auto condition = get<0>(conditions);
      scalar<std::int64_t>* const wanted = condition.ran;
      condition.ran = &ran;
      auto histories =
          unpack([&](const auto&... o) { return run(count, condition, o...); }, options);
      if (wanted != nullptr) *wanted = ran;
      count = ran.value() - first;
      return histories;
    } else if constexpr (is_run_first) {
      return unpack([&](const auto&... o) { return run(count, o...); }, options);
    } else {
      loop.require_variables(s.variables);
      return tuple<>{};
    }
  }();
  if (is_run_first || count == 0)
    loss_value = loss_of(last_of(), [&] {
      if constexpr (with_histories) return as_histories(recorded, count);
      else return tuple<>{};
    }());
  loop.run(count, places, [&](std::int64_t place) {
    if (loss_value) return;
    loop.finish(place, count - 1, s.variables);
    if constexpr (!with_histories) loss_value = loss_of(last_of(), tuple<>{});
  });
  return loop_gradient<loss_type, states, decltype(loop.derivatives)>{
      std::move(*loss_value), std::move(loop.weights), std::move(loop.derivatives)};
}

}  // namespace detail

/// Runs the loop of `iterate`, and computes a loss of its last state and the loss's derivatives
/// with respect to the variables before the first step and to the parameters.
///
/// steps, f, s and the parameters are those of `iterate`; f is a lambda with `auto` parameters. A
/// derivative is with respect to a parameter in device memory: a dsl::scalar, an array of the
/// variables' shape, or an array of any shape of which f only takes elements. C++ numbers and
/// expressions are constant. loss: a function of the variables that returns an expression with one
/// value; or of the variables and, after them, of the history of each variable that is a scalar: an
/// array of its values after each step. Options: from_step, memory_limit, until, and those of
/// `iterate` that do not record. With `until` the loop that is differentiated has the steps that
/// ran; it then waits for their number.
///
/// Afterwards the variables hold the last state, as after `iterate` up to the order of additions.
/// The derivatives are those of the steps as they are computed, the same bits in every run. States
/// before steps are kept in device memory: all if they fit into memory_limit or half of the free
/// memory, otherwise some, from which the steps between are run again. Throws as `iterate` and
/// `gradient` do, shape_error for a parameter of another shape, and value_error for one that reads
/// a variable.
/// ```cpp
/// const auto found = dsl::iterate_gradient(
///     50, grow, [&](auto last) { return dsl::mean(square(last - wanted)); }, dsl::state(u),
///     rate, 0.1);
/// rate = rate - 4.0 * found.parameter<0>();
/// ```
template <class Name, class F, class Loss, class... S, class... Arguments>
auto iterate_gradient(std::integral auto steps, const vectorized<Name, F>& f, const Loss& loss,
                      const loop_state<S...>& s, const Arguments&... arguments) {
  using namespace detail;
  if constexpr (!require_differentiable_loop(std::type_identity<loop_state<S...>>{},
                                             std::type_identity<tuple<const Arguments&...>>{})) {
    return refused{};
  } else if constexpr (!require_loss_of_state<Loss, S...>()) {
    return refused{};
  } else {
    using forward = decltype(unpack(
        [&](const auto&... options) {
          const auto parameters = filter(only_loop_parameters{}, arguments...);
          if constexpr (sizeof...(options) > 0 || !takes_last_alone<Loss, S...>)
            return forward_loop<!takes_last_alone<Loss, S...>>(0, f, s, parameters, 0, options...);
          else
            return unpack(
                [&](const auto&... p) {
                  return with_loop<true>(f, s, [](const auto&) { return 0; }, p...);
                },
                parameters);
        },
        concatenate(filter(only_conditions{}, arguments...),
                    filter(only_loop_options{}, arguments...))));
    if constexpr (std::same_as<forward, refused>) {
      return refused{};
    } else {
      using one_step = decltype(step_of<F>(
          s.variables, filter(only_loop_parameters{}, arguments...), value_leaf<std::int64_t>{}));
      if constexpr (require_step<one_step>())
        return loop_and_adjoint(static_cast<std::int64_t>(steps), f, loss, s, arguments...);
      else return refused{};
    }
  }
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

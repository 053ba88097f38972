// Loops: `iterate` runs a formula for many steps.
#pragma once

#include <tuple>

#include <dsl/lang/loop_checks.hpp>
#include <dsl/lang/loop_operands.hpp>
#include <dsl/lang/loop_options.hpp>
#include <dsl/lang/loop_state.hpp>

namespace dsl {

namespace detail {

template <class T> constexpr std::type_identity<T> identity_of(const T&) { return {}; }

/// A loop's formula together with the values recorded in its steps and the condition that ends it.
template <class... S, class Function, class... Operands, class... Conditions, class... Recorders>
auto step_formula(const tuple<S&...>& variables, const expression<Function, Operands...>& e,
                  const tuple<const Conditions&...>& until,
                  [[maybe_unused]] const tuple<const record_option<Recorders>&...>& records) {
  constexpr int arguments = sizeof...(Operands);
  constexpr bool single_values = gives_single_values<expression<Function, Operands...>, S...>;
  using state_types = types_of_targets<S...>;
  if constexpr (!single_values && sizeof...(Recorders) > 0) {
    return step_formula(variables, e, until, tuple<>{});
  } else if constexpr (sizeof...(Conditions) > 0) {
    const auto& condition = get<0>(until).condition;
    using condition_type = std::remove_cvref_t<decltype(condition)>;
    using step = loop_step<Function, arguments, state_types, condition_type, Recorders...>;
    const auto leaves = leaves_as_tuple(condition);
    const auto which = unpack(
        [&](const auto&... leaf) {
          return tuple{value_leaf<std::int32_t>{number_of(leaf, variables)}...};
        },
        leaves);
    if (!unpack([](const auto&... leaf) { return ((leaf.value >= 0) || ...); }, which))
      throw_endless_condition();
    return unpack([](const auto&... x) { return make_checked_expression<step>(x...); },
                  concatenate(e.operands, leaves, which, tuple<step_number>{}));
  } else if constexpr (sizeof...(Recorders) > 0) {
    using step = loop_step<Function, arguments, state_types, never, Recorders...>;
    return unpack([](const auto&... x) { return make_checked_expression<step>(x...); }, e.operands);
  } else {
    using step = formula_step<Function, static_cast<int>(sizeof...(S))>;
    return unpack([](const auto&... x) { return make_checked_expression<step>(x...); }, e.operands);
  }
}

/// The output that is recorded in history number k: first come the variables that are scalars, then
/// the records.
template <class... S>
constexpr std::size_t output_of_history(std::size_t k) {
  const bool single[] = {is_scalar<S>...};
  for (std::size_t i = 0; i != sizeof...(S); ++i)
    if (single[i] && k-- == 0) return i;
  return sizeof...(S) + k;
}

/// Scalars for the outputs from number First on, which have no variable of the caller.
template <class Output> using output_element = element_t<Output::type.type>;
template <std::size_t First, class Step>
auto scalars_for_outputs(const Step&) {
  using outputs = outputs_of<Step>;
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return tuple<scalar<output_element<std::tuple_element_t<First + I, outputs>>>...>{};
  }(std::make_index_sequence<(
             std::tuple_size_v<outputs> > First ? std::tuple_size_v<outputs> - First : 0)>{});
}

// Only a step knows the loop's variables, whose neighbours may be taken.
template <class Formula, class Step, bool Possible = takes_possible<Formula>>
inline constexpr bool takes_possible_in_step = true;
template <class Formula, class Step>
inline constexpr bool takes_possible_in_step<Formula, Step, false> = takes_possible<Step>;

/// The step of a loop, lowered for the variables and what else it computes. A loop's formula is
/// checked by means of its step, so that it is not lowered a second time. Only a step that is
/// neither a pass nor a chain of phases leaves it open whether the formula is: then `type` is the
/// formula, lowered.
template <class Variables, class Formula, class Conditions, class Records> struct lowered_step;
template <class... S, class Formula, class Conditions, class Records>
struct lowered_step<tuple<S&...>, Formula, Conditions, Records> {
 private:
  using step =
      decltype(step_formula(std::declval<const tuple<S&...>&>(), std::declval<const Formula&>(),
                            std::declval<const Conditions&>(), std::declval<const Records&>()));
  template <class... Extra>
  static auto lower(const tuple<Extra...>&) {
    using all = lowered<types_of_targets<S..., Extra...>, step>;
    if constexpr (!takes_possible_in_step<Formula, step>) return std::type_identity<refused>{};
    else if constexpr (all::is_one_pass) return std::type_identity<all>{};
    else if constexpr (all::in_phases::is_possible)
      return std::type_identity<lowered_in_phases<all>>{};
    else return std::type_identity<lowered<types_of_targets<S...>, Formula>>{};
  }

 public:
  static constexpr bool takes = takes_possible_in_step<Formula, step>;
  using type = typename decltype(lower(
      scalars_for_outputs<sizeof...(S)>(std::declval<const step&>())))::type;
};

// Recorded values, in this order: the state's scalars, the records' outputs, the samples.
template <class S> struct history_of { using type = tuple<>; };
template <class T> struct history_of<scalar<T>> { using type = tuple<array<T, 1>>; };
template <class... Outputs> tuple<array<output_element<Outputs>, 1>...> histories_of_outputs(
    const tuple<Outputs...>&);
template <class T, int R> array<T, R + 1> history_of_sample(const sample_option<T, R>&);
template <class... S> using scalar_histories =
    decltype(concatenate(std::declval<typename history_of<S>::type>()...));

template <class T>
array<T, 1> new_history(std::type_identity<array<T, 1>>, std::int64_t count) {
  // Not divided: on a mesh of processes each process has the whole history.
  return {buffer_ref::allocate(static_cast<std::size_t>(count) * sizeof(T), device::current()),
          extents<1>{count}};
}
template <class T, int R>
array<T, R + 1> new_history(const sample_option<T, R>& sample, std::int64_t count) {
  extents<R + 1> sizes{count};
  for (int d = 0; d < R; ++d) sizes[static_cast<std::size_t>(d + 1)] = sample.of.extent(d);
  return array<T, R + 1>(sizes);
}
// A sample is copied between the steps; this checks before the first step that it has memory on the
// variables' device.
template <class V, class T, int R>
void require_sample(const V& variable, const sample_option<T, R>& sample) {
  operand both[2], *at = both;
  add_leaves(as_operand(variable), at);
  add_leaves(sample.of, at);
  common_device(both, 2, pass_view{});
}
template <class... H>
tuple<H...> new_histories(std::type_identity<tuple<H...>>, [[maybe_unused]] std::int64_t count) {
  return {new_history(std::type_identity<H>{}, count)...};
}

template <bool Records, class... S, class Formula, class Conditions, class... Recorders,
          class... Samples>
DSL_DETAIL_RARE auto run_loop(const loop_schedule& plan, const tuple<S&...>& variables,
                              const Formula& formula, const Conditions& until,
                              const tuple<const record_option<Recorders>&...>& recorders,
                              const tuple<const Samples&...>& samples, const loop_watch* watch,
                              const launch& fixed, strategy how) {
  constexpr std::size_t states = sizeof...(S), stops = std::tuple_size_v<Conditions>;
  const auto step = step_formula(variables, formula, until, recorders);
  auto extra = scalars_for_outputs<states>(step);
  loop ready = bind_loop<leaf_count<Formula>, (stops > 0)>(variables, extra, step, fixed, how);
  unpack([&](const auto&... x) { (require_sample(get<0>(variables), x), ...); }, samples);

  using of_state = std::conditional_t<Records, scalar_histories<S...>, tuple<>>;
  using of_records = decltype(histories_of_outputs(
      std::declval<
          outputs_of<decltype(vectorized<unnamed, Recorders>{}(std::declval<S&>()...))...>>()));
  constexpr bool together = gives_single_values<Formula, S...>,
                 is_cut = sizeof...(Samples) > 0 || (!together && sizeof...(Recorders) > 0);
  constexpr std::size_t scalars = std::tuple_size_v<of_state>,
                        records = std::tuple_size_v<of_records>;
  auto histories = concatenate(
      new_histories(std::type_identity<of_state>{}, plan.records()),
      new_histories(std::type_identity<of_records>{}, plan.records()),
      unpack(
          [&](const auto&... x) {
            return tuple<decltype(history_of_sample(x))...>{new_history(x, plan.records())...};
          },
          samples));
  operand recorded[states + std::tuple_size_v<decltype(extra)>];
  [&]<std::size_t... H>(std::index_sequence<H...>) {
    [[maybe_unused]] const auto add = [&](auto& history, std::size_t number) {
      operand* at = recorded + output_of_history<S...>(number);
      add_leaves(history.view(), at);
    };
    (add(get<H>(histories), H), ...);
  }(std::make_index_sequence<scalars + (together ? records : 0)>{});
  if constexpr (stops > 0) {
    unpack([](auto&... h) { ((h = typename std::remove_cvref_t<decltype(h)>::value_type{}), ...); },
           histories);
    get<std::tuple_size_v<decltype(extra)> - 1>(extra) = plan.first;
  }

  const auto record = [&](std::int64_t k) {
    if constexpr (!together && sizeof...(Recorders) > 0) {
      auto rows = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return tuple{get<scalars + I>(histories)(k).view()...};
      }(std::make_index_sequence<records>{});
      unpack(
          [&](auto&... row) {
            unpack(
                [&](const auto&... v) {
                  assign_all({}, references(row...), vectorized<unnamed, Recorders>{}(v...)...);
                },
                variables);
          },
          rows);
    }
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((get<scalars + records + I>(histories)(k) = get<I>(samples).of), ...);
    }(std::index_sequence_for<Samples...>{});
  };
  // After the end: the samples from row k on, which all are the last one.
  [[maybe_unused]] const auto fill = [&](std::int64_t k) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((get<scalars + records + I>(histories)(slice(k, end)) = get<I>(samples).of), ...);
    }(std::index_sequence_for<Samples...>{});
  };
  std::int64_t done = 0;
  while (done < plan.steps) {
    const std::int64_t left = plan.steps - done,
                       wanted = is_cut && plan.every < left + done % plan.every
                                    ? plan.every - done % plan.every
                                    : left;
    done += ready.run({plan, done, wanted, recorded}, watch);
    if (is_cut && done % plan.every == 0) record(done / plan.every - 1);
    if (ready.stopped()) break;
    if (ready.has_ended()) {
      if constexpr (sizeof...(Samples) > 0) fill(done / plan.every);
      done = plan.steps;
    }
  }
  const auto shorten = [&](auto& h) {
    if (h.extent(0) > done / plan.every)
      h = std::remove_cvref_t<decltype(h)>(h(slice(0, done / plan.every)));
  };
  unpack([&](auto&... h) { (shorten(h), ...); }, histories);
  if constexpr (stops > 0) {
    if (scalar<std::int64_t>* const ran = get<0>(until).ran)
      *ran = get<std::tuple_size_v<decltype(extra)> - 1>(extra);
  }
  return histories;
}

template <class... Arguments>
using parameter_indices = std::make_index_sequence<(
    std::size_t{0} + ... + std::size_t{only_parameters::passes<Arguments>})>;

/// Calls use(variables, formula, conditions) for a loop that may run, with the variables' device as
/// the current device. The index sequences are parameters, because the compiler's error message for
/// a formula shows each further call on the way to it.
template <class Name, class F, class... S, class Use, std::size_t... I, std::size_t... K,
          class... Arguments>
auto with_formula(const vectorized<Name, F>& f, const loop_state<S...>& s, const Use& use,
                  std::index_sequence<I...>, std::index_sequence<K...>,
                  const Arguments&... arguments) {
  if constexpr (!may_call_loop<F, sizeof...(S), Arguments...>()) {
    return refused{};
  } else {
    const auto variables = leaves_of_state(s);
    const device_guard guard(as_operand(get<0>(variables)).where());
    const auto parameters = filter(only_parameters{}, arguments...);
    const auto conditions = filter(only_conditions{}, arguments...);
    const auto formula = f(get<I>(s.variables)..., get<K>(parameters)...);
    using formula_type = std::remove_const_t<decltype(formula)>;
    using step = lowered_step<std::remove_const_t<decltype(variables)>, formula_type,
                              std::remove_const_t<decltype(conditions)>,
                              decltype(of_leaves<S...>(filter(only_records{}, arguments...)))>;
    if constexpr (detail::may_loop<formula_type>(identity_of(variables), identity_of(conditions),
                                                 std::type_identity<step>{})) {
      return use(variables, formula, conditions);
    } else {
      return refused{};
    }
  }
}

/// One history, or several as a std::tuple.
template <class... H>
auto as_result(tuple<H...> all) {
  if constexpr (sizeof...(H) == 0) return all;
  else if constexpr (sizeof...(H) == 1) return std::move(get<0>(all));
  else return unpack([](auto&... h) { return std::tuple<H...>(std::move(h)...); }, all);
}

}  // namespace detail

/// Runs `variables = f(variables, parameters...)` for `steps` steps on the device of the first
/// variable.
///
/// steps: the number of steps, 0 or more. f: the result of `vectorize`. It takes the variables and
/// then the parameters, and returns the new values of the variables, each of which is rounded to
/// its variable's dtype. It may use its own reductions of all elements in the same step: a step
/// then has a phase for each reduction that depends on another one, at most twelve. Neighbours
/// (`shift`) and elements at positions (`take`) of variables are those before the step. s:
/// `dsl::state(...)` of arrays and views of one shape, scalars in device memory, and structs of
/// these; afterwards they hold the values of the last step. arguments: first the parameters, which
/// are arrays, C++ scalars, scalars in device memory, and expressions of these and of dsl::step;
/// they broadcast to the variables' shape. Then options in any order: every, from_step, until,
/// record, progress, a dsl::strategy, a dsl::launch.
///
/// Returns histories in device memory, with one row for each recorded step: for each scalar among
/// the variables an array of its dtype (for a struct with scalars a struct of arrays), then those
/// of `record`, first reductions of formulas, then samples. One history is returned as an array,
/// several or none as a std::tuple.
///
/// Does not wait, unless `progress` is given, or `until` and so many steps that it waits for
/// earlier ones (those of half a second, or some 200 if each is a kernel) to see whether to queue
/// more. Results are the same from run to run; between strategies floating point results may
/// differ by rounding. Throws as `assign` does, and shape_error if variables share elements or
/// `steps` is negative. It throws before the first step, so the variables have not changed.
/// ```cpp
/// const auto step = dsl::vectorize([](auto phase, auto z, auto rate, auto pull, auto h) {
///   auto next = phase + h * (rate + pull * imag(z * exp(-1i * phase)));
///   return std::tuple{next, dsl::mean(exp(1i * next))};
/// });
/// ```
/// with arrays of doubles `phase` and `rate`:
/// ```cpp
/// dsl::scalar<std::complex<double>> z = dsl::mean(exp(1i * phase));
/// const dsl::array<std::complex<double>> history =
///     dsl::iterate(1000, step, dsl::state(phase, z), rate, 2.0, 0.01);
/// ```
template <class Name, class F, class... S, class... Arguments>
auto iterate(std::integral auto steps, const vectorized<Name, F>& f, const loop_state<S...>& s,
             const Arguments&... arguments) {
  using namespace detail;
  const auto run = [&](const auto& variables, const auto& formula, const auto& conditions) {
    const loop_schedule plan = loop_schedule::of(static_cast<std::int64_t>(steps),
                                                 option_or(from_step(0), arguments...).number,
                                                 option_or(every(1), arguments...).steps);
    const auto watches = filter(only_progress{}, arguments...);
    const auto watch = watch_of(watches);
    auto histories = run_loop<!(std::same_as<Arguments, no_histories> || ...)>(
        plan, variables, formula, conditions, of_leaves<S...>(filter(only_records{}, arguments...)),
        filter(only_samples{}, arguments...),
        std::tuple_size_v<decltype(watches)> > 0 ? &watch : nullptr,
        option_or(launch{}, arguments...), option_or(strategy::automatic, arguments...));
    return as_result(histories_by_variable<S...>(std::move(histories)));
  };
  return with_formula(f, s, run, std::index_sequence_for<S...>{}, parameter_indices<Arguments...>{},
                      arguments...);
}
// Other calls: a compile-time error says what `iterate` takes.
template <class Steps, class F, class... Arguments>
  requires(!detail::begins_a_loop<Steps, F, Arguments...>)
refused iterate(const Steps&, const F&, const Arguments&...) {
  if constexpr (!std::same_as<F, refused> && !(std::same_as<Arguments, refused> || ...)) {
    constexpr bool is_count = std::integral<Steps>, is_formula = detail::is_vectorized<F>;
    static_assert(is_count,
                  "a loop takes an integer number of steps: dsl::iterate(1000, dsl::vectorize(f), "
                  "dsl::state(x, ...), parameters...)");
    static_assert(!is_count || is_formula,
                  "a loop's formula is made by dsl::vectorize: dsl::iterate(steps, "
                  "dsl::vectorize(f), dsl::state(x, ...), parameters...)");
    static_assert(!is_count || !is_formula,
                  "what a loop carries follows its formula, as dsl::state(x, ...), and then come "
                  "the parameters");
  }
  return {};
}

namespace detail {

/// Calls use(loop) for the loop that `iterate` would run. `Keeps`: it can keep its states.
template <bool Keeps = false, class Name, class F, class... S, class Use, class... Arguments>
auto with_loop(const vectorized<Name, F>& f, const loop_state<S...>& s, const Use& use,
               const Arguments&... arguments) {
  const auto bind = [&](const auto& variables, const auto& formula, const auto& conditions) {
    const auto one_step = step_formula(variables, formula, conditions,
                                       of_leaves<S...>(filter(only_records{}, arguments...)));
    auto extra =
        scalars_for_outputs<std::tuple_size_v<std::remove_cvref_t<decltype(variables)>>>(one_step);
    constexpr bool stops = std::tuple_size_v<std::remove_cvref_t<decltype(conditions)>> > 0;
    return use(bind_loop<leaf_count<std::remove_cvref_t<decltype(formula)>>, stops, Keeps>(
        variables, extra, one_step, option_or(launch{}, arguments...),
        option_or(strategy::automatic, arguments...)));
  };
  return with_formula(f, s, bind, std::index_sequence_for<S...>{},
                      parameter_indices<Arguments...>{}, arguments...);
}

}  // namespace detail

/// How a loop would run: strategy, grid, block, and which data stays on chip. Takes the arguments
/// of `iterate` without the number of steps. Runs nothing and does not wait. Throws as `iterate`
/// would.
/// ```cpp
/// const dsl::loop_plan plan = dsl::plan_of(step, dsl::state(phase, z), rate, 2.0, 0.01);
/// ```
template <class Name, class F, class... S, class... Arguments>
loop_plan plan_of(const vectorized<Name, F>& f, const loop_state<S...>& s,
                  const Arguments&... arguments) {
  return detail::with_loop(
      f, s, [](const detail::loop& of) { return of.make_plan(); }, arguments...);
}

}  // namespace dsl

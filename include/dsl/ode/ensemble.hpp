// Ensembles: every element of arrays is a system of its own, with its own steps.
#pragma once

#include <dsl/exec/ensemble/ensemble.hpp>
#include <dsl/ode/ensemble_operands.hpp>
#include <dsl/ode/ensemble_options.hpp>
#include <dsl/ode/ensemble_problem.hpp>
#include <dsl/ode/ensemble_result.hpp>
#include <dsl/ode/ensemble_structs.hpp>

namespace dsl::ode {

namespace detail {

inline std::vector<double> times_on_host() { return {}; }
template <class X>
std::vector<double> times_on_host(const save_option<X>& s) {
  if constexpr (dsl::detail::viewable<X>) return s.times.copy_to_host();
  else if constexpr (dsl::detail::lazy_operand<X>)
    return eval(cast<double>(s.times)).copy_to_host();
  else return std::vector<double>(std::begin(s.times), std::end(s.times));
}

/// The options of a call. First, Largest, Most: tuples of the limit that is an array, if there is
/// one.
template <saving Saves, bool HasFixedSteps, class Events, class First, class Largest, class Most>
struct chosen_options {
  static constexpr saving saves = Saves;
  static constexpr bool has_fixed_steps = HasFixedSteps;
  using event_list = Events;
  using limits = varying_limits<(std::tuple_size_v<First> > 0), (std::tuple_size_v<Largest> > 0),
                                (std::tuple_size_v<Most> > 0)>;
  std::int64_t fixed;
  std::vector<double> times;
  every_option every;
  Events events;
  First first;
  Largest largest;
  Most most;
};
template <class... T>
tuple<T...> values_in(const tuple<const T&...>& all) {
  return unpack([](const T&... x) { return tuple<T...>{x...}; }, all);
}
template <saving Saves, bool HasFixedSteps, class... Arguments>
auto options_among(const Arguments&... all) {
  using dsl::detail::option_or;
  const auto events = values_in(filter(only_events{}, all...));
  const auto first = values_in(filter(only_step_limits<step_limit::first>{}, all...));
  const auto largest = values_in(filter(only_step_limits<step_limit::largest>{}, all...));
  const auto most = values_in(filter(only_step_limits<step_limit::most>{}, all...));
  return chosen_options<Saves, HasFixedSteps, std::remove_const_t<decltype(events)>,
                        std::remove_const_t<decltype(first)>,
                        std::remove_const_t<decltype(largest)>,
                        std::remove_const_t<decltype(most)>>{
      option_or(fixed_option{0}, all...).steps,
      unpack([](const auto&... s) { return times_on_host(s...); }, filter(only_saves{}, all...)),
      option_or(every_option{1, 0}, all...),
      events,
      first,
      largest,
      most};
}

/// The most steps of an element. Each event adds one to steps of a fixed size.
template <class P>
constexpr std::int64_t steps_of_call(std::int64_t fixed, std::int64_t most) {
  return P::counts_steps ? fixed : P::has_fixed_steps ? fixed + most : most;
}

template <class F, class Method, class Options, class T0, class T1, class... S, class... X>
DSL_DETAIL_RARE auto run_ensemble(const tuple<S&...>& fields, const T0& t0, const T1& t1,
                                  const tolerance& wanted, const Options& options,
                                  const tuple<X...>& parameters) {
  constexpr bool has_rows = Options::saves != saving::nothing,
                 saves_steps = Options::saves == saving::steps;
  constexpr int rank = std::tuple_element_t<0, tuple<S...>>::rank, count = sizeof...(S);
  using sorted = sorted_parameters<0, 0, tuple<>, dsl::detail::variable_types<>, X...>;
  using problem =
      ensemble_problem<F, Method, dsl::detail::variable_types<dtype_v<typename S::value_type>...>,
                       typename sorted::arrays, typename sorted::parameters, !is_time_of_all<T0>,
                       !is_time_of_all<T1>, typename Options::limits, Options::saves,
                       typename Options::event_list, Options::has_fixed_steps>;
  using loop = typename ensemble_loop<problem>::type;
  using result = ensemble_result<
      rank,
      std::conditional_t<has_rows, tuple<array<typename S::value_type, rank + 1>...>, tuple<>>,
      std::conditional_t<saves_steps, tuple<array<double, rank + 1>>, tuple<>>,
      decltype(rows_of_events<rank>(options.events, {}))>;
  require_tolerance(wanted);
  if constexpr (Options::has_fixed_steps) require_steps(options.fixed);
  if constexpr (saves_steps) require_rows(options.every.steps, options.every.rows);
  if constexpr (is_time_of_all<T0>) require_finite("t0", static_cast<double>(t0));
  if constexpr (is_time_of_all<T1>) require_finite("t1", static_cast<double>(t1));
  if constexpr (is_time_of_all<T0> && is_time_of_all<T1>)
    require_times(options.times, static_cast<double>(t0), static_cast<double>(t1));
  else require_times(options.times);
  const device_guard guard(as_operand(get<0>(fields)).where());
  tuple<array<typename S::value_type, S::rank>...> copies{};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const tuple places{place_of(get<I>(fields), get<I>(copies))...};
    ensemble_operands<rank> in(get<0>(places).extents());
    (in.add(get<I>(places)), ...);
    require_fields(in.all(), count);
    unpack(
        [&](const auto&... x) {
          [[maybe_unused]] const auto add = [&](const auto& p) {
            using P = std::remove_cvref_t<decltype(p)>;
            if constexpr (is_array_parameter<P>)
              in.template add_elements<element_t<dsl::detail::trace_t<P>::type.type>>(p, count);
          };
          (add(x), ...);
        },
        parameters);
    const auto first_times = in.add_times(t0, count);
    const auto last_times = in.add_times(t1, count);
    unpack([](const auto&... each) { require_finite_elements(each...); },
           concatenate(first_times, last_times));
    const auto add_limit = [&]<class T>(std::type_identity<T>, const auto& limits) {
      unpack([&](const auto&... x) { (in.template add_elements<T>(values_of(x), count), ...); },
             limits);
    };
    add_limit(std::type_identity<float>{}, options.first);
    add_limit(std::type_identity<float>{}, options.largest);
    add_limit(std::type_identity<std::int32_t>{}, options.most);

    const double unit = unit_of(wanted);
    const auto scalar_time = [](const auto& t) {
      if constexpr (is_time_of_all<std::remove_cvref_t<decltype(t)>>) return static_cast<double>(t);
      else return 0.0;
    };
    in.add(scalar_time(t0));
    in.add(scalar_time(t1));
    for (const double value : {wanted.relative * unit, wanted.absolute * unit, unit,
                               wanted.first_step, wanted.largest_step})
      in.add(as_float(value));
    in.add(static_cast<std::int32_t>(std::min<std::int64_t>(
        steps_of_call<problem>(options.fixed, wanted.most_steps), 0x7fffffff)));
    in.add(options.fixed > 0 ? 1 / static_cast<double>(options.fixed) : 0.0);
    unpack(
        [&](const auto&... x) {
          [[maybe_unused]] const auto add = [&](const auto& p) {
            if constexpr (!is_array_parameter<std::remove_cvref_t<decltype(p)>>) in.add(p);
          };
          (add(x), ...);
        },
        parameters);
    unpack(
        [&](const auto&... each) {
          (in.add(static_cast<std::int32_t>(std::min<std::int64_t>(each.most, 0x7fffffff))), ...);
        },
        options.events);
    if constexpr (saves_steps)
      in.add(static_cast<std::int32_t>(std::min<std::int64_t>(options.every.steps, 0x7fffffff)));

    result made{array<double, rank>(in.shape()),
                array<std::int32_t, rank>(in.shape()),
                array<std::int32_t, rank>(in.shape()),
                outcomes<rank>(in.shape()),
                {},
                {},
                rows_of_events<rank>(options.events, in.shape())};
    (in.add(get<I>(places)), ...);
    in.add(made.t.view());
    in.add(made.steps.view());
    in.add(made.rejected.view());
    in.add(made.outcome.view());
    dsl::detail::ensemble_request request{get<0>(places).size(), get<0>(places).where()};
    array<double> table;
    std::int64_t* kind = request.rows;
    if constexpr (has_rows) {
      const auto rows =
          saves_steps ? options.every.rows : static_cast<std::int64_t>(options.times.size());
      made.rows = {rows_of_nan<typename S::value_type>(rows, in.shape())...};
      if constexpr (saves_steps) {
        made.row_times = {rows_of_nan<double>(rows, in.shape())};
        in.add(get<0>(made.row_times).view());
      } else {
        table = array<double>(rows);
        if (rows > 0) table.copy_from_host(options.times);
        request.set_table(table.view());
      }
      (in.add(get<I>(made.rows).view()), ...);
      *kind++ = rows;
    }
    unpack(
        [&](const auto&... each) {
          [[maybe_unused]] const auto add = [&](const auto& t) {
            in.add(t.view());
            *kind++ = t.extent(0);
          };
          (add(each), ...);
        },
        made.times);
    dsl::detail::run_ensemble(dsl::detail::ensemble_code_of<loop, problem::scalars>(), in.all(),
                              request);
    (give_back(get<I>(fields), get<I>(copies)), ...);
    return made;
  }(std::index_sequence_for<S...>{});
}

// The values of a parameter: an operand that has memory or is a C++ value.
template <class X>
auto operand_of_parameter(const X& x) {
  if constexpr (dsl::detail::lazy_operand<X> && operand_t<X>::rank == 0 &&
                !dsl::detail::viewable<X>)
    return as_operand(eval(x)).view();
  else return as_operand(x);
}

template <class... Methods> struct chosen_method { using type = explicit_pair<tsit5_pair>; };
template <class M, class... Rest> struct chosen_method<method_option<M>, Rest...> {
  static_assert(sizeof...(Rest) == 0, "an ensemble has one method");
  using type = M;
};
template <class... M>
typename chosen_method<std::remove_cvref_t<M>...>::type method_among(const tuple<M...>&);

/// Whether an ensemble may have these options together; otherwise a compile-time error.
template <class Method, class... Arguments>
constexpr bool may_have_options() {
  constexpr bool fixed = (std::same_as<Arguments, fixed_option> || ...),
                 has_steps = fixed || Method::has_error,
                 saves_once =
                     (0 + ... + (is_save<Arguments> || std::same_as<Arguments, every_option>)) < 2,
                 limits_fit = !fixed || !(is_limit<Arguments> || ...),
                 limits_once = (0 + ... + is_limit_of<step_limit::first, Arguments>) < 2 &&
                               (0 + ... + is_limit_of<step_limit::largest, Arguments>) < 2 &&
                               (0 + ... + is_limit_of<step_limit::most, Arguments>) < 2;
  static_assert(
      has_steps,
      "a method without an error estimate takes steps of one size: dsl::ode::fixed_steps(n)");
  static_assert(saves_once,
                "an ensemble saves at times or after steps: it has one save_at or one save_every");
  static_assert(limits_fit,
                "fixed_steps takes steps of one size, without limits of each element's own");
  static_assert(limits_once, "a limit of the steps is given once");
  return has_steps && saves_once && limits_fit && limits_once &&
         !(std::same_as<Arguments, refused> || ...);
}

/// Integrates fields and parameters without structs.
template <class F, class... S, class T0, class T1, class... Arguments>
auto ensemble_of_leaves(const tuple<S&...>& fields, const T0& t0, const T1& t1,
                        const tolerance& wanted, const Arguments&... arguments) {
  using method = decltype(method_among(filter(only_methods{}, arguments...)));
  constexpr bool fixed = (std::same_as<Arguments, fixed_option> || ...);
  constexpr saving what = (std::same_as<Arguments, every_option> || ...) ? saving::steps
                          : (is_save<Arguments> || ...)                  ? saving::times
                                                                         : saving::nothing;
  return unpack(
      [&](const auto&... x) {
        return run_ensemble<F, method>(fields, t0, t1, wanted,
                                       options_among<what, fixed>(arguments...),
                                       tuple{operand_of_parameter(x)...});
      },
      filter(only_ensemble_parameters{}, arguments...));
}
/// Integrates their leaves.
template <class Call, class... S, class T0, class T1, class... Arguments>
auto ensemble_of_structs(const loop_state<S...>& fields, const T0& t0, const T1& t1,
                         const tolerance& wanted, const Arguments&... arguments) {
  return unpack(
      [&](const auto&... x) {
        return result_of_fields<std::remove_const_t<S>...>(
            ensemble_of_leaves<typename Call::function>(dsl::detail::leaves_of_state(fields), t0,
                                                        t1, wanted, x...));
      },
      concatenate(leaves_of_argument<typename Call::all, Arguments>::of(arguments)...));
}

}  // namespace detail

/// Integrates dy/dt = f from t0 to t1 in each element by itself: every element has its own steps,
/// events and end, and none waits for another one.
///
/// f: as for `integrate`, without sums, neighbours and elements of other systems. fields:
/// `dsl::state(...)` of arrays or views of one shape, real or complex, and structs of these;
/// afterwards they hold y at the result's `t`. t0, t1: numbers, or arrays that broadcast to that
/// shape. wanted: the tolerance and the limits of the steps of each element. arguments: first the
/// other arguments of f, which are arrays, expressions (computed once, before), scalars in device
/// memory, C++ values and structs of these; then options in any order: a method of `ode::method`,
/// fixed_steps, first_step, largest_step, most_steps, save_at or save_every, event.
///
/// One kernel. Does not wait, unless t0, t1 or the times of `save_at` are in device memory. Throws
/// value_error for times that are not finite, impossible tolerances and numbers of rows, and times
/// of `save_at` that are not sorted between t0 and t1, shape_error for fields of different shapes
/// and arguments that do not broadcast to them, device_error on several GPUs and for arguments on
/// different devices, before the fields are written.
/// ```cpp
/// const auto got = dsl::ode::ensemble(lorenz, dsl::state(x, y, z), 0.0, 1.0,
///                                     {.relative = 1e-6, .absolute = 1e-6}, rho);
/// const double mean_steps = dsl::mean(dsl::cast<double>(got.steps)).value();
/// ```
template <class F, class... S, class T0, class T1, class... Arguments>
auto ensemble(F, const loop_state<S...>& fields, const T0& t0, const T1& t1,
              const tolerance& wanted = {}, const Arguments&... arguments) {
  using namespace detail;
  using call = ensemble_call<F, tuple<S&...>, Arguments...>;
  using method = decltype(method_among(filter(only_methods{}, arguments...)));
  if constexpr (!may_have_options<method, Arguments...>()) return refused{};
  else if constexpr (!may_be_ensemble<typename call::function>(
                         std::type_identity<typename call::fields>{},
                         std::type_identity<typename call::parameters>{}))
    return refused{};
  else if constexpr (call::has_structs)
    return ensemble_of_structs<call>(fields, t0, t1, wanted, arguments...);
  else return ensemble_of_leaves<F>(fields.variables, t0, t1, wanted, arguments...);
}

// Other calls do not compile.
template <class F, class Fields, class T0, class T1, class... Arguments>
  requires(!dsl::detail::is_loop_state<Fields>)
refused ensemble(F, const Fields&, const T0&, const T1&, const tolerance& = {},
                 const Arguments&...) {
  static_assert(std::same_as<Fields, refused>,
                "ensemble takes its fields as dsl::state(y, ...), then t0, t1, the tolerance and "
                "the other arguments");
  return {};
}

}  // namespace dsl::ode

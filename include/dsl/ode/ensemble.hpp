// Ensembles: every element of arrays is a system of its own, with its own steps.
#pragma once

#include <dsl/ode/ensemble_operands.hpp>
#include <dsl/ode/ensemble_options.hpp>

namespace dsl::ode {

/// How the integration of each element ended; compares with an `ode::outcome`.
template <int Rank>
struct outcomes : array<std::uint8_t, Rank> {
  using array<std::uint8_t, Rank>::array;
  friend auto operator==(const outcomes& a, ode::outcome b) {
    return static_cast<const array<std::uint8_t, Rank>&>(a) == static_cast<std::uint8_t>(b);
  }
  friend auto operator!=(const outcomes& a, ode::outcome b) {
    return static_cast<const array<std::uint8_t, Rank>&>(a) != static_cast<std::uint8_t>(b);
  }
};

/// The result of `ensemble`, in device memory. For each element: the time that it reached, the
/// steps that it tried, those that were rejected, and how it ended.
template <int Rank, class Saved = detail::tuple<>, class Times = detail::tuple<>>
struct ensemble_result {
  array<double, Rank> t;
  array<std::int32_t, Rank> steps, rejected;
  outcomes<Rank> outcome;
  Saved rows;
  Times times;

  /// The values of field I at the times of `save_at`: a row for each time. NaN where an element
  /// ended before.
  template <std::size_t I>
  const auto& saved() const {
    static_assert(I < std::tuple_size_v<Saved>,
                  "fields are saved by the option dsl::ode::save_at(times): one array for each");
    return detail::get<I>(rows);
  }
  /// The times of event I of those with `keep_times`, a row for each: NaN where it did not happen
  /// so often.
  template <std::size_t I>
  const auto& event_times() const {
    static_assert(I < std::tuple_size_v<Times>,
                  "an event keeps its times with the option dsl::ode::keep_times(n)");
    return detail::get<I>(times);
  }
};

namespace detail {

/// Rows of NaN for values that an element may not have.
template <class T, std::size_t R>
array<T, static_cast<int>(R) + 1> rows_of_nan(std::int64_t rows,
                                              const std::array<std::int64_t, R>& shape) {
  extents<static_cast<int>(R) + 1> sizes{rows};
  for (std::size_t d = 0; d < R; ++d) sizes[d + 1] = shape[d];
  return broadcast_to(T(dsl::detail::math::quiet_nan<double>), sizes);
}
/// An array for the times of each event that keeps them.
template <int Rank, class... Events>
auto rows_of_events(const tuple<Events...>& events, const extents<Rank>& shape) {
  const auto one = [&](const auto& e) {
    if constexpr (std::remove_cvref_t<decltype(e)>::keeps_times)
      return tuple{rows_of_nan<double>(e.kept, shape)};
    else return tuple<>{};
  };
  return unpack([&](const auto&... e) { return concatenate(one(e)...); }, events);
}

template <class F, class Method, bool Saves, bool HasFixedSteps, class Events, class T0, class T1,
          class... S, class... X>
DSL_DETAIL_RARE auto run_ensemble(const tuple<S&...>& fields, const T0& t0, const T1& t1,
                                  const tolerance& wanted, std::int64_t fixed,
                                  const std::vector<double>& times, const Events& events,
                                  const tuple<X...>& parameters) {
  constexpr int rank = std::tuple_element_t<0, tuple<S...>>::rank, count = sizeof...(S);
  using sorted = sorted_parameters<0, 0, tuple<>, dsl::detail::variable_types<>, X...>;
  using problem =
      ensemble_problem<F, Method, dsl::detail::variable_types<dtype_v<typename S::value_type>...>,
                       typename sorted::arrays, typename sorted::parameters, !is_time_of_all<T0>,
                       !is_time_of_all<T1>, Saves, Events, HasFixedSteps>;
  using loop = typename ensemble_loop<problem>::type;
  using result = ensemble_result<
      rank, std::conditional_t<Saves, tuple<array<typename S::value_type, rank + 1>...>, tuple<>>,
      decltype(rows_of_events<rank>(std::declval<const Events&>(), {}))>;
  require_call<HasFixedSteps>(t0, t1, wanted, fixed, times);
  const device_guard guard(as_operand(get<0>(fields)).where());
  tuple<array<typename S::value_type, S::rank>...> copies{};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const tuple places{place_of(get<I>(fields), get<I>(copies))...};
    ensemble_operands<rank> in(get<0>(places).extents());
    (in.add(get<I>(places)), ...);
    require_fields(in.all().data(), count);
    in.add_parameters(parameters, count);
    in.add_times(t0, t1, count);
    in.template add_scalars<problem>(t0, t1, wanted, fixed, parameters, events);

    result made{array<double, rank>(in.shape()),
                array<std::int32_t, rank>(in.shape()),
                array<std::int32_t, rank>(in.shape()),
                outcomes<rank>(in.shape()),
                {},
                rows_of_events<rank>(events, in.shape())};
    (in.add(get<I>(places)), ...);
    in.add(made.t.view());
    in.add(made.steps.view());
    in.add(made.rejected.view());
    in.add(made.outcome.view());
    dsl::detail::ensemble_request request{get<0>(places).size(), get<0>(places).where()};
    array<double> table;
    std::int64_t* kind = request.rows;
    if constexpr (Saves) {
      const auto rows = static_cast<std::int64_t>(times.size());
      made.rows = {rows_of_nan<typename S::value_type>(rows, in.shape())...};
      (in.add(get<I>(made.rows).view()), ...);
      table = array<double>(rows);
      if (rows > 0) table.copy_from_host(times);
      request.set_table(table.view());
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
    dsl::detail::run_ensemble(
        dsl::detail::ensemble_code_of<loop, ensemble_scalars + sorted::scalars + problem::events>(),
        in.all().data(), request);
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

inline std::vector<double> times_on_host() { return {}; }
template <class X>
std::vector<double> times_on_host(const save_option<X>& s) {
  if constexpr (dsl::detail::viewable<X>) return s.times.copy_to_host();
  else if constexpr (dsl::detail::lazy_operand<X>)
    return eval(cast<double>(s.times)).copy_to_host();
  else return std::vector<double>(std::begin(s.times), std::end(s.times));
}

/// Whether a right-hand side computes with one element alone.
template <class F, class... X>
constexpr bool is_of_one_element() {
  graph g;
  std::uint64_t number = 0;
  const auto operand_like = [&]<class S>(std::type_identity<S>) {
    return S{&g, g.add(op::load, S::type.type, {number++})};
  };
  const tuple seen{operand_like(std::type_identity<dsl::detail::trace_t<operand_t<X>>>{})...};
  const auto time = operand_like(std::type_identity<symbol<dtype::float64, true>>{});
  unpack([&](const auto&... x) { right_side<F>::at(time, x...); }, seen);
  bool alone = g.reduction_count() == 0;
  for (int i = 0; i < g.size(); ++i)
    alone = alone && !dsl::detail::is_placed(g[i].code) && g[i].code != op::gather &&
            g[i].code != op::index;
  return alone;
}
/// Whether an ensemble may have these fields and parameters; otherwise a compile-time error.
template <class F, class... S, class... X>
constexpr bool may_be_ensemble(std::type_identity<tuple<S...>>, std::type_identity<tuple<X...>>) {
  if constexpr (!may_integrate<F, sizeof...(S), S..., X...>()) {
    return false;
  } else {
    constexpr bool are_arrays =
        ((S::rank > 0 && S::rank == std::tuple_element_t<0, tuple<S...>>::rank) && ...);
    static_assert(are_arrays, "the fields of an ensemble are arrays or views of one rank");
    constexpr bool alone = is_of_one_element<F, S..., X...>();
    static_assert(
        alone,
        "in an ensemble each element is a system of its own, without sums, neighbours and "
        "elements of others: dsl::ode::integrate takes these");
    return are_arrays && alone;
  }
}

template <class... Methods> struct chosen_method { using type = explicit_pair<tsit5_pair>; };
template <class M, class... Rest> struct chosen_method<method_option<M>, Rest...> {
  static_assert(sizeof...(Rest) == 0, "an ensemble has one method");
  using type = M;
};
template <class... M>
typename chosen_method<std::remove_cvref_t<M>...>::type method_among(const tuple<M...>&);

/// Sorts the arguments after the tolerance: run.operator()<Method, Saves, HasFixedSteps>(number of
/// fixed steps, times of `save_at`, events, parameters...). A compile-time error if an ensemble
/// cannot have them.
template <class F, class... S, class Run, class... Arguments>
auto with_options(const Run& run, const Arguments&... arguments) {
  using dsl::detail::option_or;
  using method = decltype(method_among(filter(only_methods{}, arguments...)));
  constexpr bool fixed = (std::same_as<Arguments, fixed_option> || ...),
                 saves = (is_save<Arguments> || ...), has_steps = fixed || method::has_error;
  static_assert(
      has_steps,
      "a method without an error estimate takes steps of one size: dsl::ode::fixed_steps(n)");
  const auto events =
      unpack([](const auto&... e) { return tuple<std::remove_cvref_t<decltype(e)>...>{e...}; },
             filter(only_events{}, arguments...));
  return unpack(
      [&](const auto&... x) {
        if constexpr (!has_steps ||
                      !may_be_ensemble<F>(
                          std::type_identity<tuple<S...>>{},
                          std::type_identity<tuple<std::remove_cvref_t<decltype(x)>...>>{}))
          return refused{};
        else
          return run.template operator()<method, saves, fixed>(
              option_or(fixed_option{0}, arguments...).steps,
              unpack([](const auto&... s) { return times_on_host(s...); },
                     filter(only_saves{}, arguments...)),
              events, x...);
      },
      filter(only_ensemble_parameters{}, arguments...));
}

}  // namespace detail

/// Integrates dy/dt = f from t0 to t1 in each element by itself: every element has its own steps,
/// events and end, and none waits for another one.
///
/// f: as for `integrate`, without sums, neighbours and elements of other systems. fields:
/// `dsl::state(...)` of arrays or views of one shape, real or complex; afterwards they hold y at
/// the result's `t`. t0, t1: numbers, or arrays that broadcast to that shape. wanted: the tolerance
/// and the limits of the steps of each element. arguments: first the other arguments of f, which
/// are arrays, expressions, scalars in device memory and C++ values; then options in any order: a
/// method of `ode::method`, fixed_steps, save_at, event.
///
/// One kernel. Does not wait, unless the times of `save_at` are in device memory. Throws
/// value_error for times that are not finite, impossible tolerances and times of `save_at` that are
/// not sorted between t0 and t1, shape_error for fields of different shapes and arguments that do
/// not broadcast to them, device_error on several GPUs and for arguments on different devices,
/// before the fields are written. An element of an array t0 or t1 that is NaN takes all of its
/// steps and does not end as `reached`.
/// ```cpp
/// const auto got = dsl::ode::ensemble(lorenz, dsl::state(x, y, z), 0.0, 1.0,
///                                     {.relative = 1e-6, .absolute = 1e-6}, rho);
/// const double mean_steps = dsl::mean(dsl::cast<double>(got.steps)).value();
/// ```
template <class F, class... S, class T0, class T1, class... Arguments>
auto ensemble(F, const loop_state<S...>& fields, const T0& t0, const T1& t1,
              const tolerance& wanted = {}, const Arguments&... arguments) {
  return detail::with_options<F, S...>(
      [&]<class Method, bool Saves, bool HasFixedSteps, class... X>(
          std::int64_t fixed, const std::vector<double>& times, const auto& events,
          const X&... parameters) {
        return detail::run_ensemble<F, Method, Saves, HasFixedSteps>(
            fields.variables, t0, t1, wanted, fixed, times, events,
            detail::tuple{detail::operand_of_parameter(parameters)...});
      },
      arguments...);
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

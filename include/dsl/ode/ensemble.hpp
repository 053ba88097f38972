// Ensembles: every element of arrays is a system of its own, with its own steps.
#pragma once

#include <dsl/ode/ensemble_call.hpp>
#include <dsl/ode/ensemble_result.hpp>

namespace dsl::ode {

namespace detail {

template <class F, class Method, class Options, class T0, class T1, class... S, class... X>
DSL_DETAIL_RARE auto run_ensemble(const tuple<S&...>& fields, const T0& t0, const T1& t1,
                                  const tolerance& wanted, const Options& options,
                                  const tuple<X...>& parameters) {
  constexpr bool has_rows = Options::saves != saving::nothing,
                 saves_steps = Options::saves == saving::steps;
  constexpr int rank = std::tuple_element_t<0, tuple<S...>>::rank;
  using problem =
      typename problem_of_call<F, Method, Options, T0, T1, tuple<S...>, tuple<X...>>::type;
  using loop = typename ensemble_loop<problem>::type;
  using result = ensemble_result<
      rank,
      std::conditional_t<has_rows, tuple<array<typename S::value_type, rank + 1>...>, tuple<>>,
      std::conditional_t<saves_steps, tuple<array<double, rank + 1>>, tuple<>>,
      decltype(rows_of_events<rank>(options.events, {}))>;
  require_call(t0, t1, wanted, options);
  const device_guard guard(as_operand(get<0>(fields)).where());
  tuple<array<typename S::value_type, S::rank>...> copies{};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const tuple places{place_of(get<I>(fields), get<I>(copies))...};
    ensemble_operands<rank> in(get<0>(places).extents());
    (in.add(get<I>(places)), ...);
    add_inputs<problem>(in, t0, t1, wanted, options, parameters);

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
    dsl::detail::run_ensemble(dsl::detail::ensemble_code_of<loop, problem::scalars>(),
                              in.all().data(), request);
    (give_back(get<I>(fields), get<I>(copies)), ...);
    return made;
  }(std::index_sequence_for<S...>{});
}

/// Integrates fields and parameters without structs.
template <class F, class... S, class T0, class T1, class... Arguments>
auto ensemble_of_leaves(const tuple<S&...>& fields, const T0& t0, const T1& t1,
                        const tolerance& wanted, const Arguments&... arguments) {
  return with_options(
      [&]<class Method, class... X>(const auto& options, const X&... parameters) {
        return run_ensemble<F, Method>(fields, t0, t1, wanted, options,
                                       tuple{operand_of_parameter(parameters)...});
      },
      arguments...);
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
  using call = detail::ensemble_call<F, detail::tuple<S&...>, Arguments...>;
  if constexpr (!detail::may_have_call<call, Arguments...>()) return refused{};
  else if constexpr (call::has_structs)
    return detail::ensemble_of_structs<call>(fields, t0, t1, wanted, arguments...);
  else return detail::ensemble_of_leaves<F>(fields.variables, t0, t1, wanted, arguments...);
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

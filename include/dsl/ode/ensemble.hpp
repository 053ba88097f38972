// Ensembles: every element of arrays is a system of its own, with its own steps.
#pragma once

#include <dsl/exec/ensemble/ensemble.hpp>
#include <dsl/ode/ensemble_options.hpp>
#include <dsl/ode/ensemble_problem.hpp>

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

/// Checks the tolerances, the limits of the steps, and a time that is one for all elements.
void require_tolerance(const tolerance& wanted);
void require_finite(const char* name, double value);
void require_steps(std::int64_t steps);
/// Throws value_error unless the times are sorted in the direction from t0 to t1, and lie between
/// them.
void require_times(const std::vector<double>& times, double t0, double t1);
/// A magnitude as a float; the least or the greatest positive one where no float is so small or
/// large.
float as_float(double magnitude);
/// A power of two by which tolerances and errors are multiplied, so that they are moderate floats.
double unit_of(const tolerance& wanted);
/// Throws shape_error unless all fields have one shape and share no element, and memory_error if
/// one has no memory.
void require_fields(const operand* fields, int count);
/// Whether the elements of an array may be those of a field.
bool may_share(const operand& array, const operand* fields, int count);

/// Operands of the kernel of one call, and the memory that the call needs besides its arguments'.
template <int Rank>
class ensemble_operands {
 public:
  explicit ensemble_operands(const extents<Rank>& shape) : shape_(shape) {}
  const operand* all() const { return all_.data(); }
  const extents<Rank>& shape() const { return shape_; }

  template <class V>
  void add(const V& v) {
    all_.push_back(operand_of(v));
  }
  /// Adds an array of the values of x: x itself, if it is a contiguous array of the fields' shape
  /// that shares no memory with them. The first `fields` operands are the fields.
  template <class T, class X>
  void add_elements(const X& x, int fields) {
    if constexpr (std::same_as<X, view<const T, Rank>>) {
      const operand o = operand_of(x);
      if (x.is_contiguous() && x.extents() == shape_ && !may_share(o, all_.data(), fields)) {
        all_.push_back(o);
        return;
      }
    }
    const array<T, Rank> made = cast<T>(broadcast_to(x, shape_));
    add(made);
    owners_.push_back(made.view().owner());
  }

 private:
  template <class V>
  static operand operand_of(const V& v) {
    operand one[1], *at = one;
    add_leaves(as_operand(v), at);
    return one[0];
  }
  extents<Rank> shape_;
  std::vector<operand> all_;
  std::vector<dsl::detail::buffer_ref> owners_;
};

/// The most steps of an element. Each event adds one to steps of a fixed size.
template <class P>
constexpr std::int64_t steps_of_call(std::int64_t fixed, std::int64_t most) {
  return P::counts_steps ? fixed : P::has_fixed_steps ? fixed + most : most;
}

template <class T> inline constexpr bool is_time_of_all = std::is_arithmetic_v<T>;

/// The contiguous elements of a field: its own, or a copy that is given back.
template <class T, int R> view<T, R> place_of(array<T, R>& a, array<T, R>&) { return a.view(); }
template <class T, int R>
view<T, R> place_of(view<T, R>& v, array<T, R>& copy) {
  if (v.is_contiguous()) return v;
  copy = v;
  return copy.view();
}
template <class T, int R> void give_back(array<T, R>&, array<T, R>&) {}
template <class T, int R>
void give_back(view<T, R>& v, array<T, R>& copy) {
  if (copy.has_memory()) v = copy;
}

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
  require_tolerance(wanted);
  if constexpr (HasFixedSteps) require_steps(fixed);
  if constexpr (is_time_of_all<T0>) require_finite("t0", static_cast<double>(t0));
  if constexpr (is_time_of_all<T1>) require_finite("t1", static_cast<double>(t1));
  if constexpr (is_time_of_all<T0> && is_time_of_all<T1>)
    require_times(times, static_cast<double>(t0), static_cast<double>(t1));
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
    if constexpr (!is_time_of_all<T0>) in.template add_elements<double>(as_operand(t0), count);
    if constexpr (!is_time_of_all<T1>) in.template add_elements<double>(as_operand(t1), count);

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
    in.add(static_cast<std::int32_t>(
        std::min<std::int64_t>(steps_of_call<problem>(fixed, wanted.most_steps), 0x7fffffff)));
    in.add(fixed > 0 ? 1 / static_cast<double>(fixed) : 0.0);
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
        events);

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
        in.all(), request);
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
template <class T>
view<const T, 0> operand_of_parameter(const view<T, 0>& x) {
  return x;
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
  using namespace detail;
  using dsl::detail::option_or;
  const auto others = filter(only_ensemble_parameters{}, arguments...);
  const auto saves = filter(only_saves{}, arguments...);
  using method = decltype(method_among(filter(only_methods{}, arguments...)));
  constexpr bool fixed = (std::same_as<Arguments, fixed_option> || ...),
                 has_steps = fixed || method::has_error;
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
          return run_ensemble<F, method,
                              (std::tuple_size_v<std::remove_cvref_t<decltype(saves)>> > 0), fixed>(
              fields.variables, t0, t1, wanted, option_or(fixed_option{0}, arguments...).steps,
              unpack([](const auto&... s) { return times_on_host(s...); }, saves), events,
              tuple{operand_of_parameter(x)...});
      },
      others);
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

// One call of an ensemble: its options and arguments, sorted and checked, and its kernel's
// operands.
#pragma once

#include <dsl/exec/ensemble/ensemble.hpp>
#include <dsl/ode/ensemble_operands.hpp>
#include <dsl/ode/ensemble_options.hpp>
#include <dsl/ode/ensemble_problem.hpp>
#include <dsl/ode/ensemble_structs.hpp>

namespace dsl::ode::detail {

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
template <class Method, saving Saves, bool HasFixedSteps, class Events, class First, class Largest,
          class Most>
struct chosen_options {
  using method = Method;
  static constexpr saving saves = Saves;
  static constexpr bool has_fixed_steps = HasFixedSteps;
  using event_list = Events;
  using limits = varying_limits<(std::tuple_size_v<First> > 0), (std::tuple_size_v<Largest> > 0),
                                (std::tuple_size_v<Most> > 0)>;
  std::int64_t fixed;
  std::uint64_t key;
  std::vector<double> times;
  every_option every;
  Events events;
  First first;
  Largest largest;
  Most most;
};
template <class... M>
std::uint64_t key_among(const tuple<M...>& methods) {
  return unpack([](const auto&... m) { return (std::uint64_t{0} | ... | m.key); }, methods);
}
template <class... T>
tuple<T...> values_in(const tuple<const T&...>& all) {
  return unpack([](const T&... x) { return tuple<T...>{x...}; }, all);
}
template <class Method, saving Saves, bool HasFixedSteps, class... Arguments>
auto options_among(const Arguments&... all) {
  using dsl::detail::option_or;
  const auto events = values_in(filter(only_events{}, all...));
  const auto first = values_in(filter(only_step_limits<step_limit::first>{}, all...));
  const auto largest = values_in(filter(only_step_limits<step_limit::largest>{}, all...));
  const auto most = values_in(filter(only_step_limits<step_limit::most>{}, all...));
  return chosen_options<Method, Saves, HasFixedSteps, std::remove_const_t<decltype(events)>,
                        std::remove_const_t<decltype(first)>,
                        std::remove_const_t<decltype(largest)>,
                        std::remove_const_t<decltype(most)>>{
      option_or(fixed_option{0}, all...).steps,
      key_among(filter(only_methods{}, all...)),
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

/// Whether an ensemble may have the fields and the arguments of a call, an ensemble_call; otherwise
/// a compile-time error.
template <class Call, class... Arguments>
constexpr bool may_have_call() {
  using method =
      decltype(method_among(filter(only_methods{}, std::declval<const Arguments&>()...)));
  using fields = std::type_identity<typename Call::fields>;
  using parameters = std::type_identity<typename Call::parameters>;
  if constexpr (!may_have_options<method, Arguments...>()) return false;
  else if constexpr (!may_be_ensemble<typename Call::function>(fields{}, parameters{}))
    return false;
  else if constexpr (method::draws)
    return may_be_diffusion<typename method_on_leaves<method, typename Call::all>::diffusion>(
        fields{}, parameters{});
  else return true;
}
/// Calls run.operator()<Method>(options, parameters...) with the arguments after the tolerance.
template <class Run, class... Arguments>
auto with_options(const Run& run, const Arguments&... arguments) {
  using method = decltype(method_among(filter(only_methods{}, arguments...)));
  constexpr bool fixed = (std::same_as<Arguments, fixed_option> || ...);
  constexpr saving what = (std::same_as<Arguments, every_option> || ...) ? saving::steps
                          : (is_save<Arguments> || ...)                  ? saving::times
                                                                         : saving::nothing;
  return unpack(
      [&](const auto&... x) {
        return run.template operator()<method>(options_among<method, what, fixed>(arguments...),
                                               x...);
      },
      filter(only_ensemble_parameters{}, arguments...));
}

/// The problem of a call with fields S and parameters X.
template <class F, class Method, class Options, class T0, class T1, class S, class X>
struct problem_of_call;
template <class F, class Method, class Options, class T0, class T1, class... S, class... X>
struct problem_of_call<F, Method, Options, T0, T1, tuple<S...>, tuple<X...>> {
  using sorted = sorted_parameters<0, 0, tuple<>, dsl::detail::variable_types<>, X...>;
  using type =
      ensemble_problem<F, Method, dsl::detail::variable_types<dtype_v<typename S::value_type>...>,
                       typename sorted::arrays, typename sorted::parameters, !is_time_of_all<T0>,
                       !is_time_of_all<T1>, typename Options::limits, Options::saves,
                       typename Options::event_list, Options::has_fixed_steps>;
};

/// Checks what needs no memory.
template <class T0, class T1, class Options>
void require_call(const T0& t0, const T1& t1, const tolerance& wanted, const Options& options) {
  require_tolerance(wanted);
  if constexpr (Options::has_fixed_steps) require_steps(options.fixed);
  if constexpr (Options::saves == saving::steps)
    require_rows(options.every.steps, options.every.rows);
  if constexpr (is_time_of_all<T0>) require_finite("t0", static_cast<double>(t0));
  if constexpr (is_time_of_all<T1>) require_finite("t1", static_cast<double>(t1));
  if constexpr (Options::method::draws && is_time_of_all<T0> && is_time_of_all<T1>)
    require_forward("t1 - t0", static_cast<double>(t1) - static_cast<double>(t0));
  if constexpr (is_time_of_all<T0> && is_time_of_all<T1>)
    require_times(options.times, static_cast<double>(t0), static_cast<double>(t1));
  else require_times(options.times);
}

/// Adds all operands of the kernel of problem P that are read, after those of the fields, which are
/// checked. Waits for arrays of times.
template <class P, int Rank, class T0, class T1, class Options, class... X>
void add_inputs(ensemble_operands<Rank>& in, const T0& t0, const T1& t1, const tolerance& wanted,
                const Options& options, const tuple<X...>& parameters) {
  constexpr int fields = P::fields;
  require_fields(in.all().data(), fields);
  const auto add_array = [&]<class Q>(const Q& p) {
    if constexpr (is_array_parameter<Q>)
      in.template add_elements<element_t<dsl::detail::trace_t<Q>::type.type>>(p, fields);
  };
  unpack([&](const X&... x) { (add_array(x), ...); }, parameters);
  if constexpr (P::draws)
    in.template add_elements<std::int64_t>(
        dsl::detail::index_leaf<Rank>{0, in.shape(), dsl::detail::row_major(in.shape())}, fields);
  const auto first_times = in.add_times(t0, fields);
  const auto last_times = in.add_times(t1, fields);
  unpack([](const auto&... each) { require_finite_elements(each...); },
         concatenate(first_times, last_times));
  if constexpr (P::draws && (P::t0_varies || P::t1_varies)) {
    const array<double, Rank> spans = broadcast_to(cast<double>(t1 - t0), in.shape());
    if (spans.size() > 0) require_forward("the least t1 - t0", dsl::min(spans).value());
  }
  const auto add_limit = [&]<class T>(std::type_identity<T>, const auto& limits) {
    unpack([&](const auto&... x) { (in.template add_elements<T>(values_of(x), fields), ...); },
           limits);
  };
  add_limit(std::type_identity<float>{}, options.first);
  add_limit(std::type_identity<float>{}, options.largest);
  add_limit(std::type_identity<std::int32_t>{}, options.most);

  in.begin_scalars();
  const double unit = unit_of(wanted);
  const auto scalar_time = [](const auto& t) {
    if constexpr (is_time_of_all<std::remove_cvref_t<decltype(t)>>) return static_cast<double>(t);
    else return 0.0;
  };
  const auto as_count = [](std::int64_t n) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(n, 0x7fffffff));
  };
  in.add(scalar_time(t0));
  in.add(scalar_time(t1));
  // The absolute tolerance is no subnormal number, so that its reciprocal is one.
  for (const double value : {wanted.relative * unit, std::max(wanted.absolute * unit, 1e-37), unit,
                             wanted.first_step, wanted.largest_step})
    in.add(as_float(value));
  in.add(as_count(steps_of_call<P>(options.fixed, wanted.most_steps)));
  in.add(options.fixed > 0 ? 1 / static_cast<double>(options.fixed) : 0.0);
  const auto add_scalar = [&]<class Q>(const Q& p) {
    if constexpr (!is_array_parameter<Q>) in.add(p);
  };
  unpack([&](const X&... x) { (add_scalar(x), ...); }, parameters);
  unpack([&](const auto&... each) { (in.add(as_count(each.most)), ...); }, options.events);
  if constexpr (P::saves_steps) in.add(as_count(options.every.steps));
  if constexpr (P::draws) in.add(dsl::detail::object_word{options.key});
}

}  // namespace dsl::ode::detail

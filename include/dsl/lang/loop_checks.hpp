// Whether a formula, a condition and variables make a loop; if not, a compile-time error says why.
#pragma once

#include <tuple>

#include <dsl/lang/loop_options.hpp>
#include <dsl/lang/loop_state.hpp>

namespace dsl {

namespace detail {

/// The index of the variable that a condition's leaf reads, among the single values of a loop's
/// variables; or -1.
template <class Leaf, class... S>
std::int32_t number_of(const Leaf& leaf, const tuple<S&...>& variables) {
  std::int32_t found = -1, k = 0;
  if constexpr (requires { leaf.origin(); })
    unpack(
        [&](const auto&... v) {
          ((found = S::rank == 0 && static_cast<const void*>(v.origin()) ==
                                        static_cast<const void*>(leaf.origin())
                        ? k
                        : found,
            ++k),
           ...);
        },
        variables);
  return found;
}

/// Whether recorded values and the condition can be outputs of the step: they are single values, so
/// the step must have outputs that are single values too.
template <class Formula, class... S> inline constexpr bool gives_single_values =
    has_reductions<Formula> || ((S::rank == 0) && ...);

/// Whether a condition can end this loop; if not, a compile-time error says why.
template <class Formula, class... S, class... Conditions>
constexpr bool may_end(std::type_identity<tuple<S&...>>,
                       std::type_identity<tuple<const Conditions&...>>) {
  static_assert(sizeof...(Conditions) <= 1, "a loop takes one condition to end on");
  if constexpr (sizeof...(Conditions) != 1) return sizeof...(Conditions) == 0;
  else if constexpr (!gives_single_values<Formula, S...>) {
    constexpr bool single_values = gives_single_values<Formula, S...>;
    static_assert(single_values,
                  "until wants a scalar among the state that the step sets by a reduction");
    return false;
  } else {
    constexpr bool is_single = (is_condition<decltype(Conditions::condition)> && ...);
    static_assert(is_single, "a loop ends on a condition of dsl::scalar and C++ values");
    return is_single;
  }
}

/// Whether a formula's outputs can be assigned to a loop's variables; if not, a compile-time error
/// says why. `Lowered`: lowered_step. It is passed on in qualified calls, because
/// argument-dependent look-up would instantiate it.
template <class Formula, class... S, class Lowered>
constexpr bool gives_variables(std::type_identity<tuple<S&...>> variables,
                               std::type_identity<Lowered> step) {
  constexpr bool as_many = std::tuple_size_v<outputs_of<Formula>> == sizeof...(S);
  static_assert(as_many,
                "a loop's formula gives as many values as there are variables in its state");
  constexpr bool scans_are_values = !has_materialized<Formula>;
  static_assert(scans_are_values,
                "a scan, a product or a transform among a loop's parameters is evaluated before "
                "it: give its value, "
                "dsl::eval(...)");
  if constexpr (!as_many || !scans_are_values) {
    return false;
  } else if constexpr (detail::may_assign<Formula>(variables, step)) {
    using type = typename Lowered::type;
    constexpr bool is_loop = type::is_one_pass || runs_in_phases<type>,
                   reduces_parameters = reductions_in<Formula> > 0;
    static_assert(is_loop || !reduces_parameters,
                  "a reduction among a loop's parameters is evaluated before it: give its value, "
                  "dsl::eval(...)");
    static_assert(is_loop || reduces_parameters,
                  "in a loop a formula uses reductions of all elements, at most twelve one after "
                  "another: not along axes");
    return is_loop;
  } else {
    return false;
  }
}

/// Whether a formula, a condition and variables make a loop; if not, a compile-time error says or
/// has said why. `Lowered`: lowered_step.
template <class Formula, class... S, class Conditions, class Lowered>
constexpr bool may_loop(std::type_identity<tuple<S&...>> variables, Conditions conditions,
                        std::type_identity<Lowered> step) {
  if constexpr (std::same_as<Formula, refused>) return false;
  else if constexpr (!may_end<Formula>(variables, conditions)) return false;
  else return detail::gives_variables<Formula>(variables, step);
}

/// Whether a formula takes the number of arguments that a loop passes, as far as that is known; if
/// not, a compile-time error says so.
template <int Takes, int Given>
constexpr bool require_loop_arguments() {
  static_assert(Takes < 0 || Takes == Given,
                "a loop's formula takes another number of arguments (Takes) than it is given "
                "(Given): the variables of dsl::state, "
                "in their order, and then the parameters");
  return Takes < 0 || Takes == Given;
}

template <class T> inline constexpr bool is_vectorized = false;
template <class Name, class F> inline constexpr bool is_vectorized<vectorized<Name, F>> = true;

template <class Steps, class F, class... Arguments> inline constexpr bool begins_a_loop = false;
template <std::integral Steps, class Name, class F, class... S, class... Arguments>
inline constexpr bool begins_a_loop<Steps, vectorized<Name, F>, loop_state<S...>, Arguments...> =
    true;

/// Whether a loop with this number of variables may call F; if not, a compile-time error says or
/// has said why.
template <class F, std::size_t Variables, class... Arguments>
constexpr bool may_call_loop() {
  constexpr std::size_t parameters = (std::size_t{0} + ... + (is_loop_option<Arguments> ? 0 : 1));
  if constexpr ((!is_stateless<F> && !is_given_by_value<F>) ||
                (std::same_as<Arguments, refused> || ...))
    return false;
  else
    return require_loop_arguments<count_parameters<F>().all,
                                  static_cast<int>(Variables + parameters)>();
}

}  // namespace detail
}  // namespace dsl

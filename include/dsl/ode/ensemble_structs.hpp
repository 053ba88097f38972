// Structs of arrays as fields and parameters of an ensemble.
#pragma once

#include <dsl/ode/ensemble_options.hpp>
#include <dsl/ode/ensemble_result.hpp>

namespace dsl::ode::detail {

using dsl::detail::flat;
using dsl::detail::flat_t;
using dsl::detail::structured;

/// The symbol of an argument of a formula, or a struct of symbols.
template <class S> struct seen_in_formula { using type = dsl::detail::trace_t<operand_t<S>>; };
template <structured S> struct seen_in_formula<S> {
  using type = dsl::detail::struct_of_symbols<S>;
};

/// A function of arguments of types S, structs among them, as a function of their leaves.
template <class F, class... S>
struct function_of_leaves {
  template <class... Leaf>
    requires(sizeof...(Leaf) == std::tuple_size_v<flat_t<S...>> &&
             std::is_invocable_v<F, typename seen_in_formula<S>::type...>)
  constexpr auto operator()(const Leaf&... leaf) const {
    return dsl::detail::formula_of_leaves<F, S...>{}(leaf...);
  }
};
/// The function of the leaves of arguments of types S. A time, which comes first, stays as it is.
template <class F, class All> struct on_leaves;
template <class F, class... S> struct on_leaves<F, tuple<S...>> {
  using type = function_of_leaves<F, S...>;
};
template <class F, class... S> struct on_leaves<timed<F>, tuple<S...>> {
  using type = timed<function_of_leaves<F, double, S...>>;
};
template <class... S> struct on_leaves<end_element, tuple<S...>> { using type = end_element; };
template <class F, class All> using function_on_leaves = typename on_leaves<F, All>::type;

template <class All> struct plain_types;
template <class... T> struct plain_types<tuple<T...>> {
  using type = tuple<std::remove_cvref_t<T>...>;
};
template <class... Tuples> using types_in =
    typename plain_types<decltype(concatenate(std::declval<Tuples>()...))>::type;

/// A call of an ensemble as types: its fields, parameters and function, without structs.
template <class F, class Fields, class... Arguments> struct ensemble_call;
template <class F, class... S, class... Arguments>
struct ensemble_call<F, tuple<S&...>, Arguments...> {
  static constexpr bool has_structs = (structured<S> || ...) || (structured<Arguments> || ...);
  /// The types of the fields and the parameters, structs among them.
  using all =
      types_in<tuple<S&...>,
               decltype(filter(only_ensemble_parameters{}, std::declval<const Arguments&>()...))>;
  using function =
      typename std::conditional_t<has_structs, on_leaves<F, all>, std::type_identity<F>>::type;
  using fields = types_in<flat_t<S...>>;
  using parameters =
      types_in<tuple<>, std::conditional_t<only_ensemble_parameters::passes<Arguments>,
                                           flat_t<Arguments>, tuple<>>...>;
};

/// An argument of an ensemble as arguments without structs: the leaves of a parameter, the event of
/// the leaves. All: tuple of the types of the fields and the parameters.
template <class All, class A> struct leaves_of_argument {
  static auto of(const A& x) {
    if constexpr (structured<A>) return flat(x);
    else return tuple<const A&>(x);
  }
};
template <class All, class G, class Action, direction Way, bool IsLimited, bool KeepsTimes>
struct leaves_of_argument<All, event_option<G, Action, Way, IsLimited, KeepsTimes>> {
  static auto of(const event_option<G, Action, Way, IsLimited, KeepsTimes>& e) {
    using event = event_option<function_on_leaves<G, All>, function_on_leaves<Action, All>, Way,
                               IsLimited, KeepsTimes>;
    return tuple<event>(event{e.most, e.kept});
  }
};

/// The same for a method: its diffusion of the leaves.
template <class All, class Method> struct method_of_leaves { using type = Method; };
template <class All, stochastic_scheme Scheme, class G>
struct method_of_leaves<All, stochastic_method<Scheme, G>> {
  using type = stochastic_method<Scheme, function_on_leaves<G, All>>;
};
template <class Method, class All> using method_on_leaves =
    typename method_of_leaves<All, Method>::type;
template <class All, class Method>
struct leaves_of_argument<All, method_option<Method>> {
  using option = method_option<method_on_leaves<Method, All>>;
  static tuple<option> of(const method_option<Method>& m) { return tuple<option>{{m.key}}; }
};

// In a struct of saved rows, the rows of a member.
template <class T> struct rows_in_place { using type = T; };
template <class T>
  requires dsl::detail::lazy_operand<T>
struct rows_in_place<T> {
  using type = array<typename T::value_type, operand_t<T>::rank + 1>;
};
/// The rows of a field out of those of all leaves; its first one has number First.
template <class S, std::size_t First, class All>
auto rows_of_field(All& all) {
  if constexpr (!structured<S>) return std::move(get<First>(all));
  else
    return [&]<class... M, std::size_t... I>(std::type_identity<tuple<M...>>,
                                             std::index_sequence<I...>) {
      return typename dsl::detail::mapped<S, rows_in_place>::type{
          rows_of_field<M, First + static_cast<std::size_t>(
                                       dsl::detail::sizes_before<flat_t<M>...>()[I])>(all)...};
    }(std::type_identity<dsl::detail::member_types_t<S>>{},
           std::make_index_sequence<std::tuple_size_v<dsl::detail::member_types_t<S>>>{});
}
/// The result of an ensemble of leaves as that of fields S.
template <class... S, int Rank, class Rows, class RowTimes, class Times>
auto result_of_fields(ensemble_result<Rank, Rows, RowTimes, Times>&& of_leaves) {
  auto rows = [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (std::tuple_size_v<Rows> == 0) return tuple<>{};
    else
      return tuple{
          rows_of_field<S, static_cast<std::size_t>(dsl::detail::sizes_before<flat_t<S>...>()[I])>(
              of_leaves.rows)...};
  }(std::index_sequence_for<S...>{});
  return ensemble_result<Rank, decltype(rows), RowTimes, Times>{std::move(of_leaves.t),
                                                                std::move(of_leaves.steps),
                                                                std::move(of_leaves.rejected),
                                                                std::move(of_leaves.outcome),
                                                                std::move(rows),
                                                                std::move(of_leaves.row_times),
                                                                std::move(of_leaves.times)};
}

}  // namespace dsl::ode::detail

namespace dsl::detail {
template <class F, class... S>
inline constexpr bool is_stateless<ode::detail::function_of_leaves<F, S...>> = is_stateless<F>;
}  // namespace dsl::detail

// What dsl::grad and the like are given, and the error messages for what has no derivative.
#pragma once

#include <dsl/lang/traced_call.hpp>

namespace dsl::detail {

template <class... S>
constexpr bool has_complex_parts(std::type_identity<tuple<S...>> = {}) {
  return ((kind_of(S::type.type) == kind::complex) || ...);
}
template <class... Y>
constexpr bool require_one_value(std::type_identity<tuple<Y...>>) {
  constexpr bool is_one = sizeof...(Y) == 1;
  static_assert(is_one,
                "the formula has several outputs: dsl::jacobian and dsl::vjp differentiate all of "
                "them");
  return is_one;
}
template <class... Y>
constexpr bool require_derivatives(std::type_identity<tuple<Y...>>) {
  constexpr bool have_derivatives = (may_have_derivative(Y::type.type) && ...);
  static_assert(have_derivatives,
                "a derivative is that of floating point values: integers and booleans have none");
  return have_derivatives;
}
template <std::size_t Arguments, std::size_t... I>
constexpr bool require_argument_numbers() {
  constexpr bool exist = ((I < Arguments) && ...);
  static_assert(exist, "dsl::grad<I...>: the function has no argument of this number, from 0");
  return exist;
}

/// What a functor gives as its derivatives: one for each argument.
template <class R>
DSL_DETAIL_FN constexpr auto partials_of(const R& r) {
  if constexpr (is_tuple<R>) return r;
  else return std::tuple<R>(r);
}
/// Whether a functor has a member that gives its derivatives.
template <class F, class... T>
concept gives_derivative = requires(const F f, T... x) { f.derivative(x...); };
template <class F, class... T>
constexpr bool require_derivative() {
  constexpr bool has_derivative = gives_derivative<F, T...>;
  static_assert(has_derivative,
                "a functor that is called for each element needs a member DSL_FN derivative, which "
                "takes the same arguments and returns the derivative with respect to each; or "
                "write a lambda");
  if constexpr (has_derivative) {
    using given = decltype(partials_of(std::declval<const F&>().derivative(std::declval<T>()...)));
    constexpr bool is_of_each = std::tuple_size_v<given> == sizeof...(T);
    static_assert(is_of_each,
                  "a functor's member derivative returns the derivative with respect to each "
                  "argument, as a std::tuple if there are several");
    return is_of_each;
  } else {
    return false;
  }
}

/// Whether F can be given to dsl::grad and the like; if not, a compile-time error says why.
template <class F>
constexpr bool require_function() {
  if constexpr (operands<F>) {
    static_assert(!operands<F>,
                  "dsl::grad and the like differentiate a formula, a lambda: of an expression take "
                  "dsl::gradient(loss, x)");
    return false;
  } else if constexpr (is_stateless<F>) {
    return true;
  } else {
    return require_members<F>();
  }
}

/// A function that differentiates lambdas only.
template <class F>
struct of_lambda {
  using primal = F;
  /// The number of F's arguments among those of a call.
  template <class... S>
  static constexpr std::size_t primal_arguments() {
    return sizeof...(S);
  }
  template <dtype... D> static constexpr bool require_call() {
    static_assert(
        is_closure<F>,
        "dsl::jvp, vjp, jacobian and hessian differentiate lambdas: the derivative that a "
        "functor gives is for dsl::grad and dsl::value_and_grad");
    return is_closure<F> && require_functor<F, D...>();
  }
};

template <class F, class... S, std::size_t... I>
constexpr bool takes_first(std::index_sequence<I...>) {
  using all = tuple<S...>;
  if constexpr (is_callable<F, std::tuple_element_t<I, all>...>)
    return sizeof...(I) + std::tuple_size_v<decltype(result_symbols(
                              nullptr, F{}(std::declval<std::tuple_element_t<I, all>&>()...)))> ==
           sizeof...(S);
  else return false;
}
/// The number of F's arguments among S, if those after them are as many as F has values; else 0.
template <class F, class... S>
inline constexpr std::size_t arguments_before_weights =
    []<std::size_t... N>(std::index_sequence<N...>) {
      std::size_t n = 0;
      ((n = n == 0 && takes_first<F, S...>(std::make_index_sequence<N + 1>{}) ? N + 1 : n), ...);
      return n;
    }(std::make_index_sequence<sizeof...(S) - 1>{});

template <class F, class... S>
inline constexpr bool takes_first_half = []<std::size_t... I>(std::index_sequence<I...>) {
  if constexpr (sizeof...(S) % 2 == 0)
    return is_callable<F, std::tuple_element_t<I, tuple<S...>>...>;
  else return false;
}(std::make_index_sequence<sizeof...(S) / 2>{});

}  // namespace dsl::detail

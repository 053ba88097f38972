// Derivatives of formulas: grad, value_and_grad, jvp, vjp, jacobian, hessian.
#pragma once

#include <dsl/lang/derivative_checks.hpp>

namespace dsl {

namespace detail {

template <class... S>
constexpr graph* owner_of(const tuple<S...>& s) {
  return get<0>(s).owner;
}
/// All of the first `count` arguments that have derivatives.
template <class... S>
constexpr std::uint64_t differentiable_arguments(std::size_t count = sizeof...(S)) {
  constexpr dtype types[] = {S::type.type...};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (may_have_derivative(types[i])) bits |= std::uint64_t{1} << i;
  return bits;
}
template <class... S, std::size_t... I>
constexpr auto first_symbols(const tuple<S...>& s, std::index_sequence<I...>) {
  return tuple{get<I>(s)...};
}

// The functions of functions. F is a formula, or a functor with a derivative of its own.

/// The derivatives of one value with respect to arguments I; before them the value, if `WithValue`.
template <bool WithValue, class F, std::size_t... I>
struct gradient_function {
  using primal = F;
  template <class... S>
  static constexpr std::size_t primal_arguments() {
    return sizeof...(S);
  }

  [[no_unique_address]] F f{};

  template <dtype... D> static constexpr bool require_call() {
    if constexpr (!require_functor<F, D...>()) return false;
    else if constexpr (!require_argument_numbers<sizeof...(D), I...>()) return false;
    else return require_derivative<F, argument_t<D>...>();
  }

  template <class... S>
    requires(is_symbol<S> && ...) && is_callable<F, S...>
  constexpr auto operator()(S... s) const {
    if constexpr (!require_argument_numbers<sizeof...(S), I...>()) {
      return refused{};
    } else {
      using all = tuple<S...>;
      using call_type = traced_call<F, ((std::uint64_t{1} << I) | ...), S...>;
      using outputs = std::type_identity<typename call_type::outputs_type>;
      using inputs = std::type_identity<tuple<std::tuple_element_t<I, all>...>>;
      if constexpr (!require_one_value(outputs{}) || !require_derivatives(outputs{}) ||
                    !require_derivatives(inputs{})) {
        return refused{};
      } else {
        const all given(s...);
        const call_type made(owner_of(given), given);
        constexpr dtype D = std::tuple_element_t<0, typename call_type::outputs_type>::type.type;
        const sequence<term> found = made.gradient(made.ids[0]);
        const tuple derivatives{
            made.template result<derivative_dtype(call_type::template argument<I>, D)>(
                found[made.call.input_number(I)])...};
        if constexpr (WithValue) return concatenate(made.values(), derivatives);
        else return one_or_all(derivatives);
      }
    }
  }

  /// A functor's, for one element.
  template <class... T>
    requires(element<T> && ...) && gives_derivative<F, T...>
  DSL_DETAIL_FN constexpr auto operator()(T... x) const {
    const auto d = partials_of(f.derivative(x...));
    if constexpr (WithValue) return std::tuple{f(x...), std::get<I>(d)...};
    else if constexpr (sizeof...(I) == 1) return std::get<(I, ...)>(d);
    else return std::tuple{std::get<I>(d)...};
  }
};
template <bool WithValue, class F, std::size_t... I>
inline constexpr bool is_given_by_value<gradient_function<WithValue, F, I...>> =
    is_given_by_value<F>;

/// The values and their changes. The arguments are F's, then their changes.
template <class F>
struct jvp_function : of_lambda<F> {
  template <class... S>
  static constexpr std::size_t primal_arguments() {
    return sizeof...(S) / 2;
  }
  template <dtype... D> static constexpr bool require_call() {
    constexpr int takes = count_parameters<F>().all;
    constexpr bool has_changes = takes < 0 || sizeof...(D) == 2 * takes;
    static_assert(has_changes || !is_closure<F>,
                  "dsl::jvp(f) takes f's arguments, then a change of each");
    if constexpr (!has_changes && is_closure<F>) return false;
    else return of_lambda<F>::template require_call<D...>();
  }
  template <class... S>
    requires(is_symbol<S> && ...) && takes_first_half<F, S...>
  constexpr auto operator()(S... s) const {
    return differentiate(tuple<S...>(s...), std::make_index_sequence<sizeof...(S) / 2>{});
  }

 private:
  template <class... S, std::size_t... I>
  static constexpr auto differentiate(const tuple<S...>& s, std::index_sequence<I...> first) {
    using all = tuple<S...>;
    constexpr std::size_t n = sizeof...(I);
    constexpr std::uint64_t inputs = differentiable_arguments<S...>(n);
    using call_type = traced_call<F, inputs, std::tuple_element_t<I, all>...>;
    const call_type made(owner_of(s), first_symbols(s, first));
    sequence<term> directions;
    ((may_have_derivative(call_type::template argument<I>.type)
          ? directions.push_back(direction(made, made.call.argument(I), get<I + n>(s)))
          : void()),
     ...);
    const sequence<term> found = made.changes(directions);
    return concatenate(made.values(),
                       changes(made, found, std::make_index_sequence<call_type::output_count>{}));
  }
  // An integer literal 0 or 1 is a direction as well: it takes the argument's dtype.
  template <class Call, class S>
  static constexpr term direction(const Call& made, int argument, const S& s) {
    const dtype type = (*made.g)[argument].type;
    if (is_constant(*made.g, s.id, 0)) return {};
    return converted({made.g, s.id}, type);
  }
  template <class Call, std::size_t... K>
  static constexpr auto changes(const Call& made, const sequence<term>& found,
                                std::index_sequence<K...>) {
    return tuple{
        made.template result<std::tuple_element_t<K, typename Call::outputs_type>::type.type>(
            found[static_cast<int>(K)])...};
  }
};

/// The derivative with respect to each argument of the outputs' sum with given weights. The
/// arguments are F's, then a weight for each output.
template <class F>
struct vjp_function : of_lambda<F> {
  /// The number of F's arguments: the others are weights.
  template <class... S>
  static constexpr std::size_t primal_arguments() {
    return arguments_before_weights<F, S...>;
  }
  template <dtype... D> static constexpr bool require_call() {
    static_assert(!is_closure<F>,
                  "dsl::vjp(f) takes f's arguments, then a weight for each of its values");
    if constexpr (is_closure<F>) return false;
    else return of_lambda<F>::template require_call<D...>();
  }
  template <class... S>
    requires(is_symbol<S> && ...) && (arguments_before_weights<F, S...> > 0)
  constexpr auto operator()(S... s) const {
    constexpr std::size_t n = arguments_before_weights<F, S...>;
    return differentiate(tuple<S...>(s...), std::make_index_sequence<n>{},
                         std::make_index_sequence<sizeof...(S) - n>{});
  }

  template <class... S, std::size_t... I, std::size_t... K>
  static constexpr auto differentiate(const tuple<S...>& s, std::index_sequence<I...> first,
                                      std::index_sequence<K...>) {
    using all = tuple<S...>;
    constexpr std::size_t n = sizeof...(I);
    constexpr std::uint64_t inputs = differentiable_arguments<S...>(n);
    using call_type = traced_call<F, inputs, std::tuple_element_t<I, all>...>;
    const call_type made(owner_of(s), first_symbols(s, first));
    sequence<int> nodes;
    sequence<term> given;
    ((nodes.push_back(made.ids[K]), given.push_back(term{made.g, get<n + K>(s).id})), ...);
    const sequence<term> found = made.weights(nodes, given);
    constexpr dtype D = std::tuple_element_t<0, typename call_type::outputs_type>::type.type;
    return one_or_all(
        tuple{made.template result<derivative_dtype(call_type::template argument<I>, D)>(
            made.call.input_number(I) < 0 ? term{} : found[made.call.input_number(I)])...});
  }
};

/// The derivatives of all outputs with respect to all arguments, output by output.
template <class F>
struct jacobian_function : of_lambda<F> {
  template <class... S>
    requires(is_symbol<S> && ...) && is_callable<F, S...>
  constexpr auto operator()(S... s) const {
    using call_type = traced_call<F, differentiable_arguments<S...>(), S...>;
    if constexpr (!require_derivatives(std::type_identity<tuple<S...>>{}) ||
                  !require_derivatives(std::type_identity<typename call_type::outputs_type>{})) {
      return refused{};
    } else {
      const tuple<S...> given(s...);
      const call_type made(owner_of(given), given);
      constexpr std::size_t n = sizeof...(S), m = call_type::output_count;
      sequence<term> all(static_cast<int>(m * n), term{});
      // A change of a complex argument tells df/dx only, where a value is real.
      constexpr bool forward =
          m > n && !has_complex_parts<S...>() &&
          !has_complex_parts(std::type_identity<typename call_type::outputs_type>{});
      if constexpr (!forward) {
        for (std::size_t k = 0; k < m; ++k) {
          const sequence<term> row = made.gradient(made.ids[k]);
          for (std::size_t i = 0; i < n; ++i)
            all[static_cast<int>(k * n + i)] = row[static_cast<int>(i)];
        }
      } else {
        for (std::size_t i = 0; i < n; ++i) {
          sequence<term> direction(static_cast<int>(n), term{});
          direction[static_cast<int>(i)] = made.one_beside(made.call.argument(i));
          const sequence<term> column = made.changes(direction);
          for (std::size_t k = 0; k < m; ++k)
            all[static_cast<int>(k * n + i)] = column[static_cast<int>(k)];
        }
      }
      return one_or_all(results(made, all, std::make_index_sequence<m * n>{}));
    }
  }

 private:
  template <class Call, std::size_t... E>
  static constexpr auto results(const Call& made, const sequence<term>& all,
                                std::index_sequence<E...>) {
    return tuple{made.template result<derivative_dtype(
        Call::template argument<E % Call::count>,
        std::tuple_element_t<E / Call::count, typename Call::outputs_type>::type.type)>(
        all[static_cast<int>(E)])...};
  }
};

/// The second derivatives of one value, row by row. The matrix is symmetric: what is below the
/// diagonal is above it as well.
template <class F>
struct hessian_function : of_lambda<F> {
  template <class... S>
    requires(is_symbol<S> && ...) && is_callable<F, S...>
  constexpr auto operator()(S... s) const {
    using call_type = traced_call<F, differentiable_arguments<S...>(), S...>;
    using outputs = std::type_identity<typename call_type::outputs_type>;
    if constexpr (!require_derivatives(std::type_identity<tuple<S...>>{}) ||
                  !require_one_value(outputs{}) || !require_derivatives(outputs{})) {
      return refused{};
    } else {
      const tuple<S...> given(s...);
      const call_type made(owner_of(given), given);
      constexpr int n = static_cast<int>(sizeof...(S));
      const sequence<term> first = made.gradient(made.ids[0]);
      sequence<term> all(n * n, term{});
      for (int i = 0; i < n; ++i) {
        if (first[i].is_zero()) continue;
        const sequence<term> row = made.gradient(first[i].id);
        for (int k = i; k < n; ++k) all[i * n + k] = all[k * n + i] = row[k];
      }
      return one_or_all(results(made, all, std::make_index_sequence<n * n>{}));
    }
  }

 private:
  template <class Call, std::size_t... E>
  static constexpr auto results(const Call& made, const sequence<term>& all,
                                std::index_sequence<E...>) {
    constexpr dtype D = std::tuple_element_t<0, typename Call::outputs_type>::type.type;
    return tuple{
        made.template result<derivative_dtype(Call::template argument<E % Call::count>, D)>(
            all[static_cast<int>(E)])...};
  }
};

/// The function that `vectorize` was given, and its name.
template <class F> struct plain_function {
  using name = unnamed;
  using type = F;
  static constexpr F of(const F& f) { return f; }
};
template <class Name, class F> struct plain_function<vectorized<Name, F>> {
  using name = Name;
  using type = F;
  static constexpr F of(const vectorized<Name, F>& f) {
    if constexpr (is_stateless<F>) return F{};
    else return f.object;
  }
};
template <class F> using plain_t = typename plain_function<F>::type;
template <class F> using name_t = typename plain_function<F>::name;

template <bool WithValue, std::size_t... I, class F>
constexpr auto gradient_of(const F& f) {
  if constexpr (!require_function<plain_t<F>>()) return refused{};
  else
    return vectorize<name_t<F>>(
        gradient_function<WithValue, plain_t<F>, I...>{plain_function<F>::of(f)});
}
/// The same of a function of formulas alone.
template <template <class> class Function, class F>
constexpr auto function_of(const F&) {
  if constexpr (!require_function<plain_t<F>>()) return refused{};
  else return vectorize<name_t<F>>(Function<plain_t<F>>{});
}

/// A value as it is, which derivatives take for a constant.
struct stop_gradient_function {
  template <class Operand> static constexpr int rank = Operand::rank;
  template <class...> using calls = tuple<>;
  template <dtype D, bool W> static constexpr auto trace(tracer& t, symbol<D, W> x) {
    return symbol<D, W>{
        t.g, t.g->add(op::positive, D, fields(x.id, 0, static_cast<int>(mark::stopped)))};
  }
};

}  // namespace detail

/// The derivative of a formula, as a vectorized function of the same arguments: with respect to
/// argument I, counted from 0; several I give a tuple. f is a lambda with `auto` parameters, or the
/// result of `vectorize`, and gives one floating point value.
///
/// The derivative is computed from the formula while the program is compiled, operation by
/// operation (ops.inc, DSL_DERIVATIVE): no differences, no tape. It is a formula like others: it
/// fuses, can be differentiated again, and is taken by `iterate` and `ode`. Its dtype is the
/// argument's; of a C++ number, the value's. Of complex numbers it follows JAX: of a holomorphic
/// function f'(z), of a real one df/dx - i df/dy. A functor with typed parameters has a derivative
/// if it has a member DSL_FN derivative(...) that takes the same arguments and returns the
/// derivative with respect to each.
///
/// f is a function of elements: with respect to an argument that is broadcast, each element has a
/// derivative. If f reduces its arguments, the derivative with respect to a value that all elements
/// share is summed over them.
/// ```cpp
/// const auto bent = dsl::grad<0>(dsl::grad<0>([](auto t) { return t * t * sin(t); }));
/// second = bent(x) + 1;
/// ```
template <std::size_t... I, class F>
constexpr auto grad(const F& f) {
  if constexpr (sizeof...(I) == 0) return detail::gradient_of<false, 0>(f);
  else return detail::gradient_of<false, I...>(f);
}
/// The same with the value before the derivatives.
/// ```cpp
/// dsl::tie(value, dx, dk) = dsl::value_and_grad<0, 1>(f)(x, 0.5);
/// ```
template <std::size_t... I, class F>
constexpr auto value_and_grad(const F& f) {
  if constexpr (sizeof...(I) == 0) return detail::gradient_of<true, 0>(f);
  else return detail::gradient_of<true, I...>(f);
}

/// The values of a formula and their changes along a direction: jvp(f)(x..., dx...) gives f's
/// outputs, then for each the sum over the arguments of derivative times dx. f may have several
/// outputs.
template <class F>
constexpr auto jvp(const F& f) {
  return detail::function_of<detail::jvp_function>(f);
}
/// The transposed derivative: vjp(f)(x..., w...) with a weight w for each output gives, for each
/// argument, the sum over the outputs of w times derivative. Zero for integer arguments.
template <class F>
constexpr auto vjp(const F& f) {
  return detail::function_of<detail::vjp_function>(f);
}
/// All derivatives of all outputs, a row for each output: jacobian(f)(x, y) of f with two outputs
/// is the tuple df0/dx, df0/dy, df1/dx, df1/dy.
template <class F>
constexpr auto jacobian(const F& f) {
  return detail::function_of<detail::jacobian_function>(f);
}
/// The second derivatives of a formula with one value, row by row: d2f/dx2, d2f/dxdy, d2f/dydx,
/// d2f/dy2.
template <class F>
constexpr auto hessian(const F& f) {
  return detail::function_of<detail::hessian_function>(f);
}

/// The value of x, which is a constant for derivatives: in exp(x - stop_gradient(max(x))) the
/// maximum only keeps the exponential from overflowing, and its derivative need not be computed. x
/// is an array, an expression or a symbol.
template <class X>
  requires detail::operands<X>
constexpr auto stop_gradient(const X& x) {
  if constexpr (is_symbol<X>) {
    detail::tracer none{x.owner};
    return detail::stop_gradient_function::trace(none, x);
  } else {
    return detail::make_expression<detail::stop_gradient_function>(x);
  }
}

}  // namespace dsl

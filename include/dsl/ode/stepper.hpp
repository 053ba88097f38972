// Steps of explicit Runge-Kutta methods for any number of fields. Each step is one formula and so
// one kernel.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/ode/method.hpp>

namespace dsl::detail {
template <class Explicit> inline constexpr bool is_included<header::ode, Explicit> = true;
}  // namespace dsl::detail

namespace dsl::ode {

/// A right-hand side that receives the time; the result of `with_time`.
template <class F> struct timed {};

namespace detail {

/// A right-hand side, with or without the time, as a function of (t, fields..., others...).
template <class F> struct right_side {
  // The number of time arguments that it takes.
  static constexpr std::size_t times = 0;
  template <class T, class... X> static constexpr bool takes = std::is_invocable_v<F, const X&...>;
  // Whether it is called for each element, with C++ values, so that it cannot be traced.
  static constexpr bool is_functor = dsl::detail::parameters<F>::count >= 0;
  template <class T, class... X> static constexpr auto at(const T&, const X&... x) {
    return F{}(x...);
  }
};
template <class F> struct right_side<timed<F>> {
  static constexpr std::size_t times = 1;
  template <class T, class... X> static constexpr bool takes =
      std::is_invocable_v<F, const T&, const X&...>;
  static constexpr bool is_functor = dsl::detail::parameters<F>::count >= 0;
  template <class T, class... X> static constexpr auto at(const T& t, const X&... x) {
    return F{}(t, x...);
  }
};

using dsl::detail::as_tuple;
using dsl::detail::concatenate;
using dsl::detail::filter;
using dsl::detail::get;
using dsl::detail::references;
using dsl::detail::subtuple;
using dsl::detail::tuple;
using dsl::detail::unpack;

template <class X> using type_of = decltype(dsl::detail::lift(nullptr, std::declval<const X&>()));

/// Converts a symbol or a constant to the precision of Y, so that neither a double h nor a C++
/// scalar widens a float field. Real operands stay real.
template <class Y, class X>
constexpr auto in_precision_of(const Y& y, const X& x) {
  constexpr dtype type =
      kind_of(type_of<X>::type.type) == kind::complex ? Y::type.type : real_of(Y::type.type);
  return cast<element_t<type>>(dsl::detail::lift(y.owner, x));
}
template <class Y, class K>
constexpr auto slope(const Y& y, const K& k) {
  return in_precision_of(y, k);
}
template <class Y>
constexpr auto field(const Y& y) {
  return cast<element_t<Y::type.type>>(y);
}

/// c x; a division by n if c is 1 / n, as in code written by hand.
template <class X>
constexpr auto scaled(const X& x, rational c) {
  return c.numerator == 1 ? x / c.denominator : x * c.value();
}

/// h (c[0] k[0] + c[1] k[1] + ...). The first nonzero coefficient is factored out of the sum, so
/// that it costs nothing: RK4's last sum becomes h / 6 * (k1 + 2 * k2 + 2 * k3 + k4).
template <class H, class K, std::size_t Stages>
constexpr auto increment(const H& h, const rational (&c)[Stages], const std::array<K, Stages>& k) {
  std::size_t j = 0;
  while (c[j].numerator == 0) ++j;
  const rational first = c[j];
  K sum = k[j];
  while (++j < Stages)
    if (c[j].numerator != 0) sum = sum + (c[j] / first).value() * k[j];
  return scaled(h, first) * sum;
}

/// t + c h as a weak symbol, which does not widen the fields with which a right-hand side combines
/// it.
template <class T, class H>
constexpr auto later(const T& t, const H& h, rational c) {
  constexpr dtype type = decltype(t + h)::type.type;
  auto time = cast<element_t<type>>(t);
  if (c.numerator != 0) time = time + scaled(cast<element_t<type>>(h), c);
  return symbol<type, true>{time.owner, time.id};
}
struct no_time {};
template <class H> constexpr no_time later(no_time, const H&, rational) { return {}; }

template <class F, class T, class... X>
using derivatives_of =
    decltype(as_tuple(right_side<F>::at(std::declval<const T&>(), std::declval<const X&>()...)));

template <class K, class Y>
constexpr bool require_field() {
  constexpr bool is_field = kind_of(Y::type.type) >= kind::real,
                 fits = assignable(Y::type.type, type_of<K>::type);
  static_assert(is_field, "fields are real or complex: take an array of float or double");
  constexpr bool is_real = dsl::detail::require_real_value<Y::type.type, type_of<K>::type.type>();
  static_assert(!is_field || !is_real || fits,
                "a derivative's dtype is wider than its field's: use dsl::cast");
  return is_field && fits;
}
template <class... K, class All, std::size_t... I>
constexpr bool require_fields(std::type_identity<tuple<K...>>, std::type_identity<All>,
                              std::index_sequence<I...>) {
  return (require_field<K, std::tuple_element_t<I, All>>() && ...);
}

/// The number of fields of a right-hand side: the number of derivatives that it returns for
/// symbols. 0, with a compile-time error, if it cannot be called with these arguments or the fields
/// cannot hold the derivatives.
template <class F, class T, class... X>
constexpr std::size_t field_count() {
  constexpr bool takes = right_side<F>::template takes<T, X...>;
  static_assert(takes || !right_side<F>::is_functor,
                "a right-hand side is a lambda with auto parameters: a functor that is called for "
                "each element is applied to arrays, and its result is an argument");
  static_assert(takes || right_side<F>::is_functor,
                "a right-hand side takes the fields and the other arguments, after the time with "
                "ode::with_time; a step takes "
                "those, then the time, then h");
  if constexpr (takes) {
    using derivatives = derivatives_of<F, T, X...>;
    constexpr std::size_t count = std::tuple_size_v<derivatives>;
    static_assert(count <= sizeof...(X),
                  "a right-hand side returns one derivative for each field, and the fields are its "
                  "first arguments");
    if constexpr (count <= sizeof...(X)) {
      constexpr bool are_fields =
          require_fields(std::type_identity<derivatives>{}, std::type_identity<tuple<X...>>{},
                         std::make_index_sequence<count>{});
      return are_fields ? count : 0;
    }
  }
  return 0;
}

/// The slopes k of a method's stages: for each field y an array of one slope for each stage.
template <const auto& Method, class F, class... Y, class... Others, class T, class H,
          std::size_t... I>
constexpr auto slopes(std::index_sequence<I...>, const tuple<Y...>& y,
                      const tuple<Others...>& others, const T& t, const H& h) {
  constexpr std::size_t stages = Method.stages;
  const auto derivatives = [&](rational c, const Y&... fields) {
    return unpack(
        [&](const Others&... x) {
          return as_tuple(right_side<F>::at(later(t, h, c), fields..., x...));
        },
        others);
  };
  const auto first = derivatives(0, get<I>(y)...);
  tuple<std::array<decltype(slope(get<I>(y), get<I>(first))), stages>...> k{};
  ((get<I>(k)[0] = slope(get<I>(y), get<I>(first))), ...);
  for (std::size_t i = 1; i < stages; ++i) {
    const tuple<Y...> inside{get<I>(y) +
                             increment(in_precision_of(get<I>(y), h), Method.a[i], get<I>(k))...};
    const auto next = derivatives(Method.c(static_cast<int>(i)), get<I>(inside)...);
    ((get<I>(k)[i] = slope(get<I>(y), get<I>(next))), ...);
  }
  return k;
}
/// For each field y, h (c[0] k[0] + c[1] k[1] + ...).
template <class... Y, class H, std::size_t Stages, class Slopes, std::size_t... I>
constexpr auto increments(std::index_sequence<I...>, const tuple<Y...>& y, const H& h,
                          const rational (&c)[Stages], const Slopes& k) {
  return tuple{increment(in_precision_of(get<I>(y), h), c, get<I>(k))...};
}

struct nothing {
  template <class... Y> constexpr tuple<> operator()(const Y&...) const { return {}; }
};

/// A step as a formula of (fields..., others..., h), or with the time of (fields..., others..., t,
/// h).
template <const auto& Method, class F, class Feedback>
struct stepper {
  template <class... X> constexpr auto operator()(const X&... x) const {
    constexpr std::size_t times = right_side<F>::times, count = sizeof...(X);
    static_assert(count > times,
                  "a step takes the fields, the other arguments of the right-hand side, the time "
                  "if that sees it, and h");
    const tuple<X...> all(x...);
    const auto& h = get<count - 1>(all);
    if constexpr (times == 0) return take(subtuple<0, count - 1>(all), no_time{}, h);
    else return take(subtuple<0, count - 2>(all), get<count - 2>(all), h);
  }

 private:
  template <class... X, class T, class H>
  static constexpr auto take(const tuple<X...>& seen, const T& t, const H& h) {
    constexpr std::size_t fields = field_count<F, decltype(later(t, h, {})), X...>();
    if constexpr (fields == 0) return refused{};
    else
      return advance(std::make_index_sequence<fields>{}, seen,
                     subtuple<fields, sizeof...(X) - fields>(seen), t, h);
  }
  template <std::size_t... I, class Seen, class Others, class T, class H>
  static constexpr auto advance(std::index_sequence<I...> fields, const Seen& seen,
                                const Others& others, const T& t, const H& h) {
    const auto y = tuple{field(get<I>(seen))...};
    const auto change =
        increments(fields, y, h, Method.b, slopes<Method, F>(fields, y, others, t, h));
    const auto next = tuple{get<I>(y) + get<I>(change)...};
    const auto all = concatenate(next, fed_back(next, others));
    if constexpr (std::tuple_size_v<decltype(all)> == 1) return get<0>(all);
    else return all;
  }
  template <class... Y, class... Others>
  static constexpr auto fed_back(const tuple<Y...>& next, const tuple<Others...>& others) {
    if constexpr (std::is_invocable_v<Feedback, Y...>) return as_tuple(unpack(Feedback{}, next));
    else return as_tuple(unpack(Feedback{}, concatenate(next, others)));
  }
};

template <const auto& Method, class Name, class F, class Feedback>
constexpr auto make_step(F, Feedback) {
  constexpr bool are_stateless =
      dsl::detail::is_stateless<F> && dsl::detail::is_stateless<Feedback>;
  static_assert(are_stateless,
                "a stepper takes functions without captures or members: pass values as arguments");
  if constexpr (are_stateless) return vectorize<Name>(stepper<Method, F, Feedback>{});
  else return refused{};
}

}  // namespace detail

/// Marks a right-hand side as one that receives the time: f(t, fields..., others...). Its step is
/// step(fields..., others..., t, h); its stages receive t + c h.
template <class F>
constexpr timed<F> with_time(F) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "with_time takes a function without captures or members: pass values as arguments");
  return {};
}

// Steps of dy/dt = f(y). f is a lambda with `auto` parameters: f(fields..., others...) returns the
// derivatives of the fields, its first arguments, as one value or a std::tuple. Each of these
// functions returns the same as `vectorize`: a function of (fields..., others..., h) that gives the
// fields after a step of h, several as a std::tuple, for `tie` or `iterate`. `feedback`, a lambda
// of the new fields, or of the new fields and the others, gives additional results: ode::rk4(f,
// [](auto F, auto) { return dsl::sum(F); }) is step(F, G, delta, h) -> {Fn, Gn, sum(Fn)}. The
// others are held fixed within a step. All is computed in each field's own precision, whatever the
// precision of h; t is a weak scalar. `Name`, a type declared at namespace scope, names the kernel.

/// Order 1, one stage: y + h f(y).
template <class Name = dsl::detail::unnamed, class F, class Feedback = detail::nothing>
constexpr auto euler(F f, Feedback feedback = {}) {
  return detail::make_step<detail::euler_method, Name>(f, feedback);
}

/// Order 2, two stages: the mean of the slopes at both ends (K. Heun, 1900).
template <class Name = dsl::detail::unnamed, class F, class Feedback = detail::nothing>
constexpr auto heun(F f, Feedback feedback = {}) {
  return detail::make_step<detail::heun_method, Name>(f, feedback);
}

/// Order 4, four stages: the classical method (W. Kutta, 1901).
template <class Name = dsl::detail::unnamed, class F, class Feedback = detail::nothing>
constexpr auto rk4(F f, Feedback feedback = {}) {
  return detail::make_step<detail::rk4_method, Name>(f, feedback);
}

/// Order 5, six stages: Dormand and Prince's 5(4) with fixed steps. For adaptive steps:
/// `integrate`.
template <class Name = dsl::detail::unnamed, class F, class Feedback = detail::nothing>
constexpr auto dopri5(F f, Feedback feedback = {}) {
  return detail::make_step<detail::dopri5_method, Name>(f, feedback);
}

/// Order 8: twelve of the thirteen stages of Fehlberg's 7(8), with fixed steps.
template <class Name = dsl::detail::unnamed, class F, class Feedback = detail::nothing>
constexpr auto fehlberg8(F f, Feedback feedback = {}) {
  return detail::make_step<detail::fehlberg8_method, Name>(f, feedback);
}

}  // namespace dsl::ode

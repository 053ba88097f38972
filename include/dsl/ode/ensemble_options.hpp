// Options of `ensemble`: the method, the size of steps, and what is saved.
#pragma once

#include <dsl/ode/ensemble_noise.hpp>
#include <dsl/ode/ensemble_rosenbrock.hpp>
#include <dsl/ode/event.hpp>

namespace dsl::ode {

namespace detail {

/// key: that of the method's random numbers, if it draws some.
template <class Method> struct method_option { std::uint64_t key = 0; };
template <class T> inline constexpr bool is_method = false;
template <class M> inline constexpr bool is_method<method_option<M>> = true;

template <class X> struct save_option { X times; };
template <class T> inline constexpr bool is_save = false;
template <class X> inline constexpr bool is_save<save_option<X>> = true;

/// A limit of the steps that each element has for itself.
enum class step_limit : std::uint8_t { first, largest, most };
template <step_limit Which, class X> struct limit_option { X values; };
template <class T> inline constexpr bool is_limit = false;
template <step_limit W, class X> inline constexpr bool is_limit<limit_option<W, X>> = true;
template <step_limit Which, class T> inline constexpr bool is_limit_of = false;
template <step_limit W, class X> inline constexpr bool is_limit_of<W, limit_option<W, X>> = true;

struct every_option { std::int64_t steps, rows; };
struct fixed_option { std::int64_t steps; };

template <class T> inline constexpr bool is_ensemble_option =
    std::same_as<T, fixed_option> || std::same_as<T, every_option> || is_method<T> || is_save<T> ||
    is_limit<T> || is_event<T>;

struct only_methods { template <class T> static constexpr bool passes = is_method<T>; };
struct only_saves { template <class T> static constexpr bool passes = is_save<T>; };
template <step_limit Which> struct only_step_limits {
  template <class T> static constexpr bool passes = is_limit_of<Which, T>;
};
struct only_ensemble_parameters {
  template <class T> static constexpr bool passes = !is_ensemble_option<T>;
};

template <step_limit Which, class X>
auto limit_of_elements(const X& x) {
  constexpr bool is_operand = dsl::detail::lazy_operand<X>;
  static_assert(
      is_operand,
      "limits of each element's steps are an array or an expression; one for all elements "
      "is a member of dsl::ode::tolerance");
  if constexpr (is_operand) {
    constexpr bool is_number =
        Which != step_limit::most ||
        kind_of(dsl::detail::trace_t<operand_t<X>>::type.type) == kind::integer;
    static_assert(is_number, "most_steps takes integers");
    if constexpr (is_number) return limit_option<Which, operand_t<X>>{as_operand(x)};
    else return refused{};
  } else {
    return refused{};
  }
}

template <stochastic_scheme Scheme, class G>
constexpr auto method_with_noise(const random::key& k) {
  constexpr bool is_formula = dsl::detail::is_stateless<G> && !right_side<G>::is_functor;
  static_assert(is_formula,
                "a method's noise is a lambda with auto parameters, without captures or members: "
                "pass values as arguments of ensemble");
  if constexpr (is_formula) return method_option<stochastic_method<Scheme, G>>{k.bits()};
  else return refused{};
}

/// The limits as the programs read them: magnitudes as positive floats.
template <class X>
auto values_of(const limit_option<step_limit::first, X>& limit) {
  return cast<float>(where(limit.values > 0, clip(cast<double>(limit.values), 1e-37, 1e38), 0.0));
}
template <class X>
auto values_of(const limit_option<step_limit::largest, X>& limit) {
  return cast<float>(where(limit.values > 0, clip(cast<double>(limit.values), 1e-37, 1e38), 1e38));
}
template <class X>
auto values_of(const limit_option<step_limit::most, X>& limit) {
  if constexpr (dsl::detail::trace_t<X>::type.type == dtype::int32) return limit.values;
  else return cast<std::int32_t>(clip(limit.values, 0, 0x7fffffff));
}

}  // namespace detail

/// The methods of `ensemble`.
namespace method {

/// Order 5(4), seven stages, the last of which is the next step's first (Ch. Tsitouras, Comput.
/// Math. Appl. 62, 2011). The default.
inline constexpr detail::method_option<detail::explicit_pair<detail::tsit5_pair>> tsit5{};
/// Order 5(4) of Dormand and Prince, with SciPy's step control: the steps of solve_ivp's RK45.
inline constexpr detail::method_option<detail::explicit_pair<detail::dopri5_pair, true>> dopri5{};
/// Order 3(2) of Bogacki and Shampine, with SciPy's step control: the steps of solve_ivp's RK23.
inline constexpr detail::method_option<detail::explicit_pair<detail::bs3_pair, true>> bs3{};
/// Order 7(6), ten stages (J. H. Verner's most efficient pair), for small tolerances.
inline constexpr detail::method_option<detail::explicit_pair<detail::vern7_pair>> vern7{};

/// For stiff systems, order 5(4), eight stages (G. Steinebach, BIT 63, 2023). The Jacobian is
/// derived from the formula; up to 20 fields of one real dtype.
inline constexpr detail::method_option<detail::rosenbrock_method<detail::rodas5p_method>> rodas5p{};
/// For stiff systems and large tolerances, order 2(3), three stages (L. F. Shampine, M. W.
/// Reichelt, The MATLAB ODE suite, SIAM J. Sci. Comput. 18, 1997).
inline constexpr detail::method_option<detail::rosenbrock_method<detail::rosenbrock23_method>>
    rosenbrock23{};

/// Methods without an error estimate, for `fixed_steps` alone: those of ode::euler, ode::heun,
/// ode::rk4 and ode::fehlberg8.
inline constexpr detail::method_option<detail::fixed_method<detail::euler_method>> euler{};
inline constexpr detail::method_option<detail::fixed_method<detail::heun_method>> heun{};
inline constexpr detail::method_option<detail::fixed_method<detail::rk4_method>> rk4{};
inline constexpr detail::method_option<detail::fixed_method<detail::fehlberg8_method>> fehlberg8{};

/// Methods for dy = f dt + noise dW in Ito's sense, for `fixed_steps` alone: the steps of ode::sde
/// (Euler and Maruyama; strong order 1/2, weak order 1), ode::milstein (strong and weak order 1)
/// and ode::platen (weak order 2), the last two if the noise of each field depends on no other
/// field. noise: a lambda with `auto` parameters, as f, and marked by `with_time` if it takes the
/// time; it returns a value for each field. In step s, from 0 on, field I of element i, in
/// row-major order, has the number that random::normal<T>(k.fold(i), steps, fields) has at (s, I).
/// ```cpp
/// const auto passed = dsl::ode::ensemble(
///     growth, dsl::state(price), 0.0, 1.0, {}, 0.05, dsl::linspace(0.1, 0.5, 1000),
///     dsl::ode::method::milstein(noise, of_noise), dsl::ode::fixed_steps(250),
///     dsl::ode::event([](auto y, auto, auto) { return y - 1.2; }, dsl::ode::ends));
/// ```
template <class G>
constexpr auto sde(G, const random::key& k) {
  return detail::method_with_noise<detail::stochastic_scheme::euler_maruyama, G>(k);
}
template <class G>
constexpr auto milstein(G, const random::key& k) {
  return detail::method_with_noise<detail::stochastic_scheme::milstein, G>(k);
}
template <class G>
constexpr auto platen(G, const random::key& k) {
  return detail::method_with_noise<detail::stochastic_scheme::platen, G>(k);
}

}  // namespace method

/// Has `ensemble` take steps of one size, `steps` of them from t0 to t1 (and one more for each
/// event), whatever the tolerance, with any method.
inline detail::fixed_option fixed_steps(std::integral auto steps) {
  return {static_cast<std::int64_t>(steps)};
}

/// Limits of the steps of `ensemble` that each element has for itself, instead of those of the
/// tolerance: the first step, its largest step (magnitudes), and the number of steps that it tries.
/// x: an array or an expression that broadcasts to the fields' shape. Nothing is checked: a first
/// step that is not positive is chosen by `ensemble`, a largest step that is not positive is no
/// limit. Not with fixed_steps.
template <class X>
auto first_step(const X& x) {
  return detail::limit_of_elements<detail::step_limit::first>(x);
}
template <class X>
auto largest_step(const X& x) {
  return detail::limit_of_elements<detail::step_limit::largest>(x);
}
/// x: integers.
template <class X>
auto most_steps(const X& x) {
  return detail::limit_of_elements<detail::step_limit::most>(x);
}

/// Has `ensemble` save the fields at given times, by the method's continuous extension. `times`: an
/// array or a std::vector of doubles, sorted in the direction of the integration.
template <class X>
detail::save_option<X> save_at(const X& times) {
  return {times};
}

/// Has `ensemble` save the fields and the time after every `steps`-th accepted step of an element.
/// `rows`: how many rows there are; further steps are not saved. At an event the values are those
/// before its action. The result's rows after an element's last saved step are NaN.
detail::every_option save_every(std::integral auto steps, std::integral auto rows) {
  return {static_cast<std::int64_t>(steps), static_cast<std::int64_t>(rows)};
}

}  // namespace dsl::ode

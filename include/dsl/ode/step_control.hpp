// Error norms and step sizes of an ensemble's elements.
#pragma once

#include <dsl/ode/ensemble_variables.hpp>

namespace dsl::ode::detail {

/// How the next step follows from the error e of the last one: it is that step times
/// 0.9 e^-now before^earlier, within bounds, where `before` is the error of the accepted step
/// before it. After a rejected step it does not grow.
struct control_constants {
  double now, earlier, least = 0.2, most = 10;
  /// Without the error of the step before, for a method whose error has this order: SciPy's rule.
  static constexpr control_constants of_order(int error_order) {
    return {1.0 / (error_order + 1), 0};
  }
};

/// The binary logarithm of the least squared error: a smaller one counts as this, Hairer's 1e-4.
inline constexpr float least_log_error = -26.575425f;

/// The squared magnitude of a value, as a float.
template <class X>
constexpr auto squared_as_float(const X& x) {
  if constexpr (kind_of(X::type.type) == kind::complex) {
    const auto re = cast<float>(real(x)), im = cast<float>(imag(x));
    return re * re + im * im;
  } else {
    const auto f = cast<float>(x);
    return f * f;
  }
}

/// The mean over the fields of (error / (absolute + relative max(|y|, |z|)))^2, as a float. `error`
/// is given in the tolerances' unit.
template <class P, std::size_t... I, class... Y, class Z, class E>
constexpr auto mean_square_of(const ensemble_symbols<P>& at, std::index_sequence<I...>,
                              const tuple<Y...>& y, const Z& z, const E& error) {
  const auto absolute = at.template scalar<scalar_absolute>(),
             relative = at.template scalar<scalar_relative>();
  const auto ratio = [&](const auto& before, const auto& after, const auto& e) {
    const auto size = abs(before), later = abs(after);
    const auto largest = fmax(size, later);
    const auto scale = cast<float>(in_precision_of(size, absolute) +
                                   in_precision_of(size, relative) * largest);
    const auto inverse = dsl::detail::apply<op::fast_reciprocal>(scale);
    return squared_as_float(e) * (inverse * inverse);
  };
  const auto sum = (ratio(get<I>(y), get<I>(z), get<I>(error)) + ...);
  return sum * (1.0f / static_cast<float>(sizeof...(I)));
}

/// What an element's step decides.
template <class Accepted, class T, class H, class L, class N, class O>
struct controlled {
  Accepted accepted;
  T t;  // The time afterwards.
  H h;  // The next step.
  L log_error;
  N steps, rejected;
  O outcome;
  Accepted running;
};

/// From the squared error of a step what follows.
template <class P, class Q>
constexpr auto control(const ensemble_symbols<P>& at, const Q& square) {
  constexpr auto& v = variables_of<P>;
  constexpr control_constants c = P::control;
  const auto t = at.template variable<v.t>(), h = at.template variable<v.h>(), t1 = at.t1();
  const auto last = at.template variable<v.log_error>();
  const auto steps = at.template variable<v.steps>() + 1;
  const auto accepted = square < 1.0f;
  const auto log_square = log2(square);
  // A NaN loses in fmax, so that it gives the smallest factor.
  constexpr float log_safety = -0.15200309f;  // log2(0.9)
  auto exponent = log_safety - static_cast<float>(c.now / 2) * log_square;
  if constexpr (c.earlier != 0)
    exponent = exponent + where(accepted, static_cast<float>(c.earlier / 2) * last, 0.0f);
  const auto most = where(accepted && !at.template variable<v.was_rejected>(), static_cast<float>(c.most), 1.0f);
  const auto factor =
      cast<double>(fmin(most, fmax(static_cast<float>(c.least), exp2(exponent))));

  const auto left = t1 - t;
  const auto next_t = where(accepted, where(h == left, t1, t + h), t);
  // Ten roundings of the time: SciPy's smallest step.
  const auto least = fmax(abs(next_t) * 2.2e-15, 1e-290);
  const auto wanted = fmin(abs(h) * factor, at.template scalar<scalar_largest_step>());
  const auto enough = where(accepted, fmax(wanted, least), wanted);
  const auto rest = t1 - next_t;
  const auto next_h =
      where(enough < least, 0.0, where(abs(rest) <= enough, rest, copysign(enough, h)));
  const auto reached = accepted && rest == 0.0;
  const auto stuck = next_h == 0.0;
  const auto running = !reached && !stuck && steps < at.template scalar<scalar_most_steps, dtype::int32>();
  const auto outcome = where(reached, 0, where(stuck, 1, 2));
  const auto rejected = at.template variable<v.rejected>() + cast<std::int32_t>(!accepted);
  const auto kept = fmax(log_square, least_log_error);
  return controlled{accepted, next_t, next_h, where(accepted, kept, last), steps, rejected, outcome, running};
}

/// The first step: that of Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4,
/// from the size of the fields, of their slopes `k`, and of the change of these over a guessed step.
template <class P, std::size_t... I, class... Y, class K, class X>
constexpr auto first_step_of(const ensemble_symbols<P>& at, std::index_sequence<I...> fields,
                             const tuple<Y...>& y, const K& k, const X& others) {
  constexpr float huge = 1e18f;
  const auto unit = at.template scalar<scalar_unit>();
  const auto in_unit = [&](const auto& x) { return tuple{(in_precision_of(get<I>(y), unit) * get<I>(x))...}; };
  const auto size_of_all = [&](const auto& x) {
    return fmin(sqrt(mean_square_of(at, fields, y, y, in_unit(x))), huge);
  };
  const auto t0 = at.t0(), t1 = at.t1();
  const auto span = t1 - t0;
  const auto largest = cast<float>(fmin(fmin(abs(span), at.template scalar<scalar_largest_step>()), 1e30));
  const auto size = size_of_all(y), slope = size_of_all(k);
  const auto guess = fmin(where(size < 1e-5f || slope < 1e-5f, 1e-6f, 0.01f * size / slope), largest);
  const auto h = cast<double>(copysign(guess, cast<float>(span)));
  const auto moved = tuple{(get<I>(y) + in_precision_of(get<I>(y), h) * get<I>(k))...};
  const auto next = derivatives<P>(t0 + h, moved, others);
  const auto change = size_of_all(tuple{(get<I>(next) - get<I>(k))...}) / guess;
  const auto most = fmax(slope, change);
  constexpr float exponent = 1.0f / static_cast<float>(P::error_order + 1);
  const auto chosen = where(most <= 1e-15f, fmax(1e-6f, 1e-3f * guess),
                            exp2(exponent * log2(0.01f / most)));
  const auto free = cast<double>(fmin(fmin(100.0f * guess, chosen), largest));
  const auto given = at.template scalar<scalar_first_step>();
  const auto wanted = fmax(where(given > 0.0, fmin(given, at.template scalar<scalar_largest_step>()), free),
                           fmax(abs(t0) * 2.2e-15, 1e-290));
  return where(abs(span) <= wanted, span, copysign(wanted, span));
}

}  // namespace dsl::ode::detail

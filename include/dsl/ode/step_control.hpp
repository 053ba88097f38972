// Error norms and step sizes of an ensemble's elements.
#pragma once

#include <dsl/ode/ensemble_variables.hpp>

namespace dsl::ode::detail {

/// How the next step follows from the error e of the last one: it is that step times
/// 0.9 e^-now before^earlier, within bounds, where `before` is the error of the accepted step
/// before it. After a rejected step it does not grow. The first step has none before it, and takes
/// the rule of `of_order`.
struct control_constants {
  double now, earlier, least = 0.2, most = 10;
  /// Without the error of the step before, for a method whose error has this order: SciPy's rule.
  static constexpr control_constants of_order(int error_order) {
    return {1.0 / (error_order + 1), 0};
  }
};

/// The binary logarithm of the least squared error: a smaller one counts as this, Hairer's 1e-4.
inline constexpr float least_log_error = -26.575425f;

/// A value in single precision: errors and step sizes need no more.
template <class X>
constexpr auto in_single(const X& x) {
  if constexpr (kind_of(X::type.type) == kind::complex) return cast<std::complex<float>>(x);
  else return cast<float>(x);
}

/// The mean over the fields of (error / (absolute + relative max(|y|, |z|)))^2, as a float. `error`
/// is given in the tolerances' unit.
template <class P, std::size_t... I, class... Y, class Z, class E>
constexpr auto mean_square_of(const ensemble_symbols<P>& at, std::index_sequence<I...>,
                              const tuple<Y...>& y, const Z& z, const E& error) {
  const auto absolute = at.template scalar<scalar_absolute, dtype::float32>(),
             relative = at.template scalar<scalar_relative, dtype::float32>();
  const auto square = [&](const auto& before, const auto& after, const auto& e) {
    const auto scale = absolute + relative * fmax(abs(in_single(before)), abs(in_single(after)));
    const auto inverse = dsl::detail::apply<op::fast_reciprocal>(scale);
    return abs2(in_single(e)) * (inverse * inverse);
  };
  const auto sum = (square(get<I>(y), get<I>(z), get<I>(error)) + ...);
  return sum * (1.0f / static_cast<float>(sizeof...(I)));
}

/// What follows from a step that was tried.
template <class Flag, class T, class H, class N, class O, class G>
struct controlled {
  Flag accepted;
  T t;           // The time afterwards.
  H h;           // The next step,
  Flag is_last;  // or what is left until t1.
  H log_error;
  N steps, rejected;
  O outcome;
  Flag running;
  G growth;
};
template <class Flag, class T, class H, class N, class O, class G>
controlled(Flag, T, H, Flag, H, N, N, O, Flag, G) -> controlled<Flag, T, H, N, O, G>;

/// The least magnitude of a step at a time: SciPy's, ten roundings of the time.
template <class T>
constexpr auto least_step(const T& time) {
  return fmax(abs(cast<float>(time)) * 2.2e-15f, 1e-37f);
}

/// From the squared error of a step of size h what follows. Sizes of further steps are floats,
/// whose precision does not matter; the last step ends at t1 to the bit.
template <class P, class H, class Q>
constexpr auto control(const ensemble_symbols<P>& at, const H& h, const Q& square) {
  constexpr auto& v = variables_of<P>;
  constexpr control_constants c = P::control;
  const auto t = at.template variable<v.t>(), t1 = at.t1();
  const auto is_last = at.template variable<v.is_last>();
  const auto last_error = at.template variable<v.log_error>();
  const auto steps = at.template variable<v.steps>() + 1;
  const auto accepted = square < 1.0f;
  const auto log_square = dsl::detail::apply<op::fast_log2>(square);
  // A NaN loses in fmax, so that it gives the smallest factor.
  constexpr float log_safety = -0.15200309f;  // log2(0.9)
  auto exponent = log_safety - static_cast<float>(c.now / 2) * log_square;
  if constexpr (c.earlier != 0) {
    constexpr float at_first = static_cast<float>(0.5 / (P::error_order + 1));
    exponent =
        where(steps == 1, log_safety - at_first * log_square,
              exponent + where(accepted, static_cast<float>(c.earlier / 2) * last_error, 0.0f));
  }
  const auto most = where(accepted, at.template variable<v.growth>(), 1.0f);
  const auto factor =
      fmin(most, fmax(static_cast<float>(c.least), dsl::detail::apply<op::fast_exp2>(exponent)));

  const auto reached = accepted && is_last;
  const auto next_t = where(accepted, where(is_last, t1, t + h), t);
  const auto tried = cast<float>(h);
  const auto wanted = fmin(abs(tried) * factor, at.largest_step());
  const auto least = least_step(next_t);
  const auto stuck = !accepted && wanted < least;
  const auto next_h = fmax(wanted, least);
  const auto rest = abs(cast<float>(t1 - next_t));
  const auto running = !reached && !stuck && steps < at.most_steps();
  return controlled{accepted,
                    next_t,
                    copysign(next_h, tried),
                    rest <= next_h,
                    where(accepted, fmax(log_square, least_log_error), last_error),
                    steps,
                    at.template variable<v.rejected>() + cast<std::int32_t>(!accepted),
                    where(reached, 0, where(stuck, 1, 2)),
                    running,
                    where(accepted, static_cast<float>(c.most), 1.0f)};
}

/// The same for steps of one size: no step is rejected.
template <class Flag, class T, class N> struct fixed_stepped {
  bool accepted;
  T t;
  Flag is_last;
  N steps;
  Flag running;
};
template <class Flag, class T, class N>
fixed_stepped(bool, T, Flag, N, Flag) -> fixed_stepped<Flag, T, N>;

/// Whether no more than a step of size h is left. Roundings of the times do not add a step.
template <class R, class H>
constexpr auto is_last_of(const R& rest, const H& h) {
  return abs(rest) <= 1.0000001 * abs(h);
}
template <class P, class H>
constexpr auto fixed_control(const ensemble_symbols<P>& at, const H& h) {
  constexpr auto& v = variables_of<P>;
  const auto t = at.template variable<v.t>(), t1 = at.t1();
  const auto steps = at.template variable<v.steps>() + 1;
  const auto most = at.most_steps();
  if constexpr (P::counts_steps) {
    const auto runs = steps < most;
    return fixed_stepped{true, where(runs, t + h, t1), runs, steps, runs};
  } else {
    const auto is_last = at.template variable<v.is_last>();
    const auto next_t = where(is_last, t1, t + h);
    return fixed_stepped{true, next_t, is_last_of(t1 - next_t, at.template variable<v.h>()), steps,
                         !is_last && steps < most};
  }
}

/// A step, or whether it is what is left until t1.
template <class H, class Flag> struct chosen_step {
  H h;
  Flag is_last;
};
template <class H, class Flag> chosen_step(H, Flag) -> chosen_step<H, Flag>;

/// Steps of one size, a part of the whole time.
template <class P>
constexpr auto fixed_step_of(const ensemble_symbols<P>& at) {
  const auto span = at.t1() - at.t0();
  const auto h = span * at.template scalar<scalar_part>();
  return chosen_step{h, is_last_of(span, h)};
}

/// The first step: that of Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I,
/// II.4, from the size of the fields, of their slopes `k`, and of the change of these over a
/// guessed step.
template <class P, std::size_t... I, class... Y, class K, class X>
constexpr auto first_step_of(const ensemble_symbols<P>& at, std::index_sequence<I...> fields,
                             const tuple<Y...>& y, const K& k, const X& others) {
  constexpr float huge = 1e18f;
  const auto unit = at.template scalar<scalar_unit, dtype::float32>();
  const auto in_unit = [&](const auto& x) {
    return tuple{(in_precision_of(get<I>(y), unit) * get<I>(x))...};
  };
  const auto size_of_all = [&](const auto& x) {
    return fmin(sqrt(mean_square_of(at, fields, y, y, in_unit(x))), huge);
  };
  const auto t0 = at.t0(), t1 = at.t1();
  const auto span = t1 - t0;
  const auto left = abs(cast<float>(span));
  const auto bound = at.largest_step();
  const auto largest = fmin(left, bound);
  const auto size = size_of_all(y), slope = size_of_all(k);
  const auto guess =
      fmin(where(size < 1e-5f || slope < 1e-5f, 1e-6f, 0.01f * size / slope), largest);
  const auto h = cast<double>(copysign(guess, cast<float>(span)));
  const auto moved = tuple{(get<I>(y) + in_precision_of(get<I>(y), h) * get<I>(k))...};
  const auto next = derivatives<P>(t0 + h, moved, others);
  const auto change = size_of_all(tuple{(get<I>(next) - get<I>(k))...}) / guess;
  const auto most = fmax(slope, change);
  constexpr float exponent = 1.0f / static_cast<float>(P::error_order + 1);
  const auto chosen =
      where(most <= 1e-15f, fmax(1e-6f, 1e-3f * guess), exp2(exponent * log2(0.01f / most)));
  const auto given = at.first_step();
  const auto wanted = where(given > 0.0f, given, fmin(100.0f * guess, chosen));
  const auto found = fmax(fmin(wanted, bound), least_step(t0));
  return chosen_step{copysign(found, cast<float>(span)), left <= found};
}

}  // namespace dsl::ode::detail

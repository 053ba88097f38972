// Integration with adaptive steps, entirely on the device.
#pragma once

#include <dsl/ode/stepper.hpp>
#include <dsl/ode/tolerance.hpp>

namespace dsl::ode {

/// The state of an integration; the result of `integrate`. The values are in device memory: value()
/// waits.
struct integration {
  double end;        ///< the requested end
  scalar<double> t;  ///< the time reached
  scalar<double> h;  ///< the next step; 0 if there is none
  /// All steps that were tried, and those rejected because their error was too large.
  scalar<std::int64_t> steps, rejected;

  /// reached: t equals the end to the bit. step_too_small: no step that changes t is small enough,
  /// or the right-hand side is NaN or infinite; the fields are those at t. Waits.
  ode::outcome outcome() const {
    if (t.value() == end) return ode::outcome::reached;
    return h.value() == 0 ? ode::outcome::step_too_small : ode::outcome::too_many_steps;
  }
};

namespace detail {

/// Throws value_error that names a time or an option that is NaN, infinite or of the wrong sign.
void require_possible(double t0, double t1, const tolerance& wanted);

/// The norm of the elements of all fields divided by their scales, as a double. The scales include
/// the factor that turns the sum into a mean.
template <class... X, class... Scale, std::size_t... I>
constexpr auto norm_of(std::index_sequence<I...>, const tuple<X...>& x,
                       const tuple<Scale...>& scale) {
  return cast<double>(sqrt(sum((abs2(get<I>(x) / get<I>(scale)) + ...))));
}

template <class F, class T>
constexpr auto time_seen_by(const T& t) {
  if constexpr (right_side<F>::times == 0) return no_time{};
  else return t;
}

/// Names the kernels that choose the first step. They run once, so each is compiled for any layout,
/// and its formula once.
struct first_step {
  struct policy : default_policy {
    static constexpr map_policy map(const formula_traits& f, int compute_capability) {
      map_policy p = default_policy::map(f, compute_capability);
      p.lanes = 1;
      p.inlined_nodes = 0;
      p.has_linear = false;
      return p;
    }
    static constexpr reduction_policy reduction(const formula_traits& f, int compute_capability) {
      return {map(f, compute_capability)};
    }
  };
};

/// The first half of choosing the first step: from (t, span, relative, absolute, fields...,
/// others...) a guess, and the norm of the slope.
template <class F, std::size_t Fields>
struct starting_guess {
  template <class T, class Span, class V, class... X>
  constexpr auto operator()(const T& t, const Span& span, const V& relative, const V& absolute,
                            const X&... x) const {
    const tuple<X...> all(x...);
    return guess(std::make_index_sequence<Fields>{}, t, span, relative, absolute, all,
                 subtuple<Fields, sizeof...(X) - Fields>(all));
  }

 private:
  template <std::size_t... I, class T, class V, class All, class Others>
  static constexpr auto guess(std::index_sequence<I...> fields, const T& t, const V& span,
                              const V& relative, const V& absolute, const All& all,
                              const Others& others) {
    const auto y = tuple{field(get<I>(all))...};
    const auto k = slopes<euler_method, F>(fields, y, others, time_seen_by<F>(t), span);
    const auto scale = tuple{absolute + relative * abs(get<I>(y))...};
    const auto size = norm_of(fields, y, scale),
               slope = norm_of(fields, tuple{get<I>(k)[0]...}, scale);
    const auto guessed = where(size < 1e-5 || slope < 1e-5, 1e-6, 0.01 * size / slope);
    return tuple{copysign(fmin(guessed, abs(span)), span), slope};
  }
};

/// The second half: from (guess, norm of the slope, smallest, largest, t, span, relative, absolute,
/// fields..., others...) the step, given by the change of the slope over the guess.
template <class F, std::size_t Fields>
struct starting_step {
  template <class S, class T, class V, class... X>
  constexpr auto operator()(const S& guess, const S& slope, const V& smallest, const V& largest,
                            const T& t, const V& span, const V& relative, const V& absolute,
                            const X&... x) const {
    const tuple<X...> all(x...);
    const auto change =
        change_of_slope(std::make_index_sequence<Fields>{}, t, guess, relative, absolute, all,
                        subtuple<Fields, sizeof...(X) - Fields>(all));
    const auto most = fmax(slope, change / abs(guess));
    const auto h = where(most <= 1e-15, fmax(1e-6, 1e-3 * abs(guess)), pow(0.01 / most, 0.2));
    return copysign(fmin(fmax(fmin(100 * abs(guess), h), smallest), largest), span);
  }

 private:
  template <std::size_t... I, class T, class H, class V, class All, class Others>
  static constexpr auto change_of_slope(std::index_sequence<I...> fields, const T& t, const H& h,
                                        const V& relative, const V& absolute, const All& all,
                                        const Others& others) {
    const auto y = tuple{field(get<I>(all))...};
    const auto k = slopes<heun_method, F>(fields, y, others, time_seen_by<F>(t), h);
    return norm_of(fields, tuple{get<I>(k)[1] - get<I>(k)[0]...},
                   tuple{absolute + relative * abs(get<I>(y))...});
  }
};

/// A step of (t, h, accepted, rejected, y..., z..., t1, relative, absolute, largest, others...). z
/// is the candidate of the previous step, and becomes y if it was accepted. A step therefore never
/// waits: its error is summed in the kernel that computes its candidate, and everything that
/// follows from the error is computed with single values.
template <class F, std::size_t Fields>
struct controlled_step {
  template <class T, class A, class N, class... X>
  constexpr auto operator()(const T& t, const T& h, const A& accepted, const N& rejected,
                            const X&... x) const {
    constexpr std::size_t before_others = 2 * Fields + 4;
    const tuple<X...> all(x...);
    return take(std::make_index_sequence<Fields>{}, t, h, accepted, rejected, all,
                subtuple<before_others, sizeof...(X) - before_others>(all));
  }

 private:
  template <std::size_t... I, class T, class A, class N, class All, class Others>
  static constexpr auto take(std::index_sequence<I...> fields, const T& t, const T& h,
                             const A& accepted, const N& rejected, const All& all,
                             const Others& others) {
    const auto [t1, relative, absolute, largest] = subtuple<2 * Fields, 4>(all);
    const auto y = tuple{field(where(accepted, get<Fields + I>(all), get<I>(all)))...};
    const auto k = slopes<dopri5_method, F>(fields, y, others, time_seen_by<F>(t), h);
    const auto change = increments(fields, y, h, dopri5_method.b, k);
    const auto z = tuple{get<I>(y) + get<I>(change)...};
    const auto scale = tuple{absolute + relative * max(abs(get<I>(y)), abs(get<I>(z)))...};
    const auto error = norm_of(fields, increments(fields, y, h, dopri5_method.error, k), scale);

    // The rules of SciPy's RK45, so that the steps are the same. A NaN loses in fmax, so it gives
    // the smallest factor. After an accepted step, the next one may be as small as the smallest
    // step, and the remainder at the end is taken however small it is. A rejected step that would
    // have to become smaller than the smallest step ends the integration.
    const auto takes = error < 1;
    const auto factor = fmin(where(accepted, 10.0, 1.0), fmax(0.2, 0.9 * pow(error, -0.2)));
    const auto next_t = where(takes, where(h == t1 - t, t1, t + h), t);
    const auto least =
        10.0 * abs(nextafter(next_t, copysign(dsl::detail::math::infinity<double>, h)) - next_t);
    const auto wanted = fmin(fmax(abs(h) * factor, where(takes, least, 0.0)), largest);
    const auto left = t1 - next_t;
    const auto next_h =
        where(wanted < least, 0.0, where(abs(left) <= wanted, left, copysign(wanted, h)));
    return concatenate(tuple{next_t, next_h, takes, rejected + cast<std::int64_t>(!takes)}, y, z);
  }
};

/// The fields after the last step, from (accepted, y..., z...).
template <std::size_t Fields>
struct last_accepted {
  template <class A, class... X>
  constexpr auto operator()(const A& accepted, const X&... x) const {
    return choose(std::make_index_sequence<Fields>{}, accepted, tuple<X...>(x...));
  }

 private:
  template <std::size_t... I, class A, class All>
  static constexpr auto choose(std::index_sequence<I...>, const A& accepted, const All& all) {
    return tuple{where(accepted, get<Fields + I>(all), get<I>(all))...};
  }
};

/// Whether a right-hand side gives derivatives of its first `Fields` arguments; otherwise a
/// compile-time error.
template <class F, std::size_t Fields, class... X>
constexpr bool may_integrate() {
  constexpr bool is_stateless = dsl::detail::is_stateless<F>;
  static_assert(is_stateless,
                "integrate takes a function without captures or members: pass values as arguments");
  if constexpr (is_stateless) {
    constexpr std::size_t count = field_count<F, symbol<dtype::float64, true>,
                                              dsl::detail::trace_t<dsl::detail::operand_t<X>>...>();
    static_assert(count == 0 || count == Fields,
                  "a right-hand side returns one derivative for each field");
    return count == Fields;
  } else {
    return false;
  }
}

template <class T, int R> array<T, R> copy_of(const array<T, R>& a) { return a; }
template <class T, int R> array<T, R> copy_of(const view<T, R>& v) { return v; }
template <class T> scalar<T> copy_of(const scalar<T>& s) { return s; }

/// The steps that an integration accepted: where each begins, and its size, in device memory.
struct held_steps {
  std::int64_t count = 0;
  array<double, 1> begins, sizes;  // At least one element; those after `count` have no meaning.

  /// Reads them from the histories of t, h and `accepted`, of which the first `tried` rows are
  /// used. The first step that was tried begins at t0 and has size h0. Waits.
  void read(std::int64_t tried, double t0, const scalar<double>& h0, const array<double, 1>& t,
            const array<double, 1>& h, const array<bool, 1>& accepted);
};

struct no_steps {};

/// Integrates. Held: held_steps, to which the accepted steps are written, or no_steps.
template <class Name, class F, class Held, class... S, class... Others>
DSL_DETAIL_RARE integration integrate_fields(const loop_state<S...>& fields, double t0, double t1,
                                             const tolerance& wanted, Held& held,
                                             const Others&... others) {
  namespace math = dsl::detail::math;
  require_possible(t0, t1, wanted);
  constexpr std::size_t count = sizeof...(S);
  const auto& first = get<0>(fields.variables);
  const device_guard guard(first.where());
  const double elements = static_cast<double>(dsl::detail::as_operand(first).size()) *
                          static_cast<double>(count),
               span = t1 - t0;
  const double relative = wanted.relative * math::sqrt(elements),
               absolute = wanted.absolute * math::sqrt(elements);

  const double next =
      math::nextafter<dtype::float64>(t0, math::copysign(math::infinity<double>, span));
  const double smallest = 10 * math::abs(next - t0), whole = math::abs(span),
               largest = math::min(wanted.largest_step, whole);
  const bool begins = span != 0 && (largest >= smallest || largest == whole);

  integration at{t1, t0, 0.0, std::int64_t{0}, std::int64_t{0}};
  if (begins && wanted.first_step > 0) {
    at.h = math::copysign(math::min(math::max(wanted.first_step, smallest), largest), span);
  } else if (begins) {
    scalar<double> guess, slope;
    unpack(
        [&](const auto&... y) {
          dsl::tie(guess, slope) = vectorize<first_step>(starting_guess<F, count>{})(
              t0, span, relative, absolute, y..., others...);
          dsl::tie(at.h) = vectorize<first_step>(starting_step<F, count>{})(
              guess, slope, smallest, largest, t0, span, relative, absolute, y..., others...);
        },
        fields.variables);
  }
  scalar<bool> accepted = true;
  auto candidates = unpack([](const auto&... y) { return tuple{copy_of(y)...}; }, fields.variables);
  const auto all = concatenate(fields.variables,
                               unpack([](auto&... z) { return references(z...); }, candidates));
  unpack(
      [&](auto&... x) {
        const auto step = vectorize<Name>(controlled_step<F, count>{});
        const auto run = [&](const auto&... option) {
          return iterate(begins ? wanted.most_steps : 0, step,
                         state(at.t, at.h, accepted, at.rejected, x...), t1, relative, absolute,
                         wanted.largest_step, others..., until(!at.h, at.steps), option...);
        };
        if constexpr (std::same_as<Held, held_steps>) {
          const scalar<double> h0 = at.h;
          const auto histories = run();
          held.read(at.steps.value(), t0, h0, std::get<0>(histories), std::get<1>(histories),
                    std::get<2>(histories));
        } else {
          run(every(wanted.most_steps > 0 ? wanted.most_steps : 1), dsl::detail::no_histories{});
        }
      },
      all);
  unpack(
      [&](auto&... y) {
        dsl::tie(y...) = unpack(
            [&](const auto&... x) { return vectorize(last_accepted<count>{})(accepted, x...); },
            all);
      },
      fields.variables);
  return at;
}

}  // namespace detail

/// Integrates dy/dt = f from t0 to t1 with the method of Dormand and Prince of order 5(4). t1 may
/// be less than t0. The steps adapt so that the error of each stays within the tolerance: the root
/// mean square over all fields' elements of error / (absolute + relative max(|y|, |z|)), where z is
/// y after the step, is at most 1 (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations
/// I, II.4). SciPy's solve_ivp takes the same steps.
///
/// f: a lambda without captures of (fields..., others...) that returns the fields' derivatives, as
/// one value or a std::tuple; or with_time of a lambda of (t, fields..., others...). fields:
/// `dsl::state(...)` of arrays, views or scalars in device memory, all of one shape, real or
/// complex; afterwards they hold y at the result's `t`. t0, t1: finite, in f's unit of time.
/// wanted: the tolerance and the limits of the steps. others: arrays, scalars and C++ values, which
/// stay constant.
///
/// Returns the state of the integration, in device memory. A step evaluates f seven times in one
/// kernel. A second copy of each field is kept. Waits as `iterate` does with `until`. Throws
/// value_error for times that are not finite and for impossible tolerances and steps, otherwise as
/// `iterate`, before the fields are written.
/// ```cpp
/// const auto pendulum = dsl::ode::with_time([](auto t, auto x, auto v, auto drive) {
///   return std::tuple{v, drive * cos(t) - sin(x)};
/// });
/// ```
/// with arrays of doubles `x` and `v` and a double `drive`:
/// ```cpp
/// const auto at = dsl::ode::integrate(pendulum, dsl::state(x, v), 0, 10,
///                                     {.relative = 1e-9, .absolute = 1e-12}, drive);
/// if (at.outcome() != dsl::ode::outcome::reached)
///   std::cerr << "stopped at t = " << at.t.value() << '\n';
/// ```
template <class Name = dsl::detail::unnamed, class F, class... S, class... Others>
integration integrate(F, const loop_state<S...>& fields, double t0, double t1,
                      const tolerance& wanted = {}, const Others&... others) {
  if constexpr (detail::may_integrate<F, sizeof...(S), S..., Others...>()) {
    detail::no_steps none;
    return detail::integrate_fields<Name, F>(fields, t0, t1, wanted, none, others...);
  } else {
    return {};
  }
}
// Other calls do not compile.
template <class Name = dsl::detail::unnamed, class F, class Fields, class... Others>
  requires(!dsl::detail::is_loop_state<Fields>)
integration integrate(F, const Fields&, double, double, const tolerance& = {}, const Others&...) {
  static_assert(std::same_as<Fields, refused>,
                "integrate takes its fields as dsl::state(y, ...), then t0, t1, the tolerance and "
                "the other arguments");
  return {};
}

}  // namespace dsl::ode

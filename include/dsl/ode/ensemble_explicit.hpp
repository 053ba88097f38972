// Explicit Runge-Kutta pairs as methods of an ensemble.
#pragma once

#include <dsl/ode/pairs.hpp>
#include <dsl/ode/step_control.hpp>

namespace dsl::ode::detail {

/// c[0] k[0] + c[1] k[1] + ..., times h. The first nonzero coefficient is factored out of the sum,
/// so that it costs nothing for each field. At least one is not zero.
template <class H, class K, std::size_t N, std::size_t Stages>
constexpr auto weighted(const H& h, const double (&c)[N], const std::array<K, Stages>& k) {
  std::size_t j = 0;
  while (c[j] == 0) ++j;
  const double first = c[j];
  K sum = k[j];
  while (++j < N)
    if (c[j] != 0) sum = sum + (c[j] / first) * k[j];
  return (h * first) * sum;
}

/// Weights as floats whose sum is 1: rounded, the weights would make all steps longer or shorter by
/// the same 1e-7, which adds up from step to step. The least one takes what the others miss.
template <std::size_t N>
constexpr std::array<float, N> consistent_floats(const double (&weights)[N], double total = 1) {
  std::array<float, N> made{};
  std::size_t least = N;
  double sum = 0;
  for (std::size_t j = 0; j < N; ++j) {
    const double size = weights[j] < 0 ? -weights[j] : weights[j];
    if (size > 0 && (least == N || size < (weights[least] < 0 ? -weights[least] : weights[least])))
      least = j;
    made[j] = static_cast<float>(weights[j]);
    sum += static_cast<double>(made[j]);
  }
  made[least] = static_cast<float>(static_cast<double>(made[least]) + (total - sum));
  return made;
}

/// What a method computes in a step that it tries: the fields afterwards, their errors in the
/// tolerances' unit, their slopes afterwards if the method has them, and for each field the
/// coefficients of theta, theta^2, ... in its continuous extension, less the field before.
template <class Z, class E, class K, class Powers>
struct tried_step {
  Z after;
  E error;
  K slopes;
  Powers powers;
};
template <class Z, class E, class K, class Powers>
tried_step(Z, E, K, Powers) -> tried_step<Z, E, K, Powers>;

/// A method without random numbers, whose step sees the time only where the right-hand side does.
struct deterministic_method {
  static constexpr bool draws = false, sees_time = false, has_jacobian = false;
};

template <const auto& Pair, bool IsScipys = false>
struct explicit_pair : deterministic_method {
  static constexpr bool has_error = true;
  static constexpr int error_order = Pair.error_order, powers = Pair.degree;
  static constexpr bool reuses_slope = Pair.reuses_last;
  // SciPy's rule; or that of K. Gustafsson, Control theoretic techniques for stepsize selection in
  // explicit Runge-Kutta methods, ACM Trans. Math. Softw. 17 (1991), with OrdinaryDiffEq.jl's
  // constants.
  static constexpr control_constants control =
      IsScipys ? control_constants::of_order(error_order)
               : control_constants{0.7 / Pair.order, 0.4 / Pair.order};

  template <class P, class T, class H, class Y, class X, std::size_t... I>
  static constexpr auto try_step(const ensemble_symbols<P>& at, const T& t, const H& h, const Y& y,
                                 const X& others, std::index_sequence<I...>) {
    const auto first = [&] {
      if constexpr (P::reuses_slope) return at.template of_fields<variables_of<P>.slope>();
      else return derivatives<P>(t, y, others);
    }();
    constexpr std::size_t all = Pair.stages + Pair.more, count = P::is_dense ? all : Pair.stages;
    tuple<std::array<std::remove_cvref_t<decltype(get<I>(first))>, all>...> k{};
    ((get<I>(k)[0] = get<I>(first)), ...);
    const auto after = [&] {
      return Y{stepped(get<I>(y), in_precision_of(get<I>(y), h), get<I>(k))...};
    };
    for (std::size_t i = 1; i < count; ++i) {
      const bool is_end = reuses_slope && i + 1 == Pair.stages;
      const Y inside = is_end ? after()
                              : Y{stage(get<I>(y), in_precision_of(get<I>(y), h), Pair.a[i],
                                        Pair.c[i], get<I>(k))...};
      const auto next = derivatives<P>(t + Pair.c[i] * h, inside, others);
      ((get<I>(k)[i] = get<I>(next)), ...);
    }
    const auto error = [&] {
      if constexpr (P::estimates_error) {
        const auto unit = at.template scalar<scalar_unit, dtype::float32>();
        return tuple{weighted(in_precision_of(get<I>(y), h) * in_precision_of(get<I>(y), unit),
                              Pair.error, get<I>(k))...};
      } else {
        return tuple<>{};
      }
    };
    return tried_step{after(), error(), tuple{get<I>(k)[Pair.stages - 1]...},
                      tuple{powers_of<P>(in_precision_of(get<I>(y), h), get<I>(k))...}};
  }

 private:
  // The field after the step.
  template <class Y, class H, class K, std::size_t Stages>
  static constexpr auto stepped(const Y& y, const H& h, const std::array<K, Stages>& k) {
    if constexpr (real_of(Y::type.type) == dtype::float32) {
      return stage(y, h, Pair.b, 1, k);
    } else {
      return y + weighted(h, Pair.b, k);
    }
  }
  template <class Y, class H, class K, std::size_t N, std::size_t Stages>
  static constexpr auto stage(const Y& y, const H& h, const double (&c)[N], double total,
                              const std::array<K, Stages>& k) {
    if constexpr (real_of(Y::type.type) == dtype::float32) {
      const auto weights = consistent_floats(c, total);
      K sum{};
      bool is_first = true;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        if (weights[j] == 0) continue;
        sum = is_first ? weights[j] * k[j] : sum + weights[j] * k[j];
        is_first = false;
      }
      return y + h * sum;
    } else {
      return y + weighted(h, c, k);
    }
  }
  template <class P, class H, class K, std::size_t Stages>
  static constexpr auto powers_of(const H& h, const std::array<K, Stages>& k) {
    std::array<K, P::is_dense ? Pair.degree : 0> found{};
    if constexpr (P::is_dense)
      for (std::size_t p = 0; p < found.size(); ++p) {
        double c[Stages]{};
        for (std::size_t i = 0; i < Stages; ++i) c[i] = Pair.dense[i][p];
        found[p] = weighted(h, c, k);
      }
    return found;
  }
};

/// A method without an error estimate. Its continuous extension is the cubic that has the fields
/// and their slopes at both ends, for which the slope at the end is evaluated once more.
template <const auto& Method>
struct fixed_method : deterministic_method {
  static constexpr bool has_error = false, reuses_slope = false;
  static constexpr int error_order = 0, powers = 3;
  static constexpr control_constants control = control_constants::of_order(0);

  template <class P, class T, class H, class Y, class X, std::size_t... I>
  static constexpr auto try_step(const ensemble_symbols<P>&, const T& t, const H& h, const Y& y,
                                 const X& others, std::index_sequence<I...> fields) {
    const auto time = [&] {
      if constexpr (right_side<typename P::function>::times == 0) return no_time{};
      else return t;
    }();
    const auto k = slopes<Method, typename P::function>(fields, y, others, time, h);
    const auto change = increments(fields, y, h, Method.b, k);
    const Y after{(get<I>(y) + get<I>(change))...};
    if constexpr (P::is_dense) {
      const auto end = derivatives<P>(t + h, after, others);
      return tried_step{after, tuple<>{}, tuple<>{},
                        tuple{cubic(get<I>(change), in_precision_of(get<I>(y), h) * get<I>(k)[0],
                                    in_precision_of(get<I>(y), h) * get<I>(end))...}};
    } else {
      return tried_step{after, tuple<>{}, tuple<>{}, tuple<>{}};
    }
  }

 private:
  template <class S>
  static constexpr std::array<S, 3> cubic(const S& change, const S& first, const S& last) {
    return {first, 3 * change - 2 * first - last, first + last - 2 * change};
  }
};

}  // namespace dsl::ode::detail

// Steps of stochastic differential equations.
#pragma once

#include <dsl/lang/derivative.hpp>
#include <dsl/ode/stepper.hpp>

namespace dsl::ode {

namespace detail {

/// A diffusion as a function of (fields..., others..., time), for its derivatives.
template <class G>
struct diffusion_and_time {
  template <class... X> constexpr auto operator()(const X&... x) const {
    constexpr std::size_t seen = sizeof...(X) - 1;
    const tuple<X...> all(x...);
    const auto& t = get<seen>(all);
    return unpack(
        [&](const auto&... y) {
          const auto values = as_tuple(right_side<G>::at(
              symbol<std::remove_cvref_t<decltype(t)>::type.type, true>{t.owner, t.id}, y...));
          return unpack([&](const auto&... v) { return tuple{dsl::detail::lift(t.owner, v)...}; },
                        values);
        },
        subtuple<0, seen>(all));
  }
};

enum class stochastic_scheme : std::uint8_t { euler_maruyama, milstein, platen };

/// A step of a stochastic equation as a formula of (fields..., others..., h, noise...), or with the
/// time of (fields..., others..., t, h, noise...).
template <stochastic_scheme Scheme, class F, class G>
struct stochastic_step {
  template <class... X> constexpr auto operator()(const X&... x) const {
    constexpr std::size_t fields = fields_among<1, X...>();
    static_assert(fields > 0,
                  "a stochastic step takes the fields, the other arguments, the time if drift or "
                  "diffusion sees it, h, and a normal "
                  "number for each field");
    if constexpr (fields == 0) {
      return refused{};
    } else {
      constexpr std::size_t seen = sizeof...(X) - fields - 1 - times;
      const tuple<X...> all(x...);
      const auto& h = get<seen + times>(all);
      const auto time = [&] {
        if constexpr (times == 0) return no_time{};
        else return later(get<seen>(all), h, {});
      }();
      const auto values = [&]<class R>(std::type_identity<R>) {
        return unpack([&](const auto&... y) { return as_tuple(R::at(time, y...)); },
                      subtuple<0, seen>(all));
      };
      const auto drift = values(std::type_identity<right_side<F>>{});
      const auto diffusion = values(std::type_identity<right_side<G>>{});
      constexpr bool are_as_many = std::tuple_size_v<decltype(diffusion)> == fields;
      static_assert(are_as_many, "drift and diffusion return a value for each field");
      if constexpr (!are_as_many) return refused{};
      else
        return one_or_all(advance(std::make_index_sequence<fields>{}, all,
                                  subtuple<fields, seen - fields>(all), time, drift, diffusion, h,
                                  subtuple<seen + times + 1, fields>(all)));
    }
  }

 private:
  static constexpr std::size_t times =
      right_side<F>::times > right_side<G>::times ? right_side<F>::times : right_side<G>::times;

  // The number of fields: the number of values that the drift gives for the first arguments,
  // provided that as many normal numbers are the last arguments.
  template <std::size_t Fields, class... X>
  static constexpr std::size_t fields_among() {
    if constexpr (2 * Fields + 1 + times > sizeof...(X)) {
      return 0;
    } else {
      constexpr std::size_t seen = sizeof...(X) - Fields - 1 - times;
      using arguments = decltype(subtuple<0, seen>(std::declval<const tuple<X...>&>()));
      if constexpr (drift_gives<arguments, std::tuple_element_t<seen, tuple<X...>>>() == Fields)
        return Fields;
      else return fields_among<Fields + 1, X...>();
    }
  }
  template <class Arguments, class Time>
  static constexpr std::size_t drift_gives() {
    return []<class... Y>(std::type_identity<tuple<Y...>>) -> std::size_t {
      using seen = std::conditional_t<times == 0, no_time, symbol<type_of<Time>::type.type, true>>;
      if constexpr (right_side<F>::template takes<seen, Y...>)
        return std::tuple_size_v<decltype(as_tuple(
            right_side<F>::at(std::declval<const seen&>(), std::declval<const Y&>()...)))>;
      else return 0;
    }(std::type_identity<Arguments>{});
  }
  template <class... Y>
  static constexpr auto one_or_all(const tuple<Y...>& made) {
    if constexpr (sizeof...(Y) == 1) return get<0>(made);
    else return made;
  }
  // Values of a function at other fields and at the end of the step, in the fields' precision.
  template <class R, class Others, class T, class H, class... Y>
  static constexpr auto values_at(const tuple<Y...>& y, const Others& others, const T& t,
                                  const H& h) {
    const auto time = [&] {
      if constexpr (times == 0) return no_time{};
      else return later(t, h, 1);
    }();
    return unpack(
        [&](const Y&... field) {
          return unpack(
              [&](const auto&... x) {
                return unpack([&](const auto&... value) { return tuple{slope(field, value)...}; },
                              as_tuple(right_side<R>::at(time, field..., x...)));
              },
              others);
        },
        y);
  }
  template <std::size_t... I, class All, class Others, class T, class Drift, class Diffusion,
            class H, class Noise>
  static constexpr auto advance(std::index_sequence<I...> fields, const All& all,
                                const Others& others, const T& t, const Drift& drift,
                                const Diffusion& diffusion, const H& h, const Noise& noise) {
    const tuple y{field(get<I>(all))...};
    const tuple step{in_precision_of(get<I>(y), h)...};
    const tuple root{sqrt(get<I>(step))...};
    const tuple a{slope(get<I>(y), get<I>(drift))...}, b{slope(get<I>(y), get<I>(diffusion))...};
    const tuple w{in_precision_of(get<I>(y), get<I>(noise))...};
    if constexpr (Scheme == stochastic_scheme::platen) {
      const tuple ahead{(get<I>(y) + get<I>(step) * get<I>(a))...};
      const auto end = values_at<F>(
          tuple{(get<I>(ahead) + get<I>(root) * (get<I>(b) * get<I>(w)))...}, others, t, h);
      const auto above = values_at<G>(tuple{(get<I>(ahead) + get<I>(root) * get<I>(b))...}, others,
                                      t, h),
                 below = values_at<G>(tuple{(get<I>(ahead) - get<I>(root) * get<I>(b))...}, others,
                                      t, h);
      return tuple{platens_step(get<I>(y), get<I>(step), get<I>(root), get<I>(w), get<I>(a),
                                get<I>(end), get<I>(b), get<I>(above), get<I>(below))...};
    } else {
      const tuple made{
          (get<I>(y) + (get<I>(step) * get<I>(a) + get<I>(root) * (get<I>(b) * get<I>(w))))...};
      if constexpr (Scheme == stochastic_scheme::euler_maruyama) return made;
      else
        return tuple{corrected<I, sizeof...(I) + std::tuple_size_v<Others> + 1>(
            get<I>(made), get<I>(step), get<I>(b), get<I>(w),
            derivatives_of_diffusion(all, others, t, fields))...};
    }
  }
  // `end`, `above`, `below`: the drift at the end, and the diffusion above and below it.
  template <class Y, class H, class W>
  static constexpr Y platens_step(const Y& y, const H& h, const H& root, const W& w, const Y& drift,
                                  const Y& end, const Y& diffusion, const Y& above,
                                  const Y& below) {
    return y +
           (0.5 * h * (drift + end) +
            0.25 * root * ((above + below + 2 * diffusion) * w + (above - below) * (w * w - 1)));
  }
  // All derivatives of the diffusion, row by row.
  template <class All, class Others, class T, std::size_t... I>
  static constexpr auto derivatives_of_diffusion(const All& all, const Others& others, const T& t,
                                                 std::index_sequence<I...>) {
    const tuple y{field(get<I>(all))...};
    dsl::detail::graph* const g = get<0>(y).owner;
    const auto time = [&] {
      if constexpr (times == 0) return dsl::detail::constant<dtype::float64>(g, 0);
      else return symbol<T::type.type>{t.owner, t.id};
    }();
    return unpack(
        [](const auto&... x) {
          return as_tuple(dsl::detail::jacobian_function<diffusion_and_time<G>>{}(x...));
        },
        concatenate(y, others, tuple{time}));
  }
  // Adds h / 2 (w^2 - 1) g dg/dy to a field.
  template <std::size_t I, std::size_t Width, class Y, class H, class B, class W, class Rows>
  static constexpr auto corrected(const Y& made, const H& h, const B& b, const W& w,
                                  const Rows& rows) {
    return made + 0.5 * h * (w * w - 1) * (b * slope(made, get<I * Width + I>(rows)));
  }
};

template <stochastic_scheme Scheme, class Name, class F, class G>
constexpr auto make_stochastic_step() {
  constexpr bool are_stateless = dsl::detail::is_stateless<F> && dsl::detail::is_stateless<G>;
  static_assert(are_stateless,
                "a stepper takes functions without captures or members: pass values as arguments");
  if constexpr (are_stateless) return vectorize<Name>(stochastic_step<Scheme, F, G>{});
  else return refused{};
}

}  // namespace detail

/// Steps of dy = f(y) dt + g(y) dW in Ito's sense: y + h f(y) + sqrt(h) g(y) w, where w are
/// independent normal numbers of variance 1 (G. Maruyama, Continuous Markov processes and
/// stochastic equations, Rend. Circ. Mat. Palermo 4, 1955). Strong order 1/2, weak order 1. f and g
/// are lambdas with `auto` parameters, as for the other steps: f(fields..., others...) and
/// g(fields..., others...) return one value for each field; each field has its own noise. Returns a
/// function of (fields..., others..., h, noise...) for `tie` or `iterate`; if f or g is marked by
/// `with_time`, the time precedes h. All is computed in each field's own precision. `Name`, a type
/// declared at namespace scope, names the kernel.
/// ```cpp
/// const auto step = dsl::ode::sde([](auto rate, auto mean, auto) { return 2.0f * (mean - rate); },
///                                 [](auto, auto, auto width) { return width; });
/// dsl::array<float> rate = dsl::zeros<float>(n);
/// dsl::iterate(500, step, dsl::state(rate), 1.0f, 0.5f, 0.01f,
///              dsl::random::normal<float>(k.fold(dsl::step), n));
/// ```
template <class Name = dsl::detail::unnamed, class F, class G>
constexpr auto sde(F, G) {
  return detail::make_stochastic_step<detail::stochastic_scheme::euler_maruyama, Name, F, G>();
}

/// As `sde`, of strong and weak order 1 if the noise is diagonal: the noise of each field depends
/// on no other field. Milstein's step adds h / 2 (w^2 - 1) g dg/dy, with the derivative made from
/// the formula (G. N. Milstein, Approximate integration of stochastic differential equations,
/// Theory Probab. Appl. 19, 1975).
template <class Name = dsl::detail::unnamed, class F, class G>
constexpr auto milstein(F, G) {
  return detail::make_stochastic_step<detail::stochastic_scheme::milstein, Name, F, G>();
}

/// As `sde`, of weak order 2 if the noise is diagonal: Platen's explicit step, which evaluates f
/// twice and g three times (P. E. Kloeden, E. Platen, Numerical Solution of Stochastic Differential
/// Equations, 15.1).
template <class Name = dsl::detail::unnamed, class F, class G>
constexpr auto platen(F, G) {
  return detail::make_stochastic_step<detail::stochastic_scheme::platen, Name, F, G>();
}

}  // namespace dsl::ode

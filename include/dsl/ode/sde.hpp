// Steps of stochastic differential equations.
#pragma once

#include <dsl/ode/stepper.hpp>

namespace dsl::ode {

namespace detail {

/// The Euler-Maruyama step as a formula of (fields..., others..., h, noise...), or with the time of
/// (fields..., others..., t, h, noise...).
template <class F, class G>
struct euler_maruyama {
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
        return advance(std::make_index_sequence<fields>{}, all, drift, diffusion, h,
                       subtuple<seen + times + 1, fields>(all));
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
  template <std::size_t... I, class All, class Drift, class Diffusion, class H, class Noise>
  static constexpr auto advance(std::index_sequence<I...>, const All& all, const Drift& drift,
                                const Diffusion& diffusion, const H& h, const Noise& noise) {
    const auto next = [&h](const auto& y, const auto& f, const auto& g, const auto& w) {
      const auto step = in_precision_of(y, h);
      return y + (step * slope(y, f) + sqrt(step) * (slope(y, g) * in_precision_of(y, w)));
    };
    const auto made =
        tuple{next(field(get<I>(all)), get<I>(drift), get<I>(diffusion), get<I>(noise))...};
    if constexpr (sizeof...(I) == 1) return get<0>(made);
    else return made;
  }
};

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
  constexpr bool are_stateless = dsl::detail::is_stateless<F> && dsl::detail::is_stateless<G>;
  static_assert(are_stateless,
                "a stepper takes functions without captures or members: pass values as arguments");
  if constexpr (are_stateless) return vectorize<Name>(detail::euler_maruyama<F, G>{});
  else return refused{};
}

}  // namespace dsl::ode

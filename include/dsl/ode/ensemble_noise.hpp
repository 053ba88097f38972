// Methods of an ensemble for stochastic differential equations.
#pragma once

#include <dsl/lang/random.hpp>
#include <dsl/ode/ensemble_explicit.hpp>
#include <dsl/ode/sde.hpp>

namespace dsl::ode::detail {

/// dy = f dt + G dW, in steps of one size. The continuous extension is the straight line between
/// the ends of a step.
template <stochastic_scheme Scheme, class G>
struct stochastic_method {
  static constexpr bool has_error = false, reuses_slope = false, has_jacobian = false, draws = true,
                        sees_time = right_side<G>::times > 0;
  static constexpr int error_order = 0, powers = 1;
  static constexpr control_constants control = control_constants::of_order(0);
  using diffusion = G;

  template <class P, class T, class H, class Y, class X, std::size_t... I>
  static constexpr auto try_step(const ensemble_symbols<P>& at, const T& t, const H& h, const Y& y,
                                 const X& others, std::index_sequence<I...>) {
    constexpr auto& v = variables_of<P>;
    const auto first = cast<std::int64_t>(at.template variable<v.steps>()) *
                       static_cast<std::int64_t>(sizeof...(I));
    const tuple noise{random::detail::normal_draw<element_t<P::field_types[I]>>::trace(
        first + static_cast<std::int64_t>(I), at.template variable<v.key>())...};
    const auto time = [&] {
      if constexpr (P::sees_time) return tuple{t};
      else return tuple<>{};
    }();
    const Y after = as_fields<Y>(unpack(
        [](const auto&... x) { return stochastic_step<Scheme, typename P::function, G>{}(x...); },
        concatenate(y, others, time, tuple{h}, noise)));
    return tried_step{
        after, tuple<>{}, tuple<>{},
        tuple{std::array<std::tuple_element_t<I, Y>, 1>{get<I>(after) - get<I>(y)}...}};
  }

 private:
  template <class Y, class Made>
  static constexpr Y as_fields(const Made& made) {
    return as_tuple(made);
  }
};

/// Throws value_error for a span of time that is negative.
void require_forward(const char* name, double span);

}  // namespace dsl::ode::detail

// The gradient of a loss of the state at the end of an integration: integrate_gradient.
#pragma once

#include <dsl/lang/iterate_gradient.hpp>
#include <dsl/ode/integrate.hpp>

namespace dsl::ode {

/// The loss of an integration's last state and its derivatives, as `iterate_gradient` returns them,
/// and the state of the integration; the result of `integrate_gradient`.
template <class Gradient>
struct integration_gradient : Gradient, integration {};

namespace detail {

struct only_others {
  template <class T> static constexpr bool passes = !std::is_same_v<T, memory_limit>;
};
struct only_limits {
  template <class T> static constexpr bool passes = std::is_same_v<T, memory_limit>;
};

/// The steps that were accepted as a loop: a step reads its time and its size from `held`.
template <class Name, class F, class Loss, class... S, class Others, class... Limit>
auto replay(const Loss& loss, const loop_state<S...>& fields, const held_steps& held,
            const Others& others, const Limit&... limit) {
  const auto size = take(held.sizes, step), begin = take(held.begins, step);
  const auto parameters = [&] {
    if constexpr (right_side<F>::times == 0) return concatenate(others, dsl::detail::tuple{size});
    else return concatenate(others, dsl::detail::tuple{begin, size});
  }();
  return unpack(
      [&](const auto&... p) {
        return iterate_gradient(held.count, dopri5<Name>(F{}), loss, fields, p..., limit...);
      },
      parameters);
}

template <class Name, class F, class Loss, class... S, class Others, class... Limit>
auto integrate_and_replay(const Loss& loss, const loop_state<S...>& fields, double t0, double t1,
                          const tolerance& wanted, const Others& others, const Limit&... limit) {
  using gradient = decltype(replay<Name, F>(loss, fields, held_steps{}, others, limit...));
  if constexpr (std::same_as<gradient, refused>) {
    return refused{};
  } else {
    // The fields are written by the replay alone.
    auto copies =
        unpack([](const auto&... y) { return tuple<decltype(copy_of(y))...>{copy_of(y)...}; },
               fields.variables);
    held_steps held;
    integration at = unpack(
        [&](auto&... y) {
          return unpack(
              [&](const auto&... x) {
                return integrate_fields<Name, F>(state(y...), t0, t1, wanted, held, x...);
              },
              others);
        },
        copies);
    return integration_gradient<gradient>{replay<Name, F>(loss, fields, held, others, limit...),
                                          std::move(at)};
  }
}

}  // namespace detail

/// Integrates as `integrate` does, and computes a loss of the fields at the end and the loss's
/// derivatives with respect to the fields at t0 and to the other arguments, the sequence of steps
/// held fixed.
///
/// f, fields, t0, t1 and wanted are those of `integrate`. loss: a function of the fields, as that
/// of `iterate_gradient`. arguments: the other arguments of f, then possibly a memory_limit. A
/// derivative is with respect to an argument in device memory: a dsl::scalar, an array of the
/// fields' shape, or an array of any shape of which f only takes elements. Others are constant.
///
/// The accepted steps are recorded, and `iterate_gradient` runs them again as a loop of
/// `ode::dopri5` with these times and sizes. The times and sizes are constants: the derivatives are
/// those of the steps as they are computed, the same bits in every run. All accepted steps count,
/// the shortened one at t1 too. If the integration ends before t1, see `outcome`, they are the
/// derivatives of the state at `t`, with the steps until then.
///
/// Returns the members of `iterate_gradient`'s result (`.loss`, `.state<I>()`, `.parameter<I>()`)
/// and of `integrate`'s (`.t`, `.steps`, `.outcome()`, ...). Afterwards the fields hold the state
/// at `t`, equal to that of `integrate` up to rounding. Needs 25 bytes for each of
/// wanted.most_steps, and for the steps what `iterate_gradient` needs. Waits for the number of
/// steps. Throws as `integrate` and `iterate_gradient` do, before the fields are written.
/// ```cpp
/// const auto found = dsl::ode::integrate_gradient(
///     decay, [&](auto last) { return dsl::mean(square(last - wanted)); }, dsl::state(y), 0, 2,
///     {.relative = 1e-8, .absolute = 1e-10}, rate);
/// rate = rate - 2.0 * found.parameter<0>();
/// ```
template <class Name = dsl::detail::unnamed, class F, class Loss, class... S, class... Arguments>
auto integrate_gradient(F, const Loss& loss, const loop_state<S...>& fields, double t0, double t1,
                        const tolerance& wanted = {}, const Arguments&... arguments) {
  const auto others = detail::filter(detail::only_others{}, arguments...);
  return detail::unpack(
      [&](const auto&... x) {
        if constexpr (!detail::may_integrate<F, sizeof...(S), S...,
                                             std::remove_cvref_t<decltype(x)>...>())
          return refused{};
        else
          return detail::unpack(
              [&](const auto&... limit) {
                return detail::integrate_and_replay<Name, F>(loss, fields, t0, t1, wanted, others,
                                                             limit...);
              },
              detail::filter(detail::only_limits{}, arguments...));
      },
      others);
}
// Other calls do not compile: fields without `state`, no loss.
template <class Name = dsl::detail::unnamed, class F, class Loss, class Fields, class... Arguments>
  requires(!dsl::detail::is_loop_state<Fields> && !dsl::detail::is_loop_state<Loss>)
refused integrate_gradient(F, const Loss&, const Fields&, double, double, const tolerance& = {},
                           const Arguments&...) {
  static_assert(std::same_as<Fields, refused>,
                "integrate_gradient takes a right-hand side, a loss and its fields as "
                "dsl::state(y, ...), then t0, t1, the tolerance and the other arguments");
  return {};
}
template <class Name = dsl::detail::unnamed, class F, class... S, class... Arguments>
refused integrate_gradient(F, const loop_state<S...>&, double, double, const tolerance& = {},
                           const Arguments&...) {
  static_assert(sizeof...(S) > 64,
                "integrate_gradient takes a loss after the right-hand side: a function of the "
                "fields, [](auto y, ...) { return dsl::sum(...); }");
  return {};
}

}  // namespace dsl::ode

// The right-hand side of a system together with the sensitivities of its solution.
#pragma once

#include <dsl/lang/derivative.hpp>
#include <dsl/ode/stepper.hpp>

namespace dsl::ode {

namespace detail {

/// A right-hand side of (the time, if `Times` is 1; F's fields; for each of `K` the derivatives of
/// the fields with respect to argument number K of those after the fields, with -1 to none of them;
/// these arguments).
template <class F, std::size_t Times, int... K>
struct sensitivity_system {
  static constexpr std::size_t kinds = sizeof...(K);

  /// The number of F's arguments among X; 0 if X are not as many as these and the sensitivities.
  template <class... X>
  static constexpr std::size_t taken() {
    std::size_t found = 0;
    [&]<std::size_t... A>(std::index_sequence<A...>) {
      ((found = found == 0 && takes<A + 1, X...>() ? A + 1 : found), ...);
    }(std::index_sequence_for<X...>{});
    return found;
  }

  template <class... X>
    requires(taken<X...>() > 0)
  constexpr auto operator()(const X&... x) const {
    constexpr std::size_t arguments = taken<X...>(), fields = (sizeof...(X) - arguments) / kinds,
                          first = Times + fields, others = arguments - first;
    constexpr bool exist = ((K >= -1 && K < static_cast<int>(others)) && ...);
    static_assert(exist,
                  "dsl::ode::sensitivities<K...>: the right-hand side has no argument of this "
                  "number after its fields, from 0");
    const tuple<X...> all(x...);
    return differentiate<fields>(
        concatenate(subtuple<0, first>(all), subtuple<sizeof...(X) - others, others>(all)),
        subtuple<first, fields * kinds>(all), std::make_index_sequence<fields>{});
  }

 private:
  template <std::size_t A, class... X>
  static constexpr bool takes() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      using all = tuple<X...>;
      if constexpr (dsl::detail::is_callable<F, std::tuple_element_t<I, all>...>) {
        using slopes = decltype(as_tuple(F{}(std::declval<std::tuple_element_t<I, all>&>()...)));
        return A + kinds * std::tuple_size_v<slopes> == sizeof...(X);
      } else {
        return false;
      }
    }(std::make_index_sequence<A>{});
  }
  template <std::size_t Fields, class... X, class S, std::size_t... I>
  static constexpr auto differentiate(const tuple<X...>& arguments, const S& sensitivities,
                                      std::index_sequence<I...> fields) {
    constexpr std::uint64_t of_fields = ((std::uint64_t{1} << Fields) - 1) << Times,
                            of_others = (std::uint64_t{0} | ... |
                                         (K < 0 ? 0 : std::uint64_t{1} << (Times + Fields + K)));
    using call_type = dsl::detail::traced_call<F, of_fields | of_others, X...>;
    const call_type made(get<0>(arguments).owner, arguments);
    return [&]<std::size_t... N>(std::index_sequence<N...>) {
      return concatenate(made.values(),
                         changes<K>(made, subtuple<N * Fields, Fields>(sensitivities), fields)...);
    }(std::make_index_sequence<kinds>{});
  }
  // How the slopes change, for changes of the fields and of argument number `Number`.
  template <int Number, class Call, class S, std::size_t... I>
  static constexpr auto changes(const Call& made, const S& of_fields, std::index_sequence<I...>) {
    using dsl::detail::term;
    dsl::detail::sequence<term> of_inputs(made.call.inputs().count(), term{});
    const auto set_change = [&](std::size_t argument, const term& change) {
      of_inputs[made.call.input_number(argument)] =
          dsl::detail::converted(change, (*made.g)[made.call.argument(argument)].type);
    };
    (set_change(Times + I, term{made.g, get<I>(of_fields).id}), ...);
    if constexpr (Number >= 0) {
      constexpr std::size_t position = Times + sizeof...(I) + Number;
      set_change(position, made.one_beside(made.call.argument(position)));
    }
    const auto found = made.changes(of_inputs);
    return tuple{
        made.template result<Call::template output<I>::type.type>(found[static_cast<int>(I)])...};
  }
};

}  // namespace detail

/// The right-hand side of a system and of its sensitivities, for `ensemble`, `integrate` and the
/// steppers: forward derivatives of the solution, for few parameters. Its fields are those of f;
/// then for each of `K` as many more, the derivatives of f's fields with respect to argument number
/// K of those after the fields, from 0. With -1 they are those with respect to whatever the fields
/// at t0 are computed from. At t0 the sensitivities are the derivatives of the fields at t0: zeros,
/// if these do not depend on the parameter.
///
/// f: a right-hand side, a lambda with `auto` parameters, possibly marked by `with_time`; its
/// derivatives are derived from the formula while the program is compiled. Integrates
/// s' = df/dy s + df/dp (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, I.14).
/// Where steps follow the error, that of the sensitivities counts as well.
/// ```cpp
/// const auto both = dsl::ode::sensitivities<0>([](auto y, auto rate) { return -rate * y; });
/// dsl::ode::ensemble(both, dsl::state(y, dy_drate), 0.0, 1.0, {.relative = 1e-9}, rate);
/// ```
template <int... K, class F>
constexpr auto sensitivities(F) {
  return detail::sensitivity_system<F, 0, K...>{};
}
template <int... K, class F>
constexpr auto sensitivities(timed<F>) {
  return timed<detail::sensitivity_system<F, 1, K...>>{};
}

}  // namespace dsl::ode

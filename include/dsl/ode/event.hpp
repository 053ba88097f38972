// Events of an ensemble's elements: roots of functions of the fields.
#pragma once

#include <dsl/lang/derivative.hpp>
#include <dsl/ode/ensemble_variables.hpp>

namespace dsl::ode {

/// The directions in which a function crosses 0 at an event.
enum class direction : std::uint8_t { any, rising, falling };
inline constexpr std::integral_constant<direction, direction::rising> rising{};
inline constexpr std::integral_constant<direction, direction::falling> falling{};

namespace detail {
struct end_element {};
}  // namespace detail
/// The action of an event that ends its element, which then has `outcome::event`.
inline constexpr detail::end_element ends{};

namespace detail {

struct most_option { std::int64_t count; };
struct times_option { std::int64_t count; };

/// An event of an ensemble. `IsLimited`: it happens `most` times at most. `KeepsTimes`: the first
/// `kept` times are kept.
template <class G, class Action, direction Way, bool IsLimited, bool KeepsTimes>
struct event_option {
  using function = G;
  using action = Action;
  static constexpr direction way = Way;
  static constexpr bool ends = std::same_as<Action, end_element>, is_limited = IsLimited,
                        keeps_times = KeepsTimes;
  std::int64_t most = 0, kept = 0;
};
template <class T> inline constexpr bool is_event = false;
template <class G, class A, direction W, bool L, bool K> inline constexpr bool
    is_event<event_option<G, A, W, L, K>> = true;

/// The number that an option gives; 0 if there is none.
template <class Option, class... T>
constexpr std::int64_t count_among(const T&... all) {
  std::int64_t found = 0;
  [[maybe_unused]] const auto take = [&found](const auto& x) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(x)>, Option>) found = x.count;
  };
  (take(all), ...);
  return found;
}
template <class... Options> inline constexpr direction way_among = direction::any;
template <class T, class... Options> inline constexpr direction way_among<T, Options...> =
    way_among<Options...>;
template <direction Way, class... Options> inline constexpr direction
    way_among<std::integral_constant<direction, Way>, Options...> = Way;
struct only_events { template <class T> static constexpr bool passes = is_event<T>; };

template <class G, class A>
constexpr bool require_event() {
  constexpr bool are_stateless = dsl::detail::is_stateless<G> && dsl::detail::is_stateless<A>;
  static_assert(are_stateless,
                "an event's functions have no captures or members: pass values as arguments of "
                "ensemble");
  constexpr bool are_functors = right_side<G>::is_functor || right_side<A>::is_functor;
  static_assert(!are_functors, "an event's functions are lambdas with auto parameters");
  return are_stateless && !are_functors;
}

/// An event's function as a function of (fields..., time, others...), a double.
template <class P, class Event>
struct event_value {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    constexpr std::size_t n = static_cast<std::size_t>(P::fields);
    const tuple<X...> all(x...);
    const auto& t = get<n>(all);
    const auto time = symbol<std::remove_cvref_t<decltype(t)>::type.type, true>{t.owner, t.id};
    return unpack(
        [&](const auto&... seen) {
          return cast<double>(
              dsl::detail::lift(t.owner, right_side<typename Event::function>::at(time, seen...)));
        },
        concatenate(subtuple<0, n>(all), subtuple<n + 1, sizeof...(X) - n - 1>(all)));
  }
};

template <class P, class Event, class T, class Y, class X>
constexpr auto value_of_event(const T& t, const Y& y, const X& others) {
  return unpack([](const auto&... x) { return event_value<P, Event>{}(x...); },
                concatenate(y, tuple{t}, others));
}

/// How an event's function changes with time along the solution, from its derivatives. 0, which is
/// no direction, where noise decides.
template <class P, class Event, class T, class Y, class K, class X, std::size_t... I>
constexpr auto change_of_event(const T& t, const Y& y, const K& k, const X& others,
                               std::index_sequence<I...>) {
  if constexpr (P::draws) {
    return dsl::detail::constant<dtype::float64>(t.owner, 0);
  } else {
    const auto by = unpack(
        [](const auto&... x) {
          return as_tuple(dsl::detail::jacobian_function<event_value<P, Event>>{}(x...));
        },
        concatenate(y, tuple{t}, others));
    const auto part = [](const auto& derivative, const auto& slope) {
      const auto product = derivative * slope;
      if constexpr (kind_of(decltype(product)::type.type) == kind::complex)
        return cast<double>(real(product));
      else return cast<double>(product);
    };
    return (part(get<I>(by), get<I>(k)) + ... + cast<double>(get<sizeof...(I)>(by)));
  }
}

/// Whether a function that had a sign crosses 0 on its way to a value, in the event's direction.
/// A sign of 0 is none.
template <class Event, class G>
constexpr auto crosses(const G& before, const G& now) {
  const auto rises = before < 0.0 && now >= 0.0, falls = before > 0.0 && now <= 0.0;
  if constexpr (Event::way == direction::rising) return rises;
  else if constexpr (Event::way == direction::falling) return falls;
  else return rises || falls;
}

/// Whether event number E happens between two values.
template <class Event, std::size_t E, class P, class G>
constexpr auto happens_between(const ensemble_symbols<P>& at, const G& before, const G& now) {
  if constexpr (Event::is_limited) {
    constexpr int number = static_cast<int>(E);
    return crosses<Event>(before, now) &&
           at.template variable<variables_of<P>.happened + number>() <
               at.template most_events<number>();
  } else {
    return crosses<Event>(before, now);
  }
}

/// The sign that counts from now on: that of the value, or where that is 0, or as small as the
/// root's own, that of its change.
template <class G, class Flag>
constexpr auto sign_of_event(const G& value, const G& change, const Flag& is_root) {
  return where(is_root || value == 0.0, where(change == 0.0, 0.0, copysign(1e-300, change)), value);
}

}  // namespace detail

/// Lets an event happen `count` times in each element; afterwards its function is not looked at.
constexpr detail::most_option at_most(std::integral auto count) {
  return {static_cast<std::int64_t>(count)};
}
/// Has `ensemble` keep the times at which an event first happens in each element, `count` of them.
constexpr detail::times_option keep_times(std::integral auto count) {
  return {static_cast<std::int64_t>(count)};
}

/// An event for `ensemble`: where g crosses 0, which is found within 2^-48 of a step by the
/// method's continuous extension, the action happens. g and the action take the fields, then the
/// other arguments, and before them the time if marked with `with_time`. The action returns the
/// fields' new values, one value or a std::tuple; dsl::ode::ends ends the element there. Options,
/// in any order: ode::rising or ode::falling, if only one direction counts; at_most; keep_times.
///
/// Events at one time happen in the order of the arguments. The root that was handled does not
/// count again: from there on g has the sign with which it changes. A root at the beginning is
/// none. Two roots within one step, which leave no change of sign, are not seen: bound the steps by
/// `tolerance::largest_step`.
/// ```cpp
/// const auto floor = dsl::ode::event([](auto height, auto) { return height; },
///                                    [](auto height, auto velocity) {
///                                      return std::tuple{0 * height, -0.9 * velocity};
///                                    });
/// ```
template <class G, class Action, class... Options>
constexpr auto event(G, Action, const Options&... options) {
  constexpr bool is_limited = (std::same_as<Options, detail::most_option> || ...),
                 keeps_times = (std::same_as<Options, detail::times_option> || ...);
  if constexpr (!detail::require_event<G, Action>()) return refused{};
  else
    return detail::event_option<G, Action, detail::way_among<Options...>, is_limited, keeps_times>{
        detail::count_among<detail::most_option>(options...),
        detail::count_among<detail::times_option>(options...)};
}

}  // namespace dsl::ode

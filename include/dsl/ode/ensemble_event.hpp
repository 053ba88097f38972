// What happens at events: the search for their first root in a step, and their actions.
#pragma once

#include <dsl/ode/ensemble_step.hpp>

namespace dsl::ode::detail {

/// The search for the first root in a step: the bracket becomes smaller by the method of I. F. D.
/// Oliveira and R. H. C. Takahashi (An enhancement of the bisection method average performance
/// preserving minmax optimality, ACM Trans. Math. Softw. 47, 2020), with the least root that a
/// secant of any event's function gives. When the bracket is as small as asked, the element is
/// moved to its end.
template <class P>
struct ensemble_seek {
  static constexpr graph run() {
    return run(typename ensemble_symbols<P>::fields{}, typename P::event_list{},
               std::make_index_sequence<static_cast<std::size_t>(P::events)>{});
  }
  using set = variables_joined<
      variable_range<variables_of<P>.y, P::fields>,
      variable_list<variables_of<P>.t, variables_of<P>.low, variables_of<P>.high,
                    variables_of<P>.radius, variables_of<P>.seeking, variables_of<P>.acting>,
      variable_range<variables_of<P>.value_low, P::events>,
      variable_range<variables_of<P>.value_high, P::events>,
      variables_if<P::saves_times, variable_list<variables_of<P>.saving>>>;

 private:
  template <std::size_t... I, class... Events, std::size_t... E>
  static constexpr graph run(std::index_sequence<I...>, tuple<Events...>,
                             std::index_sequence<E...>) {
    constexpr auto& v = variables_of<P>;
    constexpr double width = 0x1p-48;
    graph g;
    const ensemble_symbols<P> at{&g};
    const auto low = at.template variable<v.low>(), high = at.template variable<v.high>();
    const auto value_low = at.template several<v.value_low, P::events>(),
               value_high = at.template several<v.value_high, P::events>();
    const auto seeking = at.template variable<v.seeking>();
    const auto radius = at.template variable<v.radius>();
    const auto size = high - low;
    const auto found = size <= 2 * width;

    const auto middle = low + 0.5 * size;
    const auto root = [&](auto crossing, const auto& a, const auto& b) {
      return where(crossing, low + size * (a / (a - b)), high);
    };
    const auto secant =
        (fmin_of(high, root(happens_between<Events, E>(at, get<E>(value_low), get<E>(value_high)),
                            get<E>(value_low), get<E>(value_high))...));
    const auto ahead = middle - secant;
    const auto shift = 0.2 * size * size;
    const auto truncated = where(abs(ahead) >= shift, secant + copysign(shift, ahead), middle);
    const auto bound = fmax(radius - 0.5 * size, 0.0);
    const auto guess =
        where(abs(truncated - middle) <= bound, truncated, middle - copysign(bound, ahead));
    const auto theta = where(found, high, guess);

    const auto taken = at.template variable<v.taken>();
    const auto t = at.template variable<v.t>();
    const auto inside_t = at.template variable<v.old_t>() + theta * taken;
    const tuple y{inside_step<P, I>(at, theta)...};
    const auto others = at.parameters();
    const tuple value{value_of_event<P, Events>(inside_t, y, others)...};
    const auto is_before =
        (happens_between<Events, E>(at, get<E>(value_low), get<E>(value)) || ...);

    const auto moves = seeking && found;
    const auto root_t = where(high == 1.0, t, inside_t);
    ensemble_outputs<P> out(g);
    out.put(variable_range<v.y, P::fields>{},
            tuple{where(moves, get<I>(y), at.template variable<v.y + static_cast<int>(I)>())...});
    out.put(variable_list<v.t, v.low, v.high, v.radius, v.seeking, v.acting>{},
            where(moves, root_t, t), where(found || is_before, low, guess),
            where(!found && is_before, guess, high), 0.5 * radius, seeking && !found,
            at.template variable<v.acting>() || moves);
    out.put(variable_range<v.value_low, P::events>{},
            tuple{where(found || is_before, get<E>(value_low), get<E>(value))...});
    out.put(variable_range<v.value_high, P::events>{},
            tuple{where(!found && is_before, get<E>(value), get<E>(value_high))...});
    if constexpr (P::saves_times)
      out.put(variable_list<v.saving>{},
              at.template variable<v.saving>() ||
                  (moves && is_due(at.template variable<v.next>(), root_t, taken)));
    return g;
  }
  template <class T, class... X>
  static constexpr auto fmin_of(T least, const X&... x) {
    ((least = fmin(least, x)), ...);
    return least;
  }
};

/// The actions of the events whose root was found.
template <class P>
struct ensemble_act {
  static constexpr graph run() {
    return run(typename ensemble_symbols<P>::fields{}, typename P::event_list{},
               std::make_index_sequence<static_cast<std::size_t>(P::events)>{});
  }
  using set = variables_joined<
      variable_range<variables_of<P>.y, P::fields>,
      variable_range<variables_of<P>.value, P::events>,
      variable_list<variables_of<P>.acting, variables_of<P>.is_last, variables_of<P>.running,
                    variables_of<P>.outcome>,
      variable_range<variables_of<P>.happened, P::events>,
      variable_range<variables_of<P>.kept_row, P::events>,
      variable_range<variables_of<P>.keeps, P::events>,
      variables_if<P::reuses_slope, variable_range<variables_of<P>.slope, P::fields>>>;

 private:
  template <std::size_t... I, class... Events, std::size_t... E>
  static constexpr graph run(std::index_sequence<I...> fields, tuple<Events...>,
                             std::index_sequence<E...>) {
    constexpr auto& v = variables_of<P>;
    graph g;
    const ensemble_symbols<P> at{&g};
    const auto acting = at.template variable<v.acting>();
    const auto low = at.template several<v.value_low, P::events>(),
               high = at.template several<v.value_high, P::events>();
    const tuple happens{(acting && happens_between<Events, E>(at, get<E>(low), get<E>(high)))...};
    const auto others = at.parameters();
    const auto t = at.template variable<v.t>();
    auto y = at.template of_fields<v.y>();
    ((y = acted<Events>(t, y, others, get<E>(happens), fields)), ...);

    const auto k = derivatives<P>(t, y, others);
    const tuple value{value_of_event<P, Events>(t, y, others)...};
    // A value that is no larger than those at the root's ends is the root's.
    const tuple sign{sign_of_event(
        get<E>(value), change_of_event<P, Events>(t, y, k, others, fields),
        get<E>(happens) && abs(get<E>(value)) <= fmax(abs(get<E>(low)), abs(get<E>(high))))...};
    const auto ended = ((get<E>(happens) && Events::ends) || ...);
    const auto rest = at.t1() - t;
    const auto reached = rest == 0.0;
    const auto enough = at.template variable<v.steps>() < at.most_steps();
    ensemble_outputs<P> out(g);
    out.put(variable_range<v.y, P::fields>{}, y);
    out.put(variable_range<v.value, P::events>{},
            tuple{where(acting, get<E>(sign),
                        at.template variable<v.value + static_cast<int>(E)>())...});
    out.put(variable_list<v.acting, v.is_last, v.running, v.outcome>{}, false,
            where(acting, is_last_of(rest, at.template variable<v.h>()),
                  at.template variable<v.is_last>()),
            where(acting, !ended && !reached && enough, at.template variable<v.running>()),
            where(acting, where(ended, 3, where(reached || P::has_fixed_steps, 0, 2)),
                  at.template variable<v.outcome>()));
    const auto happened = at.template several<v.happened, P::events>();
    out.put(variable_range<v.happened, P::events>{},
            tuple{(get<E>(happened) + cast<std::int32_t>(get<E>(happens)))...});
    out.put(variable_range<v.kept_row, P::events>{}, happened);
    out.put(variable_range<v.keeps, P::events>{}, happens);
    if constexpr (P::reuses_slope)
      out.put(variable_range<v.slope, P::fields>{},
              tuple{where(acting, get<I>(k),
                          at.template variable<v.slope + static_cast<int>(I)>())...});
    return g;
  }
  template <class Event, class T, class Y, class X, class Flag, std::size_t... I>
  static constexpr Y acted(const T& t, const Y& y, const X& others, const Flag& happens,
                           std::index_sequence<I...>) {
    if constexpr (Event::ends) {
      return y;
    } else {
      const symbol<T::type.type, true> time{t.owner, t.id};
      const auto made = unpack(
          [&](const auto&... x) {
            return as_tuple(right_side<typename Event::action>::at(time, x...));
          },
          concatenate(y, others));
      constexpr bool are_fields =
          std::tuple_size_v<std::remove_cvref_t<decltype(made)>> == sizeof...(I);
      static_assert(are_fields, "an event's action returns a new value for each field");
      return Y{where(happens, in_precision_of(get<I>(y), get<I>(made)), get<I>(y))...};
    }
  }
};

}  // namespace dsl::ode::detail

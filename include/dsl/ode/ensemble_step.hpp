// The programs of an ensemble's elements: the start, a step, and what follows it.
#pragma once

#include <dsl/ode/ensemble_explicit.hpp>
#include <dsl/ode/event.hpp>

namespace dsl::ode::detail {

/// The variables of the control, and those that a step sets.
template <class P> using control_variables =
    variable_list<variables_of<P>.t, variables_of<P>.h, variables_of<P>.is_last,
                  variables_of<P>.log_error, variables_of<P>.steps, variables_of<P>.rejected,
                  variables_of<P>.outcome, variables_of<P>.running, variables_of<P>.growth>;

template <class P> using stepped_variables = std::conditional_t<
    !P::has_fixed_steps, control_variables<P>,
    variables_joined<
        variables_if<P::has_time || !P::counts_steps, variable_list<variables_of<P>.t>>,
        variables_if<!P::counts_steps, variable_list<variables_of<P>.is_last>>,
        variable_list<variables_of<P>.steps, variables_of<P>.running>>>;

/// Whether a time lies at or before t, in the direction of a step. NaN does not.
template <class S, class T, class H>
constexpr auto is_due(const S& time, const T& t, const H& step) {
  return where(step > 0.0, time <= t, time >= t);
}

/// The field at old_t + theta taken, by the continuous extension of the last step.
template <class P, std::size_t I, class Theta>
constexpr auto inside_step(const ensemble_symbols<P>& at, const Theta& theta) {
  constexpr auto& v = variables_of<P>;
  constexpr int field = static_cast<int>(I), first = v.power + field * P::powers;
  const auto y = at.template variable<v.old_y + field>();
  const auto x = in_precision_of(y, theta);
  return [&]<int... Power>(std::integer_sequence<int, Power...>) {
    auto sum = at.template variable<first + P::powers - 1>() * x;
    ((sum = (sum + at.template variable<first + P::powers - 2 - Power>()) * x), ...);
    return y + sum;
  }(std::make_integer_sequence<int, P::powers - 1>{});
}

/// The start of an element: what its variables are before the first step.
template <class P>
struct ensemble_start {
  static constexpr graph run() { return run(typename ensemble_symbols<P>::fields{}); }
  using set = variables_joined<
      control_variables<P>, variables_if<P::draws, variable_list<variables_of<P>.key>>,
      variables_if<P::reuses_slope, variable_range<variables_of<P>.slope, P::fields>>,
      variables_if<P::saves_times || P::saves_steps,
                   variable_list<variables_of<P>.row, variables_of<P>.saving>>,
      variables_if<P::saves_steps, variable_list<variables_of<P>.until_saved>>,
      variables_if<(P::events > 0),
                   variables_joined<variable_list<variables_of<P>.seeking, variables_of<P>.acting>,
                                    variable_range<variables_of<P>.value, P::events>,
                                    variable_range<variables_of<P>.happened, P::events>>>>;

 private:
  template <class... Events, class T, class Y, class K, class X, class Fields>
  static constexpr auto signs(tuple<Events...>, const T& t, const Y& y, const K& k, const X& others,
                              const Fields& fields) {
    return tuple{sign_of_event(value_of_event<P, Events>(t, y, others),
                               change_of_event<P, Events>(t, y, k, others, fields), false)...};
  }
  template <std::size_t... I>
  static constexpr graph run(std::index_sequence<I...> fields) {
    graph g;
    const ensemble_symbols<P> at{&g};
    const auto t = at.t0(), t1 = at.t1();
    const auto y = at.template of_fields<variables_of<P>.y>();
    const auto others = at.parameters();
    const auto k = derivatives<P>(t, y, others);
    const auto first = [&] {
      if constexpr (P::has_fixed_steps) return fixed_step_of(at);
      else return first_step_of(at, fields, y, k, others);
    }();
    const auto begins = t != t1 && at.most_steps() > 0;
    ensemble_outputs<P> out(g);
    // Where no step needs the time, it is that of the end at once.
    const auto first_t = [&] {
      if constexpr (P::counts_steps && !P::has_time) return t1;
      else return t;
    }();
    out.put(control_variables<P>{}, first_t, first.h, first.is_last, 0.0f, 0, 0,
            where(t == t1 || P::has_fixed_steps, 0, 2), begins,
            static_cast<float>(P::control.most));
    if constexpr (P::draws) out.put(variable_list<variables_of<P>.key>{}, at.key_of_element());
    if constexpr (P::reuses_slope) out.put(variable_range<variables_of<P>.slope, P::fields>{}, k);
    if constexpr (P::saves_times || P::saves_steps)
      out.put(variable_list<variables_of<P>.row, variables_of<P>.saving>{}, 0, false);
    if constexpr (P::saves_steps)
      out.put(variable_list<variables_of<P>.until_saved>{}, at.steps_of_row());
    if constexpr (P::events > 0) {
      out.put(variable_list<variables_of<P>.seeking, variables_of<P>.acting>{}, false, false);
      out.put(variable_range<variables_of<P>.value, P::events>{},
              signs(typename P::event_list{}, t, y, k, others, fields));
      out.put_zeros(variable_range<variables_of<P>.happened, P::events>{});
    }
    return g;
  }
};

/// The most nodes of a step: the factors of a stiff method's matrix grow with the cube of the
/// number of fields.
template <class P> inline constexpr std::size_t most_nodes_of_step =
    P::method::has_jacobian && P::fields > 8 ? 16384 : dsl::detail::max_program_nodes;

/// A step of an element that is tried, and its acceptance.
template <class P>
struct ensemble_step {
  static constexpr std::size_t most_nodes = most_nodes_of_step<P>;
  static constexpr graph run() { return run(typename ensemble_symbols<P>::fields{}); }
  using set = variables_joined<
      variable_range<variables_of<P>.y, P::fields>, stepped_variables<P>,
      variables_if<P::reuses_slope, variable_range<variables_of<P>.slope, P::fields>>,
      variables_if<P::keeps_last,
                   variables_joined<variable_list<variables_of<P>.old_t, variables_of<P>.taken>,
                                    variable_range<variables_of<P>.old_y, P::fields>>>,
      variables_if<P::is_dense, variable_range<variables_of<P>.power, P::fields * P::powers>>,
      variables_if<P::records,
                   variable_list<variables_of<P>.keeps_step, variables_of<P>.kept_step>>,
      variables_if<(P::events > 0),
                   variables_joined<variable_range<variables_of<P>.value, P::events>,
                                    variable_range<variables_of<P>.value_low, P::events>,
                                    variable_range<variables_of<P>.value_high, P::events>,
                                    variable_list<variables_of<P>.seeking, variables_of<P>.low,
                                                  variables_of<P>.high, variables_of<P>.radius>>>,
      variables_if<P::saves_times, variable_list<variables_of<P>.saving>>,
      variables_if<P::saves_steps,
                   variable_list<variables_of<P>.saving, variables_of<P>.until_saved>>>;

 private:
  // Begins the search for a root if a function crosses 0; returns whether one does.
  template <class... Events, std::size_t... E, class Tried, class Made>
  static constexpr auto put_events(ensemble_outputs<P>& out, const ensemble_symbols<P>& at,
                                   tuple<Events...>, std::index_sequence<E...>, const Tried& tried,
                                   const Made& made) {
    constexpr auto& v = variables_of<P>;
    const auto before = at.template several<v.value, P::events>();
    const tuple now{value_of_event<P, Events>(made.t, tried.after, at.parameters())...};
    const auto seeking =
        made.accepted && (happens_between<Events, E>(at, get<E>(before), get<E>(now)) || ...);
    out.put(variable_range<v.value, P::events>{},
            tuple{where(made.accepted && !seeking && get<E>(now) != 0.0, get<E>(now),
                        get<E>(before))...});
    out.put(variable_range<v.value_low, P::events>{}, before);
    out.put(variable_range<v.value_high, P::events>{}, now);
    out.put(variable_list<v.seeking, v.low, v.high, v.radius>{}, seeking, 0.0, 1.0, 1.0);
    return seeking;
  }
  template <std::size_t... I>
  static constexpr graph run(std::index_sequence<I...> fields) {
    constexpr auto& v = variables_of<P>;
    graph g;
    const ensemble_symbols<P> at{&g};
    const auto t = at.template variable<v.t>();
    const auto h = [&] {
      if constexpr (P::counts_steps) return at.template variable<v.h>();
      else
        return where(at.template variable<v.is_last>(), at.t1() - t,
                     cast<double>(at.template variable<v.h>()));
    }();
    const auto y = at.template of_fields<v.y>();
    const auto tried = P::method::try_step(at, t, h, y, at.parameters(), fields);
    const auto made = [&] {
      if constexpr (P::has_fixed_steps) return fixed_control(at, h);
      else return control(at, h, mean_square_of(at, fields, y, tried.after, tried.error));
    }();

    ensemble_outputs<P> out(g);
    out.put(variable_range<v.y, P::fields>{},
            tuple{where(made.accepted, get<I>(tried.after), get<I>(y))...});
    if constexpr (P::counts_steps && !P::has_time)
      out.put(stepped_variables<P>{}, made.steps, made.running);
    else if constexpr (P::counts_steps)
      out.put(stepped_variables<P>{}, made.t, made.steps, made.running);
    else if constexpr (P::has_fixed_steps)
      out.put(stepped_variables<P>{}, made.t, made.is_last, made.steps, made.running);
    else
      out.put(stepped_variables<P>{}, made.t, made.h, made.is_last, made.log_error, made.steps,
              made.rejected, made.outcome, made.running, made.growth);
    if constexpr (P::reuses_slope)
      out.put(variable_range<v.slope, P::fields>{},
              tuple{where(made.accepted, get<I>(tried.slopes),
                          at.template variable<v.slope + static_cast<int>(I)>())...});
    if constexpr (P::keeps_last) {
      out.put(variable_list<v.old_t, v.taken>{}, t, h);
      out.put(variable_range<v.old_y, P::fields>{}, y);
    }
    if constexpr (P::is_dense)
      (put_powers<v.power + static_cast<int>(I) * P::powers>(
           out, get<I>(tried.powers),
           std::make_index_sequence<static_cast<std::size_t>(P::powers)>{}),
       ...);
    if constexpr (P::records)
      out.put(variable_list<v.keeps_step, v.kept_step>{}, made.accepted,
              at.template variable<v.steps>() - at.template variable<v.rejected>());
    const auto seeking = [&] {
      if constexpr (P::events > 0)
        return put_events(out, at, typename P::event_list{},
                          std::make_index_sequence<static_cast<std::size_t>(P::events)>{}, tried,
                          made);
      else return false;
    }();
    if constexpr (P::saves_times)
      out.put(variable_list<v.saving>{},
              made.accepted && !seeking && is_due(at.template variable<v.next>(), made.t, h));
    if constexpr (P::saves_steps) {
      const auto left = at.template variable<v.until_saved>() -
                        cast<std::int32_t>(dsl::detail::lift(&g, made.accepted));
      out.put(variable_list<v.saving, v.until_saved>{}, left == 0,
              where(left == 0, at.steps_of_row(), left));
    }
    return g;
  }
  template <int First, class K, std::size_t N, std::size_t... Power>
  static constexpr void put_powers(ensemble_outputs<P>& out, const std::array<K, N>& powers,
                                   std::index_sequence<Power...>) {
    out.put(variable_list<(First + static_cast<int>(Power))...>{}, powers[Power]...);
  }
};

/// The row that is due, by the continuous extension of the last step. Rows before an element's
/// first time are not stored.
template <class P>
struct ensemble_save {
  static constexpr graph run() { return run(typename ensemble_symbols<P>::fields{}); }
  using set = variables_joined<variable_list<variables_of<P>.row, variables_of<P>.saved_row,
                                             variables_of<P>.stores, variables_of<P>.saving>,
                               variable_range<variables_of<P>.saved, P::fields>>;

 private:
  template <std::size_t... I>
  static constexpr graph run(std::index_sequence<I...>) {
    constexpr auto& v = variables_of<P>;
    graph g;
    const ensemble_symbols<P> at{&g};
    const auto due = at.template variable<v.saving>();
    const auto row = at.template variable<v.row>();
    const auto taken = at.template variable<v.taken>(), old_t = at.template variable<v.old_t>(),
               next = at.template variable<v.next>();
    const auto theta = (next - old_t) / taken;
    const auto further =
        due && is_due(at.template variable<v.after>(), at.template variable<v.t>(), taken);
    ensemble_outputs<P> out(g);
    out.put(variable_list<v.row, v.saved_row, v.stores, v.saving>{}, row + cast<std::int32_t>(due),
            row, due && is_due(old_t, next, taken), further);
    out.put(variable_range<v.saved, P::fields>{}, tuple{inside_step<P, I>(at, theta)...});
    return g;
  }
};

/// The row of the step that was taken, which is stored with the element's time and fields.
template <class P>
struct ensemble_save_step {
  static constexpr graph run() {
    constexpr auto& v = variables_of<P>;
    graph g;
    const ensemble_symbols<P> at{&g};
    const auto due = at.template variable<v.saving>();
    const auto row = at.template variable<v.row>();
    ensemble_outputs<P>(g).put(set{}, row + cast<std::int32_t>(due), row, due, false);
    return g;
  }
  using set = variable_list<variables_of<P>.row, variables_of<P>.saved_row, variables_of<P>.stores,
                            variables_of<P>.saving>;
};

}  // namespace dsl::ode::detail

// An ensemble as types: what is integrated, and the loop of an element.
#pragma once

#include <dsl/ode/ensemble_event.hpp>

namespace dsl::ode::detail {

/// When the fields are saved: never, at given times, after steps.
enum class saving : std::uint8_t { nothing, times, steps };

/// Which limits of the steps are arrays.
template <bool First, bool Largest, bool Most> struct varying_limits {
  static constexpr bool first = First, largest = Largest, most = Most;
};

/// An ensemble's formula, fields, parameters and options, as a type.
template <class F, class Method, class Fields, class Arrays, class Parameters, bool T0Varies,
          bool T1Varies, class Limits, saving Saves, class Events, bool HasFixedSteps>
struct ensemble_problem {
  static constexpr int parameter_scalars =
      static_cast<int>(std::tuple_size_v<Parameters>) - Arrays::count;
  using function = F;
  using method = Method;
  using parameters = Parameters;
  static constexpr int fields = Fields::count, arrays = Arrays::count;
  static constexpr const auto& field_types = Fields::at;
  static constexpr const auto& array_types = Arrays::at;
  static constexpr bool t0_varies = T0Varies, t1_varies = T1Varies,
                        saves_times = Saves == saving::times, saves_steps = Saves == saving::steps,
                        reuses_slope = Method::reuses_slope;
  static constexpr bool first_varies = Limits::first, largest_varies = Limits::largest,
                        most_varies = Limits::most;
  static constexpr saving saves = Saves;
  static constexpr bool has_fixed_steps = HasFixedSteps;
  using event_list = Events;
  static constexpr int events = static_cast<int>(std::tuple_size_v<Events>);
  static constexpr bool draws = Method::draws;
  static constexpr int scalars =
      ensemble_scalars + parameter_scalars + events + saves_steps + draws;
  static constexpr bool is_dense = saves_times || events > 0, estimates_error = !HasFixedSteps;
  /// Keeps where its last step began; stores that of each accepted step.
  static constexpr bool keeps_last = is_dense, records = false;
  /// All elements take the same number of steps of a fixed size.
  static constexpr bool counts_steps = HasFixedSteps && events == 0;
  /// A step uses the time; the integration does.
  static constexpr bool sees_time = right_side<F>::times > 0 || Method::sees_time;
  static constexpr bool has_time = is_dense || saves_steps || sees_time;
  static constexpr bool is_single = ((real_of(Fields::at[0]) == dtype::float32) && !has_time);
  static constexpr int powers = Method::powers, error_order = Method::error_order;
  static constexpr control_constants control = Method::control;
};

/// The same, which records its accepted steps.
template <class P>
struct recorded : P {
  static constexpr bool keeps_last = true, records = true;
};

template <class P>
struct ensemble_loop {
  static constexpr auto v = variables_of<P>;
  template <class Phase> using pass = dsl::detail::pass_of<Phase>;
  using types =
      typename ensemble_types<P, std::make_index_sequence<static_cast<std::size_t>(v.count)>>::type;
  using given = variables_joined<variable_range<v.y, P::fields>, variable_range<v.given, P::arrays>,
                                 variables_if<P::draws, variable_list<v.position>>,
                                 variables_if<P::t0_varies, variable_list<v.t>>,
                                 variables_if<P::t1_varies, variable_list<v.t1>>,
                                 variables_if<P::first_varies, variable_list<v.first_step>>,
                                 variables_if<P::largest_varies, variable_list<v.largest_step>>,
                                 variables_if<P::most_varies, variable_list<v.most_steps>>>;
  using kept = variables_joined<variable_range<v.y, P::fields>,
                                variable_list<v.t, v.steps, v.rejected, v.outcome>,
                                variables_if<P::records && P::saves_times, variable_list<v.row>>>;
  using start =
      dsl::detail::element_phase<pass<ensemble_start<P>>, typename ensemble_start<P>::set, -1>;
  template <class Phase, int While, class... Stored> using phase =
      dsl::detail::element_phase<pass<Phase>, typename Phase::set, While, Stored...>;
  template <int Flag, int Row, class List> struct rows_of;
  template <int Flag, int Row, int... V> struct rows_of<Flag, Row, variable_list<V...>> {
    using type = dsl::detail::stored_rows<Flag, Row, V...>;
  };
  static auto find_step() {
    if constexpr (P::records)
      return std::type_identity<
          phase<ensemble_step<P>, -1,
                typename rows_of<v.keeps_step, v.kept_step,
                                 variables_joined<variables_if<P::has_time, variable_list<v.old_t>>,
                                                  variable_list<v.taken>,
                                                  variable_range<v.old_y, P::fields>>>::type>>{};
    else return std::type_identity<phase<ensemble_step<P>, -1>>{};
  }
  using step = typename decltype(find_step())::type;
  template <class... Phases> using with = dsl::detail::element_loop<
      types, given, kept, v.running, P::counts_steps, 0,
      dsl::detail::table_entry<P::saves_times ? v.row : -1, v.next, v.after>,
      dsl::detail::list_of_read_rows<>, start, step, Phases...>;
  // The action stores the times of events that keep them.
  template <std::size_t E, class Event> using times_of =
      std::conditional_t<Event::keeps_times,
                         tuple<dsl::detail::stored_rows<v.keeps + static_cast<int>(E),
                                                        v.kept_row + static_cast<int>(E), v.t>>,
                         tuple<>>;
  template <class Q, class... Stored>
  static phase<ensemble_act<Q>, v.acting, Stored...> act_with(tuple<Stored...>);
  template <class Q, class Events, class Numbers> struct act_phase;
  template <class Q, class... Events, std::size_t... E>
  struct act_phase<Q, tuple<Events...>, std::index_sequence<E...>> {
    using type = decltype(act_with<Q>(dsl::detail::concatenation_t<times_of<E, Events>...>{}));
  };
  // Templates, because phases that do not exist cannot be named.
  template <class Q> using seek = phase<ensemble_seek<Q>, v.seeking>;
  template <class Q> using act =
      typename act_phase<Q, typename Q::event_list,
                         std::make_index_sequence<static_cast<std::size_t>(Q::events)>>::type;
  template <class Q, saving = Q::saves> struct save_phase {
    using type =
        phase<ensemble_save<Q>, v.saving,
              typename rows_of<v.stores, v.saved_row, variable_range<v.saved, P::fields>>::type>;
  };
  template <class Q> struct save_phase<Q, saving::steps> {
    using type =
        phase<ensemble_save_step<Q>, v.saving,
              typename rows_of<
                  v.stores, v.saved_row,
                  variables_joined<variable_list<v.t>, variable_range<v.y, P::fields>>>::type>;
  };
  template <class Q> using save = typename save_phase<Q>::type;
  static auto find() {
    constexpr bool saves = P::saves != saving::nothing;
    if constexpr (P::events > 0 && saves)
      return std::type_identity<with<seek<P>, save<P>, act<P>>>{};
    else if constexpr (P::events > 0) return std::type_identity<with<seek<P>, act<P>>>{};
    else if constexpr (saves) return std::type_identity<with<save<P>>>{};
    else return std::type_identity<with<>>{};
  }
  using type = typename decltype(find())::type;
};

/// A parameter as operands: the array that holds it, or a single value.
template <class X> using leaf_of_parameter = operand_t<X>;
template <class X> inline constexpr bool is_array_parameter = leaf_of_parameter<X>::rank > 0;

// Sorts parameters into arrays and single values, and numbers both.
template <int Arrays, int Scalars, class Found, class Types, class... X> struct sorted_parameters {
  using parameters = Found;
  using arrays = Types;
  static constexpr int scalars = Scalars;
};
template <int Arrays, int Scalars, class... Found, dtype... Types, class X, class... Rest>
  requires(is_array_parameter<X>)
struct sorted_parameters<Arrays, Scalars, tuple<Found...>, dsl::detail::variable_types<Types...>, X,
                         Rest...>
    : sorted_parameters<Arrays + 1, Scalars, tuple<Found..., array_parameter<Arrays>>,
                        dsl::detail::variable_types<
                            Types..., dsl::detail::trace_t<leaf_of_parameter<X>>::type.type>,
                        Rest...> {};
template <int Arrays, int Scalars, class... Found, dtype... Types, class X, class... Rest>
  requires(!is_array_parameter<X>)
struct sorted_parameters<Arrays, Scalars, tuple<Found...>, dsl::detail::variable_types<Types...>, X,
                         Rest...>
    : sorted_parameters<
          Arrays, Scalars + 1,
          tuple<Found..., scalar_parameter<Scalars,
                                           dsl::detail::trace_t<leaf_of_parameter<X>>::type.weak
                                               ? op::value
                                               : op::load_scalar,
                                           dsl::detail::trace_t<leaf_of_parameter<X>>::type.type,
                                           dsl::detail::trace_t<leaf_of_parameter<X>>::type.weak>>,
          dsl::detail::variable_types<Types...>, Rest...> {};

}  // namespace dsl::ode::detail

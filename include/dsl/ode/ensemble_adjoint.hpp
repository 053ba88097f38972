// The adjoint of an ensemble's steps: each element goes back through the steps that it recorded.
#pragma once

#include <dsl/ode/ensemble_problem.hpp>

namespace dsl::ode::detail {

/// The adjoint of problem P with respect to the fields at t0 and to the parameters that are
/// numbered in `Derived`, a variable_list.
template <class P, class Derived>
struct ensemble_adjoint : P {
  using derived = Derived;
  static constexpr bool is_dense = P::saves_times, reuses_slope = false, estimates_error = false;
};

/// The numbers of an element's variables. A weight is the loss's derivative with respect to a
/// value.
template <class A>
struct adjoint_layout : numbered_variables<A> {
  int weight = -1;                      // Of the fields after the step that is next.
  int given = -1;                       // The parameters that are arrays.
  int steps = -1, rejected = -1;        // Of the forward integration.
  int derivative = -1;                  // With respect to each parameter that has one.
  int step = -1, running = -1;          // The number of the next step, going back.
  int t = -1, h = -1, y = -1;           // Its beginning, its size, and the fields before it.
  int row = -1, next = -1, after = -1;  // The saved row that is next, and its time.
  // Whether that row may lie in the step; the weights of its values; and of the rows in the step
  // together, those of the fields before it and of the powers of theta.
  int collecting = -1, saved_weight = -1, field_weight = -1, power_weight = -1;
};

/// The dtypes of the parameters that have derivatives.
template <class A, int N>
constexpr dtype parameter_dtype(array_parameter<N>) {
  return A::array_types[N];
}
template <class A, int N, op Code, dtype D, bool Weak>
constexpr dtype parameter_dtype(scalar_parameter<N, Code, D, Weak>) {
  return D;
}
template <class A, int... K>
constexpr void add_derivatives(adjoint_layout<A>& v, variable_list<K...>) {
  v.derivative = v.count;
  (v.add(1, parameter_dtype<A>(
                std::tuple_element_t<static_cast<std::size_t>(K), typename A::parameters>{})),
   ...);
}
template <class A>
constexpr adjoint_layout<A> lay_out_adjoint() {
  constexpr dtype real = dtype::float64, whole = dtype::int32, flag = dtype::boolean;
  adjoint_layout<A> v;
  v.add_of_fields(v.weight, 1);
  v.add_arrays(v.given);
  v.steps = v.add(1, whole);
  v.rejected = v.add(1, whole);
  add_derivatives(v, typename A::derived{});
  v.step = v.add(1, whole);
  v.running = v.add(1, flag);
  v.t = v.add(1, real);
  v.h = v.add(1, real);
  v.add_of_fields(v.y, 1);
  if (A::saves_times) {
    v.row = v.add(1, whole);
    v.next = v.add(1, real);
    v.after = v.add(1, real);
    v.collecting = v.add(1, flag);
    v.add_of_fields(v.saved_weight, 1);
    v.add_of_fields(v.field_weight, 1);
    v.add_of_fields(v.power_weight, A::powers);
  }
  return v;
}
template <class P, class Derived>
inline constexpr adjoint_layout<ensemble_adjoint<P, Derived>>
    variables_of<ensemble_adjoint<P, Derived>> = lay_out_adjoint<ensemble_adjoint<P, Derived>>();

/// What a step computes, as a function of (fields..., time, step size, others...): the fields
/// afterwards; and if rows are saved, the coefficients of the continuous extension, by field.
template <class A>
struct step_values {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    constexpr std::size_t n = static_cast<std::size_t>(A::fields);
    const tuple<X...> all(x...);
    const ensemble_symbols<A> at{get<n>(all).owner};
    const auto tried = A::method::try_step(at, get<n>(all), get<n + 1>(all), subtuple<0, n>(all),
                                           subtuple<n + 2, sizeof...(X) - n - 2>(all),
                                           std::make_index_sequence<n>{});
    if constexpr (!A::saves_times) return tried.after;
    else
      return concatenate(
          tried.after, unpack([](const auto&... powers) { return concatenate(all_of(powers)...); },
                              tried.powers));
  }

 private:
  template <class S, std::size_t N>
  static constexpr auto all_of(const std::array<S, N>& powers) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return tuple{powers[K]...};
    }(std::make_index_sequence<N>{});
  }
};

/// The variables that both the start and a step set.
template <class A> using adjoint_cleared = variables_if<
    A::saves_times,
    variables_joined<variable_list<variables_of<A>.collecting>,
                     variable_range<variables_of<A>.field_weight, A::fields>,
                     variable_range<variables_of<A>.power_weight, A::fields * A::powers>>>;
/// No weights yet of the rows in the step that is next.
template <class A, class Flag>
constexpr void put_cleared(ensemble_outputs<A>& out, const Flag& collecting) {
  constexpr auto& v = variables_of<A>;
  out.put(variable_list<v.collecting>{}, collecting);
  out.put_zeros(variable_range<v.field_weight, A::fields * (1 + A::powers)>{});
}

/// The start: the last step that was accepted is the next one.
template <class A>
struct adjoint_start {
  using set = variables_joined<variable_list<variables_of<A>.step, variables_of<A>.running>,
                               variable_range<variables_of<A>.derivative, A::derived::count>,
                               variables_if<A::saves_times, variable_list<variables_of<A>.row>>,
                               adjoint_cleared<A>>;
  static constexpr graph run() {
    constexpr auto& v = variables_of<A>;
    graph g;
    const ensemble_symbols<A> at{&g};
    const auto step = at.template variable<v.steps>() - at.template variable<v.rejected>() - 1;
    ensemble_outputs<A> out(g);
    out.put(variable_list<v.step, v.running>{}, step, step >= 0);
    out.put_zeros(variable_range<v.derivative, A::derived::count>{});
    if constexpr (A::saves_times) {
      const auto row = at.template variable<v.row>() - 1;
      out.put(variable_list<v.row>{}, row);
      put_cleared(out, row >= 0);
    }
    return g;
  }
};

/// A saved row: if it lies in the step that is next, its weights go to what it is computed from.
template <class A>
struct adjoint_collect {
  static constexpr graph run() { return run(typename ensemble_symbols<A>::fields{}); }
  using set = variables_joined<variable_list<variables_of<A>.row>, adjoint_cleared<A>>;

 private:
  template <std::size_t... I>
  static constexpr graph run(std::index_sequence<I...>) {
    constexpr auto& v = variables_of<A>;
    graph g;
    const ensemble_symbols<A> at{&g};
    const auto t = at.template variable<v.t>(), h = at.template variable<v.h>(),
               time = at.template variable<v.next>();
    const auto row = at.template variable<v.row>();
    // A row at the beginning of a step was saved by the step before it, if there is one.
    const auto is_inside =
        at.template variable<v.collecting>() &&
        (where(h > 0.0, time > t, time < t) || (at.template variable<v.step>() == 0 && time == t));
    const auto further = row - cast<std::int32_t>(is_inside);
    // Lanes of the host go along that have no row.
    const auto theta = where(is_inside, (time - t) / h, 0.0);
    ensemble_outputs<A> out(g);
    out.put(variable_list<v.row, v.collecting>{}, further, is_inside && further >= 0);
    const auto weights = at.template of_fields<v.saved_weight>();
    const tuple counted{where(is_inside, get<I>(weights), 0)...};
    out.put(
        variable_range<v.field_weight, A::fields>{},
        tuple{(at.template variable<v.field_weight + static_cast<int>(I)>() + get<I>(counted))...});
    (put_powers<v.power_weight + static_cast<int>(I) * A::powers>(
         out, at, get<I>(counted), in_precision_of(get<I>(weights), theta),
         std::make_integer_sequence<int, A::powers>{}),
     ...);
    return g;
  }
  template <int First, class W, class Theta, int... Power>
  static constexpr void put_powers(ensemble_outputs<A>& out, const ensemble_symbols<A>& at,
                                   W weight, const Theta& theta,
                                   std::integer_sequence<int, Power...>) {
    ((weight = weight * theta,
      out.put(variable_list<First + Power>{}, at.template variable<First + Power>() + weight)),
     ...);
  }
};

/// The adjoint of a step.
template <class A>
struct adjoint_step {
  static constexpr std::size_t most_nodes = most_nodes_of_step<A>;
  static constexpr graph run() {
    return run(typename ensemble_symbols<A>::fields{}, typename A::derived{});
  }
  using set = variables_joined<variable_range<variables_of<A>.weight, A::fields>,
                               variable_range<variables_of<A>.derivative, A::derived::count>,
                               variable_list<variables_of<A>.step, variables_of<A>.running>,
                               adjoint_cleared<A>>;

 private:
  template <class... S, int... K>
  static constexpr auto call_with(const tuple<S...>&, variable_list<K...>) {
    constexpr std::uint64_t fields = (std::uint64_t{1} << A::fields) - 1,
                            parameters = (std::uint64_t{0} | ... | (std::uint64_t{1} << K));
    return std::type_identity<
        dsl::detail::traced_call<step_values<A>, fields | parameters << (A::fields + 2), S...>>{};
  }
  template <std::size_t... I, int... K>
  static constexpr graph run(std::index_sequence<I...>, variable_list<K...> derived) {
    constexpr auto& v = variables_of<A>;
    graph g;
    const ensemble_symbols<A> at{&g};
    const auto arguments = concatenate(
        at.template of_fields<v.y>(),
        tuple{at.template variable<v.t>(), at.template variable<v.h>()}, at.parameters());
    using call_type = typename decltype(call_with(arguments, derived))::type;
    const call_type made(&g, arguments);
    dsl::detail::sequence<int> nodes;
    dsl::detail::sequence<dsl::detail::term> given;
    const auto seed = [&](const auto& weight) {
      nodes.push_back(made.ids[nodes.size()]);
      given.push_back({&g, weight.id});
    };
    (seed(at.template variable<v.weight + static_cast<int>(I)>()), ...);
    if constexpr (A::saves_times)
      unpack([&](const auto&... weight) { (seed(weight), ...); },
             at.template several<v.power_weight, A::fields * A::powers>());
    const auto found = made.weights(nodes, given);
    const auto of_argument = [&]<std::size_t Number, dtype D>() {
      return made.template result<D>(found[made.call.input_number(Number)]);
    };

    ensemble_outputs<A> out(g);
    const tuple of_fields{of_argument.template operator()<I, A::field_types[I]>()...};
    if constexpr (A::saves_times)
      out.put(variable_range<v.weight, A::fields>{},
              tuple{(get<I>(of_fields) +
                     at.template variable<v.field_weight + static_cast<int>(I)>())...});
    else out.put(variable_range<v.weight, A::fields>{}, of_fields);
    put_derivatives(out, at, of_argument, derived,
                    std::make_integer_sequence<int, A::derived::count>{});
    const auto step = at.template variable<v.step>();
    out.put(variable_list<v.step, v.running>{}, step - 1, step > 0);
    if constexpr (A::saves_times) put_cleared(out, at.template variable<v.row>() >= 0);
    return g;
  }
  template <class OfArgument, int... K, int... J>
  static constexpr void put_derivatives(ensemble_outputs<A>& out, const ensemble_symbols<A>& at,
                                        const OfArgument& of_argument, variable_list<K...>,
                                        std::integer_sequence<int, J...>) {
    constexpr auto& v = variables_of<A>;
    (out.put(variable_list<v.derivative + J>{},
             at.template variable<v.derivative + J>() +
                 of_argument.template operator()<static_cast<std::size_t>(A::fields + 2 + K),
                                                 v.types[v.derivative + J]>()),
     ...);
  }
};

/// The loop of an element that goes back. Given: the weights of the fields at the end, the
/// parameters that are arrays, the numbers of steps, and of saved rows; read: the recorded steps,
/// and the weights of the saved rows; kept: the weights of the fields at the beginning and the
/// derivatives with respect to the parameters.
template <class A>
struct adjoint_loop {
  static constexpr auto v = variables_of<A>;
  using types =
      typename ensemble_types<A, std::make_index_sequence<static_cast<std::size_t>(v.count)>>::type;
  using given =
      variables_joined<variable_range<v.weight, A::fields>, variable_range<v.given, A::arrays>,
                       variable_list<v.steps, v.rejected>,
                       variables_if<A::saves_times, variable_list<v.row>>>;
  using kept = variables_joined<variable_range<v.weight, A::fields>,
                                variable_range<v.derivative, A::derived::count>>;
  template <class Phase, int While> using phase =
      dsl::detail::element_phase<dsl::detail::pass_of<Phase>, typename Phase::set, While>;
  template <int Row, class List> struct rows_of;
  template <int Row, int... V> struct rows_of<Row, variable_list<V...>> {
    using type = dsl::detail::read_rows<Row, V...>;
  };
  using steps =
      typename rows_of<v.step,
                       variables_joined<variables_if<A::has_time, variable_list<v.t>>,
                                        variable_list<v.h>, variable_range<v.y, A::fields>>>::type;
  template <class Read, int Main, class... Phases> using with =
      dsl::detail::element_loop<types, given, kept, v.running, A::counts_steps, Main,
                                dsl::detail::table_entry<v.row, v.next, v.after>, Read,
                                phase<adjoint_start<A>, -1>, Phases...>;
  static auto find() {
    if constexpr (A::saves_times)
      return std::type_identity<
          with<dsl::detail::list_of_read_rows<
                   steps, typename rows_of<v.row, variable_range<v.saved_weight, A::fields>>::type>,
               1, phase<adjoint_collect<A>, v.collecting>, phase<adjoint_step<A>, -1>>>{};
    else
      return std::type_identity<
          with<dsl::detail::list_of_read_rows<steps>, 0, phase<adjoint_step<A>, -1>>>{};
  }
  using type = typename decltype(find())::type;
};

}  // namespace dsl::ode::detail

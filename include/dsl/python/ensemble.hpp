// Ensembles as Python functions: module_builder::ensemble.
#pragma once

#include <algorithm>

#include <dsl/ode/ensemble.hpp>
#include <dsl/python/module.hpp>

namespace dsl::python {

namespace detail {

template <class T0, class T1> struct times_option {};
template <class T> inline constexpr bool is_times = false;
template <class T0, class T1> inline constexpr bool is_times<times_option<T0, T1>> = true;
template <class T> inline constexpr bool is_ode_option =
    std::same_as<T, ode::detail::fixed_option> || ode::detail::is_method<T> ||
    ode::detail::is_event<T>;
struct only_ode_options { template <class T> static constexpr bool passes = is_ode_option<T>; };

/// Arrays of any rank have one axis less in an ensemble than in other formulas, because its saved
/// rows have one more.
template <class P, class X>
X in_ensemble(const X& x) {
  return x;
}
template <class P, class T, int R>
  requires(parameter_of<P>::value.has_any_rank())
view<T, R - 1> in_ensemble(const view<T, R>& x) {
  extents<R - 1> sizes{}, steps{};
  std::copy_n(x.extents().begin() + 1, R - 1, sizes.begin());
  std::copy_n(x.strides().begin() + 1, R - 1, steps.begin());
  return {x.owner(), x.origin(), sizes, steps};
}

/// The elements of a new array that is a result, after `Rows` axes more than the fields have.
/// `rank`: that of the arguments, if they have any.
template <bool IsOfAnyRank, int Rows, class T, int R>
auto elements_of_result(const array<T, R>& a, int rank) {
  if constexpr (!IsOfAnyRank) {
    return a.view();
  } else {
    extents<max_rank> sizes;
    sizes.fill(1);
    std::copy_n(a.extents().end() - rank, rank, sizes.end() - rank);
    std::copy_n(a.extents().begin(), Rows, sizes.end() - rank - Rows);
    return view<const T, max_rank>{a.view().owner(), a.view().origin(), sizes,
                                   dsl::detail::row_major(sizes)};
  }
}

/// The first parameters are the fields, one for each derivative that the formula returns.
template <class F, class... Options, class... P>
class ensemble_function<F, dsl::detail::tuple<Options...>, P...> {
  // As the formula sees a parameter.
  template <class X> using operand_of =
      decltype(in_ensemble<X>(parameter_of<X>::operand(std::declval<const argument&>())));
  template <std::size_t I> using type_at = std::tuple_element_t<I, std::tuple<P...>>;

  static times_option<double, double> times_among();
  template <class T0, class T1, class... Rest>
  static times_option<T0, T1> times_among(const times_option<T0, T1>&, const Rest&...);
  template <class Option, class... Rest>
  static auto times_among(const Option&, const Rest&... rest) {
    return decltype(times_among(rest...)){};
  }

  static constexpr int count_fields() {
    constexpr bool is_stateless = dsl::detail::is_stateless<F>,
                   are_options = ((is_ode_option<Options> || is_times<Options>) && ...);
    static_assert(is_stateless,
                  "an ensemble's formula has no captures or members: pass values as arguments");
    static_assert(are_options,
                  "the options of m.ensemble are a method, fixed_steps, events and "
                  "dsl::python::times<T0, T1>: save_at= is given in Python");
    if constexpr (is_stateless && are_options) {
      constexpr std::size_t count = ode::detail::field_count<
          F, symbol<dtype::float64, true>,
          dsl::detail::trace_t<dsl::detail::operand_t<operand_of<P>>>...>();
      constexpr parameter all[] = {parameter_of<P>::value...};
      constexpr bool are_arrays = std::all_of(all, all + count, [&](const parameter& p) {
        return p.kind == parameter_kind::array && p.rank == all[0].rank && p.rank < max_rank;
      });
      static_assert(are_arrays,
                    "the fields of an ensemble are arrays of one rank, of at most 7 dimensions");
      return are_arrays ? static_cast<int>(count) : 0;
    }
    return 0;
  }

 public:
  static constexpr int fields = count_fields();

 private:
  static constexpr std::size_t field_count = static_cast<std::size_t>(fields);
  static_assert(sizeof...(P) + 2 <= max_parameters,
                "an ensemble in Python takes at most 30 fields and arguments");
  using states = std::make_index_sequence<field_count>;
  using others = std::make_index_sequence<sizeof...(P) - field_count>;
  static constexpr int rank = parameter_of<type_at<0>>::value.rank;
  static constexpr bool is_of_any_rank = rank < 0;
  // The types of t0 and t1, the formula and the options of dsl::ode::ensemble.
  using times = decltype(times_among(std::declval<const Options&>()...));
  using definition = dsl::detail::tuple<F, Options...>;

  template <class T0, class T1, std::size_t... S, std::size_t... I, class... O>
  static auto integrate(call& c, times_option<T0, T1>, std::index_sequence<S...>,
                        std::index_sequence<I...>, const F& f, const O&... options) {
    dsl::detail::tuple state{
        in_ensemble<type_at<S>>(parameter_of<type_at<S>>::variable_in(c.results[S]))...};
    return ode::ensemble(
        f, dsl::state(dsl::detail::get<S>(state)...),
        in_ensemble<T0>(parameter_of<T0>::operand(c.arguments[0])),
        in_ensemble<T1>(parameter_of<T1>::operand(c.arguments[1])), c.wanted,
        in_ensemble<type_at<field_count + I>>(
            parameter_of<type_at<field_count + I>>::operand(c.arguments[2 + field_count + I]))...,
        options...);
  }
  template <bool Saves>
  static auto integrate(call& c, const definition& of) {
    return dsl::detail::unpack(
        [&](const F& f, const Options&... all) {
          return dsl::detail::unpack(
              [&](const auto&... options) {
                if constexpr (Saves)
                  return integrate(c, times{}, states{}, others{}, f, options...,
                                   ode::save_at(c.times));
                else return integrate(c, times{}, states{}, others{}, f, options...);
              },
              dsl::detail::filter(only_ode_options{}, all...));
        },
        of);
  }

  // The results are the fields, those of every ensemble, the saved fields and the times of events.
  template <class... Rows>
  static void add_rows(std::vector<parameter>& to,
                       std::type_identity<dsl::detail::tuple<Rows...>>) {
    [[maybe_unused]] constexpr int rank_of_rows =
        is_of_any_rank ? parameter::rows_of_any_rank : rank + 1;
    (to.push_back({parameter_kind::array, dtype_v<typename Rows::value_type>, rank_of_rows}), ...);
  }
  template <bool Saves>
  static void run(call& c, const definition& of) {
    const auto got = integrate<Saves>(c, of);
    if constexpr (!std::same_as<decltype(got), const refused>) give_results<Saves>(c, got);
  }
  template <bool Saves, class Result>
  static void give_results(call& c, const Result& got) {
    int number = fields;
    const auto give = [&](const auto& a) {
      c.give(number++, elements_of_result<is_of_any_rank, 0>(a, c.broadcast_rank));
    };
    const auto give_rows = [&](const auto&... all) {
      (c.give(number++, elements_of_result<is_of_any_rank, 1>(all, c.broadcast_rank)), ...);
    };
    give(got.t);
    give(got.steps);
    give(got.rejected);
    give(got.outcome);
    if constexpr (Saves) dsl::detail::unpack(give_rows, got.rows);
    else number += fields;
    dsl::detail::unpack(give_rows, got.times);
  }

 public:
  static std::vector<parameter> parameters() {
    return []<class T0, class T1>(times_option<T0, T1>) {
      return std::vector<parameter>{parameter_of<T0>::value, parameter_of<T1>::value,
                                    parameter_of<P>::value...};
    }(times{});
  }
  static std::vector<parameter> results() {
    const parameter declared[] = {parameter_of<P>::value...};
    std::vector<parameter> all(declared, declared + fields);
    for (const dtype type : {dtype::float64, dtype::int32, dtype::int32, dtype::uint8})
      all.push_back({parameter_kind::array, type, rank});
    using integration =
        decltype(integrate<true>(std::declval<call&>(), std::declval<const definition&>()));
    if constexpr (!std::same_as<integration, refused>) {
      static_assert(2 * fields + 4 + std::tuple_size_v<decltype(integration::times)> <= max_results,
                    "an ensemble in Python has at most 64 results: its fields twice, 4, and the "
                    "times of events");
      add_rows(all, std::type_identity<decltype(integration::rows)>{});
      add_rows(all, std::type_identity<decltype(integration::times)>{});
    }
    return all;
  }
  static void run(call& c, const void* function) {
    const auto& of = *static_cast<const definition*>(function);
    if (c.saves) run<true>(c, of);
    else run<false>(c, of);
  }
};

}  // namespace detail

/// For module_builder::ensemble: the types of t0 and t1 in Python. By default both are numbers;
/// arrays have a time for each element.
template <class T0, class T1> inline constexpr detail::times_option<T0, T1> times{};

}  // namespace dsl::python

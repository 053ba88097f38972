// The state of a loop: its variables, including members of structs, and their histories.
#pragma once

#include <dsl/lang/loop_options.hpp>

namespace dsl {

/// References to the variables that a loop carries from step to step; the result of `state`. Owns
/// nothing: the variables must outlive it.
template <class... S>
struct loop_state {
  detail::tuple<S&...> variables;
};

namespace detail {

/// Whether a loop can carry a value of this type as a variable.
template <class T> inline constexpr bool is_variable = viewable<T> || lazy<T>;
template <structured T> inline constexpr bool is_variable<T> =
    []<class... M>(std::type_identity<tuple<M...>>) {
      return (is_variable<std::remove_cvref_t<M>> && ...);
    }(std::type_identity<member_types_t<T>>{});

}  // namespace detail

/// The variables that `iterate` feeds back: arrays and views of one shape, scalars in device
/// memory, and structs of these. No two may share elements. Refers to the caller's variables, as
/// std::tie does: a temporary does not compile, and the variables must live as long as the result.
template <class... S>
auto state(S&... s) {
  constexpr bool are_variables = (detail::is_variable<S> && ...);
  static_assert(are_variables,
                "a loop's variables are arrays, views, scalars in device memory and structs of "
                "them: others are parameters");
  if constexpr (are_variables) return loop_state<S...>{detail::tuple<S&...>(s...)};
  else return refused{};
}
template <class... S>
  requires(!std::is_lvalue_reference_v<S> || ...)
refused state(S&&...) {
  static_assert((std::is_lvalue_reference_v<S> && ...),
                "a loop's variables are its caller's: give each a name, dsl::state(x)");
  return {};
}

namespace detail {

template <class T> inline constexpr bool is_loop_state = false;
template <class... S> inline constexpr bool is_loop_state<loop_state<S...>> = true;

/// The variables of a loop, with structs replaced by their members.
template <class... S>
auto leaves_of_state(const loop_state<S...>& s) {
  return unpack([](auto&... v) { return concatenate(flat(v)...); }, s.variables);
}

// For each tuple, the number of elements in the tuples before it.
template <class... Tuples>
constexpr std::array<int, sizeof...(Tuples) + 1> sizes_before() {
  std::array<int, sizeof...(Tuples) + 1> n{};
  std::size_t k = 0;
  ((n[k + 1] = n[k] + static_cast<int>(std::tuple_size_v<Tuples>), ++k), ...);
  return n;
}

/// A formula of variables as a formula of their leaves.
template <class F, class... S>
struct formula_of_leaves {
  template <class... Leaf>
  constexpr auto operator()(const Leaf&... leaf) const {
    const tuple<Leaf...> all(leaf...);
    constexpr auto first = sizes_before<flat_t<S>...>();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return F{}(variable<S, static_cast<std::size_t>(first[I])>(all)...);
    }(std::index_sequence_for<S...>{});
  }

 private:
  template <class V, std::size_t First, class All>
  static constexpr auto variable(const All& all) {
    if constexpr (!structured<V>) return get<First>(all);
    else
      return members<V, First>(all, std::type_identity<member_types_t<V>>{},
                               std::make_index_sequence<std::tuple_size_v<member_types_t<V>>>{});
  }
  template <class V, std::size_t First, class All, class... M, std::size_t... I>
  static constexpr auto members(const All& all, std::type_identity<tuple<M...>>,
                                std::index_sequence<I...>) {
    constexpr auto before = sizes_before<flat_t<M>...>();
    return struct_of_symbols<V>{variable<M, First + static_cast<std::size_t>(before[I])>(all)...};
  }
};

/// Records of a state as records of its leaves.
template <class F> inline constexpr record_option<F> record_of{};
template <class... S, class... F>
auto of_leaves(const tuple<const record_option<F>&...>& records) {
  if constexpr ((structured<S> || ...))
    return tuple<const record_option<formula_of_leaves<F, S...>>&...>(
        record_of<formula_of_leaves<F, S...>>...);
  else return records;
}

/// In a struct of histories, the place of a member without history.
struct no_history {};
template <class T> struct history_in_place { using type = no_history; };
template <class T> struct history_in_place<scalar<T>> { using type = array<T, 1>; };

template <class S> inline constexpr std::size_t scalars_in = is_scalar<S> ? 1 : 0;
template <class... S> inline constexpr std::size_t scalars_in<tuple<S...>> =
    (0 + ... + scalars_in<S>);
template <structured S> inline constexpr std::size_t scalars_in<S> = scalars_in<member_types_t<S>>;

template <class... S>
constexpr std::array<std::size_t, sizeof...(S) + 1> scalars_before() {
  std::array<std::size_t, sizeof...(S) + 1> n{};
  std::size_t k = 0;
  ((n[k + 1] = n[k] + scalars_in<S>, ++k), ...);
  return n;
}

// Takes the history of a variable out of all histories; its first one has number First.
template <class S, std::size_t First, class Histories>
auto history_of_variable(Histories& all) {
  if constexpr (is_scalar<S>) return std::move(get<First>(all));
  else if constexpr (!structured<S>) return no_history{};
  else
    return [&]<class... M, std::size_t... I>(std::type_identity<tuple<M...>>,
                                             std::index_sequence<I...>) {
      return typename mapped<S, history_in_place>::type{
          history_of_variable<M, First + scalars_before<M...>()[I]>(all)...};
    }(std::type_identity<member_types_t<S>>{},
           std::make_index_sequence<std::tuple_size_v<member_types_t<S>>>{});
}

/// The histories by variable: those of a struct's scalars in a struct, then the remaining ones.
template <class... S, class... H>
auto histories_by_variable(tuple<H...> all) {
  if constexpr (!(structured<S> || ...)) return all;
  else {
    constexpr std::size_t scalars = scalars_in<tuple<S...>>;
    auto of_state = [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&]<class V, std::size_t First>(std::type_identity<V>,
                                                       std::integral_constant<std::size_t, First>) {
        if constexpr (scalars_in<V> > 0) return tuple{history_of_variable<V, First>(all)};
        else return tuple<>{};
      };
      return concatenate(one(std::type_identity<S>{},
                             std::integral_constant<std::size_t, scalars_before<S...>()[I]>{})...);
    }(std::index_sequence_for<S...>{});
    auto others = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return tuple<std::tuple_element_t<scalars + I, tuple<H...>>...>{
          std::move(get<scalars + I>(all))...};
    }(std::make_index_sequence<sizeof...(H) - scalars>{});
    return concatenate(std::move(of_state), std::move(others));
  }
}

}  // namespace detail
}  // namespace dsl

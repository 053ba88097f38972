// The library's own std::tuple: with std::tuple and std::apply instead, one expression takes nvcc a
// fifth of a second more.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dsl::detail {

template <std::size_t I, class T> struct tuple_element { T value; };

template <class Numbers, class... T> struct tuple_elements;
template <std::size_t... I, class... T>
struct tuple_elements<std::index_sequence<I...>, T...> : tuple_element<I, T>... {};

/// Values of several types, which may be references. Expressions hold it; users pass and receive
/// std::tuple.
template <class... T>
struct tuple : tuple_elements<std::index_sequence_for<T...>, T...> {
  constexpr tuple() = default;
  constexpr tuple(T... x)
    requires(sizeof...(T) > 0)
      : tuple_elements<std::index_sequence_for<T...>, T...>{{static_cast<T&&>(x)}...} {}
};
template <class... T> tuple(T...) -> tuple<T...>;

/// Whether T is a dsl tuple or a std::tuple, as returned by a user's function.
template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<tuple<T...>> = true;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <std::size_t I, class T> constexpr T& get(tuple_element<I, T>& x) { return x.value; }
template <std::size_t I, class T> constexpr const T& get(const tuple_element<I, T>& x) {
  return x.value;
}
// For `auto [a, b] = ...`.
template <std::size_t I, class T> constexpr T&& get(tuple_element<I, T>&& x) {
  return static_cast<T&&>(x.value);
}
/// The element of type T.
template <class T, std::size_t I> constexpr T& get(tuple_element<I, T>& x) { return x.value; }
template <class T, std::size_t I> constexpr const T& get(const tuple_element<I, T>& x) {
  return x.value;
}

template <class... T> constexpr tuple<T&...> references(T&... x) { return {x...}; }

template <class F, class Tuple, std::size_t... I>
constexpr decltype(auto) unpack(F& f, Tuple& all, std::index_sequence<I...>) {
  return f(get<I>(all)...);
}
/// Calls f with the elements of a dsl tuple or std::tuple as lvalues.
template <class F, class Tuple>
constexpr decltype(auto) unpack(F&& f, Tuple&& all) {
  return unpack(f, all, std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Tuple>>>{});
}

template <class... Tuples> struct concatenation;
template <> struct concatenation<> { using type = tuple<>; };
template <class... A> struct concatenation<tuple<A...>> { using type = tuple<A...>; };
template <class... A, class... B> struct concatenation<tuple<A...>, tuple<B...>> {
  using type = tuple<A..., B...>;
};
template <class... A, class... B, class... C, class... Rest>
struct concatenation<tuple<A...>, tuple<B...>, tuple<C...>, Rest...>
    : concatenation<tuple<A..., B..., C...>, Rest...> {};
template <class... Tuples> using concatenation_t = typename concatenation<Tuples...>::type;

template <class... A, class... B, std::size_t... I, std::size_t... J>
constexpr tuple<A..., B...> concatenate_two(tuple<A...>& a, tuple<B...>& b,
                                            std::index_sequence<I...>, std::index_sequence<J...>) {
  return {static_cast<A&&>(get<I>(a))..., static_cast<B&&>(get<J>(b))...};
}
constexpr tuple<> concatenate() { return {}; }
template <class... A> constexpr tuple<A...> concatenate(tuple<A...> a) { return a; }
template <class... A, class... B, class... Rest>
constexpr concatenation_t<tuple<A...>, tuple<B...>, Rest...> concatenate(tuple<A...> a,
                                                                         tuple<B...> b,
                                                                         Rest... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return concatenate_two(a, b, std::index_sequence_for<A...>{}, std::index_sequence_for<B...>{});
  else
    return concatenate(
        concatenate_two(a, b, std::index_sequence_for<A...>{}, std::index_sequence_for<B...>{}),
        static_cast<Rest&&>(rest)...);
}

template <std::size_t I, class T> struct numbered_type { using type = T; };
template <class Numbers, class... T> struct numbered_types;
template <std::size_t... I, class... T>
struct numbered_types<std::index_sequence<I...>, T...> : numbered_type<I, T>... {};
template <std::size_t I, class T> numbered_type<I, T> nth_type(numbered_type<I, T>*);

}  // namespace dsl::detail

// For structured bindings.
template <class... T>
struct std::tuple_size<dsl::detail::tuple<T...>>
    : std::integral_constant<std::size_t, sizeof...(T)> {};
template <std::size_t I, class... T>
struct std::tuple_element<I, dsl::detail::tuple<T...>>
    : decltype(dsl::detail::nth_type<I>(
          static_cast<dsl::detail::numbered_types<std::index_sequence_for<T...>, T...>*>(
              nullptr))) {};

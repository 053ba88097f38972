// Whether an operand may read a variable, by its type.
#pragma once

#include <dsl/lang/derivative.hpp>
#include <dsl/lang/evaluated_cut.hpp>
#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// Whether an operand may read one of the variables, by its type. V: views of the variables.
template <class E, class... V> inline constexpr bool may_read = false;
template <class T, int R, class... V>
inline constexpr bool may_read<view<const T, R>, V...> =
    ((std::same_as<typename V::value_type, T> && (R == 0 || V::rank > 0)) || ...);
template <class T, int R, class... V>
inline constexpr bool may_read<neighbour_leaf<T, R>, V...> = may_read<view<const T, R>, V...>;
template <class T, int R, class... V>
inline constexpr bool may_read<address_leaf<T, R>, V...> =
    ((std::same_as<typename V::value_type, T> && V::rank > 0) || ...);
template <class F, class... X, class... V>
inline constexpr bool may_read<expression<F, X...>, V...> =
    may_have_derivative(trace_t<expression<F, X...>>::type.type) && (may_read<X, V...> || ...);
template <class X, class... V>
inline constexpr bool may_read<expression<stop_gradient_function, X>, V...> = false;
template <class F, int R, class... X, class... V>
inline constexpr bool may_read<reduction<F, R, X...>, V...> = (may_read<X, V...> || ...);
template <class E, class T, int R, class... V>
inline constexpr bool may_read<evaluated_cut<E, T, R>, V...> = may_read<E, V...>;

}  // namespace dsl::detail

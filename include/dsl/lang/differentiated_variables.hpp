// The variables and parameters of a loop that is differentiated: which of them have derivatives,
// and memory for these.
#pragma once

#include <dsl/lang/gradient.hpp>

namespace dsl::detail {

/// Whether a derivative with respect to a loop's parameter is computed: it is in device memory, of
/// floating point numbers.
template <class P>
constexpr bool is_differentiated() {
  if constexpr (is_array<P> || is_scalar<P> || is_view_leaf<P>)
    return may_have_derivative(dtype_v<std::remove_const_t<typename P::value_type>>);
  else return false;
}
template <class X>
auto zeros_like(const X& x) {
  const auto of = as_operand(x);
  auto made = gradient_like(of, of.owner().where());
  made = typename decltype(made)::value_type{};
  return made;
}
/// What there is instead of the derivative of a parameter that has none.
struct no_derivative_of_parameter {};
template <class P>
auto derivative_memory(const P& parameter) {
  if constexpr (is_differentiated<P>()) return zeros_like(parameter);
  else return no_derivative_of_parameter{};
}

template <class V>
auto copy_of_variable(const V& v) {
  return eval(as_operand(v));
}
/// A variable after the last step; a copy of a view, which may not be contiguous.
template <class V>
auto last_of_variable(const V& v) {
  if constexpr (is_view_leaf<V>) return copy_of_variable(v);
  else return as_operand(v);
}

/// The number of true values before number i.
template <bool... Is>
constexpr std::size_t count_before(std::size_t i) {
  constexpr bool is[] = {Is...};
  std::size_t n = 0;
  for (std::size_t k = 0; k < i; ++k) n += is[k] ? 1 : 0;
  return n;
}

/// The weights of a loop's last variables, for a loss; zeros of those that have no derivative.
template <class Loss, class... V>
auto weights_of_last(const Loss& loss, const V&... variables) {
  const auto differentiated = concatenate([&] {
    if constexpr (is_differentiated<V>()) return tuple<const V&>(variables);
    else return tuple<>{};
  }()...);
  auto found =
      unpack([&](const auto&... v) { return evaluate_gradient(gradient(loss, v...), false); },
             differentiated);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<std::size_t K, class X>(const X& x) {
      if constexpr (is_differentiated<X>())
        return std::move(get<count_before<is_differentiated<V>()...>(K)>(found));
      else return zeros_like(x);
    };
    return tuple{one.template operator()<I>(variables)...};
  }(std::index_sequence_for<V...>{});
}

}  // namespace dsl::detail

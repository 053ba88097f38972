// The gradient of a loss with respect to arrays and scalars that stand in it, alone or after the
// loss's value.
#pragma once

#include <dsl/lang/evaluated_loss.hpp>
#include <dsl/lang/fused_gradient.hpp>

namespace dsl {

namespace detail {

/// A gradient that is computed when it is assigned; if `Value`, after the loss's value.
template <bool Value, class Loss, class... V>
struct gradient_expression {
  using lazy_expression = void;
  static constexpr int rank = Value ? 0 : std::tuple_element_t<0, tuple<V...>>::rank;
  Loss loss;
  tuple<V...> variables;

  device where() const { return get<0>(variables).owner().where(); }
};
template <bool Value, class... E>
inline constexpr bool stands_alone<gradient_expression<Value, E...>> = true;
template <bool Value, class Loss, class... V>
struct traced<gradient_expression<Value, Loss, V...>> {
  static constexpr auto run(tracer& t) {
    const tuple gradient{symbol<dtype_v<typename V::value_type>>{t.g, 0}...};
    if constexpr (Value) return concatenate(tuple{trace_t<Loss>{t.g, 0}}, gradient);
    else return gradient;
  }
};

/// Evaluates a gradient: an array or a scalar for each variable, if `Value` after the loss's, a
/// scalar. Throws value_error if a variable does not occur in the loss and all must.
template <bool Value, class Loss, class... V>
auto evaluate_gradient(const gradient_expression<Value, Loss, V...>& e, bool all_occur = true) {
  constexpr int count = static_cast<int>(sizeof...(V));
  constexpr dtype D = trace_t<Loss>::type.type;
  variable_gradient all[count];
  const device where = e.where();
  auto results = unpack(
      [&](const auto&... v) {
        return tuple<decltype(gradient_like(v, where))...>{gradient_like(v, where)...};
      },
      e.variables);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (describe(all[I], get<I>(e.variables), get<I>(results).view()), ...);
  }(std::index_sequence_for<V...>{});
  gradient_sweep<V...> sweep(all, where);
  sweep.note_variables(e.loss);
  if (all_occur) require_variables(all, count);
  constexpr bool of_scans = scans_have_derivatives<Loss, V...>;
  static_assert(of_scans,
                "of complex scans dsl::gradient knows only cumsum's derivative: scan real and "
                "imaginary parts");
  const auto fuse = [&]<class X>(variable_gradient& to, const X& variable, auto& result) {
    if constexpr (has_fused_gradient<X, Loss>)
      to.is_complete = fused_gradient<Loss, X>::assign_to(result.view(), e.loss, variable, where);
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (fuse(all[I], get<I>(e.variables), get<I>(results)), ...);
  }(std::index_sequence_for<V...>{});
  const auto loss = [&] {
    if constexpr (Value && !(has_fused_gradient<V, Loss> || ...))
      return evaluated_loss<V...>::of(e.loss);
    else return e.loss;
  }();
  if constexpr (of_scans)
    sweep.add(loss, value_leaf<element_t<real_of(D)>>{1}, std::array<std::int64_t, 0>{});
  for (variable_gradient& v : all) finish_gradient(v);
  if constexpr (Value) return concatenate(tuple{eval(loss)}, std::move(results));
  else return results;
}

// An array takes over the gradient's memory, unless something else refers to its own: that sees the
// gradient then.
template <class Target, class Found>
void take_gradient(Target& target, Found& found) {
  if constexpr (is_array<Target> && std::same_as<Target, Found>) {
    const bool has_room = target.has_memory();
    if (!has_room || (target.extents() == found.extents() && target.where() == found.where() &&
                      is_owned_by_one(target.view().owner()))) {
      target = std::move(found);
      return;
    }
  }
  assign(target, found);
}

template <class... Targets, bool Value, class Loss, class... V>
void assign_tied(const tuple<Targets&...>& targets,
                 const gradient_expression<Value, Loss, V...>& e) {
  constexpr bool as_many = sizeof...(Targets) == sizeof...(V) + Value;
  static_assert(as_many || Value, "a gradient has a target for each of its variables");
  static_assert(as_many || !Value,
                "dsl::value_and_gradient has a target for the loss and one for each variable: "
                "dsl::tie(value, da, db) = dsl::value_and_gradient(loss, a, b)");
  if constexpr (as_many) {
    auto found = evaluate_gradient(e);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (take_gradient(get<I>(targets), get<I>(found)), ...);
    }(std::index_sequence_for<Targets...>{});
  }
}

template <bool Value, class Loss, class... V>
inline constexpr bool is_one_value<gradient_expression<Value, Loss, V...>> =
    !Value && gradient_expression<Value, Loss, V...>::rank == 0;

template <class Loss>
constexpr bool require_loss() {
  if constexpr (std::same_as<Loss, refused> || !require_operand<Loss>()) {
    return false;
  } else {
    using value = trace_t<operand_t<Loss>>;
    constexpr bool is_one = is_symbol<value> && result_rank<operand_t<Loss>> == 0;
    static_assert(is_one, "dsl::gradient takes a loss with one value: dsl::sum or dsl::mean of it");
    if constexpr (is_one) {
      constexpr bool has_derivative = may_have_derivative(value::type.type);
      static_assert(
          has_derivative,
          "a derivative is that of floating point values: integers and booleans have none");
      return has_derivative;
    } else {
      return false;
    }
  }
}
template <class... V>
constexpr bool require_variables_in_memory() {
  constexpr bool are_variables = ((is_array<V> || is_scalar<V> || is_view_leaf<V>) && ...);
  static_assert(are_variables,
                "a variable of dsl::gradient is an array, a view or a scalar in device memory");
  if constexpr (are_variables) {
    constexpr bool are_real = (may_have_derivative(dtype_v<typename V::value_type>) && ...);
    static_assert(are_real, "a derivative is with respect to floating point numbers");
    return are_real;
  } else {
    return false;
  }
}

template <bool Value, class Loss, class... Variables>
auto make_gradient(const Loss& loss, const Variables&... variables) {
  if constexpr (!require_loss<Loss>() || !require_variables_in_memory<Variables...>())
    return refused{};
  else
    return gradient_expression<Value, operand_t<Loss>, operand_t<Variables>...>{
        as_operand(loss), {as_operand(variables)...}};
}

}  // namespace detail

/// The gradient of a loss, an expression with one value, with respect to arrays, views and scalars
/// that stand in it. Assigned to a target for each variable, of its shape and dtype: to an array or
/// a scalar, or by dsl::tie.
///
/// The variables are found in the loss by their memory when the gradient is assigned: several uses
/// of one add up, a view contributes to its elements, what was broadcast is summed. The gradient
/// runs backwards through the loss, by a statement for each reduction and each shape of variables,
/// without a tape; the same bits in every run. It does not wait. Of complex variables it is
/// df/dx - i df/dy, as JAX's. Integers, comparisons, random numbers and everything else without a
/// derivative count as constants. It cannot be an operand of a formula: evaluate it first.
///
/// Throws value_error if a variable does not occur in the loss, if it is not contiguous in
/// row-major order, or if the loss reads its memory in another way than as its elements.
/// ```cpp
/// const auto loss = dsl::mean(square(a * exp(-k * t) - y));
/// dsl::scalar<double> da, dk;
/// dsl::tie(da, dk) = dsl::gradient(loss, a, k);
/// ```
template <class Loss, class... Variables>
  requires(sizeof...(Variables) > 0)
auto gradient(const Loss& loss, const Variables&... variables) {
  return detail::make_gradient<false>(loss, variables...);
}
/// The value of a loss, then its gradient as `gradient` gives it, up to rounding. Assigned by
/// dsl::tie to a dsl::scalar of the loss's dtype and a target for each variable.
///
/// Reductions inside the loss whose values the gradient reads are evaluated once for both, unless
/// the gradient is one kernel, which computes them again on the chip. Throws
/// as `gradient` does. It does not wait.
/// ```cpp
/// dsl::tie(value, da, dk) = dsl::value_and_gradient(loss, a, k);
/// ```
template <class Loss, class... Variables>
  requires(sizeof...(Variables) > 0)
auto value_and_gradient(const Loss& loss, const Variables&... variables) {
  return detail::make_gradient<true>(loss, variables...);
}

/// Evaluates the gradient with respect to one variable into a target.
template <class Target, class Loss, class V>
void assign(Target&& target, const detail::gradient_expression<false, Loss, V>& e) {
  using namespace detail;
  // An array takes over the gradient's memory instead.
  if constexpr (has_fused_gradient<V, Loss> && !is_array<std::remove_cvref_t<Target>>)
    if (fused_gradient<Loss, V>::assign_to(target, e.loss, get<0>(e.variables), e.where())) return;
  auto found = detail::evaluate_gradient(e);
  detail::take_gradient(target, detail::get<0>(found));
}
template <class Target, class Loss, class... V>
  requires(sizeof...(V) > 1)
void assign(Target&&, const detail::gradient_expression<false, Loss, V...>&) {
  static_assert(sizeof...(V) == 1,
                "a gradient with respect to several variables has a target for each: dsl::tie(da, "
                "db) = dsl::gradient(loss, a, b)");
}
template <class Target, class Loss, class... V>
void assign(Target&&, const detail::gradient_expression<true, Loss, V...>& e) {
  detail::assign_tied(detail::tuple<>{}, e);
}
template <class Loss, class V>
auto eval(const detail::gradient_expression<false, Loss, V>& e) {
  return std::move(detail::get<0>(detail::evaluate_gradient(e)));
}

}  // namespace dsl

// Expressions that do not share a kernel, assigned together.
#pragma once

#include <dsl/lang/assign.hpp>

namespace dsl::detail {

/// Whether an expression can only be assigned to a target of its own shape, without broadcasting:
/// scans and reductions by key.
template <class E> inline constexpr bool has_own_shape = is_materialized<E> || is_by_key<E>;

// An array or a scalar without memory for the result that is assigned to a target.
template <class T, int R> array<T, R> memory_for_result(std::type_identity<array<T, R>>) {
  return {};
}
template <class T> scalar<T> memory_for_result(std::type_identity<scalar<T>>) {
  return scalar<T>{};
}
template <class T, int R>
auto memory_for_result(std::type_identity<view<T, R>>) {
  if constexpr (R == 0) return scalar<T>{};
  else return array<T, R>{};
}
// A target without memory takes over the memory of its result.
template <class Target, class Made>
constexpr bool takes_over(const Target& target, const Made&) {
  if constexpr (std::same_as<Target, Made>) return !target.has_memory();
  else return false;
}
template <class Target, class Made>
void take_over(Target& target, Made& made) {
  if constexpr (std::same_as<Target, Made>)
    if (takes_over(target, made)) target = std::move(made);
}
/// Assigns expressions to one target each. Evaluates one after another into new memory, so that all
/// are complete before the first target is written. Does not wait.
template <class... Targets, class... E, std::size_t... I>
void assign_apart(const tuple<Targets&...>& targets, const tuple<E...>& e,
                  std::index_sequence<I...>) {
  check_targets(get<I>(targets)...);
  tuple<decltype(memory_for_result(std::type_identity<std::remove_const_t<Targets>>{}))...> made{
      memory_for_result(std::type_identity<std::remove_const_t<Targets>>{})...};
  (assign(get<I>(made), get<I>(e)), ...);
  operand from[sizeof...(I)], to[sizeof...(I)], *read = from, *written = to;
  const auto add_copy = [&](const auto& target, const auto& of, const auto& expression) {
    if (takes_over(target, of)) return;
    add_leaves(as_operand(of), read);
    add_leaves(as_operand(target), written);
    if constexpr (has_own_shape<std::remove_cvref_t<decltype(expression)>>)
      require_shape(read[-1], written[-1]);
  };
  (add_copy(get<I>(targets), get<I>(made), get<I>(e)), ...);
  copy_all(from, to, static_cast<int>(read - from));
  (take_over(get<I>(targets), get<I>(made)), ...);
}

template <class E>
auto as_part(const E& e) {
  static_assert(!stands_alone<E> || is_by_key<E>,
                "a selection is assigned by a statement of its own: dsl::tie(kept, count) = ...");
  if constexpr (is_by_key<E> || is_materialized<E>) return e;
  else return as_operand(e);
}

/// Assigns expressions, of which some are scans or operations on whole arrays, to one target each,
/// as `assign_apart`.
template <class... Targets, class... E>
void assign_each_apart(const tuple<Targets&...>& targets, const E&... e) {
  constexpr bool each_has_one = sizeof...(Targets) == sizeof...(E);
  static_assert(each_has_one,
                "beside a scan, a product or a transform each expression has one target");
  if constexpr (each_has_one)
    assign_apart(targets, tuple<decltype(as_part(e))...>{as_part(e)...},
                 std::index_sequence_for<E...>{});
}

}  // namespace dsl::detail

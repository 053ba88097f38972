// Elements of a dtype that is known while the program runs, for tasks that compute with few types.
#pragma once

#include <dsl/ir/op.hpp>

namespace dsl::detail {

/// Whether tasks compute with elements of a dtype as V: integers as one of 64 bits or as double.
template <class V, dtype D>
inline constexpr bool is_computed_as =
    kind_of(D) <= kind::integer ? sizeof(V) == 8 && !is_complex<V> : std::same_as<value_t<D>, V>;

/// Calls use(T{}) with the type in memory of a dtype whose elements are computed with as V.
template <class V, int First = 0, class Use>
DSL_DETAIL_FN void with_memory_type(dtype type, const Use& use) {
  if constexpr (First < dtype_count) {
    constexpr auto D = static_cast<dtype>(First);
    if constexpr (is_computed_as<V, D>)
      if (type == D) return use(memory_t<D>{});
    with_memory_type<V, First + 1>(type, use);
  }
}

/// Converts an element from memory to the type of computation, and back.
template <class V, class T>
DSL_DETAIL_FN V widened(T element) {
  if constexpr (is_complex<T>) return element;
  else return math::convert<V>(to_value(element));
}
template <class T, class V>
DSL_DETAIL_FN T rounded(V value) {
  if constexpr (is_complex<T>) return value;
  else return static_cast<T>(math::convert_to<dtype_v<T>>(value));
}

}  // namespace dsl::detail

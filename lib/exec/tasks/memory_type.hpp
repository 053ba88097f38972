// Elements of a dtype that is known while the program runs, for tasks that compute with few types.
#pragma once

#include <dsl/ir/op.hpp>

namespace dsl::detail {

/// Calls use(T{}) with the type in memory of a dtype whose elements are computed with as V.
template <class V, class Use>
DSL_DETAIL_FN void with_memory_type(dtype type, const Use& use) {
  if constexpr (is_complex<V>) {
    use(V{});
  } else if constexpr (std::same_as<V, float>) {
    if (type == dtype::float16) use(half{});
    else if (type == dtype::bfloat16) use(bfloat16{});
    else use(float{});
  } else {
    switch (type) {
      case dtype::boolean: return use(bool{});
      case dtype::int8: return use(std::int8_t{});
      case dtype::int16: return use(std::int16_t{});
      case dtype::int32: return use(std::int32_t{});
      case dtype::int64: return use(std::int64_t{});
      case dtype::uint8: return use(std::uint8_t{});
      case dtype::uint16: return use(std::uint16_t{});
      case dtype::uint32: return use(std::uint32_t{});
      case dtype::uint64: return use(std::uint64_t{});
      default:
        if constexpr (std::floating_point<V>) use(double{});
    }
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

// Arrays as text.
#pragma once

#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>

namespace dsl {

namespace detail {

/// Elements on a device as text, in the format of NumPy's str(). Waits.
text to_text(dtype type, const buffer_ref& owner, const void* origin, const mapping& elements);

template <class T, int R> text to_text(const view<T, R>& v) {
  return to_text(dtype_v<T>, v.owner(), v.origin(), v.mapping());
}
template <class T, int R> text to_text(const array<T, R>& a) {
  return a.has_memory() ? to_text(a.view()) : text("[]");
}
template <class T> text to_text(const scalar<T>& s) { return to_text(s.view()); }
template <class T> text to_text(const element_reference<T>& e) { return to_text(e.view()); }

template <class X>
concept printed_from_memory = requires(const X& x) { to_text(x); };

}  // namespace detail

/// Prints the elements as NumPy does: brackets, aligned columns, 8 digits after the point, lines of
/// 75 characters. Arrays of more than 1000 elements are abbreviated to the first and last three
/// along each axis, and only these are copied to the host. Waits. Throws memory_error for a view
/// without memory. An expression is evaluated first and prints as an array or, for rank 0, as a
/// single value.
template <class Stream, class X>
  requires(detail::printed_from_memory<X> || detail::lazy<X>) && requires(Stream& s) { s.put('c'); }
Stream& operator<<(Stream& stream, const X& x) {
  if constexpr (detail::printed_from_memory<X>) stream << detail::to_text(x).c_str();
  else stream << detail::evaluate(x);
  return stream;
}

}  // namespace dsl

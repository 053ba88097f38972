// Arrays from nothing and from the host.
#pragma once

#include <dsl/mem/array.hpp>

namespace dsl {

namespace detail {

template <class H>
concept host_range = requires(const H& h) {
  { h.size() } -> std::convertible_to<std::size_t>;
  h.data();
} && element<std::remove_cvref_t<decltype(*std::declval<const H&>().data())>>;

}  // namespace detail

/// A copy of a contiguous host range (std::vector, std::array, std::span, ...) on the current device, of rank 1. It has been read
/// when this returns: the range may go at once. Throws memory_error, device_error or cuda_error.
template <detail::host_range H>
auto to_device(const H& host) {
  array<std::remove_cvref_t<decltype(*host.data())>, 1> a(static_cast<std::int64_t>(host.size()));
  detail::upload(a.view().owner(), a.data(), host.data(), host.size() * sizeof(*host.data()));
  return a;
}

/// An array of these extents on the current device, every element `value`: dsl::full<float>(0.5f, 512, 512). Does not wait.
/// Throws shape_error (a negative extent), memory_error, device_error or cuda_error.
template <element T, std::integral... N>
array<T, sizeof...(N)> full(const T& value, N... n) {
  array<T, sizeof...(N)> a(n...);
  detail::fill(a.view().owner(), a.data(), &value, sizeof(T), a.size());
  return a;
}
/// The same of zeros, and of ones.
template <element T, std::integral... N>
array<T, sizeof...(N)> zeros(N... n) {
  return full<T>(T{}, n...);
}
template <element T, std::integral... N>
array<T, sizeof...(N)> ones(N... n) {
  return full<T>(T(1), n...);
}

}  // namespace dsl

// Arrays with given values, and copies of host data.
#pragma once

#include <initializer_list>

#include <dsl/mem/array.hpp>

namespace dsl {

namespace detail {

template <class H>
concept host_range = requires(const H& h) {
  { h.size() } -> std::convertible_to<std::size_t>;
  h.data();
} && element<std::remove_cvref_t<decltype(*std::declval<const H&>().data())>>;

}  // namespace detail

/// A copy of a contiguous host range (std::vector, std::array, std::span, ...) on the current
/// device, of rank 1. The range may be freed when this returns. Throws memory_error, device_error
/// or cuda_error.
template <detail::host_range H>
auto to_device(const H& host) {
  array<std::remove_cvref_t<decltype(*host.data())>, 1> a(static_cast<std::int64_t>(host.size()));
  detail::upload(a.view().owner(), a.origin(), host.data(), host.size() * sizeof(*host.data()));
  return a;
}

/// The same for a list: dsl::to_device({1.0f, 2.0f}).
template <element T>
array<T, 1> to_device(std::initializer_list<T> values) {
  array<T, 1> a(static_cast<std::int64_t>(values.size()));
  detail::upload(a.view().owner(), a.origin(), values.begin(), values.size() * sizeof(T));
  return a;
}
/// Any other argument does not compile; the message names the valid ones.
template <class... H>
refused to_device(const H&...) {
  static_assert(
      sizeof...(H) > 64,
      "dsl::to_device takes elements of one dtype that lie one after another, a std::vector, "
      "std::array or std::span of them: of "
      "rows dsl::reshape makes a matrix, and for std::vector<bool> take one of unsigned char");
  return {};
}

/// An array with these extents on the current device, every element `value`: dsl::full<float>(0.5f,
/// 512, 512). Does not wait. Throws shape_error (a negative extent), memory_error, device_error or
/// cuda_error.
template <element T, std::integral... N>
array<T, sizeof...(N)> full(const T& value, N... n) {
  array<T, sizeof...(N)> a(n...);
  detail::fill(a.view().owner(), a.origin(), &value, sizeof(T), a.size());
  return a;
}
/// The same with every element 0, and with every element 1.
template <element T, std::integral... N>
array<T, sizeof...(N)> zeros(N... n) {
  return full<T>(T{}, n...);
}
template <element T, std::integral... N>
array<T, sizeof...(N)> ones(N... n) {
  return full<T>(T(1), n...);
}

namespace detail {

template <class... Given>
constexpr refused no_dtype_or_extents() {
  static_assert(sizeof...(Given) > 64,
                "dsl::zeros, ones and full take the dtype first and extents as numbers: "
                "dsl::zeros<float>(3, 4)");
  return {};
}

}  // namespace detail

// These do not compile; the message names the valid calls.
template <std::same_as<void> Never = void, class... N> refused zeros(const N&...) {
  return detail::no_dtype_or_extents<N...>();
}
template <std::same_as<void> Never = void, class... N> refused ones(const N&...) {
  return detail::no_dtype_or_extents<N...>();
}
template <class T, class I, std::size_t Rank> refused zeros(const I (&)[Rank]) {
  return detail::no_dtype_or_extents<T, I>();
}
template <class T, class I, std::size_t Rank> refused ones(const I (&)[Rank]) {
  return detail::no_dtype_or_extents<T, I>();
}

}  // namespace dsl

// Compiler messages for code that uses elements on a device as values on the host.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <vector>

#include <dsl/ir/promotion.hpp>
#include <dsl/mem/numpy_members.hpp>

namespace dsl {

namespace detail {

/// A C++ number. size_t is excluded: constructing a std::vector from an array must not be taken for
/// its size.
template <class V>
concept number = element<V> && !std::same_as<V, std::size_t>;

template <class I>
constexpr refused no_brackets() {
  static_assert(sizeof(I) == 0,
                "elements are chosen by x(i), m(i, j) and x(dsl::slice(0, n)), not by brackets");
  return {};
}

/// Members of arrays and views that do not compile; the message names the valid calls.
template <class Element>
class in_device_memory : public numpy_members<true> {
 public:
  template <class I> refused operator[](const I&) const { return no_brackets<I>(); }
  template <class E = Element> E* begin() const { return no_iterator<E>(); }
  template <class E = Element> E* end() const { return no_iterator<E>(); }
  template <class E, class Allocator> operator std::vector<E, Allocator>() const {
    return *no_iterator<std::vector<E, Allocator>>();
  }
  template <number V> operator V() const { return no_number<V>(); }

 private:
  template <class E>
  static E* no_iterator() {
    static_assert(sizeof(E) == 0,
                  "elements are in device memory: loop over x.copy_to_host(), a std::vector, or "
                  "write an expression");
    return nullptr;
  }
  template <class V>
  static V no_number() {
    static_assert(sizeof(V) == 0,
                  "an array is no single value: take x(i), for a condition dsl::all(x).value() or "
                  "dsl::any(x).value(), and for a "
                  "function of numbers dsl::vectorize");
    return V{};
  }
};

/// Poison result of auto [s, c] = f(u): suppresses follow-on errors.
template <class E>
constexpr refused no_binding() {
  static_assert(sizeof(E) == 0,
                "an expression's values are not bound to names: assign them to arrays, dsl::tie(s, "
                "c) = f(u)");
  return {};
}

/// Members of expressions that do not compile; the message names the valid calls.
template <int Rank>
struct not_yet_evaluated : numpy_members<false> {
  template <class I> refused operator[](const I&) const { return no_brackets<I>(); }
  template <class E = refused> E* begin() const { return no_memory<E>(); }
  template <class E = refused> E* end() const { return no_memory<E>(); }
  template <class E, class Allocator> operator std::vector<E, Allocator>() const {
    return *no_memory<std::vector<E, Allocator>>();
  }
  template <class... Targets>
  operator std::tuple<Targets...>() const {
    static_assert(sizeof...(Targets) > 64,
                  "several values are assigned to dsl::tie(x, y), not to std::tie");
    return *static_cast<std::tuple<Targets...>*>(nullptr);
  }
  template <class E = refused> E copy_to_host() const { return *no_memory<E>(); }
  template <std::size_t> refused get() const { return no_binding<not_yet_evaluated>(); }
  template <number V>
  operator V() const {
    static_assert(Rank != 0,
                  "an expression is not a value yet: x.value() evaluates it, copies it to the host "
                  "and waits");
    static_assert(Rank == 0,
                  "an expression of many elements is no single value: for a condition take "
                  "dsl::all(x).value() or dsl::any(x).value()");
    return V{};
  }

 private:
  template <class E>
  static E* no_memory() {
    static_assert(sizeof(E) == 0,
                  "an expression has no elements yet: dsl::eval(x).copy_to_host() evaluates it and "
                  "gives a std::vector");
    return nullptr;
  }
};

/// Reports a source of elements of an array of T that is a C++ scalar of another type, or no source
/// at all.
template <class T, class V>
constexpr void no_source() {
  constexpr bool is_real =
      !element<V> ||
      require_real_value<dtype_v<T>, dtype_v<std::conditional_t<element<V>, V, T>>>();
  static_assert(
      !element<V> || !is_real,
      "the target's dtype is narrower than the value's: use a value of its dtype, or static_cast");
  static_assert(element<V>,
                "an array is assigned arrays, expressions and C++ numbers: of a std::vector take "
                "dsl::to_device(v), or "
                "x.copy_from_host(v)");
}
/// Requires an array's rank to be that of the expression from which it is made.
template <int Rank, int Given>
constexpr void require_rank() {
  static_assert(Rank >= Given, "an array is made of an expression of as many dimensions");
  static_assert(Rank <= Given || Given == 0,
                "an array is made of an expression of as many dimensions: dsl::reshape(x, rows, "
                "columns) gives a vector more");
  static_assert(
      Rank <= Given || Given > 0,
      "an array is made of an expression of as many dimensions: one value is a dsl::scalar");
}
/// Reports arguments that are not valid extents.
template <int Rank, class... N>
constexpr void no_extents() {
  constexpr bool are_extents = sizeof...(N) == Rank && (std::integral<N> && ...);
  static_assert(are_extents,
                "an array is made with an integer for each of its dimensions, dsl::array<float, "
                "2>(3, 4); with given elements by "
                "dsl::to_device({1.0f, 2.0f})");
}

}  // namespace detail
}  // namespace dsl

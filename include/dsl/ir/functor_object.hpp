// Functors with members: a kernel receives the object by value, as words among the arguments of its
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <dsl/ir/config.hpp>

namespace dsl::detail {

template <int K, class T> struct numbered { T value; };
template <int K, class T> DSL_DETAIL_FN T& nth(numbered<K, T>& n) { return n.value; }
template <int K, class T> DSL_DETAIL_FN const T& nth(const numbered<K, T>& n) { return n.value; }

/// A functor's bytes as words; the last word is padded with zeros.
template <class F>
struct object_words {
  static constexpr std::size_t count =
      (sizeof(F) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  std::uint64_t at[count] = {};

  explicit object_words(const F& object) { std::memcpy(at, &object, sizeof(F)); }
};

/// Makes a functor F with members stateless: it is called with F's arguments followed by the words
/// of the F object.
template <class F>
struct functor_object {
  static constexpr std::size_t words = object_words<F>::count;

  template <class... T>
    requires(sizeof...(T) >= words)
  DSL_DETAIL_FN auto operator()(T... all) const {
    return call_operator_marked_DSL_FN(given<std::index_sequence_for<T...>, T...>{{all}...},
                                       std::make_index_sequence<sizeof...(T) - words>{},
                                       std::make_index_sequence<words>{});
  }

 private:
  template <class Numbers, class... T> struct given;
  template <std::size_t... I, class... T>
  struct given<std::index_sequence<I...>, T...> : numbered<static_cast<int>(I), T>... {};

  template <class Given, std::size_t... I, std::size_t... W>
  DSL_DETAIL_FN static auto call_operator_marked_DSL_FN(Given all, std::index_sequence<I...>,
                                                        std::index_sequence<W...>) {
    union {
      std::uint64_t bytes[words];
      F object;
    } made{{nth<static_cast<int>(sizeof...(I) + W)>(all)...}};
    return made.object(nth<static_cast<int>(I)>(all)...);
  }
};

}  // namespace dsl::detail

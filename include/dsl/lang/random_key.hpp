// Keys of random numbers: values, and expressions of a loop's step.
#pragma once

#include <dsl/lang/generate.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl::random {

namespace detail {

using namespace dsl::detail;

template <class... I>
constexpr bool require_integer() {
  constexpr bool is_integer = (false || ... || std::integral<I>);
  static_assert(is_integer,
                "a key is folded with an integer, dsl::step or a dsl::scalar of an integer");
  return is_integer;
}
template <class E>
constexpr bool is_single_integer() {
  if constexpr (E::rank == 0 && is_symbol<trace_t<E>>)
    return kind_of(trace_t<E>::type.type) == kind::integer;
  else return false;
}

/// Function object of `fold`: the key derived from a key and a number.
struct fold_function {
  template <class...> static constexpr int rank = 0;
  template <class...> using calls = tuple<>;
  template <class K, class I>
  static constexpr symbol<dtype::uint64> trace(tracer& t, K key, I number) {
    const auto from = convert_symbol<dtype::uint64, false>(key),
               by = convert_symbol<dtype::uint64, false>(number);
    return {t.g, t.g->add(op::random_key, dtype::uint64, fields(from.id, by.id))};
  }
};

}  // namespace detail

/// A key that is known only when the formula runs: folded with a number that a loop counts or that
/// is in device memory.
template <class E>
class lazy_key {
 public:
  explicit lazy_key(const E& e) : operand_(e) {}
  /// As key::fold.
  template <class I> auto fold(const I& number) const;
  const E& operand() const { return operand_; }

 private:
  E operand_;
};

namespace detail {

template <class K, class I>
auto fold_lazily(const K& from, const I& number) {
  const auto by = as_operand(number);
  using By = std::remove_const_t<decltype(by)>;
  if constexpr (is_single_integer<By>()) {
    const auto made = make_expression<fold_function>(from, by);
    return lazy_key<std::remove_const_t<decltype(made)>>(made);
  } else {
    require_integer<By>();
    return refused{};
  }
}

}  // namespace detail

/// The key that random numbers are drawn with: 64 bits. The same key gives the same numbers in
/// every formula and on every device. Independent random numbers need different keys: k.fold(0),
/// k.fold(1), ...
class key {
 public:
  explicit constexpr key(std::integral auto seed) : bits_(static_cast<std::uint64_t>(seed)) {}

  /// A new key, a different one for each number. For a C++ integer the result is a key. For
  /// dsl::step, a dsl::scalar of an integer dtype or an expression of these it is an expression,
  /// which the random functions take like a key: in a loop, normal<float>(k.fold(dsl::step), n)
  /// draws other numbers in each step.
  template <class I>
  constexpr auto fold(const I& number) const {
    if constexpr (std::integral<I>)
      return key(dsl::detail::math::random_key(bits_, static_cast<std::uint64_t>(number)));
    else if constexpr (!dsl::detail::lazy_operand<I>)
      return (void)detail::require_integer<I>(), refused{};
    else return detail::fold_lazily(operand(), number);
  }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr dsl::detail::object_word operand() const { return {bits_}; }
  friend constexpr bool operator==(key, key) = default;

 private:
  std::uint64_t bits_;
};

template <class E>
template <class I>
auto lazy_key<E>::fold(const I& number) const {
  return detail::fold_lazily(operand_, number);
}

namespace detail {

template <class K> inline constexpr bool is_key = false;
template <> inline constexpr bool is_key<key> = true;
template <class E> inline constexpr bool is_key<lazy_key<E>> = true;

}  // namespace detail
}  // namespace dsl::random

// Random numbers as expressions: Philox 4x32-10 of an element's position and a key. They need no
// memory and have no state. They are the same however an expression is sliced, ordered or
// distributed over devices.
#pragma once

#include <dsl/lang/random_key.hpp>

namespace dsl::detail {
template <class Explicit> inline constexpr bool is_included<header::random, Explicit> = true;
}  // namespace dsl::detail

namespace dsl::random {

namespace detail {

// Draws as formulas of symbols: a position (int64) and a key (uint64).

template <class I, class K>
constexpr symbol<dtype::uint32> bits_at(I i, K key, std::uint32_t draw) {
  graph& g = *i.owner;
  return {&g, g.add(op::random_bits, dtype::uint32,
                    fields(i.id, key.id, constant<dtype::uint32>(&g, draw).id))};
}
template <class S>
constexpr auto to_signed(S s) {
  return dsl::cast<std::int32_t>(s);  // one instruction converts int32 vectors to floats
}

// `Bits` random bits as a floating point number: an integer below 2^Bits. A double is made of two
// words.
template <class T, int Bits, class S>
constexpr auto as_whole(S high, S low) {
  if constexpr (Bits <= 31) return dsl::cast<T>(to_signed(high >> (32 - Bits)));
  else
    return dsl::cast<T>(to_signed(high >> 5)) * T(1 << (Bits - 27)) +
           dsl::cast<T>(to_signed(low >> (59 - Bits)));
}
// Floating point dtypes narrower than float are computed in float.
template <class T> using computed_as =
    std::conditional_t<std::is_same_v<math::real_type<dsl::detail::value_t<dtype_v<T>>>, double>,
                       double, float>;
template <class T> inline constexpr int significant_bits = std::is_same_v<T, double>  ? 53
                                                           : std::is_same_v<T, float> ? 24
                                                           : std::is_same_v<T, half>  ? 11
                                                                                      : 8;

/// Uniform in [0, 1), with as many random bits as T has significant bits.
template <class T>
struct uniform_draw {
  template <class I, class K>
  static constexpr auto trace(I i, K key) {
    using V = computed_as<T>;
    constexpr int bits = significant_bits<T>;
    const auto high = bits_at(i, key, 0), low = bits > 32 ? bits_at(i, key, 1) : high;
    return dsl::cast<T>(as_whole<V, bits>(high, low) * V(1.0 / (std::uint64_t{1} << bits)));
  }
};

// An operation with a result of type V.
template <op Code, class V, class S, class... More>
constexpr symbol<dtype_v<V>> drawn(S s, const More&... more) {
  return {s.owner, s.owner->add(Code, dtype_v<V>, fields(s.id, more.id...))};
}
// Two words as one number.
template <class S>
constexpr auto joined(S high, S low) {
  return dsl::cast<std::uint64_t>(high) << 32 | dsl::cast<std::uint64_t>(low);
}
// A number in (0, 1]. For double: the middle between two multiples of 2^-53. For float: the word,
// from which op::random_log makes the middle between two multiples of 2^-31.
template <class V, class I, class K>
constexpr auto positive_at(I i, K key) {
  const auto bits = bits_at(i, key, 0);
  if constexpr (std::is_same_v<V, float>) return bits;
  else return (as_whole<V, 53>(bits, bits_at(i, key, 1)) + V(0.5)) * V(0x1p-53);
}
// Minus its logarithm (negative_log_at), and the square root of twice that (radius_at).
template <class V, class I, class K>
constexpr auto negative_log_at(I i, K key) {
  return drawn<op::random_log, V>(positive_at<V>(i, key));
}
template <class V, class I, class K>
constexpr auto radius_at(I i, K key) {
  if constexpr (std::is_same_v<V, float>)
    return drawn<op::random_radius, V>(positive_at<V>(i, key));
  else return sqrt(V(2) * negative_log_at<V>(i, key));
}
// An angle in units of 2^-32 turns, for double 2^-64 turns.
template <class V, class I, class K>
constexpr auto angle_at(I i, K key, std::uint32_t draw) {
  const auto bits = bits_at(i, key, draw);
  if constexpr (std::is_same_v<V, float>) return bits;
  else return joined(bits, bits_at(i, key, draw + 1));
}
template <class V> using angle =
    std::conditional_t<std::is_same_v<V, float>, std::uint32_t, std::uint64_t>;
template <class V> inline constexpr int quarter_bit = 8 * sizeof(V) - 2;

/// Normal of mean 0 and variance 1, by G. E. P. Box, M. E. Muller, A note on the generation of
/// random normal deviates, Ann. Math. Stat. 29 (1958). Two neighbouring elements share a radius,
/// from the even element's bits, and an angle, from the odd element's bits: one takes the cosine,
/// the other the sine. A complex number has its own radius and angle; its parts have variance 1/2
/// each.
template <class T>
struct normal_draw {
  template <class I, class K>
  static constexpr auto trace(I i, K key) {
    using V = computed_as<T>;
    constexpr dtype word = dtype_v<angle<V>>;
    if constexpr (kind_of(dtype_v<T>) == kind::complex) {
      constexpr angle<V> a_quarter = angle<V>(1) << quarter_bit<V>;
      const auto none = constant<word>(i.owner, 0), quarter = constant<word>(i.owner, a_quarter);
      const auto radius = V(0x1.6a09e667f3bcdp-1) * radius_at<V>(i, key);  // 1 / sqrt(2)
      const auto at = angle_at<V>(i, key, sizeof(V) / 4);
      const auto re = drawn<op::random_normal, V>(radius, at, quarter),
                 im = drawn<op::random_normal, V>(radius, at, none);
      return symbol<dtype_v<T>>{i.owner,
                                i.owner->add(op::complex, dtype_v<T>, fields(re.id, im.id))};
    } else {
      const auto even = i & ~std::int64_t{1}, odd = i | std::int64_t{1};
      const auto turn = dsl::cast<angle<V>>(~i & std::int64_t{1}) << quarter_bit<V>;
      return dsl::cast<T>(
          drawn<op::random_normal, V>(radius_at<V>(even, key), angle_at<V>(odd, key, 0), turn));
    }
  }
};

/// Exponential of mean 1.
template <class T>
struct exponential_draw {
  template <class I, class K>
  static constexpr auto trace(I i, K key) {
    return dsl::cast<T>(negative_log_at<computed_as<T>>(i, key));
  }
};

template <class T>
struct bits_draw {
  template <class I, class K>
  static constexpr auto trace(I i, K key) {
    const auto high = bits_at(i, key, 0);
    if constexpr (sizeof(T) == 4) return high;
    else return dsl::cast<T>(high) << 32 | dsl::cast<T>(bits_at(i, key, 1));
  }
};

/// An integer below `range`, plus `low`.
template <class T>
struct integers_draw {
  static constexpr dtype word = sizeof(T) == 8 ? dtype::uint64 : dtype::uint32;
  template <class I, class K, class W>
  static constexpr auto trace(I i, K key, W low, W range) {
    graph& g = *i.owner;
    const auto first = convert_symbol<word, false>(low), count = convert_symbol<word, false>(range);
    const symbol<word> below{&g, g.add(op::random_below, word, fields(i.id, key.id, count.id))};
    return dsl::cast<T>(first + below);
  }
};

struct bernoulli_draw {
  template <class I, class K, class W>
  static constexpr auto trace(I i, K key, W end) {
    return dsl::cast<std::uint64_t>(bits_at(i, key, 0)) < end;
  }
};

struct permutation_draw {
  template <class I, class K, class W>
  static constexpr auto trace(I i, K key, W n) {
    graph& g = *i.owner;
    return symbol<dtype::int64>{
        &g, g.add(op::random_permuted, dtype::int64, fields(i.id, key.id, n.id))};
  }
};

/// A draw for each of the positions.
template <class Draw>
struct function {
  static constexpr bool draws = true;
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class I, class K, class... W>
  static constexpr auto trace(tracer&, I i, K key, W... more) {
    return Draw::trace(i, key, more...);
  }
};

template <class Draw, class K, std::size_t Rank, class... W>
auto draw(const K& key, const std::array<std::int64_t, Rank>& sizes, const W&... more) {
  element_count(sizes.data(), static_cast<int>(Rank), 1);  // throws
  const index_leaf<static_cast<int>(Rank)> positions{0, sizes, row_major(sizes)};
  return make_expression<function<Draw>>(positions, key.operand(),
                                         object_word{static_cast<std::uint64_t>(more)}...);
}

template <class... N>
concept sizes = dsl::detail::sizes<N...> && sizeof...(N) > 0;
template <class T>
concept floating = element<T> && (kind_of(dtype_v<T>) == kind::real);
template <class T>
concept floating_or_complex = element<T> && (kind_of(dtype_v<T>) >= kind::real);
template <class T>
concept integer = element<T> && (kind_of(dtype_v<T>) == kind::integer);

/// Throws value_error if low is not below high.
void require_range(std::int64_t low, std::int64_t high);
void require_range(std::uint64_t low, std::uint64_t high);
/// The number of 32-bit words that count as true: p in units of 2^-32. Throws value_error if p is
/// no probability.
std::uint64_t words_of_probability(double p);

template <class T, class K, std::size_t Rank>
auto draw_integers(const K& key, std::type_identity_t<T> low, std::type_identity_t<T> high,
                   const std::array<std::int64_t, Rank>& sizes) {
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  require_range(static_cast<wide>(low), static_cast<wide>(high));
  const auto first = static_cast<std::uint64_t>(low),
             range = static_cast<std::uint64_t>(high) - first;
  return draw<integers_draw<T>>(key, sizes, first, range);
}

}  // namespace detail

// Each of these functions returns a lazy expression of extents n, given as separate integers or one
// std::array. Nothing runs and nothing waits before the assignment, and a slice computes only its
// own elements. Element i, in row-major order, is made of word i % 4 of block i / 4 of Philox
// 4x32-10 under the key. Draws of more than 32 bits take words of further blocks, whose
// counters contain the number of the draw. `k` is a dsl::random::key, or the result of `fold` with
// dsl::step. All throw shape_error for extents that an array cannot have.

/// 32 or 64 random bits: std::uint32_t or std::uint64_t. The same on every device.
template <class T = std::uint32_t, class K, class... N>
  requires(detail::is_key<K> && detail::sizes<N...> &&
           (std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>))
auto bits(const K& k, const N&... n) {
  return detail::draw<detail::bits_draw<T>>(k, dsl::detail::to_extents(n...));
}

/// Uniform in [0, 1): a multiple of 2^-24 (float), 2^-53 (double), 2^-11 (half) or 2^-8 (bfloat16).
/// The same on every device.
/// ```cpp
/// const dsl::random::key k{42};
/// const auto x = dsl::random::uniform<float>(k.fold(0), n),
///            y = dsl::random::uniform<float>(k.fold(1), n);
/// const double pi = 4 * dsl::mean(dsl::cast<double>(square(x) + square(y) < 1)).value();
/// ```
template <detail::floating T, class K, class... N>
  requires(detail::is_key<K> && detail::sizes<N...>)
auto uniform(const K& k, const N&... n) {
  return detail::draw<detail::uniform_draw<T>>(k, dsl::detail::to_extents(n...));
}

/// Normally distributed with mean 0 and variance 1, by Box and Muller's formula. The parts of a
/// complex number are independent, each with variance 1/2. The same on one device however the
/// expression is sliced, and on the host with every instruction set. On every device within 4 units
/// in the last place of the formula's value.
template <detail::floating_or_complex T, class K, class... N>
  requires(detail::is_key<K> && detail::sizes<N...>)
auto normal(const K& k, const N&... n) {
  return detail::draw<detail::normal_draw<T>>(k, dsl::detail::to_extents(n...));
}

/// Exponentially distributed with mean 1: minus the logarithm of a uniform number. As exact as
/// `normal`.
template <detail::floating T, class K, class... N>
  requires(detail::is_key<K> && detail::sizes<N...>)
auto exponential(const K& k, const N&... n) {
  return detail::draw<detail::exponential_draw<T>>(k, dsl::detail::to_extents(n...));
}

/// Integers from low to high - 1, each equally likely: values that would favour some integers are
/// rejected (D. Lemire, 2019). The same on every device. Throws value_error if low is not below
/// high.
template <detail::integer T, class K, class... N>
  requires(detail::is_key<K> && detail::sizes<N...>)
auto integers(const K& k, std::type_identity_t<T> low, std::type_identity_t<T> high,
              const N&... n) {
  return detail::draw_integers<T>(k, low, high, dsl::detail::to_extents(n...));
}

/// True with probability p, rounded up to a multiple of 2^-32. The same on every device. Throws
/// value_error if p is not between 0 and 1.
template <class K, class... N>
  requires(detail::is_key<K> && detail::sizes<N...>)
auto bernoulli(const K& k, double p, const N&... n) {
  return detail::draw<detail::bernoulli_draw>(k, dsl::detail::to_extents(n...),
                                              detail::words_of_probability(p));
}

/// The numbers 0, ..., n - 1 in a random order, int64: a Feistel network, which computes each
/// element independently. The same on every device.
template <class K>
  requires detail::is_key<K>
auto permutation(const K& k, std::integral auto n) {
  return detail::draw<detail::permutation_draw>(k, std::array{static_cast<std::int64_t>(n)}, n);
}

namespace detail {

template <class K>
concept no_key = !is_key<K>;
template <class K>
refused refuse_seed() {
  constexpr bool was_refused = std::same_as<K, refused>;
  static_assert(was_refused,
                "random numbers are drawn with a key, the first argument: for the seed 42 "
                "dsl::random::key{42}");
  return {};
}

}  // namespace detail

// Calls without a key: a compile-time error.
// clang-format off
template <class T = void, detail::no_key K, class... N> refused bits(const K&, const N&...) { return detail::refuse_seed<K>(); }
template <class T = void, detail::no_key K, class... N> refused uniform(const K&, const N&...) { return detail::refuse_seed<K>(); }
template <class T = void, detail::no_key K, class... N> refused normal(const K&, const N&...) { return detail::refuse_seed<K>(); }
template <class T = void, detail::no_key K, class... N> refused exponential(const K&, const N&...) { return detail::refuse_seed<K>(); }
template <class T = void, detail::no_key K, class... N> refused integers(const K&, const N&...) { return detail::refuse_seed<K>(); }
template <class T = void, detail::no_key K, class... N> refused bernoulli(const K&, const N&...) { return detail::refuse_seed<K>(); }
template <class T = void, detail::no_key K, class... N> refused permutation(const K&, const N&...) { return detail::refuse_seed<K>(); }
// clang-format on

}  // namespace dsl::random

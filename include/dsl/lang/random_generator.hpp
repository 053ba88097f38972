// Random numbers inside functors: as many for each element as its data asks for.
#pragma once

#include <dsl/lang/random.hpp>

namespace dsl::random {

namespace detail {

/// The fourth word of the counters of generators' blocks. Expressions use 0, `fold` uses 1.
inline constexpr std::uint32_t generator_blocks = 2;

/// The number of words of a value of type T.
template <class T> inline constexpr int words_of = static_cast<int>(sizeof(T) / 4);

}  // namespace detail

/// Random numbers for a named functor, drawn one after another: Philox 4x32-10 of a key, of the
/// element's position and of a counter. It is a local variable in registers, nine of 32 bits. The
/// same key and position give the same bits on every device, with every instruction set, and
/// however arrays are cut; other keys and positions give independent numbers.
///
/// `k`: a member of the functor. `position`: distinguishes the elements; dsl::arange<std::int64_t>
/// or dsl::index among the operands. Words are drawn in the order of the calls, and all four of a
/// block are used. The blocks' counters are {position, number of the block, 2}. Those of
/// expressions, such as dsl::random::uniform<float>(k, n), end with 0 and those of k.fold with 1,
/// so a generator shares no block with them under the same key. After 2^34 words it begins anew.
/// ```cpp
/// // The number of arrivals before a time; the times between them are exponential.
/// struct arrivals {
///   dsl::random::key k;
///   DSL_FN int operator()(std::int64_t i, float time) const {
///     dsl::random::generator g(k, i);
///     int n = -1;
///     for (float t = 0; t < time; ++n) t += g.exponential<float>();
///     return n;
///   }
/// };
/// ```
class generator {
 public:
  /// A generator of key 0 and position 0.
  constexpr generator() = default;
  /// `drawn`: the words drawn so far, from which it goes on.
  template <std::integral I>
  DSL_FN constexpr generator(const key& k, I position, std::uint64_t drawn = 0)
      : key_(k.bits()),
        position_(static_cast<std::uint64_t>(position)),
        next_block_(static_cast<std::uint32_t>(drawn / 4)) {
    for (std::uint64_t skipped = drawn % 4; skipped > 0; --skipped) take<1>();
  }

  /// The number of words drawn so far: the whole state, beside key and position. An array of them
  /// is enough to go on in another statement.
  DSL_FN constexpr std::uint64_t drawn() const {
    return 4 * static_cast<std::uint64_t>(next_block_) - left_;
  }

  /// 32 or 64 random bits: one word, or two.
  template <class T = std::uint32_t>
    requires(std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>)
  DSL_FN constexpr T bits() {
    const auto drawn = take<detail::words_of<T>>();
    if constexpr (sizeof(T) == 4) return drawn.word[0];
    else return static_cast<T>(drawn.word[0]) << 32 | drawn.word[1];
  }

  /// Uniform in [0, 1): a multiple of 2^-24 (float), 2^-53 (double), 2^-11 (half) or 2^-8
  /// (bfloat16). One word; two for a double.
  template <detail::floating T> DSL_FN constexpr T uniform() {
    constexpr int digits = detail::significant_bits<T>;
    if constexpr (digits == 53) {
      return whole_double() * 0x1p-53;
    } else {
      const auto whole = static_cast<std::int32_t>(bits() >> (32 - digits));
      return static_cast<T>(static_cast<float>(whole) * (1.0f / (1 << digits)));
    }
  }

  /// Exponentially distributed with mean 1: minus the logarithm of a number in (0, 1]. One word;
  /// two for a double.
  template <detail::floating T> DSL_FN T exponential() {
    return static_cast<T>(detail::math::portable::random_log(positive<detail::computed_as<T>>()));
  }

  /// Two independent normally distributed numbers of mean 0 and variance 1, by Box and Muller's
  /// formula. Two words; four for doubles.
  template <detail::floating T> DSL_FN std::pair<T, T> normal_pair() {
    using V = detail::computed_as<T>;
    using angle = detail::angle<V>;
    const V radius = detail::math::portable::random_radius(positive<V>());
    const angle at = bits<angle>(), quarter = angle{1} << detail::quarter_bit<V>;
    return {static_cast<T>(detail::math::portable::random_normal(radius, at, quarter)),
            static_cast<T>(detail::math::portable::random_normal(radius, at, angle{0}))};
  }
  /// The first of such a pair. Of a complex number both are drawn: its parts are independent, each
  /// with variance 1/2.
  template <detail::floating_or_complex T> DSL_FN T normal() {
    if constexpr (kind_of(dtype_v<T>) == kind::complex) {
      using V = detail::computed_as<T>;
      const std::pair<V, V> drawn = normal_pair<V>();
      constexpr V scale = V(0x1.6a09e667f3bcdp-1);  // 1 / sqrt(2)
      return T(scale * drawn.first, scale * drawn.second);
    } else {
      return normal_pair<T>().first;
    }
  }

  /// An integer from low to high - 1, each equally likely (D. Lemire, 2019). One word, two for
  /// integers of 64 bits; more where one is rejected. `low` if high is not above it.
  template <detail::integer T>
  DSL_FN constexpr T integers(std::type_identity_t<T> low, std::type_identity_t<T> high) {
    using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const word first = static_cast<word>(low),
               range = high > low ? static_cast<word>(high) - first : 0;
    return static_cast<T>(
        first + detail::math::below(range, [this] { return this->template bits<word>(); }));
  }

  /// True with probability p, rounded up to a multiple of 2^-32: always if p >= 1, never if p is
  /// negative, 0 or NaN. One word.
  DSL_FN constexpr bool bernoulli(double p) { return bits() < p * 0x1p32; }

 private:
  // The next N words. Only one block is needed, so this has the code of only one.
  template <int N> DSL_FN constexpr detail::math::philox_block take() {
    static_assert(N <= 4);
    detail::math::philox_block fresh{}, drawn{};
    if (left_ < N) {
      fresh = detail::math::philox(
          {{static_cast<std::uint32_t>(position_), static_cast<std::uint32_t>(position_ >> 32),
            next_block_, detail::generator_blocks}},
          key_);
      ++next_block_;
    }
    DSL_DETAIL_UNROLL
    for (int k = 0; k < N; ++k) {
      const bool is_empty = left_ == 0;
      drawn.word[k] = is_empty ? fresh.word[0] : words_[0];
      words_[0] = is_empty ? fresh.word[1] : words_[1];
      words_[1] = is_empty ? fresh.word[2] : words_[2];
      words_[2] = fresh.word[3];  // if not empty, no longer a word
      left_ = is_empty ? 3 : left_ - 1;
    }
    return drawn;
  }
  // 53 random bits.
  DSL_FN constexpr double whole_double() {
    const auto drawn = take<2>();
    return static_cast<double>(drawn.word[0] >> 5) * 0x1p26 +
           static_cast<double>(drawn.word[1] >> 6);
  }
  // A number in (0, 1], as the functions of math::portable take it: a word for a float.
  template <class V> DSL_FN constexpr auto positive() {
    if constexpr (sizeof(V) == 4) return bits();
    else return (whole_double() + 0.5) * 0x1p-53;
  }

  std::uint64_t key_ = 0, position_ = 0;
  std::uint32_t next_block_ = 0;
  int left_ = 0;                 // words of the last block that have not been drawn
  std::uint32_t words_[3] = {};  // these words
};

}  // namespace dsl::random

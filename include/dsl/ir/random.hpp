// Random numbers as functions of a position and a key: the code of op::random_bits and the other
// random operations.
//
// Philox 4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as
// easy as 1, 2, 3, SC11 (2011).
#pragma once

#include <dsl/ir/op.hpp>
#include <dsl/ir/quick.hpp>

namespace dsl::detail {

namespace math {

/// The two halves of a product.
struct product { std::uint32_t low, high; };
DSL_DETAIL_FN constexpr product multiply_words(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t both = static_cast<std::uint64_t>(a) * b;
#if DSL_DETAIL_ON_DEVICE
  // Split as the words of a double; otherwise nvcc continues with 64-bit values, no longer sees
  // which words are 0, and adds them.
  if (!__builtin_is_constant_evaluated()) {
    const double words = __builtin_bit_cast(double, both);
    return {static_cast<std::uint32_t>(::__double2loint(words)),
            static_cast<std::uint32_t>(::__double2hiint(words))};
  }
#endif
  return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
}

/// A Philox block: four random words, or the four words of a counter.
struct philox_block { std::uint32_t word[4]; };

// Recursion instead of a loop, which GCC would not vectorise.
template <int Rounds>
DSL_DETAIL_FN constexpr philox_block philox_rounds(const philox_block& c, std::uint32_t low_key,
                                                   std::uint32_t high_key) {
  if constexpr (Rounds == 0) {
    return c;
  } else {
    const product a = multiply_words(0xd2511f53, c.word[0]),
                  b = multiply_words(0xcd9e8d57, c.word[2]);
    const philox_block next{
        {b.high ^ c.word[1] ^ low_key, b.low, a.high ^ c.word[3] ^ high_key, a.low}};
    return philox_rounds<Rounds - 1>(next, low_key + 0x9e3779b9, high_key + 0xbb67ae85);
  }
}
/// The Philox 4x32-10 block of a counter under a key.
DSL_DETAIL_FN constexpr philox_block philox(const philox_block& counter, std::uint64_t key) {
  return philox_rounds<10>(counter, static_cast<std::uint32_t>(key),
                           static_cast<std::uint32_t>(key >> 32));
}

/// Word i % 4 of block i / 4. Different draws use different blocks.
DSL_DETAIL_FN constexpr std::uint32_t random_bits(std::uint64_t i, std::uint64_t key,
                                                  std::uint32_t draw) {
  // In this form nvcc sees that i = 4 n + 1 gives n as well.
  const std::uint64_t block = (i & ~std::uint64_t{3}) >> 2;
  const philox_block all = philox(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), draw, 0}}, key);
  // Selected by masks, which GCC vectorises; it does not vectorise comparing a bit with 0.
  const std::uint32_t in_pair = 0 - static_cast<std::uint32_t>(i & 1),
                      pair = 0 - static_cast<std::uint32_t>(i >> 1 & 1);
  const std::uint32_t first = all.word[0] ^ ((all.word[0] ^ all.word[1]) & in_pair);
  const std::uint32_t second = all.word[2] ^ ((all.word[2] ^ all.word[3]) & in_pair);
  return first ^ ((first ^ second) & pair);
}

/// The i-th key derived from a key. Random bits are never drawn from its block.
DSL_DETAIL_FN constexpr std::uint64_t random_key(std::uint64_t key, std::uint64_t i) {
  const philox_block all =
      philox({{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), 0, 1}}, key);
  return all.word[0] | static_cast<std::uint64_t>(all.word[1]) << 32;
}

/// A uniformly distributed integer below `range`, 0 for a range of 0: the upper half of the product
/// of random bits, draw(), and the range. Products whose lower half is below 2^32 mod range (2^64
/// mod range) are rejected, and new bits are drawn. D. Lemire, Fast random integer generation in an
/// interval, ACM Trans. Model. Comput. Simul. 29 (2019).
template <class Draw>
DSL_DETAIL_FN constexpr std::uint32_t below(std::uint32_t range, Draw draw) {
  for (;;) {
    const std::uint64_t product = static_cast<std::uint64_t>(draw()) * range;
    const auto low = static_cast<std::uint32_t>(product);
    if (low >= range || low >= (0 - range) % range)
      return static_cast<std::uint32_t>(product >> 32);
  }
}
template <class Draw>
DSL_DETAIL_FN constexpr std::uint64_t below(std::uint64_t range, Draw draw) {
  for (;;) {
    const std::uint64_t bits = draw(), lower = bits * range;
    if (lower >= range || lower >= (0 - range) % range) return upper_half_of_product(bits, range);
  }
}
DSL_DETAIL_FN constexpr std::uint32_t random_below(std::uint64_t i, std::uint64_t key,
                                                   std::uint32_t range) {
  return below(range,
               [i, key, next = std::uint32_t{0}]() mutable { return random_bits(i, key, next++); });
}
DSL_DETAIL_FN constexpr std::uint64_t random_below(std::uint64_t i, std::uint64_t key,
                                                   std::uint64_t range) {
  return below(range, [i, key, next = std::uint32_t{0}]() mutable {
    const std::uint64_t high = random_bits(i, key, next++);
    return high << 32 | random_bits(i, key, next++);
  });
}

// The last step of splitmix64: G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom
// number generators, OOPSLA 2014.
DSL_DETAIL_FN constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// The place of i, one of n, in a random order. A Feistel network, a keyed permutation of the
/// numbers with the bits of n - 1, is repeated until its result is below n. J. Black, P. Rogaway,
/// Ciphers with arbitrary finite domains, CT-RSA 2002.
DSL_DETAIL_FN constexpr std::uint64_t random_permuted(std::uint64_t i, std::uint64_t key,
                                                      std::uint64_t n) {
  // With fewer bits the permutations would not be equally likely.
  constexpr int rounds = 8, least_bits = 8;
  int bits = least_bits;
  while (bits < 64 && (n - 1) >> bits != 0) ++bits;
  const int low_bits = bits / 2;
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1,
                      high_mask = (std::uint64_t{1} << (bits - low_bits)) - 1;
  do {
    std::uint64_t high = i >> low_bits, low = i & low_mask, of_round = key;
    DSL_DETAIL_ROLLED
    for (int r = 0; r < rounds; r += 2) {
      of_round += 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
      high ^= mixed(of_round ^ low) >> 32 & high_mask;
      of_round += 0x9e3779b97f4a7c15;
      low ^= mixed(of_round ^ high) >> 32 & low_mask;
    }
    i = high << low_bits | low;
  } while (i >= n);
  return i;
}

// The logarithm and the rotated radius from which normal and exponential numbers are computed:
// floats from 32-bit words; doubles from a number in (0, 1] and 64-bit angles. They have no branch,
// so consecutive elements that share one also share its code. On the host they are functions of
// lib/ir/special.cpp, which are vector functions in a loop and give the same bits as scalar and as
// vector code.
}  // namespace math

extern "C" {
DSL_DETAIL_SIMD float dsl_detail_random_logf(std::uint32_t);
DSL_DETAIL_SIMD float dsl_detail_random_normalf(float, std::uint32_t, std::uint32_t);
DSL_DETAIL_SIMD double dsl_detail_random_log(double);
DSL_DETAIL_SIMD double dsl_detail_random_normal(double, std::uint64_t, std::uint64_t);
}

namespace math {

/// The logarithm of a number in (0, 1] made of 31 random bits: the middle between two multiples of
/// 2^-31.
template <rounded OnDevice = rounded::once>
DSL_DETAIL_FN float log_of_bits(std::uint32_t bits) {
  float exponent;
  return moderate_log<OnDevice>(
      (static_cast<float>(static_cast<std::int32_t>(bits >> 1)) + 0.5f) * 0x1p-31f, exponent);
}

/// Sine and cosine of x half circles, |x| at most 1/4, by polynomials of least error.
template <class T> struct sine_and_cosine { T sine, cosine; };
template <rounded OnDevice>
DSL_DETAIL_FN sine_and_cosine<float> of_half_turns(float x) {
  const float square = times(x, x);
  const float odd = polynomial<OnDevice>(square, -0x1.2ee7bcp-1f, 0x1.4665e8p+1f, -0x1.4abbccp+2f);
  const float even = polynomial<OnDevice>(square, 0x1.db6492p-3f, -0x1.55cb98p+0f, 0x1.03c1eap+2f,
                                          -0x1.3bd3ccp+2f, 1.0f);
  return {times_plus<OnDevice>(x, 0x1.921fb6p+1f, times(odd, times(x, square))), even};
}
template <rounded OnDevice>
DSL_DETAIL_FN sine_and_cosine<double> of_half_turns(double x) {
  const double square = times(x, x);
  // The last coefficient is the rest of pi.
  const double odd = polynomial<OnDevice>(
      square, 0x1.e4a9d9166f052p-12, -0x1.e3027dea82bd7p-8, 0x1.50783208843ebp-4,
      -0x1.32d2cce500387p-1, 0x1.466bc6775a476p+1, -0x1.4abbce625be52p+2, 0x1.1a62633145c07p-53);
  const double even =
      polynomial<OnDevice>(square, -0x1.b2f3eb054afcdp-14, 0x1.f9ce245cada0bp-10,
                           -0x1.a6d1eef479be1p-6, 0x1.e1f5068688d5bp-3, -0x1.55d3c7e3cb241p+0,
                           0x1.03c1f081b5ac0p+2, -0x1.3bd3cc9be45dep+2, 1.0);
  return {times_plus<OnDevice>(x, 0x1.921fb54442d18p+1, times(odd, x)), even};
}

/// The difference between an angle, in units of 2^-32 (2^-64) of a circle, and the nearest quarter,
/// in half circles. The argument is the angle plus an eighth of a circle.
DSL_DETAIL_FN float from_quarter(std::uint32_t from_eighth) {
  return static_cast<float>(static_cast<std::int32_t>((from_eighth & 0x3fffffff) - 0x20000000)) *
         0x1p-31f;
}
DSL_DETAIL_FN double from_quarter(std::uint64_t from_eighth) {  // its lowest bit is ignored
  // Each part is added to 2^52 by its bits: x86-64 cannot convert 64-bit integers before AVX-512.
  const std::uint64_t of_zero = to_integer(0x1p52), high = from_eighth >> 32 & 0x3fffffff,
                      low = from_eighth & 0xfffffffe;
  return times_plus(__builtin_bit_cast(double, low | of_zero) - 0x1p52, 0x1p-63,
                    (__builtin_bit_cast(double, high | of_zero) - (0x1p52 + 0x1p29)) * 0x1p-31);
}

/// radius * sin(angle + turn). Angles are in units of 2^-32 (2^-64) of a circle; `turn` is a number
/// of quarters, in its two upper bits. The difference from the nearest quarter depends on `angle`
/// alone, so it is computed once for two numbers that differ by a quarter turn. The sign bit is
/// flipped last, so the product is rounded by itself, whatever is computed from it.
template <rounded OnDevice = rounded::once, class T, class Angle>
DSL_DETAIL_FN T normal_of(T radius, Angle angle, Angle turn) {
  constexpr Angle half = sign_bit<T>, quarter = half / 2, eighth = half / 4;
  const Angle from = angle + eighth, turned = from + turn;
  const sine_and_cosine<T> of = of_half_turns<OnDevice>(from_quarter(from));
  const T size = times(radius, select((turned & quarter) != 0, of.cosine, of.sine));
  return __builtin_bit_cast(T, to_integer(size) ^ (turned & half));
}

#if DSL_DETAIL_ON_DEVICE
/// The square root of 0 or of a moderate number; rounded correctly.
DSL_DETAIL_FN float moderate_sqrt(float square) {
  // The approximate root is infinite for 0.
  const float r = fminimum(quick::rsqrt(square), 0x1p+64f), root = times(square, r);
  return fma(fma(-root, root, square), 0.5f * r, root);
}
DSL_DETAIL_FN float random_log(std::uint32_t bits) { return 0 - log_of_bits(bits); }
DSL_DETAIL_FN double random_log(double x) { return 0 - math::log(x); }
DSL_DETAIL_FN float random_radius(std::uint32_t bits) {
  return moderate_sqrt(0 - 2 * log_of_bits(bits));
}
DSL_DETAIL_FN float random_normal(float radius, std::uint32_t angle, std::uint32_t turn) {
  return normal_of(radius, angle, turn);
}
DSL_DETAIL_FN double random_normal(double radius, std::uint64_t angle, std::uint64_t turn) {
  return normal_of(radius, angle, turn);
}
#else
DSL_DETAIL_FN float random_log(std::uint32_t bits) { return dsl_detail_random_logf(bits); }
DSL_DETAIL_FN double random_log(double x) { return dsl_detail_random_log(x); }
DSL_DETAIL_FN float random_radius(std::uint32_t bits) { return math::sqrt(2 * random_log(bits)); }
DSL_DETAIL_FN float random_normal(float radius, std::uint32_t angle, std::uint32_t turn) {
  return dsl_detail_random_normalf(radius, angle, turn);
}
DSL_DETAIL_FN double random_normal(double radius, std::uint64_t angle, std::uint64_t turn) {
  return dsl_detail_random_normal(radius, angle, turn);
}
#endif

/// The same functions with the host's bits on every device.
namespace portable {
#if DSL_DETAIL_ON_DEVICE
DSL_DETAIL_FN float random_log(std::uint32_t bits) { return 0 - log_of_bits<rounded::twice>(bits); }
DSL_DETAIL_FN double random_log(double x) { return minus_log(x); }
DSL_DETAIL_FN float random_radius(std::uint32_t bits) {
  return moderate_sqrt(2 * random_log(bits));
}
template <class T, class Angle> DSL_DETAIL_FN T random_normal(T radius, Angle angle, Angle turn) {
  return normal_of<rounded::twice>(radius, angle, turn);
}
#else
using math::random_log, math::random_radius, math::random_normal;
#endif
DSL_DETAIL_FN double random_radius(double x) { return math::sqrt(2 * random_log(x)); }
}  // namespace portable

}  // namespace math

template <> struct scalar_code<op::random_bits> {
  template <class R, dtype, class I, class K, class N>
  DSL_DETAIL_FN static constexpr R apply(I i, K key, N draw) {
    return math::random_bits(static_cast<std::uint64_t>(i), key, draw);
  }
};
template <> struct scalar_code<op::random_key> {
  template <class R, dtype, class K, class N>
  DSL_DETAIL_FN static constexpr R apply(K key, N number) {
    return math::random_key(key, static_cast<std::uint64_t>(number));
  }
};
template <> struct scalar_code<op::random_below> {
  template <class R, dtype, class I, class K, class N>
  DSL_DETAIL_FN static constexpr R apply(I i, K key, N range) {
    return math::random_below(static_cast<std::uint64_t>(i), key, range);
  }
};
template <> struct scalar_code<op::random_permuted> {
  template <class R, dtype, class I, class K, class N>
  DSL_DETAIL_FN static constexpr R apply(I i, K key, N n) {
    return static_cast<R>(
        math::random_permuted(static_cast<std::uint64_t>(i), key, static_cast<std::uint64_t>(n)));
  }
};

template <> struct scalar_code<op::random_log> {
  template <class R, dtype, class W>
  DSL_DETAIL_FN static R apply(W bits) {
    return math::random_log(bits);
  }
};
template <> struct scalar_code<op::random_radius> {
  template <class R, dtype, class W>
  DSL_DETAIL_FN static R apply(W bits) {
    return math::random_radius(bits);
  }
};
template <> struct scalar_code<op::random_normal> {
  template <class R, dtype, class W>
  DSL_DETAIL_FN static R apply(R radius, W angle, W turn) {
    return math::random_normal(radius, angle, turn);
  }
};

}  // namespace dsl::detail

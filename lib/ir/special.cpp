// Host versions of functions that the C library lacks. The simd attribute makes GCC compile each
// function again for every vector width; the functions that they call are then vector functions
// too. The functions for random numbers call no others, and their products are not fused into sums,
// so every vector width gives the same bits.
#include <dsl/ir/random.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#define DSL_SIMD_FUNCTION extern "C" DSL_DETAIL_SIMD __attribute__((optimize("O3")))
#define DSL_RANDOM_FUNCTION \
  extern "C" DSL_DETAIL_SIMD __attribute__((optimize("O3", "fp-contract=off")))
#else
#define DSL_SIMD_FUNCTION extern "C" DSL_DETAIL_SIMD
#define DSL_RANDOM_FUNCTION DSL_SIMD_FUNCTION
#endif

namespace dsl::detail {

namespace {

#include "ir/special.inc"

template <std::size_t N>
DSL_DETAIL_FN double polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[0];
#pragma GCC unroll 32
  for (std::size_t k = 1; k < N; ++k) sum = sum * x + coefficients[k];
  return sum;
}

// erfinv(|x|) to 2e-9. The two ranges and their variables are those of M. Giles, "Approximating the
// erfinv function" (GPU Computing Gems, 2010); the coefficients are our own.
DSL_DETAIL_FN double approximate_erfinv(double x) {
  const double w = -dsl_detail_log((1 - x) * (1 + x));
  return x *
         math::select(w < 6, polynomial(erfinv_central, w - 3),
                      polynomial(erfinv_tail, dsl_detail_sqrt(math::select(w < 6, 6.0, w)) - 4));
}
DSL_DETAIL_FN double at_the_ends(double size, double x, double inside) {
  return math::copysign(math::select(size == 1, math::infinity<double>, inside), x);
}

// The modified Bessel function of an order, 0 or 1, of |x|: up to 8 by its power
// series in x^2 / 4 (Abramowitz and Stegun 9.6.10), whose terms are all positive; beyond as e^x /
// sqrt(x) times a polynomial in 1 / x. x^2 / 4 is not exact; the derivative of the series corrects
// for that.
template <std::size_t N, std::size_t M>
DSL_DETAIL_FN double bessel_i(double x, const double (&terms)[N], const double (&asymptotic)[M],
                              int order) {
  const double size = math::abs(x), small = math::min(size, 8.0), large = math::max(size, 8.0);
  const double z = small * small / 4;
  double series = 0, slope = 0;
#pragma GCC unroll 32
  for (const double c : terms) {
    slope = slope * z + series;
    series = series * z + c;
  }
  const double upper = math::upper_half(small), rest = small - upper;
  const double missing = (upper * upper / 4 - z) + rest * (small + upper) / 4;
  const bool huge = large > 700;  // e^x overflows before the result
  const double power = dsl_detail_exp(large - math::select(huge, 64.0, 0.0)) *
                       polynomial(asymptotic, 16 / large - 1) / dsl_detail_sqrt(large);
  const double far = power * math::select(huge, math::exp_of_64<double>, 1.0);
  const double near = series + slope * missing;
  return math::select(size > 8, math::select(math::isinf(x), size, far),
                      order == 0 ? near : near * (small / 2));
}
DSL_DETAIL_FN double bessel_i0(double x) { return bessel_i(x, i0_series, i0_asymptotic, 0); }
DSL_DETAIL_FN double bessel_i1(double x) {
  return math::copysign(bessel_i(x, i1_series, i1_asymptotic, 1), x);
}

// The argument is reduced to [-1/2, 1/2] before it is multiplied by pi. Each step of the reduction
// is exact.
DSL_DETAIL_FN double from_period(double x) { return x - 2 * math::rint(x / 2); }
DSL_DETAIL_FN double sine_of_pi(double x) {
  const double y = from_period(x), size = math::abs(y);
  const double sine = dsl_detail_sin(math::pi<double> * math::select(size > 0.5, 1 - size, size));
  // A whole number gives a zero with the number's sign.
  return math::copysign(sine, math::select(size * (1 - size) == 0, x, y));
}
DSL_DETAIL_FN double cosine_of_pi(double x) {
  return dsl_detail_sin(math::pi<double> * (0.5 - math::abs(from_period(x))));
}

// 2^y to 3e-9, for y up to 1000. Adding 1.5 2^52 leaves the nearest integer in the lowest bits.
DSL_DETAIL_FN double power_of_two(double y) {
  const double shifted = y + 0x1.8p52,
               power = polynomial(power_of_two_terms, y - (shifted - 0x1.8p52));
  return __builtin_bit_cast(double, math::to_integer(power) + (math::to_integer(shifted) << 52));
}

// log2(size) with a relative error of 2e-11. It is 0 only for 1; for 0 and infinity it is large,
// with the correct sign.
DSL_DETAIL_FN double log2_of(double size) {
  const math::binary of = math::split_exponent(size);
  return of.exponent + of.rest * polynomial(log2_terms, of.rest);
}

// All bits set, or none.
DSL_DETAIL_FN std::uint32_t mask_of(bool condition) {
  return math::select(condition, ~std::uint32_t{0}, std::uint32_t{0});
}
// Whether x, which is not negative, is a whole number: adding 2^23 rounds it to one, and every
// number from 2^23 on is whole. Baseline x86-64 has no instruction that rounds.
DSL_DETAIL_FN bool is_whole(float x) { return ((x + 0x1p23f) - 0x1p23f == x) | (x >= 0x1p23f); }

}  // namespace

// e^(-x^2) times a polynomial, in double: within 0.6 ULP. The exponent range of double holds
// results that are subnormal floats.
DSL_SIMD_FUNCTION float dsl_detail_own_erfcf(float x) {
  constexpr double minus_log2_e = -1.44269504088896340736;
  const double size = math::select(math::abs(x) < 10.25f, math::abs(x), 10.25f);
  const double power = power_of_two(size * size * minus_log2_e) *
                       polynomial(scaled_erfc_terms, (size - 3) / (size + 3));
  return math::select(x == x, static_cast<float>(math::select(x < 0, 2 - power, power)), x);
}

// 2^(y log2 |x|), in double: within 0.6 ULP. 1^y and x^0 are 1 even for NaN. Conditions are bit
// masks: GCC cannot vectorise every use of a bool.
DSL_SIMD_FUNCTION float dsl_detail_own_powf(float x, float y) {
  constexpr float infinity = math::infinity<float>;
  const float size = math::abs(x), y_size = math::abs(y);
  const bool is_end = (size == 0) | (size == infinity);
  const float of_end = math::select(is_end & (y_size > 0), math::copysign(infinity, y), y);
  const float exponent =
      math::select((size == 1) | (y == 0), 0.0f, math::select(x == x, of_end, x));
  const double product = log2_of(size) * static_cast<double>(exponent);
  const auto order = static_cast<float>(product),
             inside = static_cast<float>(power_of_two(product));
  const std::uint32_t power = math::to_integer(
      math::select(order > 400, infinity, math::select(order < -400, 0.0f, inside)));
  const std::uint32_t whole = mask_of(is_whole(y_size)), even = mask_of(is_whole(y_size / 2));
  const std::uint32_t sign = math::to_integer(x) & whole & ~even & math::sign_bit<float>;
  const std::uint32_t no_value =
      mask_of(x < 0) & ~whole & ~mask_of(is_end) & math::to_integer(math::quiet_nan<float>);
  // A square, as in formulas whose exponent is known.
  return math::select(y == 2, x * x, __builtin_bit_cast(float, power | sign | no_value));
}

DSL_SIMD_FUNCTION double dsl_detail_erfinv(double x) {
  const double size = math::abs(x), y = approximate_erfinv(size);
  // One step of Halley's method, applied to erfc where erf is flat: within 1.4 ULP.
  const double excess =
      math::select(size < 0.5, dsl_detail_erf(y) - size, (1 - size) - dsl_detail_erfc(y));
  const double newton = excess * 0.88622692545275801365 * dsl_detail_exp(y * y);
  return at_the_ends(size, x, y - newton / (1 + y * newton));
}
DSL_SIMD_FUNCTION float dsl_detail_erfinvf(float x) {
  const double size = math::abs(x);
  return static_cast<float>(at_the_ends(size, x, approximate_erfinv(size)));
}

DSL_SIMD_FUNCTION double dsl_detail_i0(double x) { return bessel_i0(x); }
DSL_SIMD_FUNCTION float dsl_detail_i0f(float x) { return static_cast<float>(bessel_i0(x)); }
DSL_SIMD_FUNCTION double dsl_detail_i1(double x) { return bessel_i1(x); }
DSL_SIMD_FUNCTION float dsl_detail_i1f(float x) { return static_cast<float>(bessel_i1(x)); }

DSL_SIMD_FUNCTION double dsl_detail_sinpi(double x) { return sine_of_pi(x); }
DSL_SIMD_FUNCTION float dsl_detail_sinpif(float x) { return static_cast<float>(sine_of_pi(x)); }
DSL_SIMD_FUNCTION double dsl_detail_cospi(double x) { return cosine_of_pi(x); }
DSL_SIMD_FUNCTION float dsl_detail_cospif(float x) { return static_cast<float>(cosine_of_pi(x)); }

DSL_RANDOM_FUNCTION float dsl_detail_random_logf(std::uint32_t bits) {
  return 0 - math::log_of_bits(bits);
}
DSL_RANDOM_FUNCTION float dsl_detail_random_normalf(float radius, std::uint32_t angle,
                                                    std::uint32_t turn) {
  return math::normal_of(radius, angle, turn);
}
DSL_RANDOM_FUNCTION double dsl_detail_random_log(double x) { return math::minus_log(x); }
DSL_RANDOM_FUNCTION double dsl_detail_random_normal(double radius, std::uint64_t angle,
                                                    std::uint64_t turn) {
  return math::normal_of(radius, angle, turn);
}

}  // namespace dsl::detail

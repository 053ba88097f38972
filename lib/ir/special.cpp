// Functions that the C library lacks, for the host. The simd attribute makes GCC compile each once more for every vector width,
// and the functions that they call are vector functions there as well.
#include <dsl/ir/special.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#define DSL_SIMD_FUNCTION extern "C" DSL_DETAIL_SIMD __attribute__((optimize("O3")))
#else
#define DSL_SIMD_FUNCTION extern "C" DSL_DETAIL_SIMD
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

// erfinv(|x|) to 2e-9. The two ranges and their variables are those of M. Giles, "Approximating the erfinv function" (GPU
// Computing Gems, 2010); the coefficients are our own.
DSL_DETAIL_FN double approximate_erfinv(double x) {
  const double w = -dsl_detail_log((1 - x) * (1 + x));
  return x * math::select(w < 6, polynomial(erfinv_central, w - 3),
                          polynomial(erfinv_tail, dsl_detail_sqrt(math::select(w < 6, 6.0, w)) - 4));
}
DSL_DETAIL_FN double at_the_ends(double size, double x, double inside) {
  return math::copysign(math::select(size == 1, math::infinity<double>, inside), x);
}

// i0(x) by its power series (Abramowitz and Stegun 9.6.12), whose terms are all positive, up to 8, and as e^x / sqrt(x) times a
// polynomial in 1 / x from there on. x^2 / 4 is not exact: the series' derivative makes up for that.
DSL_DETAIL_FN double bessel_i0(double x) {
  const double size = math::abs(x), small = math::min(size, 8.0), large = math::max(size, 8.0);
  const double z = small * small / 4;
  double series = 0, slope = 0;
#pragma GCC unroll 32
  for (const double c : i0_series) {
    slope = slope * z + series;
    series = series * z + c;
  }
  const double upper = math::upper_half(small), rest = small - upper;
  const double missing = (upper * upper / 4 - z) + rest * (small + upper) / 4;
  const bool huge = large > 700;  // e^x overflows before i0(x)
  const double power =
      dsl_detail_exp(large - math::select(huge, 64.0, 0.0)) * polynomial(i0_asymptotic, 16 / large - 1) / dsl_detail_sqrt(large);
  const double far = power * math::select(huge, math::exp_of_64<double>, 1.0);
  return math::select(size > 8, math::select(math::isinf(x), size, far), series + slope * missing);
}

// The argument is brought to [-1/2, 1/2] before it is multiplied with pi; every step of that is exact.
DSL_DETAIL_FN double from_period(double x) { return x - 2 * math::rint(x / 2); }
DSL_DETAIL_FN double sine_of_pi(double x) {
  const double y = from_period(x), size = math::abs(y);
  const double sine = dsl_detail_sin(math::pi<double> * math::select(size > 0.5, 1 - size, size));
  return math::copysign(sine, math::select(size * (1 - size) == 0, x, y));  // of a whole number: a zero with its sign
}
DSL_DETAIL_FN double cosine_of_pi(double x) { return dsl_detail_sin(math::pi<double> * (0.5 - math::abs(from_period(x)))); }

}  // namespace

DSL_SIMD_FUNCTION double dsl_detail_erfinv(double x) {
  const double size = math::abs(x), y = approximate_erfinv(size);
  // One step of Halley's method, on erfc where erf is flat: within 1.4 ULP.
  const double excess = math::select(size < 0.5, dsl_detail_erf(y) - size, (1 - size) - dsl_detail_erfc(y));
  const double newton = excess * 0.88622692545275801365 * dsl_detail_exp(y * y);
  return at_the_ends(size, x, y - newton / (1 + y * newton));
}
DSL_SIMD_FUNCTION float dsl_detail_erfinvf(float x) {
  const double size = math::abs(x);
  return static_cast<float>(at_the_ends(size, x, approximate_erfinv(size)));
}

DSL_SIMD_FUNCTION double dsl_detail_i0(double x) { return bessel_i0(x); }
DSL_SIMD_FUNCTION float dsl_detail_i0f(float x) { return static_cast<float>(bessel_i0(x)); }

DSL_SIMD_FUNCTION double dsl_detail_sinpi(double x) { return sine_of_pi(x); }
DSL_SIMD_FUNCTION float dsl_detail_sinpif(float x) { return static_cast<float>(sine_of_pi(x)); }
DSL_SIMD_FUNCTION double dsl_detail_cospi(double x) { return cosine_of_pi(x); }
DSL_SIMD_FUNCTION float dsl_detail_cospif(float x) { return static_cast<float>(cosine_of_pi(x)); }

}  // namespace dsl::detail

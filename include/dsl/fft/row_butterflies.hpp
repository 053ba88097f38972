// Transforms of few numbers in a thread's registers.
#pragma once

#include <dsl/fft/row_passes.hpp>
#include <dsl/ir/complex.hpp>

namespace dsl::detail {

/// cos(2 pi k / 16) and sin(2 pi k / 16), 0 <= k < 16.
template <class T>
DSL_DETAIL_FN constexpr T cosine_of_16th(int k) {
  constexpr T root_half = T(0.707106781186547524400844362104849039L),
              eighth = T(0.923879532511286756128183189396788286L),
              three_eighths = T(0.382683432365089771728459984030398866L);
  switch (k & 15) {
    case 0: return 1;
    case 1:
    case 15: return eighth;
    case 2:
    case 14: return root_half;
    case 3:
    case 13: return three_eighths;
    case 5:
    case 11: return -three_eighths;
    case 6:
    case 10: return -root_half;
    case 7:
    case 9: return -eighth;
    case 8: return -1;
    default: return 0;
  }
}
template <class T>
DSL_DETAIL_FN constexpr T sine_of_16th(int k) {
  return cosine_of_16th<T>(k + 12);
}

DSL_DETAIL_BEGIN_CONTRACTED
/// z w, or z conj(w) of an inverse transform.
template <bool Inverse, class T>
DSL_DETAIL_FN constexpr complex_value<T> times_root(complex_value<T> z, complex_value<T> w) {
  if constexpr (Inverse) return {z.re * w.re + z.im * w.im, z.im * w.re - z.re * w.im};
  else return {z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re};
}
/// z exp(-2 pi i k / 16), or with +.
template <bool Inverse, class T>
DSL_DETAIL_FN constexpr complex_value<T> turned(complex_value<T> z, int k) {
  if (k == 0) return z;
  if (k == 4) return Inverse ? complex_value<T>{-z.im, z.re} : complex_value<T>{z.im, -z.re};
  return times_root<Inverse>(z, complex_value<T>{cosine_of_16th<T>(k), -sine_of_16th<T>(k)});
}

/// The transform of N = 1, 2, 4 numbers, in order.
template <bool Inverse, int N, class T>
DSL_DETAIL_FN constexpr void transform_few(complex_value<T> (&z)[N]) {
  if constexpr (N == 2) {
    const complex_value<T> sum = z[0] + z[1];
    z[1] = z[0] - z[1];
    z[0] = sum;
  } else if constexpr (N == 4) {
    const complex_value<T> even = z[0] + z[2], even_difference = z[0] - z[2], odd = z[1] + z[3],
                           odd_difference = turned<Inverse>(z[1] - z[3], 4);
    z[0] = even + odd;
    z[1] = even_difference + odd_difference;
    z[2] = even - odd;
    z[3] = even_difference - odd_difference;
  }
}

/// The transform of a pass's inputs, in order: `root(n)` is the n-th root of the pass for this
/// thread, if it multiplies by roots.
template <row_passes Passes, int Pass, bool Inverse, class T, class Root>
DSL_DETAIL_FN constexpr void transform_radix(complex_value<T> (&z)[Passes.radix(Pass)],
                                             const Root& root) {
  constexpr int inner = Passes.inner(Pass), outer = Passes.outer(Pass), radix = inner * outer;
  constexpr bool has_roots = Pass > 0;
  if constexpr (outer > 1) {
    complex_value<T> w[outer];
    DSL_DETAIL_UNROLL
    for (int a = 1; has_roots && a < outer; ++a) w[a] = root(a - 1);
    DSL_DETAIL_UNROLL
    for (int b = 0; b < inner; ++b) {
      complex_value<T> few[outer];
      DSL_DETAIL_UNROLL
      for (int a = 0; a < outer; ++a)
        few[a] =
            has_roots && a > 0 ? times_root<Inverse>(z[a * inner + b], w[a]) : z[a * inner + b];
      transform_few<Inverse>(few);
      DSL_DETAIL_UNROLL
      for (int c = 0; c < outer; ++c)
        z[c * inner + b] = turned<Inverse>(few[c], b * c * (16 / radix));
    }
  }
  complex_value<T> w[inner], all[radix];
  DSL_DETAIL_UNROLL
  for (int b = 1; has_roots && b < inner; ++b) w[b] = root(outer + b - 2);
  DSL_DETAIL_UNROLL
  for (int c = 0; c < outer; ++c) {
    complex_value<T> few[inner];
    DSL_DETAIL_UNROLL
    for (int b = 0; b < inner; ++b)
      few[b] = has_roots && b > 0 ? times_root<Inverse>(z[c * inner + b], w[b]) : z[c * inner + b];
    transform_few<Inverse>(few);
    DSL_DETAIL_UNROLL
    for (int d = 0; d < inner; ++d) all[c + outer * d] = few[d];
  }
  DSL_DETAIL_UNROLL
  for (int r = 0; r < radix; ++r) z[r] = all[r];
}
DSL_DETAIL_END_CONTRACTED

}  // namespace dsl::detail

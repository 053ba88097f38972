// Conversions between 16-bit floats and float, for each instruction set.
#include <dsl/exec/host/half_lanes.hpp>

#include "host/host.hpp"

#if DSL_DETAIL_X86_LEVELS
#include <immintrin.h>
#endif

namespace dsl::detail {

namespace {

template <class T>
DSL_DETAIL_FN void widen_each(const T* __restrict from, std::int64_t stride, int rows, int count,
                              float* __restrict to) {
  for (int r = 0; r < rows; ++r)
    for (int l = 0; l < (count & ~15); ++l) to[r * count + l] = from[r * stride + l];
}
template <class T> DSL_DETAIL_FN void narrow_each(const float* __restrict from, int count,
                                                  T* __restrict to) {
  for (int l = 0; l < (count & ~15); ++l) to[l].bits = T(from[l]).bits;
}

template <class T>
DSL_DETAIL_TARGET(DSL_DETAIL_V2)
void widen_v2(const T* from, std::int64_t stride, int rows, int count, float* to) {
  widen_each(from, stride, rows, count, to);
}
template <class T> DSL_DETAIL_TARGET(DSL_DETAIL_V2)
void narrow_v2(const float* from, int count, T* to) {
  narrow_each(from, count, to);
}

#if DSL_DETAIL_X86_LEVELS
template <class T>
DSL_DETAIL_TARGET(DSL_DETAIL_V3)
void widen_v3(const T* from, std::int64_t stride, int rows, int count, float* to) {
  if constexpr (std::same_as<T, half>) {
    for (int r = 0; r < rows; ++r)
      for (int l = 0; l < count; l += 8)
        _mm256_storeu_ps(to + r * count + l,
                         _mm256_cvtph_ps(_mm_loadu_si128(
                             reinterpret_cast<const __m128i*>(from + r * stride + l))));
  } else {
    widen_each(from, stride, rows, count, to);
  }
}
// Masked intrinsics with all lanes set: for the unmasked ones GCC 12 warns of an uninitialised
// variable.
template <class T>
DSL_DETAIL_TARGET(DSL_DETAIL_V4)
void widen_v4(const T* from, std::int64_t stride, int rows, int count, float* to) {
  if constexpr (std::same_as<T, half>) {
    for (int r = 0; r < rows; ++r)
      for (int l = 0; l < count; l += 16)
        _mm512_storeu_ps(
            to + r * count + l,
            _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(
                                              from + r * stride + l))));
  } else {
    widen_each(from, stride, rows, count, to);
  }
}

// The processor keeps upper bits of a NaN's payload, so NaNs are replaced by 0x7e00 and 0xfe00. As
// integers, NaNs are the largest halves of their sign, at least 0x7e00.
template <class T> DSL_DETAIL_TARGET(DSL_DETAIL_V3)
void narrow_v3(const float* from, int count, T* to) {
  if constexpr (std::same_as<T, half>) {
    for (int l = 0; l < count; l += 8) {
      const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + l), _MM_FROUND_TO_NEAREST_INT);
      const __m128i positive = _mm_min_epi16(halves, _mm_set1_epi16(0x7e00));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + l),
                       _mm_min_epu16(positive, _mm_set1_epi16(static_cast<short>(0xfe00))));
    }
  } else {
    narrow_each(from, count, to);
  }
}
template <class T> DSL_DETAIL_TARGET(DSL_DETAIL_V4)
void narrow_v4(const float* from, int count, T* to) {
  if constexpr (std::same_as<T, half>) {
    for (int l = 0; l < count; l += 16) {
      const __m256i halves =
          _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + l), _MM_FROUND_TO_NEAREST_INT);
      const __m256i positive = _mm256_min_epi16(halves, _mm256_set1_epi16(0x7e00));
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(to + l),
          _mm256_min_epu16(positive, _mm256_set1_epi16(static_cast<short>(0xfe00))));
    }
  } else {
    narrow_each(from, count, to);
  }
}
#endif

template <class T>
const float* widen_some(const T* from, std::int64_t stride, int rows, int count, float* to) {
#if DSL_DETAIL_X86_LEVELS
  constexpr auto level = std::array{&widen_v2<T>, &widen_v3<T>, &widen_v4<T>};
  level[static_cast<std::size_t>(simd_level())](from, stride, rows, count, to);
#else
  widen_v2(from, stride, rows, count, to);
#endif
  return to;
}
template <class T>
void narrow_some(const float* from, int count, T* to) {
#if DSL_DETAIL_X86_LEVELS
  constexpr auto level = std::array{&narrow_v2<T>, &narrow_v3<T>, &narrow_v4<T>};
  level[static_cast<std::size_t>(simd_level())](from, count, to);
#else
  narrow_v2(from, count, to);
#endif
}

}  // namespace

const float* widen(const half* from, std::int64_t stride, int rows, int count, float* to) {
  return widen_some(from, stride, rows, count, to);
}
const float* widen(const bfloat16* from, std::int64_t stride, int rows, int count, float* to) {
  return widen_some(from, stride, rows, count, to);
}
void narrow(const float* from, int count, half* to) { narrow_some(from, count, to); }
void narrow(const float* from, int count, bfloat16* to) { narrow_some(from, count, to); }

}  // namespace dsl::detail

#include "host/transpose.hpp"

#include <algorithm>
#include <utility>

#include <dsl/ir/config.hpp>

#include "host/host.hpp"
#include "host/raw_elements.hpp"

namespace dsl::detail {

namespace {

// Element by element.
template <class T>
DSL_DETAIL_FN void transpose_elementwise(T* to, const T* from, const row_piece& r,
                                         std::int64_t padded, std::int64_t rows,
                                         std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) to[j * padded + i] = from[i * r.length + j];
}

// Transposes squares whose side is the number of elements of a vector.
template <class T, int Bytes>
struct square_transposer {
  static constexpr int side = Bytes / static_cast<int>(sizeof(T));
  typedef T vector __attribute__((vector_size(Bytes), may_alias, aligned(alignof(T))));

  // Swaps the two squares of side S off the diagonal in each square of side 2 S.
  template <int S, int... K>
  DSL_DETAIL_FN static void swap(vector& a, vector& b, std::integer_sequence<int, K...>) {
    const vector upper = __builtin_shufflevector(a, b, ((K & S) == 0 ? K : side + K - S)...);
    b = __builtin_shufflevector(a, b, ((K & S) == 0 ? K + S : side + K)...);
    a = upper;
  }
  template <int S>
  DSL_DETAIL_FN static void swap_all(vector (&v)[side]) {
#pragma GCC unroll 64
    for (int i = 0; i < side; ++i)
      if ((i & S) == 0) swap<S>(v[i], v[i + S], std::make_integer_sequence<int, side>{});
    if constexpr (S > 1) swap_all<S / 2>(v);
  }
  DSL_DETAIL_FN static void transpose_square(T* to, const T* from, const row_piece& r,
                                             std::int64_t padded, std::int64_t columns) {
    // The processor prefetches along rows, not from row to row. This prefetches the next rows, or a
    // page ahead if rows are short.
    const std::int64_t ahead = std::max<std::int64_t>(side * r.length, 4096 / sizeof(T));
    vector v[side];
#pragma GCC unroll 64
    for (int i = 0; i < side; ++i) {
      v[i] = *reinterpret_cast<const vector*>(from + i * r.length);
      __builtin_prefetch(from + i * r.length + ahead);
    }
    swap_all<side / 2>(v);
#pragma GCC unroll 64
    for (int j = 0; j < side; ++j)
      if (j < columns) *reinterpret_cast<vector*>(to + j * padded) = v[j];
  }
  // A square reads whole vectors, which may extend into the next rows.
  DSL_DETAIL_FN static void run(void* target, const void* source, const row_piece& r,
                                std::int64_t padded) {
    T* const to = static_cast<T*>(target);
    const T* const from = static_cast<const T*>(source) + r.begin;
    for (std::int64_t i = 0; i < r.rows; i += side)
      for (std::int64_t j = 0; j < r.columns; j += side) {
        const std::int64_t rows = std::min<std::int64_t>(side, r.rows - i),
                           columns = std::min<std::int64_t>(side, r.columns - j),
                           at = i * r.length + j;
        const bool is_within =
            rows == side && r.begin + at + (side - 1) * r.length + side <= r.rows * r.length;
        if (is_within && 4 * columns >= side)
          transpose_square(to + j * padded + i, from + at, r, padded, columns);
        else transpose_elementwise(to + j * padded + i, from + at, r, padded, rows, columns);
      }
  }
};

using turn_function = void (*)(void*, const void*, const row_piece&, std::int64_t);
template <class T>
struct turners {
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void v2(void* to, const void* from, const row_piece& r, std::int64_t padded) {
    square_transposer<T, 16>::run(to, from, r, padded);
  }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3)
  static void v3(void* to, const void* from, const row_piece& r, std::int64_t padded) {
    square_transposer<T, 32>::run(to, from, r, padded);
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4)
  static void v4(void* to, const void* from, const row_piece& r, std::int64_t padded) {
    square_transposer<T, 64>::run(to, from, r, padded);
  }
  static constexpr turn_function level[] = {&v2, &v3, &v4};
#else
  static constexpr turn_function level[] = {&v2, &v2, &v2};
#endif
};

template <class T>
void transpose_as(void* target, const void* source, const row_piece& r, std::int64_t padded) {
  T* const to = static_cast<T*>(target);
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
    turners<T>::level[simd_level()](target, source, r, padded);
  else
    transpose_elementwise(to, static_cast<const T*>(source) + r.begin, r, padded, r.rows,
                          r.columns);
  for (std::int64_t j = 0; j < r.columns; ++j)
    std::fill(to + j * padded + r.rows, to + (j + 1) * padded, to[j * padded + r.rows - 1]);
}

}  // namespace

void transpose(std::size_t size, void* to, const void* from, const row_piece& piece,
               std::int64_t padded) {
  switch (size) {
    case 1: return transpose_as<raw1>(to, from, piece, padded);
    case 2: return transpose_as<raw2>(to, from, piece, padded);
    case 4: return transpose_as<raw4>(to, from, piece, padded);
    case 8: return transpose_as<raw8>(to, from, piece, padded);
    default: return transpose_as<raw16>(to, from, piece, padded);
  }
}

}  // namespace dsl::detail

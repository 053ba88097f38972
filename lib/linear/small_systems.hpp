// Systems of up to 8 unknowns, unrolled: one thread solves one, in registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dsl/ir/complex_number.hpp>

namespace dsl::detail {

inline constexpr int most_small_unknowns = 8;

/// Systems whose matrices follow each other, row-major, as do their matrices of `right_sides`
/// columns and those of the solutions.
template <class T>
struct small_systems {
  const T* a;
  const T* b;
  T* x;
  std::int64_t count;
  std::int64_t next_a, next_b;  // Elements from one to the next: 0 if all are the same one.
  std::int64_t right_sides;
};

// What pivots are compared by: for a complex number |re| + |im|, as in LAPACK.
template <class T>
DSL_DETAIL_FN T size_of_pivot(T x) {
  return x < 0 ? -x : x;
}
template <class T>
DSL_DETAIL_FN T size_of_pivot(dsl::complex<T> x) {
  return size_of_pivot(x.real()) + size_of_pivot(x.imag());
}

template <class T>
DSL_DETAIL_FN void exchange_if(bool really, T& a, T& b) {
  const T first = really ? b : a;
  b = really ? a : b;
  a = first;
}

/// LU factors with row pivots. Every index is known to the compiler once the loops are unrolled, so
/// that all elements are registers.
template <class T, int N>
struct small_factors {
  T lu[N][N];
  T reciprocal[N];
  int pivot[N];

  DSL_DETAIL_FN void factorize() {
    DSL_DETAIL_UNROLL
    for (int k = 0; k < N; ++k) {
      int best = k;
      auto greatest = size_of_pivot(lu[k][k]);
      DSL_DETAIL_UNROLL
      for (int i = k + 1; i < N; ++i) {
        const auto size = size_of_pivot(lu[i][k]);
        if (size > greatest) greatest = size, best = i;
      }
      pivot[k] = best;
      DSL_DETAIL_UNROLL
      for (int i = k + 1; i < N; ++i) {
        DSL_DETAIL_UNROLL
        for (int j = 0; j < N; ++j) exchange_if(best == i, lu[k][j], lu[i][j]);
      }
      reciprocal[k] = T(1) / lu[k][k];
      DSL_DETAIL_UNROLL
      for (int i = k + 1; i < N; ++i) {
        lu[i][k] = lu[i][k] * reciprocal[k];
        DSL_DETAIL_UNROLL
        for (int j = k + 1; j < N; ++j) lu[i][j] = lu[i][j] - lu[i][k] * lu[k][j];
      }
    }
  }

  DSL_DETAIL_FN void solve(T (&x)[N]) const {
    DSL_DETAIL_UNROLL
    for (int k = 0; k < N; ++k) {
      DSL_DETAIL_UNROLL
      for (int i = k + 1; i < N; ++i) exchange_if(pivot[k] == i, x[k], x[i]);
    }
    DSL_DETAIL_UNROLL
    for (int i = 1; i < N; ++i) {
      DSL_DETAIL_UNROLL
      for (int j = 0; j < i; ++j) x[i] = x[i] - lu[i][j] * x[j];
    }
    DSL_DETAIL_UNROLL
    for (int i = N - 1; i >= 0; --i) {
      DSL_DETAIL_UNROLL
      for (int j = i + 1; j < N; ++j) x[i] = x[i] - lu[i][j] * x[j];
      x[i] = x[i] * reciprocal[i];
    }
  }

  /// Solves a system for all its right sides in memory.
  DSL_DETAIL_FN void solve_all(const T* b, T* x, std::int64_t right_sides) const {
    for (std::int64_t r = 0; r < right_sides; ++r) {
      T column[N];
      DSL_DETAIL_UNROLL
      for (int i = 0; i < N; ++i) column[i] = b[i * right_sides + r];
      solve(column);
      DSL_DETAIL_UNROLL
      for (int i = 0; i < N; ++i) x[i * right_sides + r] = column[i];
    }
  }
};

/// Calls use(std::integral_constant) with the number of unknowns.
template <class Use>
void with_unknowns(std::int64_t n, const Use& use) {
  switch (n) {
    case 1: return use(std::integral_constant<int, 1>{});
    case 2: return use(std::integral_constant<int, 2>{});
    case 3: return use(std::integral_constant<int, 3>{});
    case 4: return use(std::integral_constant<int, 4>{});
    case 5: return use(std::integral_constant<int, 5>{});
    case 6: return use(std::integral_constant<int, 6>{});
    case 7: return use(std::integral_constant<int, 7>{});
    default: return use(std::integral_constant<int, 8>{});
  }
}

}  // namespace dsl::detail

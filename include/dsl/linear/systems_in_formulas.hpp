// Systems of equations inside formulas: a part of the kernel, in registers.
#pragma once

#include <dsl/ir/symbol.hpp>
#include <dsl/lang/functions.hpp>

#include <array>

namespace dsl {

namespace detail {

template <class S>
constexpr auto size_of_pivot(const S& x) {
  if constexpr (kind_of(S::type.type) == kind::complex) return abs(real(x)) + abs(imag(x));
  else return abs(x);
}

/// Solves a system with row pivots. The row with the greatest pivot comes up by exchanges with each
/// row below, so that no index depends on values. Right: the columns of the right side.
template <class S, std::size_t N, std::size_t Right>
constexpr void eliminate(std::array<std::array<S, N>, N>& a,
                         std::array<std::array<S, Right>, N>& b) {
  const auto exchange = [](const auto& really, S& x, S& y) {
    const S first = where(really, y, x);
    y = where(really, x, y);
    x = first;
  };
  for (std::size_t k = 0; k != N; ++k) {
    for (std::size_t i = k + 1; i != N; ++i) {
      const auto really = size_of_pivot(a[i][k]) > size_of_pivot(a[k][k]);
      for (std::size_t j = k; j != N; ++j) exchange(really, a[k][j], a[i][j]);
      for (std::size_t r = 0; r != Right; ++r) exchange(really, b[k][r], b[i][r]);
    }
    for (std::size_t i = k + 1; i != N; ++i) {
      const S factor = a[i][k] / a[k][k];
      for (std::size_t j = k + 1; j != N; ++j) a[i][j] = a[i][j] - factor * a[k][j];
      for (std::size_t r = 0; r != Right; ++r) b[i][r] = b[i][r] - factor * b[k][r];
    }
  }
  for (std::size_t i = N; i-- != 0;)
    for (std::size_t r = 0; r != Right; ++r) {
      for (std::size_t j = i + 1; j != N; ++j) b[i][r] = b[i][r] - a[i][j] * b[j][r];
      b[i][r] = b[i][r] / a[i][i];
    }
}

/// Integers are solved in double.
constexpr dtype solved_in(dtype d) { return kind_of(d) <= kind::integer ? dtype::float64 : d; }

template <dtype D, bool Weak, std::size_t M, std::size_t N>
constexpr auto rows_to_solve(const std::array<std::array<symbol<D, Weak>, M>, N>& a) {
  constexpr dtype to = solved_in(D);
  std::array<std::array<symbol<to, Weak>, M>, N> rows{};
  for (std::size_t i = 0; i != N; ++i)
    for (std::size_t j = 0; j != M; ++j) rows[i][j] = convert_operand<to, Weak>(a[i][j]);
  return rows;
}

}  // namespace detail

/// The solution of a system a x = b inside a formula, of up to 8 unknowns: a part of the formula's
/// kernel, in registers, and of its derivatives. a: the rows of the matrix; b: the right side, or
/// its rows, (N, M). All elements have one dtype; integers are solved in double. By elimination
/// with row pivots; a singular matrix gives infinities and NaN.
/// ```cpp
/// // One kernel for a system of two unknowns in each element.
/// const auto squared = dsl::vectorize([](auto a, auto b, auto c, auto u, auto v) {
///   const auto [p, q] = dsl::solve(std::array{std::array{a, b}, std::array{b, c}}, std::array{u,
///   v}); return p * p + q * q;
/// });
/// ```
template <dtype D, bool Weak, std::size_t N, std::size_t M>
constexpr auto solve(const std::array<std::array<symbol<D, Weak>, N>, N>& a,
                     const std::array<std::array<symbol<D, Weak>, M>, N>& b) {
  static_assert(N >= 1 && N <= 8, "a system inside a formula has 1 to 8 unknowns");
  auto rows = detail::rows_to_solve(a);
  auto x = detail::rows_to_solve(b);
  detail::eliminate(rows, x);
  return x;
}
template <dtype D, bool Weak, std::size_t N>
constexpr auto solve(const std::array<std::array<symbol<D, Weak>, N>, N>& a,
                     const std::array<symbol<D, Weak>, N>& b) {
  std::array<std::array<symbol<D, Weak>, 1>, N> column{};
  for (std::size_t i = 0; i != N; ++i) column[i][0] = b[i];
  const auto rows = solve(a, column);
  std::array<symbol<detail::solved_in(D), Weak>, N> x{};
  for (std::size_t i = 0; i != N; ++i) x[i] = rows[i][0];
  return x;
}

/// The inverse of a matrix inside a formula, as `solve`.
template <dtype D, bool Weak, std::size_t N>
constexpr auto inv(const std::array<std::array<symbol<D, Weak>, N>, N>& a) {
  std::array<std::array<symbol<D, Weak>, N>, N> identity{};
  for (std::size_t i = 0; i != N; ++i)
    for (std::size_t j = 0; j != N; ++j)
      identity[i][j] = detail::convert_operand<D, Weak>(
          detail::lift(a[0][0].owner, i == j ? std::int64_t{1} : std::int64_t{0}));
  return solve(a, identity);
}

}  // namespace dsl

// Norms of matrices.
#pragma once

#include <dsl/linear/decompositions.hpp>

namespace dsl {

/// Orders of `matrix_norm` that are no numbers: the root of the sum of the squares of all elements'
/// magnitudes, and the sum of the singular values.
enum class norm_of_matrix : std::uint8_t { frobenius, nuclear };
inline constexpr norm_of_matrix frobenius = norm_of_matrix::frobenius,
                                nuclear = norm_of_matrix::nuclear;

namespace detail {

// nvcc deduces a constant's type with its const.
template <auto Order> inline constexpr bool is_no_number =
    std::same_as<std::remove_const_t<decltype(Order)>, norm_of_matrix>;
template <auto Order>
constexpr bool is_order_of_matrix() {
  if constexpr (is_no_number<Order>) return true;
  else
    return Order == 1 || Order == -1 || Order == 2 || Order == -2 || Order == inf || Order == -inf;
}

// The greatest or the least along the last axis.
template <bool IsLeast, class X>
auto last_extremum(const X& x) {
  if constexpr (IsLeast) return min(x, axis(-1));
  else return max(x, axis(-1));
}

}  // namespace detail

/// The norms of matrices (..., m, n), along the last two axes: np.linalg.matrix_norm. Order:
/// - dsl::frobenius (the default), as dsl::norm(a, dsl::axis(-2, -1));
/// - 1, -1: the greatest and the least sum of magnitudes of a column; dsl::inf, -dsl::inf: of a
/// row;
/// - 2, -2: the greatest and the least singular value; dsl::nuclear: the sum of all of them.
///
/// (dsl::norm<1>(a) is another: it takes all elements as one vector.) Real, double for integers.
/// NaN in a matrix gives NaN. Lazy: a reduction, or one of `svdvals`. Throws shape_error if there
/// is no column, row or singular value to choose from, otherwise as `svdvals`.
/// ```cpp
/// dsl::array<double> of_each = dsl::matrix_norm<dsl::nuclear>(A);
/// ```
template <auto Order = frobenius, class A>
  requires detail::operands<A>
auto matrix_norm(const A& a) {
  constexpr bool is_known = detail::is_order_of_matrix<Order>();
  static_assert(is_known,
                "norms of matrices have the orders 1, -1, 2, -2, dsl::inf, -dsl::inf, "
                "dsl::frobenius and dsl::nuclear");
  if constexpr (!is_known || !detail::may_be_decomposed<A>()) {
    return refused{};
  } else if constexpr (detail::is_no_number<Order>) {
    if constexpr (Order == nuclear) return sum(svdvals(a), axis(-1));
    else return norm(a, axis(-2, -1));
  } else if constexpr (Order == 2 || Order == -2) {
    return detail::last_extremum<(Order < 0)>(svdvals(a));
  } else {
    return detail::last_extremum<(Order < 0)>(
        norm<1>(a, axis(Order == 1 || Order == -1 ? -2 : -1)));
  }
}

}  // namespace dsl

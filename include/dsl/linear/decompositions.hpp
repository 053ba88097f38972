// Decompositions of batches of matrices: Cholesky's, eigenvalues, singular values.
#pragma once

#include <dsl/lang/shape.hpp>
#include <dsl/linear/solve.hpp>

#include <algorithm>

namespace dsl {

namespace detail {

/// Queue decompositions on the current stream of the matrices' device. The matrices are packed.
void run_cholesky(const operand& lower, const operand& a);
/// `vectors`, first the matrices, become the conjugates of the eigenvectors, in rows.
void run_eigh(const operand& values, const operand& vectors);
/// `a` is overwritten.
void run_svd(const operand& u, const operand& s, const operand& vh, const operand& a);
text describe_cholesky(const operand& a);
void run_singular_values(const operand& s, const operand& a);
text describe_singular_values(const operand& a);

template <dtype D>
struct cholesky_factors {
  static constexpr dtype argument_types[] = {D};
  static bool takes(const operand& o) { return is_packed(o); }
  template <std::size_t A>
  std::array<std::int64_t, A> shape(const std::array<std::int64_t, A>& a) const {
    require_square(a.data(), A, "cholesky");
    return a;
  }
  void run(const operand& lower, const operand* given) const { run_cholesky(lower, given[0]); }
  static text describe(const operand* given) { return describe_cholesky(given[0]); }
};

/// Of matrices of dtype D.
template <dtype D>
struct singular_values {
  static constexpr dtype argument_types[] = {D};
  static bool takes(const operand& o) { return o.kind == operand_kind::array; }
  template <std::size_t A>
  std::array<std::int64_t, A - 1> shape(const std::array<std::int64_t, A>& a) const {
    std::array<std::int64_t, A - 1> s;
    std::copy_n(a.begin(), A - 1, s.begin());
    s[A - 2] = std::min(a[A - 2], a[A - 1]);
    return s;
  }
  void run(const operand& s, const operand* given) const { run_singular_values(s, given[0]); }
  static text describe(const operand* given) { return describe_singular_values(given[0]); }
};

template <class A>
constexpr bool may_be_decomposed() {
  if constexpr (!require_operand<A>()) {
    return false;
  } else {
    constexpr bool are_matrices = operand_t<A>::rank >= 2;
    static_assert(are_matrices, "a decomposition is of matrices: two dimensions, or more");
    return are_matrices;
  }
}

template <class X, std::size_t... I>
auto exchanged_axes(const X& x, std::index_sequence<I...>) {
  return permute(x, static_cast<int>(I)..., static_cast<int>(sizeof...(I) + 1),
                 static_cast<int>(sizeof...(I)));
}
/// Each matrix of a batch transposed: a view.
template <class T, int R>
auto transposed_matrices(const array<T, R>& x) {
  return exchanged_axes(x, std::make_index_sequence<static_cast<std::size_t>(R - 2)>{});
}

template <class T, int R>
operand operand_of_array(const array<T, R>& x) {
  operand o, *at = &o;
  add_leaves(as_operand(x), at);
  return o;
}

}  // namespace detail

/// Cholesky's factors: the lower triangular matrices L with L times its conjugate transpose equal
/// to `a`, np.linalg.cholesky. `a`: symmetric or Hermitian positive definite matrices (..., n, n),
/// of which the lower triangle is read. A matrix that is not positive definite gives NaN, and stops
/// nothing. An operand like `matmul`. Throws as `solve`.
/// ```cpp
/// dsl::array<double, 3> lower = dsl::cholesky(covariances);
/// ```
template <class A>
  requires detail::operands<A>
auto cholesky(const A& a) {
  if constexpr (!detail::may_be_decomposed<A>()) {
    return refused{};
  } else {
    constexpr dtype D = detail::solved_in<A>();
    return detail::operate<D, detail::operand_t<A>::rank>(detail::cholesky_factors<D>{}, a);
  }
}

/// Eigenvalues in rising order, (..., n), and the eigenvectors in columns, (..., n, n).
template <element T, element Real, int Rank>
struct eigen_decomposition {
  array<Real, Rank - 1> values;
  array<T, Rank> vectors;
};

/// The eigenvalues and eigenvectors of symmetric or Hermitian matrices (..., n, n), of which the
/// lower triangle is read: np.linalg.eigh. The work is queued at the call, which does not wait. A
/// matrix that has NaN gives NaN. Throws as `solve`.
/// ```cpp
/// auto [values, vectors] = dsl::eigh(covariances);
/// ```
template <class A>
  requires detail::operands<A>
auto eigh(const A& a) {
  if constexpr (!detail::may_be_decomposed<A>()) {
    return refused{};
  } else {
    constexpr dtype D = detail::solved_in<A>();
    constexpr int rank = detail::operand_t<A>::rank;
    using T = element_t<D>;
    using real = element_t<real_of(D)>;
    const auto shape = detail::shape_of_expression(detail::as_operand(a));
    detail::require_square(shape.data(), rank, "eigh");
    array<T, rank> rows = cast<T>(a);
    dsl::extents<rank - 1> of_values;
    std::copy_n(shape.begin(), rank - 1, of_values.begin());
    array<real, rank - 1> values(of_values, rows.where());
    detail::run_eigh(detail::operand_of_array(values), detail::operand_of_array(rows));
    return eigen_decomposition<T, real, rank>{
        std::move(values), array<T, rank>(conj(detail::transposed_matrices(rows)))};
  }
}

/// u (..., m, k), the singular values in falling order (..., k), and the conjugate transpose of v,
/// vh (..., k, n), where k is the lesser of m and n.
template <element T, element Real, int Rank>
struct singular_value_decomposition {
  array<T, Rank> u;
  array<Real, Rank - 1> s;
  array<T, Rank> vh;
};

/// The singular values of matrices (..., m, n): np.linalg.svd with full_matrices=False. The work is
/// queued at the call, which does not wait. On a GPU one call of the library for a batch of
/// matrices of up to 32 rows and columns, otherwise one for each matrix. A matrix that has NaN
/// gives NaN. Throws as `solve`.
/// ```cpp
/// auto [u, s, vh] = dsl::svd(A);
/// ```
template <class A>
  requires detail::operands<A>
auto svd(const A& a) {
  if constexpr (!detail::may_be_decomposed<A>()) {
    return refused{};
  } else {
    constexpr dtype D = detail::solved_in<A>();
    constexpr int rank = detail::operand_t<A>::rank;
    constexpr std::size_t rows = rank - 2, columns = rank - 1;
    using T = element_t<D>;
    using real = element_t<real_of(D)>;
    const auto shape = detail::shape_of_expression(detail::as_operand(a));
    const std::int64_t k = std::min(shape[rows], shape[columns]);
    dsl::extents<rank - 1> of_values;
    std::copy_n(shape.begin(), rank - 1, of_values.begin());
    of_values[rows] = k;
    // The device's library wants at least as many columns as rows; of other matrices it decomposes
    // the transposes.
    const bool is_tall = shape[rows] > shape[columns];
    array<T, rank> wide = cast<T>(a);
    if (is_tall) wide = array<T, rank>(detail::transposed_matrices(wide));
    auto of_u = wide.extents(), of_vh = wide.extents();
    of_u[columns] = of_vh[rows] = k;
    array<T, rank> u(of_u, wide.where()), vh(of_vh, wide.where());
    array<real, rank - 1> s(of_values, wide.where());
    detail::run_svd(detail::operand_of_array(u), detail::operand_of_array(s),
                    detail::operand_of_array(vh), detail::operand_of_array(wide));
    using result = singular_value_decomposition<T, real, rank>;
    if (!is_tall) return result{std::move(u), std::move(s), std::move(vh)};
    return result{array<T, rank>(detail::transposed_matrices(vh)), std::move(s),
                  array<T, rank>(detail::transposed_matrices(u))};
  }
}

/// The singular values of matrices (..., m, n) in falling order, (..., k), where k is the lesser of
/// m and n; real: np.linalg.svdvals. A matrix that has NaN gives NaN. An operand like `matmul`.
/// Throws as `solve`.
/// ```cpp
/// dsl::array<double, 2> values_of_A = dsl::svdvals(A);
/// ```
template <class A>
  requires detail::operands<A>
auto svdvals(const A& a) {
  if constexpr (!detail::may_be_decomposed<A>()) {
    return refused{};
  } else {
    constexpr dtype D = detail::solved_in<A>();
    return detail::operate<real_of(D), detail::operand_t<A>::rank - 1>(detail::singular_values<D>{},
                                                                       a);
  }
}

}  // namespace dsl

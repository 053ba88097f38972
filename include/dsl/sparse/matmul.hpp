// Products of sparse matrices with vectors and matrices.
#pragma once

#include <dsl/lang/array_operation.hpp>
#include <dsl/sparse/csr.hpp>

namespace dsl {

namespace detail {

/// A sparse matrix times the second argument; the first one is the matrix's values.
template <class T>
struct csr_times {
  static constexpr dtype argument_types[] = {dtype_v<T>, dtype_v<T>};
  csr_structure matrix;

  static bool takes(const operand& argument) {
    for (int d = 0; d < argument.rank; ++d)
      if (argument.strides[d] <= 0) return false;
    return argument.kind == operand_kind::array;
  }
  template <std::size_t Rank>
  std::array<std::int64_t, Rank> shape(const std::array<std::int64_t, 1>&,
                                       std::array<std::int64_t, Rank> x) const {
    require_csr_factor(matrix.width, x[0]);
    x[0] = matrix.rows;
    return x;
  }
  void run(const operand& product, const operand* arguments) const {
    operand of[3], *at = of;
    (add_leaves(matrix.columns, at), add_leaves(matrix.offsets, at), add_leaves(matrix.parts, at));
    run_csr_product({arguments[0], of[0], of[1], of[2], matrix.long_rows, matrix.part_count},
                    arguments[1], product);
  }
  text describe(const operand* arguments) const {
    return describe_csr_product(matrix.rows, matrix.width, arguments[0].extents[0], arguments[1]);
  }
};

}  // namespace detail

/// The product of a sparse matrix with a vector, or with each column of a matrix: x has the extents
/// (width of a) or (width of a, n), and may be an array, a view or an expression, which is
/// evaluated first. The result has the extents (rows of a) or (rows of a, n) and a's dtype.
///
/// An operand like any other, y = x - 0.5 * dsl::matmul(a, x); the formula around it is a kernel
/// beside it. Does not wait; the same operands give the same bits each time. On a GPU, the host and
/// in the simulator. Throws shape_error if the extents do not fit, device_error on OpenCL devices,
/// several processes, and for operands on different devices.
/// ```cpp
/// dsl::array<float> y = 2 * dsl::matmul(a, x + 1) - x;
/// ```
template <class T, class X>
  requires detail::operands<X>
auto matmul(const sparse::csr<T>& a, const X& x) {
  if constexpr (!detail::require_operand<X>()) {
    return refused{};
  } else {
    using E = detail::operand_t<X>;
    constexpr bool has_axes = E::rank == 1 || E::rank == 2,
                   fits = assignable(dtype_v<T>, detail::trace_t<E>::type);
    static_assert(has_axes, "a sparse matrix is multiplied by a vector or by a matrix");
    static_assert(fits, "x's dtype is wider than the sparse matrix's: dsl::cast<float>(x)");
    if constexpr (has_axes && fits) {
      const detail::array_operation<detail::csr_times<T>, dtype_v<T>, E::rank, view<const T, 1>, E>
          product{{a.structure()}, {detail::as_operand(a.values()), detail::as_operand(x)}};
      shape_of_values(product);  // Throws here, not where it is assigned.
      return product;
    } else {
      return refused{};
    }
  }
}

}  // namespace dsl

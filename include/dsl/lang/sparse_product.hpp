// Products of sparse matrices with vectors and matrices, as operands of formulas.
#pragma once

#include <dsl/lang/sparse.hpp>

namespace dsl {

namespace detail {

/// A product with a sparse matrix. It is evaluated when it is assigned, or before the statement of
/// which it is an operand.
template <class T, int Rank, class Operand>
struct csr_product {
  using lazy_expression = void;
  static constexpr int rank = Rank;
  csr_views<T> matrix;
  Operand operand;
};
template <class T, int Rank, class Operand>
inline constexpr bool is_scan<csr_product<T, Rank, Operand>> = true;

template <class T, int Rank, class Operand>
struct traced<csr_product<T, Rank, Operand>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::load, dtype_v<T>>(t, Rank); }
};
template <class T, int Rank, class Operand>
dsl::extents<Rank> shape_of_product(const csr_product<T, Rank, Operand>& e) {
  dsl::extents<Rank> shape = shape_of_expression(e.operand);
  shape[0] = e.matrix.rows;
  return shape;
}
template <class T, int Rank, class Operand>
void add_leaves(const csr_product<T, Rank, Operand>& e, operand*& at) {
  const leaves_of<view<const T, 1>> entries(e.matrix.values);
  set_shape_of_values(*at++, dtype_v<T>, Rank, shape_of_product(e).data(), entries.at, 1);
}
template <class T, int Rank, class Operand, class Map>
auto map_operands(const csr_product<T, Rank, Operand>& e, const Map& map) {
  return csr_product<T, Rank, decltype(map(e.operand))>{e.matrix, map(e.operand)};
}
template <class T, int Rank, class Operand>
auto memory_for_scan(const csr_product<T, Rank, Operand>& e) {
  return array<T, Rank>(shape_of_product(e), e.matrix.values.owner().where());
}

/// The factor in memory, as a view: itself, or its values.
template <class T, int R>
view<const T, R> factor_in_memory(const view<const T, R>& x) {
  for (const std::int64_t step : x.strides())
    if (step <= 0) return array<T, R>(x).view();
  return x;
}
template <class T, class E>
auto factor_as(const E& e) {
  if constexpr (std::same_as<E, view<const T, E::rank>>) return factor_in_memory(e);
  else return view<const T, E::rank>(array<T, E::rank>(e).view());
}

template <class T, int Rank, class Operand>
array<T, Rank> evaluate_scan(const csr_product<T, Rank, Operand>& e) {
  array<T, Rank> made = memory_for_scan(e);
  const device_guard guard(made.where());
  const csr_views<T>& m = e.matrix;
  const view<const T, Rank> x = factor_as<T>(evaluate_scans(e.operand));
  operand all[6], *at = all;
  (add_leaves(m.values, at), add_leaves(m.columns, at), add_leaves(m.offsets, at));
  (add_leaves(m.parts, at), add_leaves(x, at), add_leaves(made.view(), at));
  run_csr_product({all[0], all[1], all[2], all[3], m.long_rows, m.part_count}, all[4], all[5]);
  return made;
}

}  // namespace detail

/// The product of a sparse matrix with a vector or, for each of its columns, with a matrix: of
/// extents (columns of a) or (columns of a, n), an array, a view or an expression, which is
/// evaluated first. The result has the extents (rows of a) or (rows of a, n) and a's dtype.
///
/// Lazy: an operand of formulas, `y = x - 0.5 * dsl::matmul(a, x)`, evaluated into memory of its
/// own before the formula runs. Reads each entry once for every 32 columns. Does not wait; the
/// result is the same from run to run. Not on OpenCL's devices and not across processes. Throws
/// shape_error if the extents do not fit, device_error if the operands are on different devices.
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
    static_assert(fits, "x's dtype is wider than the sparse matrix's: dsl::cast<T>(x)");
    if constexpr (has_axes && fits) {
      const E operand = detail::as_operand(x);
      detail::require_csr_factor(a.extent(1), detail::shape_of_expression(operand)[0]);
      return detail::csr_product<T, E::rank, E>{a.operand(), operand};
    } else {
      return refused{};
    }
  }
}

/// Evaluates a product into an array or a view of its shape. As if it were complete before the
/// first element is written. Does not wait.
template <class Target, class T, int Rank, class Operand>
void assign(Target&& target, const detail::csr_product<T, Rank, Operand>& e) {
  array<T, Rank> values = detail::evaluate_scan(e);
  if constexpr (std::same_as<std::remove_cvref_t<Target>, array<T, Rank>>)
    if (!target.has_memory()) return static_cast<void>(target = std::move(values));
  assign(target, values.view());
}
/// Evaluates a product now, into an array. Does not wait.
template <class T, int Rank, class Operand>
array<T, Rank> eval(const detail::csr_product<T, Rank, Operand>& e) {
  return detail::evaluate_scan(e);
}

}  // namespace dsl

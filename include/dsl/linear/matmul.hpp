// Products of matrices.
#pragma once

#include <dsl/lang/array_operation.hpp>
#include <dsl/lang/reduce.hpp>

#include <complex>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::linear, Explicit> = true;

/// The extents of a product, of its rank. Throws shape_error if the inner extents differ, or the
/// batches do not broadcast.
void shape_of_product(const std::int64_t* a, int rank_a, const std::int64_t* b, int rank_b,
                      std::int64_t* product);
/// Whether the library's routines read matrices or vectors that lie like this, or their conjugates.
bool may_be_multiplied(const operand& factor);
bool may_be_conjugated(const operand& factor);
/// Whether they write a product that lies like this.
bool may_be_product(const operand& product);

/// What a call makes of a product: times * product + plus * target. The target is not read if
/// `plus` is 0.
struct product_weights { std::complex<double> times{1}, plus{0}; };
/// Whether a call with a weight, in the dtype in which it is added, has the values that a formula
/// has: it is finite and not 0. BLAS reads no elements that are multiplied by 0, and so passes over
/// NaN among them.
bool may_be_weight(dtype product, std::complex<double> weight);

/// Queues a product on the current stream of the result's device. `conjugated`: a bit for each
/// factor of which the conjugates are read.
void run_product(const operand& product, const operand* factors, unsigned conjugated,
                 const product_weights& weights);
text describe_product(const operand* factors, const product_weights& weights);

template <dtype D>
struct product_of_matrices {
  static constexpr dtype argument_types[] = {D, D};
  product_weights weights{};
  static bool takes(const operand& factor) { return may_be_multiplied(factor); }
  static bool takes_conjugates(const operand& factor) { return may_be_conjugated(factor); }
  static bool writes(const operand& product) { return may_be_product(product); }
  template <std::size_t A, std::size_t B>
  auto shape(const std::array<std::int64_t, A>& a, const std::array<std::int64_t, B>& b) const {
    constexpr std::size_t greater = A > B ? A : B;
    std::array<std::int64_t, A == 1 || B == 1 ? greater - 1 : greater> product{};
    shape_of_product(a.data(), A, b.data(), B, product.data());
    return product;
  }
  void run(const operand& product, const operand* factors, unsigned conjugated) const {
    run_product(product, factors, conjugated, weights);
  }
  text describe(const operand* factors) const { return describe_product(factors, weights); }
};

template <class X> inline constexpr dtype result_dtype = trace_t<operand_t<X>>::type.type;
constexpr bool is_inexact(dtype d) {
  return kind_of(d) == kind::real || kind_of(d) == kind::complex;
}

/// An operation of operands, which are checked before.
template <dtype D, int Rank, class Operation, class... X>
array_operation<Operation, D, Rank, operand_t<X>...> operate(const Operation& operation,
                                                             const X&... x) {
  return {operation, {as_operand(x)...}};
}

}  // namespace detail

/// The product of matrices, of a matrix and a vector, or the scalar product of vectors: np.matmul.
/// Operands of more than two dimensions are batches of matrices, which broadcast. Real and complex
/// numbers; halves are added in float. The dtype is that of both operands together. Arrays and
/// views are read as they lie, transposed ones too; any other expression is evaluated once, before.
/// The product is an operand like any other; the formula around it is a kernel beside it. C = 2 *
/// matmul(a, b) + 0.5 * C, C -= matmul(a, b) and conj(transpose(a)) as a factor are one call.
///
/// By cuBLAS on a GPU, by OpenBLAS on the host and in the simulator. The same operands give the
/// same bits each time. Does not wait. Throws shape_error if the extents do not match, device_error
/// on OpenCL devices, meshes and several processes; memory_error, cuda_error.
/// ```cpp
/// // Views are read as they lie: a transposed one needs no copy.
/// dsl::array<double, 2> c = dsl::matmul(a, dsl::transpose(b));
/// // Two products, and one kernel for the formula around them.
/// R = R - 1i * h * (dsl::matmul(H, R) - dsl::matmul(R, H));
/// ```
/// One call of the library:
/// ```cpp
/// C = 2 * dsl::matmul(a, b) + 0.5 * C;
/// ```
template <class A, class B>
  requires detail::operands<A, B>
auto matmul(const A& a, const B& b) {
  if constexpr (!detail::require_operand<A>() || !detail::require_operand<B>()) {
    return refused{};
  } else {
    constexpr dtype D = promote(detail::result_dtype<A>, detail::result_dtype<B>);
    constexpr int ra = detail::operand_t<A>::rank, rb = detail::operand_t<B>::rank,
                  greater = ra > rb ? ra : rb;
    static_assert(ra > 0 && rb > 0, "dsl::matmul multiplies matrices and vectors, not scalars");
    static_assert(detail::is_inexact(D),
                  "dsl::matmul multiplies real and complex numbers: dsl::cast<double>(x)");
    if constexpr (ra == 0 || rb == 0 || !detail::is_inexact(D)) return refused{};
    else if constexpr (ra == 1 && rb == 1) return sum(a * b);
    else
      return detail::operate<D, (ra == 1 || rb == 1 ? greater - 1 : greater)>(
          detail::product_of_matrices<D>{}, a, b);
  }
}

}  // namespace dsl

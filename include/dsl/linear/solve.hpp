// Systems of linear equations, and inverse matrices.
#pragma once

#include <dsl/lang/generate.hpp>
#include <dsl/linear/matmul.hpp>

#include <algorithm>

namespace dsl {

namespace detail {

/// The extents of the solution of square systems `a` with right sides `b`. Throws shape_error.
void shape_of_solution(const std::int64_t* a, int rank_a, const std::int64_t* b, int rank_b,
                       std::int64_t* solution);
/// Throws shape_error unless the matrices are square; `function` names the caller.
void require_square(const std::int64_t* extents, int rank, const char* function);
bool is_packed(const operand& o);
/// Queues systems and their right sides on the current stream of the solution's device.
void run_systems(const operand& solution, const operand& a, const operand& b);
text describe_systems(const operand& a);

template <dtype D>
struct linear_systems {
  static constexpr dtype argument_types[] = {D, D};
  static bool takes(const operand& o) { return is_packed(o); }
  template <std::size_t A, std::size_t B>
  std::array<std::int64_t, B> shape(const std::array<std::int64_t, A>& a,
                                    const std::array<std::int64_t, B>& b) const {
    std::array<std::int64_t, B> solution;
    shape_of_solution(a.data(), A, b.data(), B, solution.data());
    return solution;
  }
  void run(const operand& solution, const operand* given) const {
    run_systems(solution, given[0], given[1]);
  }
  static text describe(const operand* given) { return describe_systems(given[0]); }
};

/// The dtype in which systems of these operands are solved: of integers and halves that of float64
/// or float32.
template <class... X>
constexpr dtype solved_in() {
  dtype type = dtype::boolean;
  ((type = promote(type, result_dtype<X>)), ...);
  if (type == dtype::float16 || type == dtype::bfloat16) return dtype::float32;
  return is_inexact(type) ? type : dtype::float64;
}

/// The identity matrix of the size of square matrices, with as many dimensions. Throws shape_error.
template <class A>
auto identity_for(const A& a) {
  auto shape = shape_of_expression(a);
  require_square(shape.data(), A::rank, "inv");
  std::fill(shape.begin(), shape.end() - 2, 1);
  return cast<std::int8_t>(index(A::rank - 2, shape) == index(A::rank - 1, shape));
}

}  // namespace detail

/// The solutions x of systems a x = b: np.linalg.solve. `a` is a square matrix or a batch of them,
/// (..., n, n); `b` is of one dimension less, a vector for each matrix, or of the same number of
/// dimensions, (..., n, m). Batches broadcast: one matrix for many right sides as well. By LU
/// factors with row pivots. Integers are solved in double. Operands as those of `matmul`.
///
/// Systems of up to 8 unknowns are solved by one thread each, in registers, in one kernel that
/// reads and writes each element once. Larger ones are the library's: cuSOLVER and cuBLAS, LAPACK.
/// A singular matrix gives infinities and NaN for its own solution alone. Does not wait. Throws as
/// `matmul`.
/// ```cpp
/// // A system for each of a thousand elements. A: (1000, 3, 3), r: (1000, 3).
/// dsl::array<double, 2> z = dsl::solve(A, r);
/// ```
template <class A, class B>
  requires detail::operands<A, B>
auto solve(const A& a, const B& b) {
  if constexpr (!detail::require_operand<A>() || !detail::require_operand<B>()) {
    return refused{};
  } else {
    constexpr int ra = detail::operand_t<A>::rank, rb = detail::operand_t<B>::rank;
    constexpr bool fit = ra >= 2 && (rb == ra || rb == ra - 1);
    static_assert(fit,
                  "dsl::solve takes matrices (..., n, n) and right sides of one dimension less, "
                  "(..., n), or of as many, (..., n, m)");
    if constexpr (fit) {
      constexpr dtype D = detail::solved_in<A, B>();
      return detail::operate<D, rb>(detail::linear_systems<D>{}, a, b);
    } else {
      return refused{};
    }
  }
}

/// The inverses of square matrices (..., n, n): np.linalg.inv. As `solve`, which is faster and more
/// accurate where a product with the inverse is wanted.
/// ```cpp
/// dsl::array<double, 3> inverses = dsl::inv(A);
/// ```
template <class A>
  requires detail::operands<A>
auto inv(const A& a) {
  if constexpr (!detail::require_operand<A>()) {
    return refused{};
  } else {
    constexpr int rank = detail::operand_t<A>::rank;
    static_assert(rank >= 2, "dsl::inv takes square matrices (..., n, n)");
    if constexpr (rank >= 2) {
      constexpr dtype D = detail::solved_in<A>();
      return detail::operate<D, rank>(detail::linear_systems<D>{}, a,
                                      detail::identity_for(detail::as_operand(a)));
    } else {
      return refused{};
    }
  }
}

}  // namespace dsl

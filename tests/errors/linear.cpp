// Wrong products of matrices and systems of equations.

// case product_of_integers
// says: dsl::matmul multiplies real and complex numbers: dsl::cast<double>(x)
// lines: nvcc 6, g++ 10, clang++ 11
#include <dsl/linear.hpp>
void f(dsl::array<int, 2>& m) { auto c = dsl::matmul(m, m); }

// case product_with_a_scalar
// says: dsl::matmul multiplies matrices and vectors, not scalars
// lines: nvcc 6, g++ 10, clang++ 11
#include <dsl/linear.hpp>
void f(dsl::array<float, 2>& m, dsl::scalar<float>& s) { auto c = dsl::matmul(m, s); }

// case right_sides_of_other_dimensions
// says: dsl::solve takes matrices (..., n, n) and right sides of one dimension less
// lines: nvcc 6, g++ 9, clang++ 10
#include <dsl/linear.hpp>
void f(dsl::array<double, 3>& a, dsl::array<double>& b) { auto x = dsl::solve(a, b); }

// case norm_of_a_matrix_of_unknown_order
// says: norms of matrices have the orders 1, -1, 2, -2, dsl::inf, -dsl::inf, dsl::frobenius and dsl::nuclear
// lines: nvcc 6, g++ 8, clang++ 9
#include <dsl/linear.hpp>
void f(dsl::array<double, 2>& a) { auto x = dsl::matrix_norm<3>(a); }

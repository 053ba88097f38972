// Sparse matrices.

// case sparse_times_a_scalar
// says: a sparse matrix is multiplied by a vector or by a matrix
// lines: nvcc 6, g++ 8, clang++ 9
#include <dsl/sparse.hpp>
void f(dsl::array<float>& y, const dsl::sparse::csr<float>& a, dsl::scalar<float>& x) {
  y = dsl::matmul(a, x);
}

// case sparse_times_wider_numbers
// says: x's dtype is wider than the sparse matrix's: dsl::cast<float>(x)
// lines: nvcc 6, g++ 8, clang++ 9
#include <dsl/sparse.hpp>
void f(dsl::array<float>& y, const dsl::sparse::csr<float>& a, dsl::array<double>& x) {
  y = dsl::matmul(a, x);
}

// case sparse_matrix_of_integers
// says: a sparse matrix has values of float, double or complex numbers
// lines: nvcc 8, g++ 9, clang++ 12
#include <dsl/sparse.hpp>
auto f(dsl::array<int>& i, dsl::array<int>& values) {
  return dsl::sparse::from_coo(3, 3, i, i, values);
}

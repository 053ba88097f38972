// Assignment: what takes an expression, and what an expression is not.
#include <dsl/dsl.hpp>

#include <complex>
#include <iostream>
#include <span>
#include <tuple>
#include <vector>

// case more_dimensions_than_the_target
// says: the expression has more dimensions than its target
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x, dsl::array<float, 2>& m) { x = m + 1; }

// case array_of_a_matrix
// says: an array is made of an expression of as many dimensions
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float, 2>& m) { dsl::array<float> w = m * 2; }

// case matrix_of_an_array
// says: an array is made of an expression of as many dimensions
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x) { dsl::array<float, 2> m = x; }

// case matrix_of_a_vector
// says: an array is made of an expression of as many dimensions: dsl::reshape(x, rows, columns) gives a vector more
// lines: nvcc 9, g++ 10, clang++ 15
void f(const std::vector<float>& v) { dsl::array<float, 2> m = dsl::to_device(v); }

// case array_of_one_value
// says: an array is made of an expression of as many dimensions: one value is a dsl::scalar
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { dsl::array<float> s = dsl::sum(x); }

// case one_target_of_two
// says: as many targets as the right side has values
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return std::tuple{v, -v}; })(x);
}

// case two_targets_of_one
// says: as many targets as the right side has values
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x, dsl::array<float>& y) {
  dsl::tie(x, y) = dsl::vectorize([](auto v) { return -v; })(x);
}

// case std_tie
// says: several values are assigned to dsl::tie(x, y), not to std::tie
// lines: nvcc 6, g++ 8, clang++ 14
void f(dsl::array<float>& x, dsl::array<float>& y) {
  std::tie(x, y) = dsl::vectorize([](auto v) { return std::tuple{v, -v}; })(x);
}

// case names_of_two_values
// says: an expression's values are not bound to names: assign them to arrays, dsl::tie(s, c) = f(u)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& u) {
  auto [s, c] = dsl::vectorize([](auto v) { return std::tuple{sin(v), cos(v)}; })(u);
  u = s * c;
}

// case names_of_two_reductions
// says: an expression's values are not bound to names: assign them to arrays, dsl::tie(s, c) = f(u)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& u) {
  const auto [s, most] =
      dsl::vectorize([](auto v) { return std::tuple{dsl::sum(v), dsl::max(v)}; })(u);
}

// case names_of_a_selection
// says: an expression's values are not bound to names: assign them to arrays, dsl::tie(s, c) = f(u)
// lines: nvcc 8, g++ 10, clang++ 13
#include <dsl/by_key.hpp>
void f(dsl::array<float>& u) { const auto [values, n] = dsl::unique(u); }

// case tie_of_temporaries
// says: targets are their caller's: give each a name
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  dsl::tie(x(dsl::slice(0, 2)), x(dsl::slice(2, 4))) = std::tuple{x + 1, x + 2};
}

// case reduction_into_an_array
// says: a reduction is one value: assign it to a dsl::scalar
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x) { x = dsl::sum(x); }

// case rank_of_a_reduction
// says: a reduction is one value: assign it to a dsl::scalar; along axes, to an array of as many dimensions as are left
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float, 2>& m, dsl::array<float, 2>& rows) { rows = dsl::sum(m, dsl::axis(1)); }

// case narrower_target
// says: the target's dtype is narrower than the expression's: use dsl::cast
// lines: nvcc 11, g++ 12, clang++ 24
void f(dsl::array<float>& x, dsl::array<double>& d) { x += d; }

// case integer_target
// says: the target's dtype is narrower than the expression's: use dsl::cast
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<int>& i) { i = i / 2.0; }

// case real_target_of_complex
// says: a complex number has no real value: take real(x), imag(x) or abs(x)
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x, dsl::array<std::complex<float>>& z) { x = z * 2; }

// case real_array_of_complex
// says: a complex number has no real value: take real(x), imag(x) or abs(x)
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<double>& x) {
  using namespace std::complex_literals;
  dsl::array<double> z = exp(1i * x);
}

// case complex_value
// says: a complex number has no real value: take real(x), imag(x) or abs(x)
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x) { x = std::complex<float>(1, 2); }

// case narrower_array
// says: the target's dtype is narrower than the expression's: use dsl::cast
// lines: nvcc 11, g++ 12, clang++ 21
void f(dsl::array<float>& x) { dsl::array<int> i = x; }

// case narrower_value
// says: the target's dtype is narrower than the value's: use a value of its dtype, or static_cast
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<int>& i) { i = 2.5; }

// case assigned_to_an_expression
// says: an expression has no memory to assign to
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x, dsl::array<float>& y) { (x + y) = 3; }

// case assigned_to_a_formula
// says: an expression has no memory to assign to
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x, dsl::array<float>& y) {
  auto e = x + y;
  e = x - y;
}

// case const_array
// says: the target is const: an array that is, or a view that only reads
// lines: nvcc 11, g++ 13, clang++ 21
void f(const dsl::array<float>& x) { x(dsl::slice(1, 3)) = 0; }

// case const_element
// says: the target is const: an array that is, or a view that only reads
// lines: nvcc 6, g++ 9, clang++ 10
void f(const dsl::array<float>& x) { x(1) = 2; }

// case const_array_as_a_whole
// says: the target is const: an array that is, or a view that only reads
// lines: nvcc 6, g++ 8, clang++ 9
void f(const dsl::array<float>& x) { x = 2 * x; }

// case stretched_target
// says: the target is const: an array that is, or a view that only reads
// lines: nvcc 11, g++ 12, clang++ 21
void f(dsl::array<float>& x) { dsl::broadcast_to(x, 3, 4) = x; }

// case value_of_a_reduction
// says: an expression is not a value yet: x.value() evaluates it, copies it to the host and waits
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) { float s = dsl::sum(x); }

// case branch_on_a_reduction
// says: an expression is not a value yet: x.value() evaluates it, copies it to the host and waits
// lines: nvcc 6, g++ 8, clang++ 9
int f(dsl::array<float>& x) {
  if (dsl::sum(x) > 3) return 1;
  return 0;
}

// case arithmetic_with_a_reduction
// says: an expression is not a value yet: x.value() evaluates it, copies it to the host and waits
// lines: nvcc 8, g++ 9, clang++ 15
double f(dsl::array<double>& x) {
  double s = 0;
  s += dsl::mean(x);
  return s;
}

// case condition_of_many_elements
// says: an expression of many elements is no single value: for a condition take dsl::all(x).value() or dsl::any(x).value()
// lines: nvcc 6, g++ 8, clang++ 9
int f(dsl::array<float>& x, dsl::array<float>& y) {
  if (x == y) return 1;
  return 0;
}

// case array_as_a_condition
// says: an array is no single value: take x(i)
// lines: nvcc 8, g++ 9, clang++ 12
int f(dsl::array<bool>& mask) {
  if (mask) return 1;
  return 0;
}

// case value_of_an_array
// says: an array is no single value: take x(i)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { float v = x; }

// case loop_over_an_array
// says: elements are in device memory: loop over x.copy_to_host(), a std::vector, or write an expression
// lines: nvcc 8, g++ 9, clang++ 12
float f(dsl::array<float>& x) {
  float s = 0;
  for (float v : x) s += v;
  return s;
}

// case loop_over_a_view
// says: elements are in device memory: loop over x.copy_to_host(), a std::vector, or write an expression
// lines: nvcc 8, g++ 9, clang++ 12
float f(dsl::array<float>& x) {
  float s = 0;
  for (float v : x(dsl::slice(1, 3))) s += v;
  return s;
}

// case subscript_in_brackets
// says: elements are chosen by x(i), m(i, j) and x(dsl::slice(0, n)), not by brackets
// lines: nvcc 8, g++ 9, clang++ 12
float f(dsl::array<float>& x) { return x[1]; }

// case assigned_in_brackets
// says: elements are chosen by x(i), m(i, j) and x(dsl::slice(0, n)), not by brackets
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  for (int i = 0; i < 3; ++i) x[i] = 2 * x[i];
}

// case two_brackets
// says: elements are chosen by x(i), m(i, j) and x(dsl::slice(0, n)), not by brackets
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float, 2>& m) { m[0][1] = 2; }

// case brackets_of_an_expression
// says: elements are chosen by x(i), m(i, j) and x(dsl::slice(0, n)), not by brackets
// lines: nvcc 8, g++ 9, clang++ 12
float f(dsl::array<float>& x, dsl::array<float>& y) { return (x + y)[0]; }

// case more_subscripts_than_axes
// says: there are more subscripts than axes
// lines: nvcc 8, g++ 10, clang++ 13
void f(dsl::array<float>& x) { x(0, 1) = 3; }

// case more_subscripts_than_axes_of_an_expression
// says: there are more subscripts than axes
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<double>& x, dsl::array<double>& y) { y = (x + y)(0, 1); }

// case fractional_subscript
// says: subscripts are integers and dsl::slice
// lines: nvcc 8, g++ 15, clang++ 31
void f(dsl::array<float>& x) { x(1.5) = 1; }

// case mask_as_a_subscript
// says: subscripts are integers and dsl::slice
// lines: nvcc 8, g++ 15, clang++ 31
void f(dsl::array<float>& x) { x(x > 0) = 0; }

// case array_as_a_subscript
// says: subscripts are integers and dsl::slice
// lines: nvcc 8, g++ 15, clang++ 31
void f(dsl::array<float>& x, dsl::array<int>& i) { x = x(i); }

// case string_as_a_subscript
// says: subscripts are integers and dsl::slice
// lines: nvcc 8, g++ 15, clang++ 31
void f(dsl::array<float>& x) { x = x(":"); }

// case eval_of_several
// says: eval takes one value: use dsl::tie for several
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  dsl::eval(dsl::vectorize([](auto v) { return std::tuple{v, -v}; })(x));
}

// case vector_made_of_an_expression
// says: an expression has no elements yet: dsl::eval(x).copy_to_host() evaluates it and gives a std::vector
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { std::vector<float> v = x + 1; }

// case vector_assigned_an_expression
// says: an expression has no elements yet: dsl::eval(x).copy_to_host() evaluates it and gives a std::vector
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x, std::vector<float>& v) { v = x + 1; }

// case vector_made_of_an_array
// says: elements are in device memory: loop over x.copy_to_host(), a std::vector, or write an expression
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { std::vector<float> v = x; }

// case array_made_of_a_vector
// says: an array is assigned arrays, expressions and C++ numbers: of a std::vector take dsl::to_device(v), or
// lines: nvcc 8, g++ 14, clang++ 18
void f(const std::vector<float>& v) { dsl::array<float> x = v; }

// case array_assigned_a_vector
// says: an array is assigned arrays, expressions and C++ numbers: of a std::vector take dsl::to_device(v), or
// lines: nvcc 8, g++ 14, clang++ 18
void f(dsl::array<float>& x, const std::vector<float>& v) { x = v; }

// case array_made_of_a_list
// says: an array is made with an integer for each of its dimensions
// lines: nvcc 8, g++ 9, clang++ 12
void f() { dsl::array<float> x = {1, 2, 3}; }

// case array_of_a_float_size
// says: an array is made with an integer for each of its dimensions
// lines: nvcc 8, g++ 9, clang++ 12
void f() { dsl::array<float> x(10.0); }

// case array_of_two_sizes
// says: an array is made with an integer for each of its dimensions
// lines: nvcc 8, g++ 9, clang++ 12
void f() { dsl::array<float> x(3, 4); }

// case to_device_of_nested_vectors
// says: dsl::to_device takes elements of one dtype that lie one after another
// lines: nvcc 6, g++ 9, clang++ 10
void f(const std::vector<std::vector<float>>& rows) { auto m = dsl::to_device(rows); }

// case to_device_of_vector_bool
// says: dsl::to_device takes elements of one dtype that lie one after another
// lines: nvcc 6, g++ 9, clang++ 10
void f(const std::vector<bool>& p) { auto m = dsl::to_device(p); }

// case copy_to_another_type
// says: copy_to_host wants elements of the array's type
// lines: nvcc 8, g++ 10, clang++ 13
void f(dsl::array<float>& x, std::vector<double>& v) { x.copy_to_host(v); }

// case host_copy_of_an_expression
// says: an expression has no elements yet: dsl::eval(x).copy_to_host() evaluates it and gives a std::vector
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { auto v = (x * 2).copy_to_host(); }

// case zeros_of_a_shape
// says: dsl::zeros, ones and full take the dtype first and extents as numbers
// lines: nvcc 8, g++ 10, clang++ 13
void f() { auto m = dsl::zeros<float>({3, 4}); }

// case zeros_without_a_dtype
// says: dsl::zeros, ones and full take the dtype first and extents as numbers
// lines: nvcc 8, g++ 10, clang++ 13
void f() { auto m = dsl::zeros(3, 4); }

// case sum_as_a_member
// says: arrays and expressions have no member sum: write dsl::sum(x)
// lines: nvcc 6, g++ 9, clang++ 16
float f(dsl::array<float>& x) { return x.sum(); }

// case mean_of_an_expression_as_a_member
// says: arrays and expressions have no member mean: write dsl::mean(x)
// lines: nvcc 6, g++ 9, clang++ 16
void f(dsl::array<float>& x) { x = x - (2 * x).mean(); }

// case reshape_as_a_member
// says: arrays and expressions have no member reshape: write dsl::reshape(x, 3, -1)
// lines: nvcc 6, g++ 9, clang++ 13
void f(dsl::array<float>& x) { dsl::array<float, 2> m = x.reshape(2, 5); }

// case type_as_a_member
// says: arrays and expressions have no member astype: write dsl::cast<float>(x)
// lines: nvcc 6, g++ 9, clang++ 13
void f(dsl::array<float>& x) { dsl::array<double> d = x.astype<double>(); }

// case copy_as_a_member
// says: arrays and expressions have no member copy: write dsl::eval(x)
// lines: nvcc 6, g++ 9, clang++ 13
void f(dsl::array<float>& x) { auto y = x(dsl::slice(0, 3)).copy(); }

// case shape_as_a_member
// says: arrays and expressions have no member shape: write x.extent(i) or x.extents(), of an array
// lines: nvcc 8, g++ 10, clang++ 20
int f(dsl::array<float, 2>& m) { return m.shape[0] == m.shape[1] ? 1 : 0; }

// case transposed_as_a_member
// says: arrays and expressions have no member T: write dsl::transpose(x)
// lines: nvcc 8, g++ 10, clang++ 20
void f(dsl::array<float, 2>& m) { m = m + (2 * m).T; }

// case product_of_matrices
// says: matmul has a header of its own: add #include <dsl/linear.hpp>
// lines: nvcc 6, g++ 9, clang++ 19
void f(dsl::array<float, 2>& m) { m = dsl::matmul(m, m); }

// case dot_of_matrices
// says: dot is of vectors: vdot takes arrays as vectors, and a product of matrices is cuBLAS's or BLAS's, of x.data()
// lines: nvcc 8, g++ 10, clang++ 13
void f(dsl::array<float, 2>& m) { m = dsl::dot(m, m); }

// case target_that_is_a_number
// says: a target is an array, a view or a scalar in device memory, not a C++ scalar
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x, float s) { dsl::tie(x, s) = std::tuple{2 * x, dsl::sum(x)}; }

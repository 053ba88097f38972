// Functions and operators.
#include <dsl/dsl.hpp>

#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <string>
#include <vector>
struct point { float x, y; };
inline float sigmoid(float v) { return 1 / (1 + std::exp(-v)); }

// case std_exp_of_an_array
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { x = std::exp(x); }

// case std_pow_of_an_array
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<double>& x) { x = std::pow(x, 2.0f); }

// case std_sqrt_of_an_expression
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { x = std::sqrt(x * x + 1); }

// case std_conj_of_an_array
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<std::complex<float>>& z) { z = std::conj(z); }

// case std_max_of_arrays
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 8, g++ 9, clang++ 15
void f(dsl::array<float>& x, dsl::array<float>& y) { x = std::max(x, y); }

// case std_isnan_of_an_array
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<bool>& p, dsl::array<float>& x) { p = std::isnan(x); }

// case std_sqrt_of_a_symbol
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 11, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return std::sqrt(v); })(x);
}

// case std_pow_of_a_symbol
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 11, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return 2 * std::pow(v, 2) + 1; })(x);
}

// case std_abs_of_a_complex_symbol
// says: functions of std:: take C++ numbers: of arrays, and in formulas, write dsl::exp(x) for std::exp(x)
// lines: nvcc 11, g++ 12, clang++ 24
void f(dsl::array<float>& x, dsl::array<std::complex<float>>& z) {
  x = dsl::vectorize([](auto v) { return std::abs(v); })(z);
}

// case std_accumulate_of_an_array
// says: elements are in device memory: loop over x.copy_to_host(), a std::vector, or write an expression
// lines: nvcc 8, g++ 9, clang++ 12
float f(dsl::array<float>& x) { return std::accumulate(x.begin(), x.end(), 0.0f); }

// case function_of_a_number
// says: an array is no single value: take x(i)
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) { x = sigmoid(x); }

// case function_of_a_number_on_a_symbol
// says: a formula calls or reads what the compiler does not evaluate: a function that takes numbers is given to
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return sigmoid(v); })(x);
}

// case sine_of_a_vector
// says: functions of dsl take arrays, views, scalars and expressions, and C++ numbers beside them: of a std::vector take
// lines: nvcc 8, g++ 9, clang++ 18
void f(dsl::array<float>& x, const std::vector<float>& v) { x = dsl::sin(v); }

// case sine_of_a_struct
// says: functions of dsl take arrays, views, scalars and expressions, and C++ numbers beside them: of a std::vector take
// lines: nvcc 8, g++ 9, clang++ 18
void f(dsl::array<float>& x, point p) { x = dsl::sin(p); }

// case sine_of_a_number
// says: functions of dsl take arrays, views, scalars and expressions, and C++ numbers beside them: of a std::vector take
// lines: nvcc 8, g++ 9, clang++ 18
void f(dsl::array<float>& x) { x = x * dsl::sin(0.5f); }

// case where_of_a_vector
// says: functions of dsl take arrays, views, scalars and expressions, and C++ numbers beside them: of a std::vector take
// lines: nvcc 8, g++ 9, clang++ 15
void f(dsl::array<float>& x, const std::vector<float>& v) { x = where(x > 0, x, v); }

// case array_plus_vector
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 24
void f(dsl::array<float>& x, const std::vector<float>& v) { x = x + v; }

// case vector_times_array
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 24
void f(dsl::array<float>& x, const std::vector<double>& v) { x = v * x; }

// case array_plus_struct
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 24
void f(dsl::array<float>& x, point p) { x = x + p; }

// case array_plus_string
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 24
void f(dsl::array<float>& x) { x = x + "1"; }

// case array_plus_pointer
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 24
void f(dsl::array<float>& x, const float* p) { x = x * p; }

// case array_plus_long_double
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 24
void f(dsl::array<float>& x) { x = x * 2.0L; }

// case array_plus_equals_vector
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 10, g++ 11, clang++ 27
void f(dsl::array<float>& x, const std::vector<float>& v) { x += v; }

// case symbol_plus_vector
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 12, g++ 13, clang++ 36
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v + std::vector<float>{1}; })(x);
}

// case power_by_caret
// says: this operation is not defined for operands of these dtypes
// lines: nvcc 8, g++ 9, clang++ 21
void f(dsl::array<float>& x) { x = x ^ 2; }

// case modulus_of_floats
// says: this operation is not defined for operands of these dtypes
// lines: nvcc 8, g++ 9, clang++ 21
void f(dsl::array<float>& x) { x = x % 2 + 1; }

// case bool_minus_bool
// says: this operation is not defined for operands of these dtypes
// lines: nvcc 8, g++ 9, clang++ 21
void f(dsl::array<int>& x, dsl::array<bool>& p) { x = p - p; }

// case ordering_of_complex
// says: this operation is not defined for operands of these dtypes
// lines: nvcc 8, g++ 9, clang++ 21
void f(dsl::array<bool>& x, dsl::array<std::complex<float>>& z) { x = z < z; }

// case shift_of_integers_by_reals
// says: this operation is not defined for operands of these dtypes
// lines: nvcc 8, g++ 9, clang++ 21
void f(dsl::array<int>& x, dsl::array<float>& y) { x = x << y; }

// case complex_to_real
// says: a complex number has no real value: take real(x), imag(x) or abs(x)
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x, dsl::array<std::complex<float>>& z) { x = dsl::cast<float>(z); }

// case where_without_an_else
// says: this function takes three operands
// lines: nvcc 9, g++ 10, clang++ 18
void f(dsl::array<float>& x) { x = dsl::where(x > 0, x); }

// case rounding_to_digits
// says: this function takes one operand
// lines: nvcc 9, g++ 10, clang++ 18
void f(dsl::array<float>& x) { x = 2 * dsl::round(x, 2); }

// case atan2_of_one
// says: this function takes two operands
// lines: nvcc 9, g++ 10, clang++ 21
void f(dsl::array<float>& x) { x = dsl::atan2(x); }

// case unknown_function
// mentions: foo
// lines: nvcc 5, g++ 2, clang++ 4
void f(dsl::array<float>& x) { x = foo(x); }

// case take_of_an_expression
// alone: beside others nvcc says less, or more
// says: dsl::take reads from memory: of an expression take dsl::eval(x)
// lines: nvcc 6, g++ 14, clang++ 18
void f(dsl::array<float>& x, dsl::array<float>& y) { x = dsl::take(x + y, 1) - x; }

// case too_many_operands
// says: an expression takes at most 64 operands, and each use of an array or of a number is one: make it a function of its
// lines: nvcc 12, g++ 13, clang++ 44
auto two(const dsl::array<float>& x) { return x + x; }
auto eight(const dsl::array<float>& x) { return two(x) + two(x) + (two(x) + two(x)); }
auto half(const dsl::array<float>& x) { return eight(x) + eight(x) + (eight(x) + eight(x)); }
void f(dsl::array<float>& x) { x = half(x) + half(x) + x; }

// case npy_of_bfloat16
// says: NumPy's files have no bfloat16
// lines: nvcc 9, g++ 11, clang++ 16
void f(const dsl::array<dsl::bfloat16>& x) { dsl::save_npy("x.npy", x); }

// Fourier transforms.
#include <dsl/fft.hpp>

#include <complex>

// case real_transform_of_complex_numbers
// says: dsl::rfft transforms real numbers; complex ones by dsl::fft
// lines: nvcc 8, g++ 9, clang++ 12
void f(const dsl::array<std::complex<float>>& x) { auto y = dsl::eval(dsl::rfft(x)); }

// case norm_as_text
// says: after its operand a transform takes a number of points (of several axes: dsl::extents<2>{n0, n1}), dsl::axis(k) and dsl::fft_norm::ortho
// lines: nvcc 9, g++ 11, clang++ 16
void f(const dsl::array<float>& x) { auto y = dsl::eval(dsl::fft(x, "ortho")); }

// case two_axes_of_one
// says: more axes than the transform or its operand has
// lines: nvcc 9, g++ 11, clang++ 16
void f(const dsl::array<float>& x) { auto y = dsl::eval(dsl::fft2(x)); }

// case one_length_for_two_axes
// says: a transform has one number of points for each axis
// lines: nvcc 9, g++ 11, clang++ 16
void f(const dsl::array<float, 2>& x) { auto y = dsl::eval(dsl::fftn(x, 64, dsl::axis(0, 1))); }

// case transform_inside_a_formula
// says: a transform is one of arrays: inside a formula there is one element
// lines: nvcc 12, g++ 14, clang++ 28
void f(const dsl::array<float>& x) {
  auto y = dsl::eval(dsl::vectorize([](auto v) { return dsl::fft(v); })(x));
}

// case rows_of_other_lengths
// says: a row that is transformed in one kernel has a power of two of points, 2 to 4,096: dsl::fft(x) takes any number
// lines: nvcc 8, g++ 9, clang++ 12
void f(const dsl::array<float>& x) { auto y = dsl::eval(dsl::fft<100>(x)); }

// case rows_along_another_axis
// says: rows are the last axis, all of it: after its operand dsl::fft<n> takes dsl::fft_norm::ortho alone
// lines: nvcc 8, g++ 9, clang++ 12
void f(const dsl::array<float, 2>& x) { auto y = dsl::eval(dsl::fft<64>(x, dsl::axis(0))); }

// case rows_of_two_lengths
// says: the transforms of one statement, dsl::fft<n>, have rows of the same n elements
// lines: nvcc 9, g++ 15, clang++ 18
void f(dsl::array<std::complex<float>>& y, const dsl::array<float>& x) {
  y = dsl::fft<64>(x) + dsl::fft<32>(x);
}

// Lambdas and functors.
#include <dsl/dsl.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <tuple>
#include <vector>

// case branch_on_data
// says: a branch or loop on data cannot be traced: use dsl::where(condition, a, b), or give dsl::vectorize a functor
// lines: nvcc 8, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    if (v > 0) return v;
    return -v;
  })(x);
}

// case conditional_on_data
// says: a branch or loop on data cannot be traced: use dsl::where(condition, a, b), or give dsl::vectorize a functor
// lines: nvcc 8, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v > 1 ? v : -v; })(x);
}

// case loop_on_data
// says: a branch or loop on data cannot be traced: use dsl::where(condition, a, b), or give dsl::vectorize a functor
// lines: nvcc 8, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    auto r = v;
    while (r > 1.5f) r = r / 2;
    return r;
  })(x);
}

// case loop_count_on_data
// says: a branch or loop on data cannot be traced: use dsl::where(condition, a, b), or give dsl::vectorize a functor
// lines: nvcc 8, g++ 12, clang++ 24
void f(dsl::array<float>& x, dsl::array<int>& n) {
  x = dsl::vectorize([](auto v, auto n) {
    auto r = v;
    for (int i = 0; i < n; ++i) r = r * v;
    return r;
  })(x, n);
}

// case captured_value
// says: a lambda given to dsl::vectorize captures nothing: pass arrays and values as its arguments
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  const float by = 2;
  x = dsl::vectorize([by](auto v) { return by * v; })(x) + 1;
}

// case captured_reference
// says: a lambda given to dsl::vectorize captures nothing: pass arrays and values as its arguments
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x, float by) {
  x = dsl::vectorize([&](auto v) { return by * v; })(x);
}

// case captured_array
// says: a lambda given to dsl::vectorize captures nothing: pass arrays and values as its arguments
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x, dsl::array<float>& y) {
  x = dsl::vectorize([y](auto v) { return y * v; })(x);
}

// case captured_array_by_reference
// says: a lambda given to dsl::vectorize captures nothing: pass arrays and values as its arguments
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x, dsl::array<float>& y) {
  x = dsl::vectorize([&](auto v) { return y * v; })(x);
}

// case captured_array_in_a_loop
// says: a lambda given to dsl::vectorize captures nothing: pass arrays and values as its arguments
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x, dsl::array<float>& y) {
  dsl::iterate(10, dsl::vectorize([&y](auto v) { return y * v; }), dsl::state(x));
}

// case global_array_in_a_formula
// says: inside a formula there is one element of each array: an array, a view or a dsl::scalar is an argument of it
// lines: nvcc 12, g++ 13, clang++ 36
dsl::array<float> weights;
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return weights * v; })(x);
}

// case unknown_function_in_a_formula
// mentions: logistic
// errors: g++ 2
// lines: nvcc 9, g++ 14
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return logistic(v); })(x);
}

// case global_variable_in_a_formula
// says: a formula calls or reads what the compiler does not evaluate: a function that takes numbers is given to
// lines: nvcc 10, g++ 11, clang++ 18
float factor = 2;
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return factor * v; })(x);
}

// case missing_return
// says: a formula returns a value that it has computed, or a std::tuple of them
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { v* v; })(x);
}

// case returned_vector
// says: a formula returns a value that it has computed, or a std::tuple of them
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return std::vector{v}; })(x);
}

// case returned_pair
// says: a formula returns a value that it has computed, or a std::tuple of them
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x, dsl::array<float>& y) {
  dsl::tie(x, y) = dsl::vectorize([](auto v) { return std::pair{v, -v}; })(x);
}

// case printing_in_a_formula
// says: a formula calls or reads what the compiler does not evaluate: a function that takes numbers is given to
// lines: nvcc 10, g++ 11, clang++ 33
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    std::printf("%g\n", v);
    return v;
  })(x);
}

// case number_of_arguments
// says: the function takes another number of arguments (Takes) than it is called with (Given)
// lines: nvcc 10, g++ 11
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto a, auto b) { return a + b; })(x);
}

// case number_of_arguments_of_functor
// says: the function takes another number of arguments (Takes) than it is called with (Given)
// lines: nvcc 10, g++ 11, clang++ 18
struct magnitude {
  DSL_FN float operator()(float v) const { return v > 0 ? v : -v; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(magnitude{})(x, 2); }

// case typed_lambda
// says: a lambda is traced and takes auto parameters
// lines: nvcc 8, g++ 9
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](float v) { return v > 0 ? v : -v; })(x);
}

// case reference_to_an_argument
// lines: nvcc compiles, g++ compiles, clang++ compiles
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto& v) { return 2 * v; })(x);
}

// case function_in_the_place_of_a_lambda
// says: in the place of a function's address dsl::vectorize takes a lambda or a class with DSL_FN operator()
// lines: nvcc 8, g++ 9, clang++ 12
inline float twice(float v) { return 2 * v; }
void f(dsl::array<float>& x) { x = dsl::vectorize(twice)(x); }

// case functor_with_a_vector
// says: a functor's members are copied to the device as they are: numbers, std::array and pointers to the device's memory
// lines: nvcc 8, g++ 9, clang++ 12
struct with_vector {
  std::vector<float> weights;
  DSL_FN float operator()(float x) const { return weights[0] * x; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(with_vector{})(x); }

// case functor_with_an_array
// says: a functor's members are copied to the device as they are: numbers, std::array and pointers to the device's memory
// lines: nvcc 8, g++ 9, clang++ 12
struct with_array {
  dsl::array<float> weights;
  DSL_FN float operator()(float x) const { return x; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(with_array{})(x); }

// case large_functor
// says: a functor's members are given to the kernel by value, and may take up 256 bytes
// lines: nvcc 8, g++ 9, clang++ 12
struct large {
  float weights[100];
  DSL_FN float operator()(float x) const { return weights[0] * x; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(large{})(x); }

// case functor_with_members_inside_a_lambda
// says: a functor with members cannot be called inside a traced lambda
// lines: nvcc 10, g++ 11, clang++ 21
struct scaled {
  float weight;
  DSL_FN float operator()(float x) const { return weight * x; }
};
constexpr auto twice = dsl::vectorize(scaled{2});
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return twice(v) + 1; })(x);
}

// case local_functor
// says: a functor is a class at namespace scope: nvcc takes none that is local to a function
// nvcc mentions: A type defined inside a __host__ function
// lines: g++ 9
void f(dsl::array<float>& x) {
  struct magnitude {
    DSL_FN float operator()(float v) const { return v > 0 ? v : -v; }
  };
  x = dsl::vectorize(magnitude{})(x);
}

// case functor_without_dsl_fn
// alone: beside others nvcc says less, or more
// nvcc says: calling a __host__ function
// lines: nvcc 9

struct magnitude {
  float operator()(float v) const { return v > 0 ? v : -v; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(magnitude{})(x); }

// case function_without_dsl_fn_below
// nvcc says: calling a __host__ function
// lines: nvcc 5

inline float magnitude_of(float v) { return v > 0 ? v : -v; }
struct magnitude {
  DSL_FN float operator()(float v) const { return magnitude_of(v); }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(magnitude{})(x); }

// case std_complex_of_a_functor
// says: a functor takes dsl::complex<T>, not std::complex<T>
// lines: nvcc 8, g++ 9, clang++ 12
struct square {
  DSL_FN std::complex<double> operator()(std::complex<double> z) const { return z * z; }
};
void f(dsl::array<std::complex<double>>& z) { z = dsl::vectorize(square{})(z); }

// case std_complex_of_an_operator
// says: a functor returns dsl::complex<T>, not std::complex<T>
// lines: nvcc 9, g++ 10, clang++ 15
struct product {
  DSL_FN std::complex<double> operator()(dsl::complex<double> z, dsl::complex<double> w) const {
    return std::complex<double>(z * w);
  }
};
void f(dsl::scalar<std::complex<double>>& p, const dsl::array<std::complex<double>>& z) {
  p = dsl::reduce(product{})(z);
}

// case struct_of_a_functor
// says: a functor returns a number, a dsl::complex<T> or a std::tuple of these: in the place of a struct its members
// lines: nvcc 8, g++ 9, clang++ 12
struct moments { double n, mean; };
struct lift {
  DSL_FN moments operator()(double x) const { return {1, x}; }
};
void f(dsl::array<double>& x) { auto r = dsl::eval(dsl::sum(dsl::vectorize(lift{})(x))); }

// case nothing_of_a_functor
// says: a functor returns a number, a dsl::complex<T> or a std::tuple of these: in the place of a struct its members
// lines: nvcc 8, g++ 9, clang++ 12
struct silent {
  DSL_FN void operator()(double) const {}
};
void f(dsl::array<double>& x) { x = dsl::vectorize(silent{})(x); }

// case reduction_of_structs
// says: an operator joins elements of one dtype, and its first value is of that: what joins structs is several reductions, or
// lines: nvcc 8, g++ 10, clang++ 13
struct moments { double n, mean; };
struct join {
  DSL_FN moments operator()(moments a, moments b) const { return {a.n + b.n, a.mean}; }
};
void f(dsl::array<double>& x) { auto r = dsl::eval(dsl::reduce(join{}, moments{0, 0})(x)); }

// case functor_of_other_dtypes
// says: the function cannot be called with these arguments' element types
// lines: nvcc 8, g++ 9, clang++ 12
struct of_text {
  DSL_FN float operator()(const char* c) const { return c[0]; }
};
void f(dsl::array<float>& x) { x = dsl::vectorize(of_text{})(x); }

// case functor_inside_a_lambda
// says: a functor that is called for each element cannot be called inside a traced lambda
// lines: nvcc 11, g++ 12, clang++ 24
struct magnitude {
  DSL_FN float operator()(float v) const { return v > 0 ? v : -v; }
};
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return 1 + dsl::vectorize(magnitude{})(v); })(x);
}

// case call_that_is_not_evaluated
// says: a formula calls or reads what the compiler does not evaluate: a function that takes numbers is given to
// lines: nvcc 10, g++ 11, clang++ 18
inline double root(double x) { return x > 0 ? x / 2 : 0; }
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v * root(2.0); })(x);
}

// case literal_out_of_range
// says: an integer literal is outside the dtype of the array beside it
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<unsigned char>& x) {
  x = dsl::vectorize([](auto v) { return v + 300; })(x);
}

// case neighbour_in_a_formula
// says: inside a formula there is one element: apply dsl::shift, dsl::take or a slice to the array
// lines: nvcc 11, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v[0]; })(x);
}

// case call_of_a_symbol
// says: inside a formula there is one element: apply dsl::shift, dsl::take or a slice to the array
// lines: nvcc 11, g++ 12, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v(0); })(x);
}

// case shift_by_a_symbol
// says: inside a formula the distance and the axis of dsl::shift are C++ integers, the same for all elements
// lines: nvcc 8, g++ 12, clang++ 24
void f(dsl::array<float>& x, dsl::array<int>& k) {
  x = dsl::vectorize([](auto u, auto by) { return dsl::shift(u, by); })(x, k);
}

// case shift_along_a_missing_axis
// says: dsl::shift, dsl::take and dsl::index: there is no such axis of what a formula reads
// lines: nvcc 9, g++ 11, clang++ 18
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto u) { return dsl::shift(u, 1, dsl::boundary::wrap, 1); })(x);
}

// case take_along_a_missing_axis
// says: dsl::shift, dsl::take and dsl::index: there is no such axis of what a formula reads
// lines: nvcc 9, g++ 11, clang++ 18
void f(dsl::array<float>& x, dsl::array<int>& i) {
  x = dsl::vectorize([](auto u, auto i) { return dsl::take(u, i, 1); })(x, i);
}

// case take_at_a_fraction
// says: take wants an index of integers
// lines: nvcc 11, g++ 13, clang++ 24
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto u) { return dsl::take(u, 2 * u); })(x);
}

// case take_of_neighbours
// says: dsl::take inside a formula reads no values of neighbours, of dsl::index or of functors
// lines: nvcc 9, g++ 11, clang++ 15
void f(dsl::array<float>& x, dsl::array<int>& i) {
  x = dsl::vectorize([](auto u, auto i) { return dsl::take(dsl::shift(u, 1), i); })(x, i);
}

// case take_of_positions
// says: dsl::take inside a formula reads no values of neighbours, of dsl::index or of functors
// lines: nvcc 9, g++ 11, clang++ 15
void f(dsl::array<float, 2>& m, dsl::array<int>& i) {
  m = dsl::vectorize([](auto u, auto i) { return dsl::take(u * dsl::index(u, 0), i, 1); })(m, i);
}

// case take_of_a_parameters_neighbours
// says: dsl::take inside a formula reads no values of neighbours, of dsl::index or of functors
// lines: nvcc 11, g++ 12, clang++ 21
void f(dsl::array<float>& x, dsl::array<float>& y, dsl::array<int>& i) {
  const auto step =
      dsl::vectorize([](auto u, auto v, auto i) { return u + dsl::take(dsl::shift(v, 1), i); });
  dsl::iterate(3, step, dsl::state(x), y, i);
}

// case function_of_arrays_in_a_formula
// says: inside a formula there is one element: apply this function to the array
// lines: nvcc 13, g++ 15, clang++ 34
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto u) { return u + 0.1f * dsl::flip(u, 0); }),
               dsl::state(x));
}

// case axes_in_a_formula
// says: inside a formula there are no axes
// lines: nvcc 12, g++ 14, clang++ 34
void f(dsl::array<float, 2>& m, dsl::scalar<float>& s) {
  s = dsl::vectorize([](auto x) { return dsl::sum(x, dsl::axis(1)); })(m);
}

// case variable_of_a_number
// says: a C++ variable holds no symbol: begin with one, auto sum = 0 * v
// lines: nvcc 8, g++ 12, clang++ 27
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum += k * v;
    return v;
  })(x);
}

// case variable_made_of_a_symbol
// says: a symbol is no C++ number: in a formula what holds one is auto
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    float square = v * v;
    return square;
  })(x);
}

// case variable_assigned_a_symbol
// says: a symbol is no C++ number: in a formula what holds one is auto
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum = sum + k * v;
    return sum;
  })(x);
}

// case wider_value_into_a_symbol
// says: a symbol keeps its dtype
// lines: nvcc 8, g++ 13, clang++ 30
void f(dsl::array<int>& i) {
  i = dsl::vectorize([](auto v) { return v += 2.5; })(i);
}

// case wider_symbol_into_a_symbol
// says: a symbol keeps its dtype
// lines: nvcc 8, g++ 13, clang++ 30
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v, auto w) { return v *= w; })(x, dsl::ones<double>(3));
}

// case made_inside
// says: inside a formula there is one element of each array: an array, a view or a dsl::scalar is an argument of it
// lines: nvcc 12, g++ 13, clang++ 36
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v + dsl::zeros<float>(3); })(x);
}

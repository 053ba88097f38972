// Reductions and scans.
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <complex>
#include <functional>
#include <tuple>

// case axis_as_a_number
// says: after its operand a reduction takes dsl::axis(k), dsl::keep_dims and dsl::ddof(n)
// lines: nvcc 8, g++ 10, clang++ 16
void f(dsl::array<float>& x, dsl::array<float, 2>& m) { x = dsl::sum(m, 1); }

// case axis_of_the_greatest
// says: the expression has more dimensions than its target
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<float>& x, dsl::array<float, 2>& m) { x = dsl::max(m, 1); }

// case more_axes_than_there_are
// says: more axes than the operand has
// lines: nvcc 9, g++ 11, clang++ 22
void f(dsl::array<float>& x) { auto s = dsl::eval(dsl::sum(x, dsl::axis(0, 1))); }

// case sum_of_a_vector
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 18
void f(const std::vector<float>& v) { auto s = dsl::eval(dsl::sum(v)); }

// case several_kernels_in_a_plan
// says: this takes more than one kernel: evaluate the reductions in it first, with dsl::eval
// lines: nvcc 9, g++ 10
void f(dsl::array<float>& x) { auto p = dsl::plan_of(x, x / dsl::sum(x)); }

// case rearranged_reduction
// says: a reduction has no elements to rearrange
// lines: nvcc 9, g++ 11, clang++ 16
void f(dsl::array<float, 2>& m) { m = dsl::flip(m - dsl::mean(m)); }

// case transposed_reduction
// says: a reduction has no elements to rearrange
// lines: nvcc 9, g++ 11, clang++ 16
void f(dsl::array<float>& x, dsl::array<float, 2>& m) {
  x = dsl::transpose(dsl::sum(m, dsl::axis(1)));
}

// case slice_of_outputs
// says: a reduction has no elements to rearrange
// lines: nvcc 9, g++ 11, clang++ 16
auto f(dsl::array<float>& x) {
  return dsl::vectorize([](auto v) { return std::tuple{2 * v, dsl::sum(v)}; })(x)(dsl::slice(1, 3));
}

// case rearranged_scan
// alone: beside others nvcc says less, or more
// says: this has no elements to rearrange before it is evaluated
// lines: nvcc 6, g++ 11, clang++ 10
void f(dsl::array<float>& x) { x = dsl::flip(dsl::cumsum(x)); }

// case operator_of_another_dtype
// says: the operator of a reduction gives another dtype than its operands have
// lines: nvcc 9, g++ 10, clang++ 15
int f() {
  return dsl::reduce([](auto a, auto b) { return a * 0.5 + b; })(dsl::arange<int>(3)).value();
}

// case operator_that_captures
// says: reduce takes an operator of two elements without captures or members
// lines: nvcc 6, g++ 9, clang++ 10
float f(dsl::array<float>& x, float w) {
  return dsl::reduce([w](auto a, auto b) { return a + w * b; })(x).value();
}

// case accumulator_that_is_no_tuple
// says: an accumulator is a std::tuple or a described struct of numbers, or a trivially copyable struct, of up to 64 bytes
// lines: nvcc 8, g++ 9, clang++ 12
struct table { double at[9]; };
struct join_tables {
  DSL_FN table operator()(table a, table) const { return a; }
};
struct table_of {
  DSL_FN table operator()(double x) const { return {{x}}; }
};
struct first_of {
  DSL_FN double operator()(table a) const { return a.at[0]; }
};
void f(dsl::array<double>& x) {
  auto s = dsl::reduce(join_tables{}, table{}, table_of{}, first_of{})(x);
}

// case accumulator_by_a_lambda_that_captures
// says: reduce takes functions without captures or members
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<double>& x, double w) {
  auto s = dsl::reduce([](auto a, auto) { return a; }, std::tuple{0.0, 0.0},
                       [w](auto e) { return std::tuple{w * e, 1}; })(x);
}

// case accumulator_of_other_values
// says: lift returns as many values as init has, of no wider dtypes
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<double>& x) {
  auto s = dsl::reduce([](auto a, auto) { return a; }, std::tuple{0.0f, 0.0f},
                       [](auto e) { return std::tuple{e, 1}; })(x);
}

// case accumulators_joined_to_other_values
// says: op returns as many values as init has, of no wider dtypes
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<double>& x) {
  auto s = dsl::reduce([](auto a, auto b) { return std::get<0>(a) + std::get<0>(b); },
                       std::tuple{0.0, 0.0}, [](auto e) { return std::tuple{e, 1}; })(x);
}

// case accumulator_of_too_few_operands
// says: an accumulator of numbers is made, joined and finished by lambdas
// lines: nvcc 10, g++ 11, clang++ 18
void f(dsl::array<double>& x) {
  auto s = dsl::reduce([](auto a, auto) { return a; }, std::tuple{0.0, 0.0},
                       [](auto e, auto w) { return std::tuple{e * w, w}; })(x);
}

// case struct_joined_by_a_lambda
// says: an accumulator that is a struct is made, joined and finished by functors
// lines: nvcc 10, g++ 11, clang++ 18
struct extent { double low, high; };
struct extent_of {
  DSL_FN extent operator()(double x) const { return {x, x}; }
};
struct width_of {
  DSL_FN double operator()(extent a) const { return a.high - a.low; }
};
void f(dsl::array<double>& x) {
  auto s = dsl::reduce([](auto a, auto) { return a; }, extent{}, extent_of{}, width_of{})(x);
}

// case lift_to_another_type
// says: lift takes an element of each operand, and makes an accumulator: of init's type
// lines: nvcc 10, g++ 11, clang++ 18
struct range { double low, high; };
struct join_ranges {
  DSL_FN range operator()(range a, range) const { return a; }
};
struct number_of {
  DSL_FN double operator()(double x) const { return x; }
};
struct range_width {
  DSL_FN double operator()(range a) const { return a.high - a.low; }
};
void f(dsl::array<double>& x) {
  auto s = dsl::reduce(join_ranges{}, range{}, number_of{}, range_width{})(x);
}

// case joined_to_another_type
// says: op takes two accumulators, and makes one of the same type
// lines: nvcc 10, g++ 11, clang++ 18
struct band { double low, high; };
struct band_of {
  DSL_FN band operator()(double x) const { return {x, x}; }
};
struct join_bands {
  DSL_FN double operator()(band a, band) const { return a.low; }
};
struct band_width {
  DSL_FN double operator()(band a) const { return a.high - a.low; }
};
void f(dsl::array<double>& x) {
  auto s = dsl::reduce(join_bands{}, band{}, band_of{}, band_width{})(x);
}

// case finished_as_a_struct
// says: finish takes an accumulator, and makes a number, a dsl::complex<T> or a std::tuple of these
// lines: nvcc 10, g++ 11, clang++ 18
struct span_of { double low, high; };
struct lift_span {
  DSL_FN span_of operator()(double x) const { return {x, x}; }
};
struct join_spans {
  DSL_FN span_of operator()(span_of a, span_of) const { return a; }
};
void f(dsl::array<double>& x) { auto s = dsl::reduce(join_spans{}, span_of{}, lift_span{})(x); }

// case struct_reduced_in_a_formula
// says: a functor that is called for each element cannot be called inside a traced lambda: reduce the arrays outside
// lines: nvcc 12, g++ 13, clang++ 27
struct limits { double low, high; };
struct limits_of {
  DSL_FN limits operator()(double x) const { return {x, x}; }
};
struct join_limits {
  DSL_FN limits operator()(limits a, limits) const { return a; }
};
struct between {
  DSL_FN double operator()(limits a) const { return a.high - a.low; }
};
void f(dsl::array<double>& x) {
  x = dsl::vectorize([](auto e) {
    return e / dsl::reduce(join_limits{}, limits{}, limits_of{}, between{})(e);
  })(x);
}

// case options_before_the_operands
// says: after its operands a reduction takes dsl::axis(k) and dsl::keep_dims
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<double>& x, dsl::array<double, 2>& m) {
  x = dsl::reduce([](auto a, auto) { return a; }, std::tuple{0.0},
                  [](auto e) { return std::tuple{e}; })(dsl::axis(1), m);
}

// case skewness_of_complex_numbers
// says: skew and kurtosis are of real numbers
// lines: nvcc 13, g++ 15, clang++ 28
void f(dsl::array<std::complex<float>>& z) { auto s = dsl::eval(dsl::skew(z)); }

// case several_values_by_key
// says: the formula of reduce_by gives one value for a group
// lines: nvcc 8, g++ 10, clang++ 13
#include <dsl/by_key.hpp>
#include <tuple>
void f(dsl::array<int>& k, dsl::array<float>& x) {
  x = dsl::reduce_by(k, x, 3, [](auto e) { return std::tuple{dsl::sum(e), dsl::max(e)}; });
}

// case windows_of_a_scalar
// says: windows are of an operand of 1 to 7 dimensions
// lines: nvcc 8, g++ 10, clang++ 13
#include <dsl/window.hpp>
auto f(dsl::scalar<float>& x) { return dsl::sliding_window(x, 3); }

// case convolution_of_a_matrix
// says: a convolution is of two operands of one dimension: dsl::ravel(x)
// lines: nvcc 8, g++ 9, clang++ 12
#include <dsl/window.hpp>
auto f(dsl::array<float, 2>& m, dsl::array<float>& taps) { return dsl::convolve(m, taps); }

// case narrower_scan_target
// says: the target's dtype is narrower than the scan's: use cumsum<T>(x), or dsl::cast on x
// lines: nvcc 8, g++ 10, clang++ 12
void f(dsl::array<int>& x) { x = dsl::cumsum(x); }

// case operator_that_widens
// says: the operator's result is of a wider dtype than what it joins: use dsl::cast
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x) {
  x = dsl::scan([](auto a, auto b) { return dsl::cast<double>(a) + b; })(x);
}

// case rank_of_a_scan
// says: a scan has the rank of its operand, or 1 where no axis is given
// lines: nvcc 8, g++ 10, clang++ 12
void f(dsl::view<float, 2> x, dsl::array<float, 2>& m) { x = dsl::cumsum(m); }

// case scan_beside_others_with_one_target
// says: beside a scan, a product or a transform each expression has one target
// lines: nvcc 8, g++ 13, clang++ 13
void f(dsl::array<float>& x, dsl::array<float>& y) {
  dsl::tie(y) = std::tuple{dsl::cumsum(x), dsl::max(x)};
}

// case selection_beside_others
// says: a selection is assigned by a statement of its own: dsl::tie(kept, count) = ...
// lines: nvcc 9, g++ 15, clang++ 17
#include <dsl/by_key.hpp>
#include <dsl/scan.hpp>
void f(dsl::array<float>& x, dsl::array<float>& y) {
  dsl::tie(y, x) = std::tuple{dsl::cumsum(x), dsl::compress(x > 1.f, x)};
}

// case scan_in_a_formula
// says: a scan is one of arrays: inside a formula there is one element
// lines: nvcc 12, g++ 13, clang++ 27
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return dsl::cumsum(v); })(x);
}

// case scan_into_const
// says: the target is const
// lines: nvcc 6, g++ 8, clang++ 9
void f(const dsl::array<float>& x, const dsl::view<const float, 1>& y) {
  dsl::assign(y, dsl::cumsum(x));
}

// case exclusive_scan_without_a_first_value
// says: an exclusive scan needs a first value: dsl::scan(op, init)
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  x = dsl::scan([](auto a, auto b) { return a + b; })(x, dsl::exclusive);
}

// case scan_without_its_header
// says: cumsum has a header of its own: add #include <dsl/scan.hpp>
// lines: nvcc 6, g++ 9, clang++ 19
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { x = dsl::cumsum(x); }

// case formula_along_a_number
// says: apply_along_axis takes a formula, dsl::axis(k), an array, and then scalars
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float, 2>& m) {
  m = dsl::apply_along_axis([](auto x) { return x - dsl::mean(x); }, 1, m);
}

// case formula_along_an_axis_with_an_array
// says: the parameters of apply_along_axis are scalars
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float, 2>& m, dsl::array<float>& w) {
  m = dsl::apply_along_axis([](auto x, auto w) { return w * (x - dsl::mean(x)); }, dsl::axis(1), m,
                            w);
}

// case formula_along_more_axes_than_there_are
// says: more axes than the operand has
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x) {
  x = dsl::apply_along_axis([](auto x) { return x - dsl::mean(x); }, dsl::axis(0, 1), x);
}

// case functor_along_an_axis
// says: a functor is called for each element and sees no row
// lines: nvcc 8, g++ 9, clang++ 12
struct half_of {
  DSL_FN float operator()(float x) const { return x / 2; }
};
void f(dsl::array<float, 2>& m) { m = dsl::apply_along_axis(half_of{}, dsl::axis(1), m); }

// case formula_along_an_axis_of_its_parameter_alone
// says: a formula of rows gives what it has computed of its row
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float, 2>& m) {
  m = dsl::apply_along_axis([](auto, auto h) { return 2 * h; }, dsl::axis(1), m, 0.5f);
}

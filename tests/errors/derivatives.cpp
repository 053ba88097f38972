// Derivatives.
#include <dsl/dsl.hpp>

#include <complex>
#include <tuple>
struct cube {
  DSL_FN double operator()(double x) const { return x * x * x; }
};
struct product {
  DSL_FN double operator()(double x, double y) const { return x * y; }
  DSL_FN double derivative(double, double y) const { return y; }
};

// case derivative_by_an_integer
// says: a derivative is that of floating point values: integers and booleans have none
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x, dsl::array<int>& i) {
  x = dsl::grad<0>([](auto i, auto x) { return i * x; })(i, x);
}

// case derivative_of_a_comparison
// says: a derivative is that of floating point values: integers and booleans have none
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<0>([](auto x) { return x > 0; })(x);
}

// case derivative_of_several_values
// says: the formula has several outputs: dsl::jacobian and dsl::vjp differentiate all of
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<0>([](auto x) { return std::tuple{x, x * x}; })(x);
}

// case derivative_by_a_missing_argument
// says: dsl::grad<I...>: the function has no argument of this number, from 0
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<1>([](auto x) { return x * x; })(x);
}

// case derivative_of_a_functor
// says: a functor that is called for each element needs a member DSL_FN derivative, which
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) { x = dsl::grad<0>(cube{})(x); }

// case derivative_of_a_functor_by_one_of_two
// says: a functor's member derivative returns the derivative with respect to each
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) { x = dsl::grad<0>(product{})(x, x); }

// case hessian_of_a_functor
// says: dsl::jvp, vjp, jacobian and hessian differentiate lambdas: the derivative that a
// lines: nvcc 9, g++ 11
void f(dsl::array<double>& x) { x = dsl::hessian(cube{})(x); }

// case derivative_of_an_expression
// says: dsl::grad and the like differentiate a formula, a lambda: of an expression take
// lines: nvcc 9, g++ 11
void f(dsl::array<double>& x) { x = dsl::grad<0>(dsl::sum(x * x))(x); }

// case derivative_of_a_lambda_with_captures
// says: a lambda given to dsl::vectorize captures nothing
// lines: nvcc 10, g++ 11
void f(dsl::array<double>& x, double k) {
  x = dsl::grad<0>([k](auto x) { return k * x; })(x);
}

// case jvp_without_changes
// says: dsl::jvp(f) takes f's arguments, then a change of each
// lines: nvcc 9, g++ 10
void f(dsl::array<double>& x) {
  dsl::tie(x, x) = dsl::jvp([](auto x, auto k) { return k * x * x; })(x, x, x);
}

// case vjp_without_weights
// says: dsl::vjp(f) takes f's arguments, then a weight for each of its values
// lines: nvcc 9, g++ 10
void f(dsl::array<double>& x) {
  x = dsl::vjp([](auto x) { return x * x; })(x);
}

// case complex_weight_of_a_real_value
// says: the weight of a real value is real: take real(w) or imag(w)
// lines: nvcc 10, g++ 12
void f(dsl::array<std::complex<double>>& z) {
  z = dsl::vjp([](auto z) { return abs(z); })(z, z);
}

// case derivative_of_an_own_reduction
// says: this reduction has no derivative: sum, prod, mean, min, max, norm, var, std and
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<0>(
      [](auto x) { return dsl::reduce([](auto a, auto b) { return hypot(a, b); })(x); })(x);
}

// case second_derivative_of_a_product
// says: dsl::prod has a first derivative only
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<0>(dsl::grad<0>([](auto x) { return dsl::prod(x); }))(x);
}

// case derivative_of_neighbours_of_a_computed_value
// says: the derivative of the neighbours of a computed value: dsl::eval the value, and
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<0>([](auto y) { return y * dsl::shift(y, 1); })(x * x);
}

// case derivative_of_taken_elements
// says: a formula that takes elements elsewhere is not differentiated with respect to
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x, dsl::array<int>& i) {
  x = dsl::grad<0>([](auto u, auto i) { return u * dsl::take(u, i); })(x, i);
}

// case derivative_of_a_far_neighbour
// says: the derivative of dsl::shift by more than 16 elements takes boundary::zero or
// lines: nvcc 10, g++ 12
void f(dsl::array<double>& x) {
  x = dsl::grad<0>([](auto x) { return dsl::shift(x, 40, dsl::boundary::clamp); })(x);
}

// case gradient_of_elements
// says: dsl::gradient takes a loss with one value: dsl::sum or dsl::mean of it
// lines: nvcc 8, g++ 10
void f(dsl::array<double>& x) { x = dsl::gradient(x * x, x); }

// case gradient_by_a_number
// says: a variable of dsl::gradient is an array, a view or a scalar in device memory
// lines: nvcc 8, g++ 10
void f(dsl::array<double>& x) { x = dsl::gradient(dsl::sum(x), 3.0); }

// case gradient_of_a_complex_scan
// says: of complex scans dsl::gradient knows only cumsum's derivative: scan real and imaginary parts
// lines: nvcc 9, g++ 12
#include <dsl/scan.hpp>

#include <complex>
void f(dsl::array<std::complex<double>>& z) {
  z = dsl::gradient(dsl::sum(real(dsl::cumprod(z))), z);
}

// case gradient_in_a_formula
// says: a reduction by key, a selection or a gradient is no operand of a formula: evaluate it
// lines: nvcc 9, g++ 10
void f(dsl::array<double>& x) { x = x - 0.1 * dsl::gradient(dsl::sum(x * x), x); }

// case gradient_by_several_variables_for_one_target
// says: a gradient with respect to several variables has a target for each: dsl::tie(da,
// lines: nvcc 8, g++ 11
void f(dsl::array<double>& x, const dsl::array<double>& y) {
  x = dsl::gradient(dsl::sum(x * y), x, y);
}

// case value_and_gradient_for_one_target
// says: dsl::value_and_gradient has a target for the loss and one for each variable: dsl::tie(value,
// lines: nvcc 9, g++ 11
void f(dsl::array<double>& x) { x = dsl::value_and_gradient(dsl::sum(x * x), x); }

// case gradient_of_a_loop_of_a_lambda
// says: dsl::iterate_gradient(steps, dsl::vectorize(f), loss, dsl::state(x, ...),
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<double>& x) {
  dsl::iterate_gradient(
      3, [](auto x) { return 2 * x; }, [](auto last) { return dsl::sum(last); }, dsl::state(x));
}

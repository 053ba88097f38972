// Time loops.
#include <dsl/dsl.hpp>

#include <tuple>
#include <vector>

// case loop_of_a_lambda
// says: a loop's formula is made by dsl::vectorize
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  dsl::iterate(10, [](auto v) { return v + 0.1f; }, dsl::state(x));
}

// case loop_without_a_state
// says: what a loop carries follows its formula, as dsl::state(x, ...), and then come the parameters
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto v) { return v + 0.1f; }), x);
}

// case fractional_steps
// says: a loop takes an integer number of steps
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  dsl::iterate(1e3, dsl::vectorize([](auto v) { return v + 0.1f; }), dsl::state(x));
}

// case fewer_results_than_variables
// says: a loop's formula gives as many values as there are variables in its state
// lines: nvcc 10, g++ 12, clang++ 18
void f(dsl::array<float>& x, dsl::array<float>& y) {
  dsl::iterate(10, dsl::vectorize([](auto u, auto v) { return u + v; }), dsl::state(x, y));
}

// case fewer_parameters_than_the_formula_takes
// says: a loop's formula takes another number of arguments (Takes) than it is given (Given): the variables of dsl::state, in
// lines: nvcc 10, g++ 12
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto u, auto h) { return u + h * u; }), dsl::state(x));
}

// case more_parameters_than_the_formula_takes
// says: a loop's formula takes another number of arguments (Takes) than it is given (Given): the variables of dsl::state, in
// lines: nvcc 10, g++ 12
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto u) { return u + 0.1f * u; }), dsl::state(x), 0.1f);
}

// case parameters_before_the_state
// says: what a loop carries follows its formula, as dsl::state(x, ...), and then come the parameters
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto u, auto h) { return u + h * u; }), 0.1f, dsl::state(x));
}

// case parameter_in_the_place_of_a_variable
// says: a loop's variables are arrays, views, scalars in device memory and structs of them: others are parameters
// lines: nvcc 6, g++ 10, clang++ 10
void f(dsl::array<float>& x) {
  float h = 0.1f;
  dsl::iterate(10, dsl::vectorize([](auto u, auto h) { return u + h * u; }), dsl::state(x, h));
}

// case reduction_into_a_field
// says: a reduction is one value: assign it to a dsl::scalar
// lines: nvcc 11, g++ 12, clang++ 21
void f(dsl::array<float>& x, dsl::scalar<float>& s) {
  dsl::iterate(10, dsl::vectorize([](auto u, auto s) { return std::tuple{dsl::sum(u), u + s}; }),
               dsl::state(x, s));
}

// case field_into_a_scalar
// says: a reduction is one value: assign it to a dsl::scalar
// lines: nvcc 11, g++ 12, clang++ 21
void f(dsl::array<float>& x, dsl::scalar<float>& s) {
  dsl::iterate(10, dsl::vectorize([](auto s, auto u) { return std::tuple{u + s, dsl::sum(u)}; }),
               dsl::state(s, x));
}

// case vector_as_a_variable
// says: a loop's variables are arrays, views, scalars in device memory and structs of them: others are parameters
// lines: nvcc 6, g++ 10, clang++ 10
void f(std::vector<float>& v) {
  dsl::iterate(10, dsl::vectorize([](auto u) { return 2 * u; }), dsl::state(v));
}

// case temporary_variable
// says: a loop's variables are its caller's: give each a name, dsl::state(x)
// lines: nvcc 6, g++ 10, clang++ 10
void f() {
  dsl::iterate(10, dsl::vectorize([](auto u) { return 2 * u; }), dsl::state(dsl::zeros<float>(3)));
}

// case wider_step
// says: the target's dtype is narrower than the expression's: use dsl::cast
// lines: nvcc 11, g++ 12, clang++ 21
void f(dsl::array<float>& x, dsl::array<double>& rate) {
  dsl::iterate(10, dsl::vectorize([](auto u, auto rate) { return u + rate; }), dsl::state(x), rate);
}

// case thirteen_sums_one_after_another
// says: in a loop a formula uses reductions of all elements, at most twelve one after another: not along axes
// lines: nvcc 10, g++ 12, clang++ 18
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto v) {
                 const auto four = [](auto u) {
                   const auto one = [](auto w) { return w / dsl::sum(w); };
                   return one(one(one(one(u))));
                 };
                 auto after = four(four(four(v)));
                 return after / dsl::norm(after);
               }),
               dsl::state(x));
}

// case reduction_among_the_parameters
// says: a reduction among a loop's parameters is evaluated before it: give its value, dsl::eval(...)
// lines: nvcc 10, g++ 12, clang++ 18
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto v, auto mean) { return v - mean; }), dsl::state(x),
               dsl::mean(x));
}

// case scan_among_the_parameters
// says: a scan, a product or a transform among a loop's parameters is evaluated before it: give its value, dsl::eval(...)
// lines: nvcc 10, g++ 13, clang++ 20
#include <dsl/scan.hpp>
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::vectorize([](auto v, auto sums) { return v - sums; }), dsl::state(x),
               dsl::cumsum(x));
}

// case until_of_an_array
// says: a loop ends on a condition of dsl::scalar and C++ values
// lines: nvcc 10, g++ 12, clang++ 18
void f(dsl::array<float>& x, dsl::scalar<float>& s) {
  dsl::iterate(10, dsl::vectorize([](auto x, auto) { return std::tuple{x + 1, dsl::sum(x)}; }),
               dsl::state(x, s), dsl::until(x > 2.0f));
}

// case until_of_a_lambda
// says: a loop ends on a condition of dsl::scalar and C++ values
// lines: nvcc 6, g++ 10, clang++ 10
void f(dsl::array<float>& x, dsl::scalar<float>& s) {
  dsl::iterate(10, dsl::vectorize([](auto x, auto) { return std::tuple{x + 1, dsl::sum(x)}; }),
               dsl::state(x, s), dsl::until([&] { return s.value() > 2; }));
}

// case until_without_a_reduction
// says: until wants a scalar among the state that the step sets by a reduction
// lines: nvcc 10, g++ 12, clang++ 18
void f(dsl::array<float>& x) {
  dsl::scalar<float> limit = 1.0f;
  dsl::iterate(10, dsl::vectorize([](auto x) { return x + 1; }), dsl::state(x),
               dsl::until(limit < 2.0f));
}

// case record_that_captures
// says: record takes a formula without captures or members
// lines: nvcc 6, g++ 10, clang++ 10
void f(dsl::array<float>& x) {
  const float scale = 2;
  dsl::iterate(10, dsl::vectorize([](auto x) { return x + 1; }), dsl::state(x),
               dsl::record([scale](auto x) { return scale * dsl::sum(x); }));
}

// case step_outside_a_loop
// says: dsl::step is the number of a loop's step
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x) { x = x + 0.5f * dsl::step; }

// case derivative_of_a_number
// says: a derivative is with respect to an array or a dsl::scalar of floating point numbers
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& x) {
  const auto found = dsl::iterate_gradient(
      10, dsl::vectorize([](auto x, auto h) { return x + h * x; }),
      [](auto last) { return dsl::sum(last); }, dsl::state(x), 0.1f);
  (void)found.parameter<0>();
}

// case gradient_of_a_loop_that_records
// says: iterate_gradient takes no record, every or progress
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  dsl::iterate_gradient(
      10, dsl::vectorize([](auto x) { return x + 1; }), [](auto last) { return dsl::sum(last); },
      dsl::state(x), dsl::every(2));
}

// case gradient_of_a_loop_of_integers
// says: a derivative is with respect to floating point numbers: none of the loop's variables has any
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<int>& x) {
  dsl::iterate_gradient(
      10, dsl::vectorize([](auto x) { return x + 1; }), [](auto last) { return dsl::sum(last); },
      dsl::state(x));
}

// case loss_of_a_loop_of_too_many_arguments
// says: the loss of dsl::iterate_gradient is a function of the loop's variables
// lines: nvcc 9, g++ 10, clang++ 15
void f(dsl::array<float>& x) {
  dsl::iterate_gradient(
      10, dsl::vectorize([](auto x) { return x + 1; }),
      [](auto last, auto) { return dsl::sum(last); }, dsl::state(x));
}

// case gradient_of_a_loop_that_takes_neighbours
// says: the step of a loop that is differentiated takes no elements of neighbours or of positions
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  dsl::iterate_gradient(
      10, dsl::vectorize([](auto x) { return dsl::take(dsl::shift(x, 1), 2); }),
      [](auto last) { return dsl::sum(last); }, dsl::state(x));
}

// case loop_of_statements_that_is_watched
// says: a loop of statements takes dsl::every and dsl::record of elements among its options
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::statement([](auto v) { return v + 0.1f; }), dsl::state(x),
               dsl::progress([](std::int64_t, std::int64_t) {}));
}

// case loop_of_statements_with_the_number_of_the_step
// says: a loop of statements has no dsl::step
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& x) {
  dsl::iterate(10, dsl::statement([](auto v, auto t) { return v + t; }), dsl::state(x),
               0.1 * dsl::step);
}

// Differential equations.
#include <dsl/ode.hpp>

#include <tuple>

// case more_arguments_than_parameters
// says: a right-hand side takes the fields and the other arguments, after the time with ode::with_time
// lines: nvcc 11, g++ 13, clang++ 25
void f(dsl::array<float>& y) {
  y = dsl::ode::rk4([](auto y, auto rate) { return rate * y; })(y, 0.1f);
}

// case right_hand_side_that_captures
// says: a stepper takes functions without captures or members: pass values as arguments
// lines: nvcc 8, g++ 10, clang++ 13
void f(dsl::array<float>& y, float rate) {
  y = dsl::ode::rk4([rate](auto y) { return rate * y; })(y, 0.1f);
}

// case fewer_derivatives_than_fields
// says: a right-hand side returns one derivative for each field
// lines: nvcc 8, g++ 9, clang++ 12
void f(dsl::array<float>& y, dsl::array<float>& v) {
  dsl::ode::integrate([](auto, auto v) { return v; }, dsl::state(y, v), 0, 1, {});
}

// case more_derivatives_than_fields
// says: a right-hand side returns one derivative for each field, and the fields are its first arguments
// lines: nvcc 11, g++ 13, clang++ 25
void f(dsl::array<float>& y, dsl::array<float>& v) {
  dsl::tie(y, v) = dsl::ode::rk4([](auto y) { return std::tuple{y, -y}; })(y, 0.1f);
}

// case integer_field
// says: fields are real or complex
// lines: nvcc 13, g++ 15, clang++ 31
void f(dsl::array<int>& y) {
  y = dsl::ode::euler([](auto y) { return -y; })(y, 1);
}

// case wider_derivative
// says: a derivative's dtype is wider than its field's: use dsl::cast
// lines: nvcc 13, g++ 15, clang++ 31
void f(dsl::array<float>& y, const dsl::array<double>& rate) {
  y = dsl::ode::rk4([](auto y, auto rate) { return rate * y; })(y, rate, 0.1f);
}

// case integrate_without_a_state
// says: integrate takes its fields as dsl::state(y, ...), then t0, t1, the tolerance and the other arguments
// lines: nvcc 6, g++ 15, clang++ 18
void f(dsl::array<float>& y) {
  dsl::ode::integrate([](auto y) { return -y; }, y, 0, 1, {});
}

// case integrate_gradient_without_a_state
// says: integrate_gradient takes a right-hand side, a loss and its fields as dsl::state(y, ...), then t0, t1, the tolerance and the other arguments
// lines: nvcc 6, g++ 15, clang++ 18
void f(dsl::array<float>& y) {
  dsl::ode::integrate_gradient([](auto y) { return -y; }, [](auto y) { return dsl::sum(y); }, y, 0,
                               1, {});
}

// case integrate_gradient_without_a_loss
// says: integrate_gradient takes a loss after the right-hand side
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& y) {
  dsl::ode::integrate_gradient([](auto y) { return -y; }, dsl::state(y), 0, 1);
}

// case ensemble_without_a_state
// says: ensemble takes its fields as dsl::state(y, ...), then t0, t1, the tolerance and the other arguments
// lines: nvcc 6, g++ 15, clang++ 18
void f(dsl::array<float>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, y, 0, 1, {});
}

// case ensemble_with_sums
// says: in an ensemble each element is a system of its own, without sums, neighbours and elements of others: dsl::ode::integrate takes these
// lines: nvcc 9, g++ 13, clang++ 20
void f(dsl::array<float>& y) {
  dsl::ode::ensemble([](auto y) { return -y * dsl::sum(y); }, dsl::state(y), 0, 1, {});
}

// case ensemble_of_a_method_without_an_error
// says: a method without an error estimate takes steps of one size: dsl::ode::fixed_steps(n)
// lines: nvcc 9, g++ 11, clang++ 16
void f(dsl::array<float>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {}, dsl::ode::method::rk4);
}

// case ensemble_with_too_little_noise
// says: a method's noise returns one value for each field
// lines: nvcc 10, g++ 12, clang++ 17
void f(dsl::array<float>& y, dsl::array<float>& v) {
  dsl::ode::ensemble([](auto y, auto v) { return std::tuple{v, -y}; }, dsl::state(y, v), 0, 1, {},
                     dsl::ode::method::sde([](auto, auto v) { return v; }, dsl::random::key{1}),
                     dsl::ode::fixed_steps(4));
}

// case ensemble_gradient_with_noise
// says: ensemble_gradient takes methods without noise
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& y) {
  dsl::ode::ensemble_gradient([](auto y) { return -y; }, [](auto y) { return dsl::sum(y); },
                              dsl::state(y), 0, 1, {},
                              dsl::ode::method::sde([](auto y) { return y; }, dsl::random::key{1}),
                              dsl::ode::fixed_steps(4));
}

// case ensemble_gradient_without_a_loss
// says: ensemble_gradient takes a loss after the right-hand side
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& y) {
  dsl::ode::ensemble_gradient([](auto y) { return -y; }, dsl::state(y), 0, 1);
}

// case ensemble_gradient_with_events
// says: ensemble_gradient takes no events: it differentiates the steps
// lines: nvcc 6, g++ 8, clang++ 9
void f(dsl::array<float>& y) {
  const auto ends = dsl::ode::event([](auto y) { return y; }, dsl::ode::ends);
  dsl::ode::ensemble_gradient([](auto y) { return -y; }, [](auto y) { return dsl::sum(y); },
                              dsl::state(y), 0, 1, {}, ends);
}

// case ensemble_that_saves_twice
// says: an ensemble saves at times or after steps: it has one save_at or one save_every
// lines: nvcc 9, g++ 11, clang++ 16
void f(dsl::array<double>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {}, dsl::ode::save_every(1, 9),
                     dsl::ode::save_at(y));
}

// case ensemble_with_a_limit_that_is_a_number
// says: limits of each element's steps are an array or an expression; one for all elements is a member of dsl::ode::tolerance
// lines: nvcc 8, g++ 11, clang++ 14
void f(dsl::array<double>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {}, dsl::ode::largest_step(1));
}

// case ensemble_with_a_number_of_steps_that_is_no_integer
// says: most_steps takes integers
// lines: nvcc 8, g++ 11, clang++ 14
void f(dsl::array<double>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {}, dsl::ode::most_steps(y));
}

// case ensemble_of_fixed_steps_with_limits
// says: fixed_steps takes steps of one size, without limits of each element's own
// lines: nvcc 9, g++ 11, clang++ 16
void f(dsl::array<double>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {}, dsl::ode::fixed_steps(4),
                     dsl::ode::largest_step(y));
}

// case ensemble_with_two_equal_limits
// says: a limit of the steps is given once
// lines: nvcc 9, g++ 11, clang++ 16
void f(dsl::array<double>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {}, dsl::ode::first_step(y),
                     dsl::ode::first_step(y));
}

// case ensemble_of_a_functor
// says: a right-hand side is a lambda with auto parameters: a functor that is called for each element is applied to arrays, and its result is an argument
// lines: nvcc 11, g++ 13, clang++ 22
struct decay_of_numbers {
  DSL_FN double operator()(double y) const { return -y; }
};
void f(dsl::array<double>& y) { dsl::ode::ensemble(decay_of_numbers{}, dsl::state(y), 0, 1, {}); }

// case ensemble_with_an_event_of_functors
// says: an event's functions are lambdas with auto parameters
// lines: nvcc 8, g++ 12, clang++ 15
struct zero_of_numbers {
  DSL_FN double operator()(double y) const { return y; }
};
void f(dsl::array<double>& y) {
  dsl::ode::ensemble([](auto y) { return -y; }, dsl::state(y), 0, 1, {},
                     dsl::ode::event(zero_of_numbers{}, dsl::ode::ends));
}

// case ensemble_with_a_key
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them
// lines: nvcc 10, g++ 11, clang++ 21
void f(dsl::array<double>& y, dsl::random::key k) {
  dsl::ode::ensemble([](auto y, auto) { return -y; }, dsl::state(y), 0, 1, {}, k);
}

// case ensemble_of_structs_without_their_argument
// says: a right-hand side takes the fields and the other arguments, after the time with ode::with_time
// lines: nvcc 11, g++ 13, clang++ 22
#include <dsl/hana.hpp>
#include <dsl/ode.hpp>
template <class X, class V> struct body {
  BOOST_HANA_DEFINE_STRUCT(body, (X, position), (V, velocity));
};
void f(body<dsl::array<double>, dsl::array<double>>& b) {
  dsl::ode::ensemble([](auto b, auto) { return b; }, dsl::state(b), 0, 1, {});
}

// case ensemble_of_structs_with_scalars
// says: the fields of an ensemble are arrays or views of one rank
// lines: nvcc 9, g++ 12, clang++ 17
#include <dsl/hana.hpp>
#include <dsl/ode.hpp>
template <class X, class V> struct body {
  BOOST_HANA_DEFINE_STRUCT(body, (X, position), (V, velocity));
};
void f(body<dsl::array<double>, dsl::scalar<double>>& b) {
  dsl::ode::ensemble([](auto b) { return b; }, dsl::state(b), 0, 1, {});
}

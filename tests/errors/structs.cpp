// Structs of arrays, and arrays of structs.
#include <dsl/dsl.hpp>
#include <dsl/hana.hpp>

#include <cstdint>
#include <vector>
template <class X, class V> struct particle {
  BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (V, velocity));
};
struct other {};
struct magnitude {
  DSL_FN double operator()(double v) const { return v; }
};

// case member_of_another_dtype
// says: a symbol keeps its dtype
// lines: nvcc 8, g++ 12, clang++ 24
void f(particle<dsl::array<int>, dsl::array<double>> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) {
    p.position = p.position + p.velocity;
    return p;
  })(p);
}

// case member_that_is_no_operand
// says: the members of a struct that is an operand are arrays
// lines: nvcc 6, g++ 8, clang++ 9
void f(particle<dsl::array<int>, other> p, dsl::array<int> x) {
  x = dsl::vectorize([](auto p) { return p.position; })(p);
}

// case member_that_is_a_vector
// says: the members of a struct that is an operand are arrays
// lines: nvcc 6, g++ 8, clang++ 9
void f(particle<dsl::array<float>, std::vector<float>> p, dsl::array<float> x) {
  x = dsl::vectorize([](auto p) { return p.position; })(p);
}

// case struct_of_one_value
// says: as many targets as the right side has values
// lines: nvcc 9, g++ 10, clang++ 15
void f(particle<dsl::array<double>, dsl::array<double>> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) { return p.position; })(p);
}

// case member_that_is_a_number
// says: a target is an array, a view or a scalar in device memory, not a C++ scalar
// lines: nvcc 6, g++ 8, clang++ 9
void f(particle<dsl::array<double>, double> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) { return p; })(p);
}

// case struct_for_a_functor
// says: a struct is an argument of a formula
// lines: nvcc 6, g++ 8, clang++ 9
void f(particle<dsl::array<double>, double> p, dsl::array<double> x) {
  x = dsl::vectorize(magnitude{})(p);
}

// case struct_without_the_member
// alone: beside others nvcc says less, or more
// mentions: speed
// errors: g++ 2
// lines: nvcc 9, g++ 15
void f(particle<dsl::array<double>, dsl::array<double>> p) {
  dsl::tie(p) = dsl::vectorize([](auto p) {
    p.speed = p.velocity;
    return p;
  })(p);
}

// case undescribed_struct
// says: an operand is an array, a view, a scalar, an expression, a C++ number or a described struct of them: of a std::vector
// lines: nvcc 9, g++ 10, clang++ 15
struct pair { dsl::array<float> first, second; };
void f(pair p, dsl::array<float>& x) {
  x = dsl::vectorize([](auto p) { return p.first + p.second; })(p);
}

// case arithmetic_of_structs
// says: a struct has no operators and functions of its own: it is an argument, dsl::vectorize(f)(p)
// lines: nvcc 9, g++ 10, clang++ 24
void f(particle<dsl::array<float>, dsl::array<float>> p) { dsl::tie(p) = p + 1; }

// case misaligned_array_of_structs
// says: the size of a struct in an array is a multiple of each member's
// lines: nvcc 8, g++ 9, clang++ 12
struct mixed {
  double a;
  float b[3];
} __attribute__((packed));
void f(dsl::structured_array<mixed>& a) { auto first = a.at<double>(0); }

// case gradient_of_a_loop_of_structs
// says: the variables of iterate_gradient are arrays, views and scalars
// lines: nvcc 8, g++ 9, clang++ 12
void f(particle<dsl::array<float>, dsl::array<float>>& p) {
  dsl::iterate_gradient(
      10, dsl::vectorize([](auto p) { return p; }),
      [](auto last) { return dsl::sum(last.position); }, dsl::state(p));
}

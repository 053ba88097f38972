// A density matrix under a Lindblad equation: light in a cavity that a laser drives and that loses
// photons,
//   dR/dt = -i (H R - R H) + kappa (a R a+ - (a+ a R + R a+ a) / 2),  H = omega a+ a + epsilon (a +
//   a+),
// in the states of 0 to N - 1 photons, which a, the annihilation operator, connects. A step of
// Runge and Kutta has 16 products of matrices, by the device's BLAS, and kernels for the formulas
// around them. Driven from the state without photons, light stays coherent, with the amplitude
// alpha(t) = -i epsilon (1 - exp(-z t)) / z, z = i omega + kappa / 2: H. J. Carmichael, Statistical
// Methods in Quantum Optics 1, chapter 1. The check compares the trace of a R with it.
#include <dsl/linear.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

using namespace std::complex_literals;
using number = std::complex<double>;
using matrix = dsl::array<number, 2>;

static constexpr double omega = 1, epsilon = 0.8, kappa = 0.5, end_of_time = 12;

static number coherent_amplitude(double t) {
  const number z = 1i * omega + kappa / 2;
  return -1i * epsilon * (1.0 - std::exp(-z * t)) / z;
}

static bool run(const example& e) {
  const std::int64_t n = e.size;
  const auto row = dsl::index(0, n, n), column = dsl::index(1, n, n);
  const matrix a = where(column == row + 1, sqrt(dsl::cast<double>(column)), 0.0) + 0i,
               a_plus = dsl::transpose(a);
  const dsl::array<double, 2> rows = dsl::cast<double>(row), columns = dsl::cast<double>(column);
  const matrix H = omega * where(row == column, rows, 0.0) + epsilon * (a + a_plus);
  const auto slope = [&](const matrix& R) -> matrix {
    const matrix aR = dsl::matmul(a, R);
    return -1i * (dsl::matmul(H, R) - dsl::matmul(R, H)) +
           kappa * (dsl::matmul(aR, a_plus) - 0.5 * (rows + columns) * R);
  };
  matrix R = where(row == 0 && column == 0, 1.0 + 0i, 0i);
  const double h = end_of_time / static_cast<double>(e.steps);
  chart picture{"Light in a driven cavity: a Lindblad equation",
                "",
                "time",
                "mean number of photons",
                {},
                {{"density matrix", "#0072B2", 3, {}}, {"coherent light", "#E69F00", 1.5, {}}}};
  double off = 0;
  std::int64_t at = 0;
  const auto note = [&] {
    const double t = h * static_cast<double>(at);
    const number amplitude = dsl::sum(a * dsl::transpose(R)).value();
    off = std::max(off, std::abs(amplitude - coherent_amplitude(t)));
    picture.x.push_back(t);
    picture.lines[0].y.push_back(dsl::sum(real(where(row == column, rows * R, 0i))).value());
    picture.lines[1].y.push_back(std::norm(coherent_amplitude(t)));
  };
  const std::int64_t between = std::max<std::int64_t>(e.steps / 100, 1);
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    for (std::int64_t k = 0; k < steps; ++k, ++at) {
      if (at % between == 0) note();
      const matrix k1 = slope(R), k2 = slope(dsl::eval(R + h / 2 * k1)),
                   k3 = slope(dsl::eval(R + h / 2 * k2)), k4 = slope(dsl::eval(R + h * k3));
      R = R + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
  });
  note();
  print_speed("a step", seconds, static_cast<double>(n * n), "elements");
  if (!e.out.empty()) write_svg(e.out, picture);
  const double trace = std::abs(dsl::sum(where(row == column, R, 0i)).value() - 1.0);
  return check("trace of the density matrix", trace, 1e-10) && check("amplitude", off, 1e-5);
}

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "A density matrix under a Lindblad equation, by products of matrices.",
       .size = 40,
       .size_is = "states of 0 to N - 1 photons",
       .steps = 2'000,
       .picture = "draw the mean number of photons over time, as SVG"},
      run);
}

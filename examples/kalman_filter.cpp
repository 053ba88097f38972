// Kalman filters of many objects in the plane, each with a state of four numbers: place and speed.
// A step moves all of them and corrects them by what was measured of their places. Its systems of
// two equations are dsl::solve of a batch, one thread each; the products are batches of
// dsl::matmul. R. E. Kalman, Journal of Basic Engineering 82, 1960. The check filters some objects
// one after another with loops in C++, and asks that the errors have the size that the filter says
// they have.
#include <dsl/linear.hpp>
#include <dsl/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

using matrix = dsl::array<double, 2>;
using matrices = dsl::array<double, 3>;

// A step of length 1: the speeds change at random, by `pushed`; places are measured to `blurred`.
static constexpr double pushed = 0.05, blurred = 1.0;

// The filter of one object, with loops.
struct one_filter {
  std::array<double, 4> x{};
  std::array<std::array<double, 4>, 4> p{};

  one_filter() {
    for (std::size_t i = 0; i < 4; ++i) p[i][i] = 10;
  }
  void step(double measured_x, double measured_y) {
    for (std::size_t k = 0; k < 2; ++k) x[k] += x[k + 2];
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 2; ++k) p[k][j] += p[k + 2][j];
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 2; ++k) p[i][k] += p[i][k + 2];
    p[2][2] += pushed * pushed;
    p[3][3] += pushed * pushed;
    const double a = p[0][0] + blurred * blurred, b = p[0][1], d = p[1][1] + blurred * blurred,
                 determinant = a * d - b * b;
    const double error[2] = {measured_x - x[0], measured_y - x[1]};
    double gain[4][2];
    for (std::size_t i = 0; i < 4; ++i) {
      gain[i][0] = (p[i][0] * d - p[i][1] * b) / determinant;
      gain[i][1] = (p[i][1] * a - p[i][0] * b) / determinant;
    }
    const auto before = p;
    for (std::size_t i = 0; i < 4; ++i) {
      x[i] += gain[i][0] * error[0] + gain[i][1] * error[1];
      for (std::size_t j = 0; j < 4; ++j)
        p[i][j] -= gain[i][0] * before[0][j] + gain[i][1] * before[1][j];
    }
  }
};

static bool run(const example& e) {
  const std::int64_t n = e.size;
  const auto is_diagonal = dsl::index(1, n, 4, 4) == dsl::index(2, n, 4, 4);
  // The next place is the place plus the speed; the first two numbers are measured.
  const auto row = dsl::index(0, 4, 4), column = dsl::index(1, 4, 4);
  const matrix F = dsl::cast<double>(row == column || row + 2 == column),
               H = dsl::cast<double>(dsl::index(0, 2, 4) == dsl::index(1, 2, 4)),
               Q = where(row == column && row > 1, pushed * pushed, 0.0),
               R = where(dsl::index(0, 2, 2) == dsl::index(1, 2, 2), blurred * blurred, 0.0);
  const dsl::random::key key(2026);
  const auto drawn = [&](std::int64_t step, std::uint64_t what, std::int64_t columns) {
    return dsl::random::normal<double>(key.fold(static_cast<std::uint64_t>(step)).fold(what), n,
                                       columns);
  };
  matrix truth = 3 * drawn(-1, 0, 4), x = dsl::zeros<double>(n, 4), measured(n, 2);
  matrices P = where(is_diagonal, 10.0, 0.0);
  const std::int64_t checked = std::min<std::int64_t>(n, 16);
  std::vector<one_filter> alone(static_cast<std::size_t>(checked));
  chart picture{"A Kalman filter",
                "one of the objects",
                "step",
                "distance from the true place",
                {},
                {{"measured", "#E69F00", 1, {}}, {"filtered", "#0072B2", 2.5, {}}}};
  std::int64_t at = 0;
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    for (std::int64_t k = 0; k < steps; ++k, ++at) {
      truth = dsl::matmul(truth, dsl::transpose(F)) +
              where(dsl::index(1, n, 4) > 1, pushed * drawn(at, 0, 4), 0.0);
      measured = truth(dsl::slice(), dsl::slice(0, 2)) + blurred * drawn(at, 1, 2);
      // Moved, and what is not known of it.
      x = dsl::matmul(x, dsl::transpose(F));
      P = dsl::matmul(dsl::matmul(F, P), dsl::transpose(F)) + Q;
      // Corrected.
      const matrices PH = dsl::matmul(P, dsl::transpose(H)), HP = dsl::permute(PH, 0, 2, 1),
                     S = dsl::matmul(H, PH) + R, gain = dsl::solve(S, HP);
      const matrix error = measured - dsl::matmul(x, dsl::transpose(H));
      x = x + dsl::sum(gain * dsl::expand_dims(error, 2), dsl::axis(1));
      P = P - dsl::matmul(dsl::permute(gain, 0, 2, 1), HP);

      const auto seen = dsl::eval(measured(dsl::slice(0, checked), dsl::slice())).copy_to_host();
      for (std::size_t i = 0; i < alone.size(); ++i) alone[i].step(seen[2 * i], seen[2 * i + 1]);
      const auto place = dsl::eval(truth(0, dsl::slice())).copy_to_host(),
                 guess = dsl::eval(x(0, dsl::slice())).copy_to_host();
      picture.x.push_back(static_cast<double>(at));
      picture.lines[0].y.push_back(std::hypot(seen[0] - place[0], seen[1] - place[1]));
      picture.lines[1].y.push_back(std::hypot(guess[0] - place[0], guess[1] - place[1]));
    }
  });
  print_speed("a step", seconds, static_cast<double>(n), "objects");
  if (!e.out.empty()) write_svg(e.out, picture);
  double off = 0;
  const auto got = dsl::eval(x(dsl::slice(0, checked), dsl::slice())).copy_to_host();
  for (std::size_t i = 0; i < alone.size(); ++i)
    for (std::size_t j = 0; j < 4; ++j)
      off = std::max(off, std::abs(got[4 * i + j] - alone[i].x[j]));
  // The errors, weighed by the inverse of what the filter says of them, add up to 4 in the mean;
  // the mean of n such sums strays by the square root of 8 / n.
  const matrix error = truth - x, weighed = dsl::solve(P, error);
  const double mean = dsl::mean(dsl::sum(error * weighed, dsl::axis(1))).value();
  return check("filters one by one", off, 1e-9) &&
         check("size of the errors", std::abs(mean - 4), 6 * std::sqrt(8 / static_cast<double>(n)));
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Kalman filters of many objects, by small systems of equations.",
                      .size = 100'000,
                      .size_is = "the number of objects",
                      .steps = 100,
                      .picture = "draw the distances of one object from its true place, as SVG"},
                     run);
}

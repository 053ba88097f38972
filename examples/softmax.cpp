// Softmax and standardisation of a matrix's rows, written as in NumPy, with reductions along an
// axis inside the expression. Each expression is one kernel: a row is read once and stays on the
// chip from its first reduction (softmax: max, then sum) to its last element. The result is the
// only array of the matrix's size.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "example.hpp"

using matrix = dsl::array<float, 2>;

// These functions evaluate nothing. Each returns a formula, which becomes a kernel when it is
// assigned.
static auto softmax(const matrix& x) {
  const auto shifted = exp(x - dsl::max(x, dsl::axis(1), dsl::keep_dims));
  return shifted / dsl::sum(shifted, dsl::axis(1), dsl::keep_dims);
}
static auto standardised(const matrix& x) {
  return (x - dsl::mean(x, dsl::axis(1), dsl::keep_dims)) /
         dsl::std(x, dsl::axis(1), dsl::keep_dims);
}

static bool run(const example& e) {
  const std::int64_t rows = e.size, columns = 1000;
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  std::mt19937 bits(1);
  std::normal_distribution<float> draw(100, 5);
  for (float& v : values) v = draw(bits);
  const matrix x = dsl::reshape(dsl::to_device(values), rows, columns);
  matrix y(rows, columns), z(rows, columns);

  const auto n = static_cast<double>(x.size());
  print_speed("softmax", seconds_of([&] { y = softmax(x); }), n, "elements", 8 * n);
  print_speed("standardised", seconds_of([&] { z = standardised(x); }), n, "elements", 8 * n);

  const std::vector<float> got_y = y.copy_to_host(), got_z = z.copy_to_host();
  double off_y = 0, off_z = 0;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(columns)) {
    const std::vector<double> of(
        values.begin() + static_cast<std::ptrdiff_t>(row),
        values.begin() + static_cast<std::ptrdiff_t>(row) + static_cast<std::ptrdiff_t>(columns));
    const double top = *std::max_element(of.begin(), of.end());
    double total = 0, mean = 0, variance = 0;
    for (const double v : of) {
      total += std::exp(v - top);
      mean += v / static_cast<double>(columns);
    }
    for (const double v : of) variance += (v - mean) * (v - mean) / static_cast<double>(columns);
    for (std::size_t j = 0; j < of.size(); ++j) {
      const double want = std::exp(of[j] - top) / total;
      off_y = std::max(off_y, std::abs(got_y[row + j] - want) / want);
      off_z = std::max(off_z, std::abs(got_z[row + j] - (of[j] - mean) / std::sqrt(variance)));
    }
  }
  const bool right = check("softmax, worst relative error", off_y, 1e-6);
  return check("standardised, worst error", off_z, 1e-5) && right;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Softmax and standardisation of rows of 1000 elements.",
                      .size = 8192,
                      .size_is = "rows"},
                     run);
}

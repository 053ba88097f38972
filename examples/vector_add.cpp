// The first two kernels of every course, without writing a kernel: c = a + b on 20 million int32,
// and y = exp(x) on 20 million floats. Each assignment is one kernel; the library chooses grid and
// block and guards the tail. A sum of int32 is an int64, as in NumPy: here it is 4e14, 190,000
// times the largest int32.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "example.hpp"

static bool run(const example& e) {
  const std::int64_t n = e.size;
  const auto count = static_cast<double>(n);
  dsl::array<std::int32_t> a = dsl::arange<std::int32_t>(n), b = n - a, c(n);
  dsl::array<float> x = dsl::linspace<float>(-1, 1, n), y(n);

  print_speed("c = a + b", seconds_of([&] { c = a + b; }), count, "elements", 12 * count);
  print_speed("y = exp(x)", seconds_of([&] { y = exp(x); }), count, "elements", 8 * count);

  const std::int64_t total = dsl::sum(c).value();  // value() copies to the host and waits.
  const bool every_one = dsl::all(c == n).value();

  const std::vector<float> in = x.copy_to_host(), out = y.copy_to_host();
  double worst = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double want = std::exp(static_cast<double>(in[i]));
    worst = std::max(worst, std::abs(out[i] - want) / want);
  }
  const bool added = check("elements of c and their sum, off by",
                           every_one ? std::abs(static_cast<double>(total - n * n)) : 1, 0);
  return check("exp, worst relative error", worst, 3e-7) && added;
}

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "Vector add of int32, exp of float.", .size = 20'000'000, .size_is = "elements"},
      run);
}

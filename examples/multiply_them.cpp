// PyCUDA's first example, multiply_them: the product of two arrays of 400 random numbers, and its
// difference from the host's product. In PyCUDA the kernel is a string of CUDA C, compiled at run
// time; here it is `a * b`, compiled with the program. 400 elements take a GPU no noticeable time:
// the time printed is that of a launch.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "example.hpp"

static std::vector<float> normal(std::int64_t n, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = draw(bits);
  return values;
}

static bool run(const example& e) {
  const std::vector<float> host_a = normal(e.size, 1), host_b = normal(e.size, 2);
  const dsl::array<float> a = dsl::to_device(host_a), b = dsl::to_device(host_b);

  dsl::array<float> dest = a * b;

  const std::vector<float> host_dest = dest.copy_to_host();
  const auto n = static_cast<double>(e.size);
  print_speed("dest = a * b", seconds_of([&] { dest = a * b; }), n, "elements", 12 * n);

  float worst = 0;
  for (std::size_t i = 0; i < host_dest.size(); ++i)
    worst = std::max(worst, std::abs(host_dest[i] - host_a[i] * host_b[i]));
  return check("dest - a * b", static_cast<double>(worst), 0);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "PyCUDA's first example: multiplies two arrays.",
                      .size = 400,
                      .size_is = "elements"},
                     run);
}

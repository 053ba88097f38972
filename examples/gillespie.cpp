// Gillespie's algorithm: molecules are made at a constant rate and decay at a rate of one each, in
// a million cells. Each cell draws the time to its next reaction and which one it is, as long as
// its time has not come, so cells draw different numbers of random numbers: a functor makes a
// generator of a key and the cell's number. The molecules are Poisson distributed, with a mean that
// is known for every time (D. T. Gillespie, J. Comput. Phys. 22, 1976).
#include <dsl/by_key.hpp>
#include <dsl/random.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

static constexpr float birth = 20;  // A second, where a molecule lives one second on average.
static constexpr float times[] = {0.25f, 1, 8};
static constexpr int histogram_size = 64;  // Molecules in the histograms.

struct molecules {
  dsl::random::key key;

  // The molecules in a cell that has n, a time later.
  DSL_FN static int after(dsl::random::generator& g, int n, float time) {
    for (float t = 0;;) {
      const float rate = birth + static_cast<float>(n);
      t += g.exponential<float>() / rate;
      if (t > time) return n;
      n += g.uniform<float>() * rate < birth ? 1 : -1;
    }
  }
  // The molecules after the three times, and the words that were drawn: two for each reaction.
  DSL_FN std::tuple<int, int, int, std::uint64_t> operator()(std::int64_t cell, float first,
                                                             float second, float third) const {
    dsl::random::generator g(key, cell);
    const int a = after(g, 0, first), b = after(g, a, second - first),
              c = after(g, b, third - second);
    return {a, b, c, g.drawn()};
  }
};

static double mean_at(float time) { return birth * (1 - std::exp(-static_cast<double>(time))); }
static double poisson(double mean, int n) {
  return std::exp(n * std::log(mean) - mean - std::lgamma(n + 1.0));
}

// Pearson's chi-square over its degrees of freedom; counts below ten are one class.
static double chi_square(const std::vector<std::int64_t>& counts, double mean, double cells) {
  double sum = 0, rest = cells, expected_rest = cells;
  int classes = 0;
  const auto add = [&](double found, double expected) {
    sum += (found - expected) * (found - expected) / expected;
    ++classes;
  };
  for (int n = 0; n < histogram_size; ++n) {
    const double expected = cells * poisson(mean, n),
                 found = static_cast<double>(counts[static_cast<std::size_t>(n)]);
    if (expected < 10) continue;
    add(found, expected);
    rest -= found;
    expected_rest -= expected;
  }
  if (expected_rest >= 10) add(rest, expected_rest);
  return sum / (classes - 1);
}

static bool run(const example& e) {
  const auto react = dsl::vectorize(molecules{dsl::random::key{2026}});
  dsl::array<int> in_cell[3];
  dsl::array<std::uint64_t> drawn;
  const double seconds = seconds_of([&] {
    dsl::tie(in_cell[0], in_cell[1], in_cell[2], drawn) =
        react(dsl::arange<std::int64_t>(e.size), times[0], times[1], times[2]);
  });
  print_speed("reactions", seconds, static_cast<double>(dsl::sum(drawn).value()) / 2, "reactions");

  const auto cells = static_cast<double>(e.size);
  bool is_right = true;
  const char* const colours[] = {"#0072b2", "#009e73", "#d55e00"};
  chart picture{"Molecules in a cell",
                "Gillespie's algorithm, beside Poisson's distribution",
                "molecules",
                "share of the cells",
                {},
                {}};
  for (int n = 0; n < histogram_size; ++n) picture.x.push_back(n);
  for (int k = 0; k < 3; ++k) {
    const double mean = mean_at(times[k]);
    const dsl::array<std::int64_t> counts =
        dsl::bincount(min(in_cell[k], histogram_size - 1), histogram_size);
    const std::vector<std::int64_t> found = counts.copy_to_host();
    line exact{"", "#bbb", 5, {}},
        drawn_line{"after " + std::to_string(times[k]).substr(0, 4) + " s", colours[k], 2, {}};
    for (int n = 0; n < histogram_size; ++n) {
      exact.y.push_back(poisson(mean, n));
      drawn_line.y.push_back(static_cast<double>(found[static_cast<std::size_t>(n)]) / cells);
    }
    picture.lines.insert(picture.lines.begin(), exact);
    picture.lines.push_back(drawn_line);

    // In units of their standard deviations.
    const double of_mean = std::abs(dsl::mean(in_cell[k]).value() - mean) / std::sqrt(mean / cells),
                 of_variance = std::abs(dsl::var(in_cell[k]).value() - mean) /
                               std::sqrt((mean + 2 * mean * mean) / cells);
    std::printf("after   %g s: %.3f molecules, %.3f by the formula\n",
                static_cast<double>(times[k]), dsl::mean(in_cell[k]).value(), mean);
    is_right =
        check("mean and variance, standard deviations off", std::max(of_mean, of_variance), 5) &&
        is_right;
    is_right =
        check("chi-square over degrees of freedom", chi_square(found, mean, cells), 3) && is_right;
  }
  if (!e.out.empty()) write_svg(e.out, picture);
  return is_right;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Gillespie's algorithm: reactions at random times in many cells.",
                      .size = 1'000'000,
                      .size_is = "cells",
                      .picture = "draw the distributions of molecules, as SVG"},
                     run);
}

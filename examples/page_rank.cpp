// PageRank: the share of time that a reader spends on each page who follows a random link of a page
// and, once in a while, begins anew at any page. The links are a sparse matrix, made on the device
// of random numbers, and a step is one statement: the product, the mass of the pages without links,
// and the new beginning (L. Page, S. Brin, R. Motwani, T. Winograd, 1998).
#include <dsl/random.hpp>
#include <dsl/sparse.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

static constexpr double follows = 0.85;  // Probability of following a link.
static constexpr int most_links = 8;     // Of a page.

struct web {
  dsl::array<std::int64_t> from, to;  // The pages of each link.
  dsl::array<int> links;              // Of each page.
  dsl::sparse::csr<double> matrix;    // Its columns are shared by a page's links.
};

// Each page has up to eight links, and some have none. Few pages are linked to by many.
static web make_web(std::int64_t pages) {
  const dsl::random::key key{2026};
  dsl::array<int> links = dsl::random::integers<int>(key.fold(0), 0, most_links + 1, pages);
  const auto number = dsl::arange<std::int64_t>(most_links * pages);
  const auto page = number / most_links;
  const auto exists = number % most_links < dsl::take(links, page);
  const auto u = dsl::random::uniform<double>(key.fold(1), most_links * pages);
  dsl::array<std::int64_t> from = dsl::compress(exists, page),
                           to = dsl::compress(exists, dsl::cast<std::int64_t>(
                                                          u * u * u * static_cast<double>(pages)));
  auto matrix = dsl::sparse::from_coo(pages, pages, to, from,
                                      1.0 / dsl::cast<double>(dsl::take(links, from)));
  return {std::move(from), std::move(to), std::move(links), std::move(matrix)};
}

static dsl::array<double> uniform_ranks(std::int64_t pages) {
  return dsl::full<double>(1 / static_cast<double>(pages), pages);
}
static void walk(dsl::array<double>& rank, const web& w, std::int64_t steps) {
  const auto pages = static_cast<double>(rank.size());
  for (; steps > 0; --steps) {
    const auto lost = dsl::sum(where(w.links == 0, rank, 0.0));
    rank = follows * (dsl::matmul(w.matrix, rank) + lost / pages) + (1 - follows) / pages;
  }
}

// A step by the links, one after another.
static std::vector<double> step_on_host(const std::vector<double>& rank, const web& w) {
  const auto from = w.from.copy_to_host(), to = w.to.copy_to_host();
  const auto links = w.links.copy_to_host();
  const auto pages = static_cast<double>(rank.size());
  double lost = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) lost += links[i] == 0 ? rank[i] : 0;
  std::vector<double> next(rank.size(), (follows * lost + 1 - follows) / pages);
  for (std::size_t k = 0; k < from.size(); ++k) {
    const auto page = static_cast<std::size_t>(from[k]);
    next[static_cast<std::size_t>(to[k])] += follows * rank[page] / links[page];
  }
  return next;
}

// The ranks of a small web as the solution of equations, by Gauss's elimination: the k-th column of
// the step's matrix is the step of the k-th unit vector, without the new beginning.
static std::vector<double> solve_on_host(const web& w) {
  const std::size_t n = static_cast<std::size_t>(w.links.size());
  const std::vector<double> begin = step_on_host(std::vector<double>(n), w);
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1));
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> unit(n);
    unit[k] = 1;
    const std::vector<double> step = step_on_host(unit, w);
    for (std::size_t i = 0; i < n; ++i) a[i][k] = (i == k ? 1 : 0) - (step[i] - begin[i]);
    a[k][n] = begin[k];
  }
  for (std::size_t k = 0; k < n; ++k) {  // Its diagonal dominates: no pivots are needed.
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  std::vector<double> rank;
  for (std::size_t k = 0; k < n; ++k) rank.push_back(a[k][n] / a[k][k]);
  return rank;
}

static double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] / b[i] - 1));
  return worst;
}

static void draw(const std::string& out, std::vector<double> rank) {
  std::sort(rank.begin(), rank.end(), std::greater<>());
  const auto pages = static_cast<double>(rank.size());
  chart picture{"PageRank of a random web",
                "pages in the order of their ranks",
                "place, power of ten",
                "rank times pages, power of ten",
                {},
                {{"", "#0072b2", 2, {}}}};
  for (double place = 1; place <= pages; place *= 1.1) {
    picture.x.push_back(std::log10(place));
    picture.lines[0].y.push_back(std::log10(rank[static_cast<std::size_t>(place) - 1] * pages));
  }
  write_svg(out, picture);
}

static bool run(const example& e) {
  const web w = make_web(e.size);
  dsl::array<double> rank = uniform_ranks(e.size);
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) { walk(rank, w, steps); });
  print_speed("a step", seconds, static_cast<double>(w.matrix.entries()), "entries");
  const std::vector<double> ranks = rank.copy_to_host();
  if (!e.out.empty()) draw(e.out, ranks);

  const bool is_whole =
                 check("sum of the ranks, off 1 by", std::abs(dsl::sum(rank).value() - 1), 1e-12),
             is_fixed = check("another step, relative change",
                              largest_difference(step_on_host(ranks, w), ranks), 1e-6);
  const std::int64_t few = 100;
  const web small = make_web(few);
  dsl::array<double> of_few = uniform_ranks(few);
  walk(of_few, small, 300);
  return check("100 pages beside the equations' solution",
               largest_difference(of_few.copy_to_host(), solve_on_host(small)), 1e-10) &&
         is_whole && is_fixed;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "PageRank: a sparse matrix times a vector, again and again.",
                      .size = 1'000'000,
                      .size_is = "pages",
                      .steps = 100,
                      .steps_are = "steps of the reader",
                      .picture = "draw the ranks, as SVG"},
                     run);
}

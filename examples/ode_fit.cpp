// Fitting the parameters of an ODE to data: hares and lynxes in Canada from 1900 to 1920, and the
// equations of Lotka and Volterra. Each year is an element, whose steps lead from 1900 to it, so
// one loop solves for all years. dsl::iterate_gradient gives the misfit's derivatives with respect
// to four rates and both populations in 1900, with which Adam's method improves them. The check
// compares these derivatives with differences of a solver in C++.
#include <dsl/dsl.hpp>
#include <dsl/ode.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

// Pelts of the Hudson's Bay Company, in thousands (C. G. Hewitt, The Conservation of the Wild Life
// of Canada, 1921, and later records).
static const std::vector<double> hares{30,   47.2, 70.2, 77.4, 36.3, 20.6, 18.1,
                                       21.4, 22,   25.4, 27.1, 40.3, 57,   76.6,
                                       52.3, 19.5, 11.2, 7.6,  14.6, 16.2, 24.7},
    lynxes{4, 6.1,  9.8,  35.2, 59.4, 41.7, 19,   13,  8.3,  9.1, 7.4,
           8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6};

// Of the populations' logarithms, h and l: hares breed and are eaten, lynxes eat and starve. All
// parameters are logarithms, so every rate is positive.
static constexpr auto step =
    dsl::ode::rk4([](auto h, auto l, auto breed, auto eaten, auto eat, auto starve) {
      return std::tuple{exp(breed) - exp(eaten + l), exp(eat + h) - exp(starve)};
    });

// Logarithms: of these four rates a year, and of hares and lynxes in 1900.
using parameters = std::array<double, 6>;

struct fit {
  double misfit;                      // The mean square of differences of logarithms.
  parameters slope;                   // Its derivatives.
  std::vector<double> hares, lynxes;  // The logarithms of populations, year by year.
};
static fit fit_of(const parameters& p, const dsl::array<double>& years, std::int64_t steps) {
  const dsl::array<double> hare_data = log(dsl::to_device(hares)),
                           lynx_data = log(dsl::to_device(lynxes));
  const dsl::scalar<double> breed = p[0], eaten = p[1], eat = p[2], starve = p[3];
  dsl::array<double> h = dsl::full<double>(p[4], years.size()),
                     l = dsl::full<double>(p[5], years.size());
  const auto found = dsl::iterate_gradient(
      steps, step,
      [&](auto h, auto l) { return dsl::mean(square(h - hare_data) + square(l - lynx_data)); },
      dsl::state(h, l), breed, eaten, eat, starve, years / static_cast<double>(steps));
  const dsl::scalar<double> of_hares = dsl::sum(found.state<0>()),
                            of_lynxes = dsl::sum(found.state<1>());
  return {found.loss.value(),
          {found.parameter<0>().value(), found.parameter<1>().value(), found.parameter<2>().value(),
           found.parameter<3>().value(), of_hares.value(), of_lynxes.value()},
          h.copy_to_host(),
          l.copy_to_host()};
}

// The misfit by plain loops.
static double by_hand(const parameters& p, std::int64_t steps) {
  struct pair { double h, l; };
  const auto slope = [&](pair s) {
    return pair{std::exp(p[0]) - std::exp(p[1] + s.l), std::exp(p[2] + s.h) - std::exp(p[3])};
  };
  const auto moved = [](pair s, double by, pair d) { return pair{s.h + by * d.h, s.l + by * d.l}; };
  double misfit = 0;
  for (std::size_t year = 0; year < hares.size(); ++year) {
    const double dt = static_cast<double>(year) / static_cast<double>(steps);
    pair s{p[4], p[5]};
    for (std::int64_t k = 0; k < steps; ++k) {
      const pair a = slope(s), b = slope(moved(s, dt / 2, a)), c = slope(moved(s, dt / 2, b)),
                 d = slope(moved(s, dt, c));
      s = moved(moved(moved(moved(s, dt / 6, a), dt / 3, b), dt / 3, c), dt / 6, d);
    }
    misfit += std::pow(s.h - std::log(hares[year]), 2) + std::pow(s.l - std::log(lynxes[year]), 2);
  }
  return misfit / static_cast<double>(hares.size());
}
static double worst_slope(const parameters& p, const parameters& slope, std::int64_t steps) {
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    parameters more = p, less = p;
    more[i] += 1e-5;
    less[i] -= 1e-5;
    const double want = (by_hand(more, steps) - by_hand(less, steps)) / 2e-5;
    worst = std::max(worst, std::abs(slope[i] - want));
  }
  return worst;
}

// Curves with 20 points a year, and the data as dots.
static void draw(const std::string& out, const parameters& p, std::int64_t steps) {
  const std::int64_t a_year = 20, n = a_year * (std::ssize(hares) - 1) + 1;
  const dsl::array<double> years = dsl::arange<double>(n) / static_cast<double>(a_year);
  dsl::array<double> h = dsl::full<double>(p[4], n), l = dsl::full<double>(p[5], n);
  dsl::iterate(steps, step, dsl::state(h, l), p[0], p[1], p[2], p[3],
               years / static_cast<double>(steps));
  const dsl::array<double> pelts_h = exp(h), pelts_l = exp(l), date = 1900 + years;
  chart picture{"Hares and lynxes in Canada",
                "dots: pelts; curves: the equations of Lotka and Volterra, fitted",
                "year",
                "pelts, thousands",
                date.copy_to_host(),
                {{"hares", "#0072B2", 2, pelts_h.copy_to_host()},
                 {"lynxes", "#D55E00", 2, pelts_l.copy_to_host()},
                 {"", "#0072B2", 8, std::vector<double>(static_cast<std::size_t>(n), NAN)},
                 {"", "#D55E00", 8, std::vector<double>(static_cast<std::size_t>(n), NAN)}}};
  for (std::size_t year = 0; year < hares.size(); ++year) {
    picture.lines[2].y[year * static_cast<std::size_t>(a_year)] = hares[year];
    picture.lines[3].y[year * static_cast<std::size_t>(a_year)] = lynxes[year];
  }
  write_svg(out, picture);
}

static bool run(const example& e) {
  const dsl::array<double> years = dsl::arange<double>(std::ssize(hares));
  // A first guess: cycles of ten years around 34 hares and 20 lynxes.
  parameters p{std::log(0.6), std::log(0.03), std::log(0.018),
               std::log(0.6), std::log(30),   std::log(4)};
  fit now = fit_of(p, years, e.steps);
  const double off = worst_slope(p, now.slope, e.steps), begin = seconds_now();

  // D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, 2015.
  parameters mean{}, squares{};
  double of_mean = 1, of_squares = 1;
  for (std::int64_t k = 0; k < e.size; ++k) {
    of_mean *= 0.9;
    of_squares *= 0.99;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double d = now.slope[i];
      mean[i] = 0.9 * mean[i] + 0.1 * d;
      squares[i] = 0.99 * squares[i] + 0.01 * d * d;
      p[i] -= 0.02 * mean[i] / (1 - of_mean) / std::sqrt(squares[i] / (1 - of_squares));
    }
    now = fit_of(p, years, e.steps);
  }
  print_speed("misfit and derivatives", (seconds_now() - begin) / static_cast<double>(e.size),
              static_cast<double>(e.steps * years.size()), "steps of a year");
  std::printf("rates   breed %.3f, eaten %.4f, eat %.4f, starve %.3f\n", std::exp(p[0]),
              std::exp(p[1]), std::exp(p[2]), std::exp(p[3]));
  std::printf("1900    %.1f hares, %.1f lynxes; typical error of a year %.0f %%\n", std::exp(p[4]),
              std::exp(p[5]), 100 * std::sqrt(now.misfit / 2));
  if (!e.out.empty()) draw(e.out, p, e.steps);
  const bool right = check("derivatives at first, off by", off, 1e-7);
  return check("derivatives at the end, off by", worst_slope(p, now.slope, e.steps), 1e-7) && right;
}

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "The parameters of an ODE that fit data, by the derivatives of a loop.",
       .size = 400,
       .size_is = "improvements of the parameters",
       .steps = 100,
       .steps_are = "Runge-Kutta steps from 1900 to each year",
       .picture = "draw populations and data, as SVG"},
      run);
}

// Two vortices of one sign merge: the Navier-Stokes equation in two dimensions for the vorticity w,
// dw/dt + u . grad w = nu laplacian(w), in a periodic box. The velocity u comes from w in the
// spectrum, the products are of points, and the upper third of the wave numbers is left out of them
// (Orszag, J. Atmos. Sci. 28, 1971). Runge-Kutta steps of fourth order. The check is the energy,
// which has to fall by 2 nu times the enstrophy (w^2 / 2) over time.
#include <dsl/fft.hpp>

#include <cmath>
#include <complex>
#include <numbers>

#include "example.hpp"

using namespace std::complex_literals;
using std::numbers::pi;
using field = dsl::array<double, 2>;
using spectrum = dsl::array<std::complex<double>, 2>;

struct gaussian_vortices;  // The kernels' names in profilers.
struct rate_of_vorticity;

// Around (pi +- 0.8, pi), and around their images beyond the box.
static constexpr auto two_vortices = dsl::vectorize<gaussian_vortices>([](auto x, auto y) {
  auto at = [&](auto centre) { return exp((cos(x - centre) + cos(y - pi) - 2) / (0.4 * 0.4)); };
  return 10 * (at(pi - 0.8) + at(pi + 0.8));
});
static constexpr auto rate = dsl::vectorize<rate_of_vorticity>(
    [](auto uw, auto vw, auto w, auto kx, auto ky, auto largest, auto nu) {
      auto kept = where(abs(kx) < largest && abs(ky) < largest, 1.0, 0.0);
      return -1i * kept * (kx * uw + ky * vw) - nu * (kx * kx + ky * ky) * w;
    });

struct flow {
  std::int64_t n;
  double nu;
  field kx, ky;  // wave numbers of rows and of columns
  field weight;  // 1 / k^2, and 0 for k = 0

  explicit flow(std::int64_t points, double viscosity) : n(points), nu(viscosity) {
    const double cell = 1 / static_cast<double>(n);
    ky = dsl::expand_dims(dsl::fftfreq(n, cell), 1);
    kx = dsl::expand_dims(dsl::rfftfreq(n, cell), 0);
    const auto square = kx * kx + ky * ky;
    weight = where(square == 0, 0.0, 1 / square);
  }
  field points(const auto& of) const { return dsl::irfftn(of, dsl::extents<2>{n, n}); }
  field u(const spectrum& w) const { return points(1i * ky * weight * w); }
  field v(const spectrum& w) const { return points(-1i * kx * weight * w); }
  spectrum slope(const spectrum& w) const {
    const field at = points(w);
    return rate(dsl::rfftn(u(w) * at), dsl::rfftn(v(w) * at), w, kx, ky, static_cast<double>(n) / 3,
                nu);
  }
  void step(spectrum& w, double h) const {
    const spectrum a = slope(w), b = slope(w + h / 2 * a), c = slope(w + h / 2 * b),
                   d = slope(w + h * c);
    w = w + h / 6 * (a + 2 * b + 2 * c + d);
  }
  double energy(const spectrum& w) const {
    return dsl::mean(square(u(w)) + square(v(w))).value() / 2;
  }
  double enstrophy(const spectrum& w) const { return dsl::mean(square(points(w))).value() / 2; }
};

static bool run(const example& e) {
  const std::int64_t n = e.size;
  const flow box(n, 1e-3);
  const double cell = 2 * pi / static_cast<double>(n), h = 6.0 / static_cast<double>(e.steps);
  const dsl::array<double> x = cell * dsl::arange<double>(n);
  spectrum w = dsl::rfftn(two_vortices(x, dsl::expand_dims(x, 1)));
  w = where(box.kx == 0 && box.ky == 0, 0.0, w);  // A periodic flow has no total vorticity.

  const double first = box.energy(w);
  double before = box.enstrophy(w), lost = 0;
  const auto run_steps = [&](std::int64_t steps) {
    for (; steps > 0; --steps) {
      box.step(w, h);
      const double now = box.enstrophy(w);
      lost += 2 * box.nu * h * (before + now) / 2;
      before = now;
    }
  };
  const double seconds = seconds_a_step(e.steps, run_steps);
  print_speed("a step", seconds, static_cast<double>(n * n), "points");
  if (!e.out.empty())
    write_png(e.out, n, dsl::eval(dsl::cast<float>(box.points(w))).copy_to_host(), -1, 10,
              viridis());
  const double now = box.energy(w);
  return check("energy, relative to what was lost", std::abs(first - now - lost) / (first - now),
               1e-3);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Two vortices merge, by Fourier transforms.",
                      .size = 512,
                      .size_is = "the box is N x N points",
                      .steps = 2000,
                      .picture = "draw the vorticity"},
                     run);
}

// A soliton of second order: i dpsi/dt = -1/2 d2psi/dx2 - |psi|^2 psi, from psi = 2 / cosh(x). It
// breathes, narrow and high after each quarter of pi. Split steps: a phase for each wave number,
// between a Fourier transform and its inverse, then a phase for each point. The check is the exact
// solution (Satsuma and Yajima, Prog. Theor. Phys. Suppl. 55, 1974).
#include <dsl/fft.hpp>

#include <cmath>
#include <complex>
#include <numbers>

#include "example.hpp"

using namespace std::complex_literals;
using std::numbers::pi;
using wave = dsl::array<std::complex<double>>;

struct exact_wave;  // The kernels' names in profilers.
struct own_phase;

static constexpr auto exact = dsl::vectorize<exact_wave>([](auto x, auto t) {
  return 4 * exp(0.5i * t) * (cosh(3 * x) + 3 * exp(4i * t) * cosh(x)) /
         (cosh(4 * x) + 4 * cosh(2 * x) + 3 * cos(4 * t));
});
// The phase by which a wave's own height turns it in a time h.
static constexpr auto turned = dsl::vectorize<own_phase>(
    [](auto psi, auto h) { return psi * exp(1i * h * real(psi * conj(psi))); });

static bool run(const example& e) {
  const double width = 40, end = pi / 2, h = end / static_cast<double>(e.steps),
               cell = width / static_cast<double>(e.size);
  const dsl::array<double> x = cell * dsl::arange<double>(e.size) - width / 2,
                           k = 2 * pi * dsl::fftfreq(e.size, cell);
  const wave half = exp(-0.25i * h * k * k), whole = half * half;
  wave psi = exact(x, 0.0);

  // Half a step in space, steps of both kinds, and half a step back.
  psi = dsl::ifft(half * dsl::fft(psi));
  const std::int64_t rows = 400, every = (e.steps + rows - 1) / rows;
  dsl::array<float, 2> picture = dsl::zeros<float>((e.steps + every - 1) / every, e.size);
  std::int64_t done = 0;
  const auto run_steps = [&](std::int64_t steps) {
    for (; steps > 0; --steps, ++done) {
      psi = dsl::ifft(whole * dsl::fft(turned(psi, h)));
      if (done % every == 0) {
        auto row = picture(done / every);
        row = dsl::cast<float>(abs(psi));
      }
    }
  };
  const double seconds = seconds_a_step(e.steps, run_steps);
  psi = dsl::ifft(conj(half) * dsl::fft(psi));

  print_speed("a step", seconds, static_cast<double>(e.size), "points");
  if (!e.out.empty()) {
    const std::int64_t middle = e.size / 4;
    write_png(e.out, e.size - 2 * middle,
              dsl::eval(picture(dsl::slice(), dsl::slice(middle, e.size - middle))).copy_to_host(),
              0, 4, inferno());
  }
  return check("psi, difference from the exact solution",
               dsl::max(abs(psi - exact(x, end))).value(), 500 * h * h);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "A soliton of second order, by split steps.",
                      .size = 1024,
                      .size_is = "points along the line",
                      .steps = 4000,
                      .picture = "draw the wave's height, time downwards"},
                     run);
}

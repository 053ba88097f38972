// Two coupled complex fields stepped by RK4: the whole step, two arrays and a reduction, is one
// formula and becomes one kernel. The reduction, delta, is fed back into the next step;
// dsl::iterate runs the loop on the device and returns delta's history. Prints delta, the plan and
// the bandwidth against a device copy; the same file runs on a GPU, on the host and in the
// simulator.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "chart.hpp"
#include "options.hpp"
#include "progress.hpp"

using namespace std::complex_literals;
using c32 = std::complex<float>;
using c64 = std::complex<double>;
using field = dsl::array<c32, 2>;

struct rk4_step;
static constexpr auto dF = [](auto F, auto G, auto d) { return -2i * F - 1i * d * (2 * G - 1); };
static constexpr auto dG = [](auto F, auto d) { return -1i * (conj(d) * F - d * conj(F)); };
static constexpr auto step =
    dsl::vectorize<rk4_step>([](auto F, auto G, auto d, auto h, auto scale) {
      auto F1 = dF(F, G, d), G1 = dG(F, d);
      auto F2 = dF(F + h / 2 * F1, G + h / 2 * G1, d), G2 = dG(F + h / 2 * F1, d);
      auto F3 = dF(F + h / 2 * F2, G + h / 2 * G2, d), G3 = dG(F + h / 2 * F2, d);
      auto F4 = dF(F + h * F3, G + h * G3, d), G4 = dG(F + h * F3, d);
      auto Fn = F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4);
      auto Gn = G + h / 6 * (G1 + 2 * G2 + 2 * G3 + G4);
      return std::tuple{Fn, Gn, dsl::sum(scale * Fn)};
    });

static double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A pseudorandom number from -1 to 1, by splitmix64's mixing function: the same in every run, with
/// every compiler and on every device.
static float noise(std::uint64_t i, std::uint64_t j, std::uint64_t which) {
  std::uint64_t z = ((which << 60) ^ (i << 30) ^ j) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<float>((z ^ (z >> 31)) >> 40) / 8388608.0f - 1;
}

struct fields { field F, G; };

// F is Hermitian and near 0, G is real and near 1. Then |F|^2 + (G - 1/2)^2 is a constant of the
// motion for each element, for any delta, so nothing grows beyond 1 as long as dt is small. The
// exact solution is delta = f exp(-i (1 + 2g) t) with the means f and g of F and G. Because delta
// is fixed during a step, |delta| grows at the rate dt (4g^2 - 1) / 2: by 12 % in the default run.
static fields random_fields(std::int64_t n) {
  std::vector<c32> F(static_cast<std::size_t>(n * n)), G(F.size());
  for (std::int64_t i = 0, k = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j, ++k) {
      const auto a = static_cast<std::uint64_t>(std::min(i, j)),
                 b = static_cast<std::uint64_t>(std::max(i, j));
      const float im = i == j ? 0.0f : noise(a, b, 1) * (i < j ? 1.0f : -1.0f);
      F[static_cast<std::size_t>(k)] = 0.02f * c32(1 + noise(a, b, 0), im);
      G[static_cast<std::size_t>(k)] = 0.9f + 0.1f * noise(a, b, 2);
    }
  return {dsl::reshape(dsl::to_device(F), n, n), dsl::reshape(dsl::to_device(G), n, n)};
}

struct run_result {
  std::vector<c32> delta;  // After each step.
  double seconds_a_step;
};

// The first step is timed separately, because it loads the kernel.
static run_result run(const options& o, field& F, field& G, dsl::scalar<c32>& delta, float h,
                      c32 scale) {
  const auto state = dsl::state(F, G, delta);
  auto start = std::chrono::steady_clock::now();
  std::vector<c32> values = dsl::iterate(1, step, state, h, scale).copy_to_host();
  if (o.steps == 1) return {values, seconds_since(start)};

  progress bar;
  start = std::chrono::steady_clock::now();
  const dsl::array<c32> history =
      dsl::iterate(o.steps - 1, step, state, h, scale,
                   dsl::progress([&bar](std::int64_t done, std::int64_t steps) {
                     bar.show(static_cast<double>(done) / static_cast<double>(steps));
                   }));  // Waits, because it is watched.
  const double seconds_a_step = seconds_since(start) / static_cast<double>(o.steps - 1);
  const std::vector<c32> rest = history.copy_to_host();
  values.insert(values.end(), rest.begin(), rest.end());
  return {values, seconds_a_step};
}

/// Bytes per second that a copy of a field reads and writes, measured over at least 0.1 s.
static double copy_bandwidth(const field& F) {
  field copy = F;
  for (std::int64_t times = 1;; times *= 2) {
    dsl::device::current().synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = 0; k < times; ++k) copy = F;
    dsl::device::current().synchronize();
    if (const double took = seconds_since(start); took > 0.1)
      return 2.0 * sizeof(c32) * static_cast<double>(F.size()) * static_cast<double>(times) / took;
  }
}

static void print_speed(const options& o, const field& F, double seconds_a_step) {
  std::printf("\n%.4g ms a step", 1e3 * seconds_a_step);
  // The speed of the simulator, and of a first step, means nothing.
  if (F.where().kind != dsl::backend::sim && o.steps > 1) {
    const double bytes = 4.0 * sizeof(c32) * static_cast<double>(F.size()),
                 reached = bytes / seconds_a_step, copy = copy_bandwidth(F);
    std::printf(", %.4g GB/s (F and G read and written once), %.0f %% of a device copy's %.4g GB/s",
                1e-9 * reached, 100 * reached / copy, 1e-9 * copy);
  }
  std::printf("\n");
}

static void print_delta(const std::vector<c32>& delta, double dt) {
  std::printf("\n%10s %12s %14s %14s %14s\n", "step", "time", "re delta", "im delta", "|delta|");
  const std::size_t last = delta.size() - 1;
  for (std::size_t k = 0, rows = std::min<std::size_t>(last, 10); k <= rows; ++k) {
    const std::size_t i = last * k / std::max<std::size_t>(rows, 1);
    std::printf("%10zu %12.5g %14.7g %14.7g %14.7g\n", i, static_cast<double>(i) * dt,
                static_cast<double>(delta[i].real()), static_cast<double>(delta[i].imag()),
                std::abs(c64(delta[i])));
  }
}

static void write_files(const options& o, const std::vector<c32>& delta) {
  char details[160];
  std::snprintf(details, sizeof details, "%lld \u00d7 %lld fields, %lld steps of %g, ",
                static_cast<long long>(o.size), static_cast<long long>(o.size),
                static_cast<long long>(o.steps), o.dt);
  std::string formula = "\u03b4 = \u03a3F";
  if (!o.ones) {
    char phase[32] = "";
    if (o.phase != 0) std::snprintf(phase, sizeof phase, ", phase %g\u00b0", o.phase);
    formula += std::string(" / N\u00b2") + phase;
  }
  // Colours of Okabe and Ito, which colour-blind people can tell apart.
  chart c{"Coupled fields: the feedback \u03b4 over time",
          details + formula,
          "time",
          "\u03b4",
          {},
          {{"modulus", "#222222", 2.5, {}},
           {"real part", "#0072b2", 1.75, {}},
           {"imaginary part", "#d55e00", 1.75, {}}}};
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const c64 d(delta[i]);
    c.x.push_back(static_cast<double>(i) * o.dt);
    c.lines[0].y.push_back(std::abs(d));
    c.lines[1].y.push_back(d.real());
    c.lines[2].y.push_back(d.imag());
  }
  if (!o.plot.empty()) write_svg(o.plot, c);
  std::rotate(c.lines.begin(), c.lines.begin() + 1, c.lines.end());
  if (!o.csv.empty()) write_csv(o.csv, "step,time,re,im,abs", c);
}

/// Compares delta with the values of the acceptance program, which hold for 512 x 512 and
/// dt = 1e-4.
static bool ones_agree(const std::vector<c32>& delta) {
  const c64 want[] = {{262143.992136, -78.643199}, {1361289.0613, 3141396027.12}};
  bool agree = true;
  for (std::size_t k = 0; k < std::min<std::size_t>(2, delta.size() - 1); ++k) {
    const double off = std::abs(c64(delta[k + 1]) - want[k]) / std::abs(want[k]);
    std::printf("step %zu: %.12g%+.12gi expected, off by %.2g: %s\n", k + 1, want[k].real(),
                want[k].imag(), off, off < 1e-5 ? "agrees" : "DOES NOT AGREE");
    agree = agree && off < 1e-5;
  }
  return agree;
}

/// Returns whether the results are correct.
static bool simulate(const options& o) {
  const dsl::device_guard guard(o.device.empty() ? dsl::device::current()
                                                 : dsl::device(o.device.c_str()));
  auto [F, G] =
      o.ones ? fields{dsl::full<c32>(1.0f, o.size, o.size), dsl::full<c32>(1.0f, o.size, o.size)}
             : random_fields(o.size);
  const auto elements = static_cast<double>(F.size());
  const c32 scale =
      o.ones ? c32(1) : c32(std::polar(1 / elements, o.phase * std::numbers::pi / 180));
  const auto h = static_cast<float>(o.dt);
  dsl::scalar<c32> delta = c32(1);
  if (!o.ones) delta = dsl::sum(scale * F);

  const std::string plan = dsl::plan_of(step, dsl::state(F, G, delta), h, scale).describe();
  std::printf("device  %s\nplan    %s\n", dsl::properties(F.where()).name, plan.c_str());
  std::vector<c32> history{delta.value()};  // Begins with delta before the first step.
  const run_result r = run(o, F, G, delta, h, scale);
  history.insert(history.end(), r.delta.begin(), r.delta.end());
  print_delta(history, o.dt);
  print_speed(o, F, r.seconds_a_step);
  write_files(o, history);

  if (o.ones) return o.size != 512 || o.dt != 1e-4 || ones_agree(history);
  const auto bad = std::find_if(history.begin(), history.end(), [](c32 d) {
    return !std::isfinite(d.real()) || !std::isfinite(d.imag());
  });
  if (bad == history.end()) return true;
  std::fprintf(stderr, "coupled_fields: delta is not finite after step %td; try a smaller --dt\n",
               bad - history.begin());
  return false;
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  try {
    return simulate(o) ? 0 : 1;
  } catch (const std::exception& e) {  // dsl::error, or a file that cannot be written.
    std::fprintf(stderr, "coupled_fields: %s\n", e.what());
    return 1;
  }
}

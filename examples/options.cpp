// Separate from coupled_fields.cpp, so that CLI11 is compiled only by the host's compiler, never by
// nvcc.
#include "options.hpp"

#include <dsl/mem/device.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

// Opens the file before the run, so that a long run does not end with a file that cannot be
// written. A file that did not exist is removed again.
std::string check_writable(const std::string& path) {
  const bool existed = std::filesystem::exists(path);
  if (!std::ofstream(path, std::ios::app)) return "cannot write to " + path;
  if (!existed) std::filesystem::remove(path);
  return {};
}

std::string check_device(const std::string& name) {
  try {
    dsl::device(name.c_str());
    return {};
  } catch (const dsl::error& e) {
    return e.what();
  }
}

// The help does not show the range.
CLI::Validator between_1_and(std::int64_t most) {
  return CLI::Range(std::int64_t{1}, most).description("");
}

// Accepts only finite numbers; CLI11's own conversion also accepts "nan" and "inf".
std::string check_positive(const std::string& number) {
  const double value = std::strtod(number.c_str(), nullptr);
  return std::isfinite(value) && value > 0 ? "" : "must be greater than 0";
}

std::string check_finite(const std::string& number) {
  return std::isfinite(std::strtod(number.c_str(), nullptr)) ? "" : "must be finite";
}

}  // namespace

options read_options(int argc, char** argv) {
  options o;
  CLI::App app{
      "Two coupled complex fields F and G, stepped by a fourth-order Runge-Kutta method. delta, "
      "the mean of F, is fed back\n"
      "into every step, and the whole loop runs on the device:\n\n"
      "  dF/dt = -2i F - i delta (2 G - 1)        dG/dt = -i (conj(delta) F - delta conj(F))\n\n"
      "Prints delta at about ten times, the time a step takes and the memory bandwidth that it "
      "reaches.\n",
      "coupled_fields"};
  app.get_formatter()->column_width(24);
  app.add_option("--size", o.size, "the fields are N x N (default 512)")
      ->type_name("N")
      ->check(between_1_and(std::int64_t{1} << 20));
  CLI::Option* steps =
      app.add_option("--steps", o.steps, "steps of the time loop (default 1000; with --ones 3)")
          ->type_name("N")
          ->check(between_1_and(std::int64_t{1} << 30));
  CLI::Option* dt =
      app.add_option("--dt", o.dt, "length of a step (default 0.01; with --ones 1e-4)")
          ->type_name("TIME")
          ->check(check_positive);
  app.add_option(
         "--phase", o.phase,
         "phase of the feedback: delta = exp(i phase) sum(F) / N^2 (default 0; 90 gives a burst)")
      ->type_name("DEGREES")
      ->check(check_finite);
  app.add_option("--device", o.device,
                 "cuda:0 (or another GPU), host or sim (default DSL_DEVICE, else a GPU, else host)")
      ->type_name("NAME")
      ->check(check_device);
  app.add_option("--plot", o.plot, "draw delta over time")
      ->type_name("FILE.svg")
      ->check(check_writable);
  app.add_option("--csv", o.csv, "write step,time,re,im,abs")
      ->type_name("FILE")
      ->check(check_writable);
  app.add_flag("--ones", o.ones,
               "F = G = delta = 1 and delta = sum(F), checked against known values; float "
               "overflows at step 4");
  try {
    app.parse(argc, argv);
    if (o.ones && o.phase != 0) throw CLI::ValidationError("--phase", "has no effect with --ones");
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  if (steps->empty()) o.steps = o.ones ? 3 : 1000;
  if (dt->empty()) o.dt = o.ones ? 1e-4 : 0.01;
  return o;
}

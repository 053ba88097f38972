// The examples' command line, timing and pictures. An example itself holds only its formula and the
// check of its result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The description of an example. `run` receives it with the values of the command line.
struct example {
  const char* shows;                                 // for --help
  std::int64_t size;                                 // --size
  const char* size_is;                               // for --help: "the number of options"
  std::int64_t steps = 0;                            // --steps; 0: the example has no time loop
  const char* steps_are = "steps of the time loop";  // for --help
  const char* picture = "";  // for --help: what --out FILE.png shows; "": nothing to see
  std::string out = {};      // --out; empty: no picture is asked for
};

/// The body of main(): reads --size, --steps and --out, prints the device (DSL_DEVICE says which),
/// and calls `run`, which returns whether its results are right. Returns 0 if they are, 1 if they
/// are not or an exception was thrown, 2 if the command line is wrong.
int run_example(int argc, char** argv, example e, bool (*run)(const example&));

/// Seconds of a clock that never goes back.
double seconds_now();
/// Until the current device has done all that it was given.
void wait_for_device();

/// Seconds that a call takes: after one call that is not counted (it loads the kernels), as many as
/// take 0.2 s, or one if that takes longer. The device is waited for before the clock starts and
/// before it stops.
template <class F>
double seconds_of(F call) {
  call();
  for (std::int64_t calls = 1;; calls *= 4) {
    wait_for_device();
    const double start = seconds_now();
    for (std::int64_t k = 0; k < calls; ++k) call();
    wait_for_device();
    if (const double took = seconds_now() - start; took > 0.2)
      return took / static_cast<double>(calls);
  }
}

/// Seconds that a step of a time loop takes: `run(k)` runs the next k steps. The first one is not
/// counted (it loads the kernels), unless it is the only one.
template <class F>
double seconds_a_step(std::int64_t steps, F run) {
  const auto timed = [&](std::int64_t k) {
    wait_for_device();
    const double start = seconds_now();
    run(k);
    wait_for_device();
    return (seconds_now() - start) / static_cast<double>(k);
  };
  const double first = timed(1);
  return steps > 1 ? timed(steps - 1) : first;
}

/// Prints a line: what was timed, its time, elements a second and, if `bytes` (read and written by
/// all of them) are given, GB/s.
void print_speed(const char* what, double seconds, double elements, const char* of_what,
                 double bytes = 0);

/// Prints a line and returns whether `error` is at most `most`; NaN is not.
bool check(const char* what, double error, double most);

using colour = std::array<std::uint8_t, 3>;

/// Okabe and Ito's colours, which colour-blind people can tell apart
/// (https://jfly.uni-koeln.de/color/), and white.
inline constexpr colour orange{230, 159, 0}, sky_blue{86, 180, 233}, bluish_green{0, 158, 115},
    yellow{240, 228, 66}, blue{0, 114, 178}, vermillion{213, 94, 0}, reddish_purple{204, 121, 167},
    black{0, 0, 0}, white{255, 255, 255};

/// Colours of equal steps to the eye, 2 to 256 of them (few show as bands): matplotlib's viridis
/// and inferno (CC0), interpolated between 17 of their colours, and so within 7 of 255 of them.
std::vector<colour> viridis(std::size_t colours = 256);
std::vector<colour> inferno(std::size_t colours = 256);

/// Writes a PNG, row by row from the top: for each pixel a colour of the palette, of 256 at most.
/// Throws std::runtime_error where the file can't be written, and where there is no such picture.
void write_png(const std::string& path, std::int64_t width, const std::vector<std::uint8_t>& pixels,
               const std::vector<colour>& palette);
/// The same, each pixel with a colour of its own.
void write_png(const std::string& path, std::int64_t width, const std::vector<colour>& pixels);
/// The same of numbers: `low` and below in the palette's first colour, `high` and above in its
/// last.
void write_png(const std::string& path, std::int64_t width, const std::vector<float>& values,
               float low, float high, const std::vector<colour>& palette);

// The command line, timing and pictures of all examples. An example's own file has its formula, its
// picture and its check.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Description and parameters of an example. `run` gets it with the values from the command line.
struct example {
  // One sentence for --help.
  const char* shows;
  // --size, and its meaning for --help: "the number of options".
  std::int64_t size;
  const char* size_is;
  // --steps, and its meaning for --help; 0: the example has no time loop.
  std::int64_t steps = 0;
  const char* steps_are = "steps of the time loop";
  // The meaning of --out FILE.png for --help; "": the example has no picture.
  const char* picture = "";
  // An option without a value, and its meaning for --help; "": there is none.
  const char* option = "";
  const char* option_is = "";
  // --out; empty: no picture is written.
  std::string out = {};
  // Whether the option was given.
  bool chosen = false;
};

/// The body of main(): reads the command line, prints the device (chosen by DSL_DEVICE)
/// and calls `run`, which returns whether its results are correct. Returns 0 if they are, 1 if they
/// are not or an exception was thrown, 2 if the command line is wrong.
int run_example(int argc, char** argv, example e, bool (*run)(const example&));

/// Time in seconds, by a clock that never goes back.
double seconds_now();
/// Waits until the current device has done all queued work.
void wait_for_device();

/// Seconds per call. The first call is not counted, because it loads the kernels. The time is the
/// mean of calls that together take more than 0.2 s. Waits for the device before the clock starts
/// and before it stops.
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

/// Seconds per step of a time loop. run(k) runs the next k steps; run is called for `steps` steps
/// in all. The first step is not counted, because it loads the kernels, unless it is the only one.
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

/// Prints the name of what was timed, its time, elements per second, and GB/s if `bytes`, the bytes
/// read and written in that time, is not 0.
void print_speed(const char* what, double seconds, double elements, const char* of_what,
                 double bytes = 0);

/// Prints the result of a check. Returns whether `error` is at most `most`; false for NaN.
bool check(const char* what, double error, double most);

using colour = std::array<std::uint8_t, 3>;

/// The colours of Okabe and Ito, which colour-blind people can tell apart
/// (https://jfly.uni-koeln.de/color/), and white.
inline constexpr colour orange{230, 159, 0}, sky_blue{86, 180, 233}, bluish_green{0, 158, 115},
    yellow{240, 228, 66}, blue{0, 114, 178}, vermillion{213, 94, 0}, reddish_purple{204, 121, 167},
    black{0, 0, 0}, white{255, 255, 255};

/// Palettes of 2 to 256 colours in perceptually uniform steps; with few colours, pictures show
/// bands. These are matplotlib's viridis and inferno (CC0), interpolated between 17 of their
/// colours and therefore within 7 of 255 of the originals.
std::vector<colour> viridis(std::size_t colours = 256);
std::vector<colour> inferno(std::size_t colours = 256);

/// Writes a PNG of `width` columns. Pixels are in rows from the top; each is an index into the
/// palette of at most 256 colours. Throws std::runtime_error if the file cannot be written, or if
/// the pixels are not whole rows.
void write_png(const std::string& path, std::int64_t width, const std::vector<std::uint8_t>& pixels,
               const std::vector<colour>& palette);
/// The same, with a colour for each pixel.
void write_png(const std::string& path, std::int64_t width, const std::vector<colour>& pixels);
/// The same for numbers: `low` and less have the palette's first colour, `high` and more its last
/// one.
void write_png(const std::string& path, std::int64_t width, const std::vector<float>& values,
               float low, float high, const std::vector<colour>& palette);

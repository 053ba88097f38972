// The Mandelbrot set: the number of steps z = z * z + c until |z| reaches 2, for each pixel's c. A
// loop whose length depends on the data cannot be traced; instead, a functor of eight lines with
// DSL_FN is called for each element. Real and imaginary parts of c are a row and a column that
// broadcast to the picture, so only the result is stored at full size.
#include <dsl/dsl.hpp>

#include <cmath>
#include <vector>

#include "example.hpp"

struct escape_time {
  DSL_FN int operator()(float x, float y, int most) const {
    const dsl::complex<float> c(x, y);
    int n = 0;
    for (dsl::complex<float> z = 0; n < most && norm(z) < 4; ++n) z = z * z + c;
    return n;
  }
};
static constexpr auto mandelbrot = dsl::vectorize(escape_time{});

static void draw(const std::string& out, const std::vector<int>& steps, std::int64_t width,
                 int most) {
  std::vector<float> shades(steps.size());
  // The set has the first colour. The scale is logarithmic, since most other points leave early.
  for (std::size_t i = 0; i < steps.size(); ++i)
    shades[i] = steps[i] == most ? 0 : 1.5f + std::log2(1 + static_cast<float>(steps[i]));
  write_png(out, width, shades, 0, 8, inferno());
}

static bool run(const example& e) {
  const std::int64_t width = e.size, height = 2 * width / 3 / 2 * 2;
  const int most = static_cast<int>(e.steps);
  const auto w = static_cast<float>(width), h = static_cast<float>(height), pixel = 3.6f / w;
  // Centres of pixels: real parts from -2.4 to 1.2, imaginary parts symmetric about 0.
  const dsl::array<float> x = dsl::linspace(-2.4f + pixel / 2, 1.2f - pixel / 2, width),
                          y = dsl::linspace((h - 1) / 2 * pixel, -(h - 1) / 2 * pixel, height);
  dsl::array<int, 2> steps(height, width);

  const double seconds = seconds_of([&] { steps = mandelbrot(x, dsl::expand_dims(y, 1), most); });
  print_speed("the picture", seconds, static_cast<double>(steps.size()), "pixels");
  print_speed("their steps", seconds, static_cast<double>(dsl::sum(steps).value()), "steps");
  if (!e.out.empty()) draw(e.out, steps.copy_to_host(), width, most);

  // The set's area is 1.50659. Two errors are allowed: after `most` steps, points outside the set
  // of an area of about 4 / most are still counted; and pixels count as a whole.
  const double area = static_cast<double>(dsl::count_nonzero(steps == most).value()) *
                      static_cast<double>(pixel * pixel);
  const bool mirrored = dsl::mean(dsl::cast<float>(steps != dsl::flip(steps, 0))).value() < 1e-3f;
  return check("area of the set, off by", mirrored ? std::abs(area - 1.50659) : 1,
               5.0 / static_cast<double>(most) + 4 / static_cast<double>(width));
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "The Mandelbrot set by a functor that is called for each pixel.",
                      .size = 3072,
                      .size_is = "pixels across",
                      .steps = 256,
                      .steps_are = "steps after which a point counts as one of the set",
                      .picture = "draw the set"},
                     run);
}

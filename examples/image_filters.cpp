// Filters of an RGB picture: blur, edges (Sobel), brightness and colour. Each pass of a filter is
// one kernel. A permutation turns bytes of shape rows x columns x 3 into numbers of shape
// 3 x rows x columns, so that neighbouring pixels are contiguous. dsl::shift along an axis reads
// neighbours; weights of the channels broadcast, and a sum along their axis makes the picture grey.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "example.hpp"

using bytes = dsl::array<std::uint8_t, 3>;  // Rows, columns, channels, as in files.
using image = dsl::array<float, 3>;         // Channels, rows, columns; 0 is dark, 1 bright.

static constexpr auto edge = dsl::boundary::clamp;

template <class A>
static auto smooth(const A& x, int axis) {
  using dsl::shift;
  return (shift(x, 2, edge, axis) + 4 * shift(x, 1, edge, axis) + 6 * x +
          4 * shift(x, -1, edge, axis) + shift(x, -2, edge, axis)) /
         16;
}

static image blur(image x, int times) {
  for (int k = 0; k < times; ++k) {
    image rows = smooth(x, 1);
    x = smooth(rows, 2);
  }
  return x;
}

// A weight for each channel. Its shape is (3, 1, 1), so it broadcasts over rows and columns.
static image weights(float r, float g, float b) {
  return dsl::reshape(dsl::to_device(std::vector<float>{r, g, b}), 3, 1, 1);
}

static dsl::array<float, 2> edges(const image& x) {
  using dsl::shift;
  // Luminance by ITU-R BT.709.
  const dsl::array<float, 2> grey = dsl::sum(x * weights(0.2126f, 0.7152f, 0.0722f), dsl::axis(0));
  const dsl::array<float, 2> across = shift(grey, -1, edge, 1) - shift(grey, 1, edge, 1),
                             down = shift(grey, -1, edge, 0) - shift(grey, 1, edge, 0);
  return hypot(shift(across, 1, edge, 0) + 2 * across + shift(across, -1, edge, 0),
               shift(down, 1, edge, 1) + 2 * down + shift(down, -1, edge, 1));
}

static image warm(const image& x) { return clip(weights(1.25f, 1.05f, 0.8f) * pow(x, 0.8f), 0, 1); }

static image from_bytes(const bytes& file) {
  return dsl::cast<float>(dsl::permute(file, 2, 0, 1)) / 255;
}
static bytes to_bytes(const image& x) {
  return dsl::cast<std::uint8_t>(dsl::permute(255 * clip(x, 0, 1) + 0.5f, 1, 2, 0));
}

// A computed landscape: sky, sun, two chains of hills and a striped field.
static bytes landscape(std::int64_t rows, std::int64_t columns) {
  const auto channel = dsl::vectorize(
      [](auto x, auto y, auto top, auto horizon, auto sun, auto far, auto near, auto field) {
        auto sky = where(hypot(x - 1.1, y - 0.28) < 0.11, sun, top + (horizon - top) * y * 1.6);
        auto ridge = 0.52 + 0.07 * sin(5 * x + 1) + 0.03 * sin(17 * x),
             hills = 0.7 + 0.06 * sin(4 * x - 1) + 0.015 * sin(23 * x);
        auto stripe = 0.8 + 0.2 * sin(36 * (x - 0.6) / (y - 0.45));
        return where(y > hills + 0.1, field * stripe,
                     where(y > hills, near, where(y > ridge, far, sky)));
      });
  return to_bytes(channel(
      dsl::linspace<float>(0, 1.5f, columns), dsl::expand_dims(dsl::linspace<float>(0, 1, rows), 1),
      weights(0.20f, 0.45f, 0.80f), weights(0.95f, 0.80f, 0.70f), weights(1.00f, 0.90f, 0.45f),
      weights(0.33f, 0.42f, 0.60f), weights(0.00f, 0.45f, 0.30f), weights(0.90f, 0.75f, 0.20f)));
}

// Draws four quarters: the picture, blurred, its edges, and with warmer colours.
static void draw(const std::string& out, const image& x, int times) {
  const std::int64_t rows = x.extent(1), columns = x.extent(2);
  const auto all = dsl::slice(), top = dsl::slice(0, rows), bottom = dsl::slice(rows, dsl::end),
             left = dsl::slice(0, columns), right = dsl::slice(columns, dsl::end);
  image sheet(3, 2 * rows, 2 * columns);
  sheet(all, top, left) = x;
  sheet(all, top, right) = blur(x, times);
  sheet(all, bottom, left) = min(edges(x), 1);  // Grey: one channel broadcasts to three.
  sheet(all, bottom, right) = warm(x);
  const std::vector<std::uint8_t> values = to_bytes(sheet).copy_to_host();
  std::vector<colour> pixels(values.size() / 3);
  for (std::size_t i = 0; i < values.size(); ++i) pixels[i / 3][i % 3] = values[i];
  write_png(out, 2 * columns, pixels);
}

using plane = std::vector<double>;

// A plain loop for the check: the weighted sum (`taps`) of the elements around each one along an
// axis. Beyond the edges the last element is repeated.
static plane by_hand(const plane& x, std::int64_t columns, int axis,
                     const std::vector<double>& taps) {
  plane out(x.size());
  const auto rows = static_cast<std::int64_t>(x.size()) / columns,
             reach = static_cast<std::int64_t>(taps.size() / 2);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t t = -reach; t <= reach; ++t) {
        const std::int64_t row = axis == 0 ? std::clamp<std::int64_t>(i + t, 0, rows - 1) : i,
                           column = axis == 1 ? std::clamp<std::int64_t>(j + t, 0, columns - 1) : j;
        out[static_cast<std::size_t>(i * columns + j)] +=
            taps[static_cast<std::size_t>(t + reach)] *
            x[static_cast<std::size_t>(row * columns + column)];
      }
    }
  }
  return out;
}

static double worst_difference(const std::vector<float>& got, const plane& want) {
  double worst = got.size() == want.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i)
    worst = std::max(worst, std::abs(got[i] - want[i]));
  return worst;
}

static bool run(const example& e) {
  const std::int64_t columns = e.size, rows = 2 * e.size / 3 + 1;
  const int times = 3;
  const bytes file = landscape(rows, columns);
  const image x = from_bytes(file);

  const auto pixels = static_cast<double>(rows * columns);
  print_speed("blur, three times", seconds_of([&] { blur(x, times); }), pixels, "pixels",
              6 * 24 * pixels);
  print_speed("edges", seconds_of([&] { edges(x); }), pixels, "pixels");
  print_speed("brightness and colour", seconds_of([&] { warm(x); }), pixels, "pixels", 24 * pixels);
  if (!e.out.empty()) draw(e.out, x, times);

  const std::vector<std::uint8_t> values = file.copy_to_host();
  const image blurred = blur(x, times), warmed = warm(x);
  plane grey(values.size() / 3);
  double off_blur = 0, off_warm = 0;
  for (std::int64_t c = 0; c < 3; ++c) {
    const double gain[] = {1.25, 1.05, 0.8}, share[] = {0.2126, 0.7152, 0.0722};
    plane smooth(grey.size()), warmer(grey.size());
    for (std::size_t i = 0; i < grey.size(); ++i) {
      smooth[i] = values[3 * i + static_cast<std::size_t>(c)] / 255.0;
      warmer[i] = std::min(1.0, gain[c] * std::pow(smooth[i], 0.8));
      grey[i] += share[c] * smooth[i];
    }
    for (int k = 0; k < 2 * times; ++k)
      smooth = by_hand(smooth, columns, k % 2, {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0});
    off_blur = std::max(off_blur, worst_difference(blurred(c).copy_to_host(), smooth));
    off_warm = std::max(off_warm, worst_difference(warmed(c).copy_to_host(), warmer));
  }
  const plane across = by_hand(by_hand(grey, columns, 1, {-1, 0, 1}), columns, 0, {1, 2, 1}),
              down = by_hand(by_hand(grey, columns, 0, {-1, 0, 1}), columns, 1, {1, 2, 1});
  plane steep(grey.size());
  for (std::size_t i = 0; i < grey.size(); ++i) steep[i] = std::hypot(across[i], down[i]);

  bool right = check("blur, worst error", off_blur, 1e-6);
  right =
      check("edges, worst error", worst_difference(edges(x).copy_to_host(), steep), 1e-5) && right;
  return check("brightness, worst error", off_warm, 1e-6) && right;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Blur, edges and brightness of an RGB picture.",
                      .size = 3072,
                      .size_is = "the picture is N pixels wide, 2N/3 high",
                      .picture = "draw the picture, blurred, its edges, and brightened"},
                     run);
}

// Writes PNG files with libpng.
#include "example.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace {

std::vector<colour> between(const std::array<colour, 17>& chosen, std::size_t colours) {
  std::vector<colour> all(colours);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double at = static_cast<double>(i) * 16 / static_cast<double>(colours - 1);
    const std::size_t k = std::min<std::size_t>(15, static_cast<std::size_t>(at));
    for (std::size_t c = 0; c < 3; ++c)
      all[i][c] = static_cast<std::uint8_t>(
          std::lround(std::lerp(chosen[k][c], chosen[k + 1][c], at - static_cast<double>(k))));
  }
  return all;
}

// Writes pixels by libpng's simplified interface. `format`: the type of a pixel; `palette`:
// colours, or null.
void write(const std::string& path, std::int64_t width, std::size_t pixels, png_uint_32 format,
           const void* data, const std::vector<colour>* palette) {
  const auto columns = static_cast<std::size_t>(width);
  if (width <= 0 || pixels == 0 || pixels % columns != 0 ||
      std::max(columns, pixels / columns) > 0x7fffffff)
    throw std::runtime_error(path + ": a picture of " + std::to_string(pixels) +
                             " pixels has no rows of " + std::to_string(width));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(pixels / columns);
  image.format = format;
  if (palette != nullptr) image.colormap_entries = static_cast<png_uint_32>(palette->size());
  if (png_image_write_to_file(&image, path.c_str(), 0, data, 0,
                              palette != nullptr ? palette->data() : nullptr) == 0)
    throw std::runtime_error("cannot write to " + path + ": " + image.message);
}

}  // namespace

std::vector<colour> viridis(std::size_t colours) {
  return between({{{68, 1, 84},
                   {72, 24, 106},
                   {71, 45, 123},
                   {66, 64, 134},
                   {59, 82, 139},
                   {51, 99, 141},
                   {44, 114, 142},
                   {38, 129, 142},
                   {33, 144, 140},
                   {31, 159, 136},
                   {40, 174, 128},
                   {62, 188, 116},
                   {93, 201, 99},
                   {130, 211, 76},
                   {171, 220, 50},
                   {213, 226, 26},
                   {253, 231, 37}}},
                 colours);
}

std::vector<colour> inferno(std::size_t colours) {
  return between({{{0, 0, 4},
                   {11, 7, 36},
                   {33, 12, 74},
                   {60, 9, 101},
                   {87, 16, 109},
                   {112, 25, 110},
                   {137, 34, 106},
                   {163, 43, 97},
                   {187, 55, 85},
                   {209, 70, 68},
                   {227, 89, 50},
                   {241, 113, 30},
                   {249, 141, 10},
                   {252, 171, 15},
                   {249, 202, 50},
                   {242, 232, 101},
                   {252, 255, 164}}},
                 colours);
}

void write_png(const std::string& path, std::int64_t width, const std::vector<std::uint8_t>& pixels,
               const std::vector<colour>& palette) {
  if (palette.empty() || palette.size() > 256 ||
      std::any_of(pixels.begin(), pixels.end(), [&](auto p) { return p >= palette.size(); }))
    throw std::runtime_error(path + ": a pixel's colour is not in the palette");
  write(path, width, pixels.size(), PNG_FORMAT_RGB_COLORMAP, pixels.data(), &palette);
}

void write_png(const std::string& path, std::int64_t width, const std::vector<colour>& pixels) {
  write(path, width, pixels.size(), PNG_FORMAT_RGB, pixels.data(), nullptr);
}

void write_png(const std::string& path, std::int64_t width, const std::vector<float>& values,
               float low, float high, const std::vector<colour>& palette) {
  std::vector<std::uint8_t> pixels(values.size());
  const float last = static_cast<float>(palette.size()) - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // NaN gets the first colour.
    const float at = (values[i] - low) / (high - low) * last;
    pixels[i] =
        at > 0 ? static_cast<std::uint8_t>(std::lround(std::min(at, last))) : std::uint8_t{0};
  }
  write_png(path, width, pixels, palette);
}

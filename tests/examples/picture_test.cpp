// Utilities of the examples: pictures, compared as libpng reads them back, colours, the check of a
// result.
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "../scratch_folder.hpp"
#include "example.hpp"

namespace {

struct rows {
  std::size_t width = 0;
  std::vector<colour> pixels;
};

rows read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0)
    throw std::runtime_error(image.message);
  image.format = PNG_FORMAT_RGB;
  rows r{image.width, std::vector<colour>(std::size_t{image.width} * image.height)};
  if (png_image_finish_read(&image, nullptr, r.pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error(image.message);
  return r;
}

TEST(picture, of_a_palette_is_read_back) {
  const scratch_folder folder;
  const std::string path = (folder.outer / "palette.png").string();
  write_png(path, 3, {0, 1, 2, 2, 1, 0}, {white, blue, orange});
  const rows r = read_png(path);
  EXPECT_EQ(r.width, 3u);
  EXPECT_EQ(r.pixels, (std::vector<colour>{white, blue, orange, orange, blue, white}));
}

TEST(picture, of_colours_is_read_back) {
  const scratch_folder folder;
  const std::string path = (folder.outer / "colours.png").string();
  std::vector<colour> pixels;
  for (int i = 0; i < 35; ++i)
    pixels.push_back({static_cast<std::uint8_t>(7 * i), static_cast<std::uint8_t>(255 - i), 3});
  write_png(path, 5, pixels);
  const rows r = read_png(path);
  EXPECT_EQ(r.width, 5u);
  EXPECT_EQ(r.pixels, pixels);
}

TEST(picture, of_numbers_takes_the_palettes_ends_beyond_them) {
  const scratch_folder folder;
  const std::string path = (folder.outer / "numbers.png").string();
  write_png(path, 2, {-1, -INFINITY, 0, 0.5f, 1, 2, INFINITY, NAN}, 0, 1,
            {black, sky_blue, yellow});
  EXPECT_EQ(read_png(path).pixels,
            (std::vector<colour>{black, black, black, sky_blue, yellow, yellow, yellow, black}));
}

TEST(picture, that_cannot_be_is_an_error) {
  const scratch_folder folder;
  const std::string path = (folder.outer / "no.png").string();
  EXPECT_THROW(write_png(path, 2, {0, 1, 2}, {white, blue, orange}),
               std::runtime_error);                                             // incomplete row
  EXPECT_THROW(write_png(path, 0, {0, 1}, {white, blue}), std::runtime_error);  // width 0
  EXPECT_THROW(write_png(path, 1, std::vector<colour>{}), std::runtime_error);  // no pixels
  EXPECT_THROW(write_png(path, 2, {0, 3}, {white, blue, orange}),
               std::runtime_error);  // no such colour
  EXPECT_THROW(write_png(path, 1, {0}, std::vector<colour>(257)),
               std::runtime_error);  // too many colours
  EXPECT_THROW(write_png((folder.outer / "no/no.png").string(), 1, {0}, {white}),
               std::runtime_error);  // no such folder
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(palette, has_as_many_colours_as_are_asked_for) {
  for (const std::size_t n : {2u, 17u, 100u, 256u}) {
    EXPECT_EQ(viridis(n).size(), n);
    EXPECT_EQ(viridis(n).front(), (colour{68, 1, 84}));
    EXPECT_EQ(viridis(n).back(), (colour{253, 231, 37}));
    EXPECT_EQ(inferno(n).front(), (colour{0, 0, 4}));
    EXPECT_EQ(inferno(n).back(), (colour{252, 255, 164}));
  }
  EXPECT_EQ(viridis(17)[8], viridis(33)[16]);
  EXPECT_EQ(viridis(3)[1], (colour{33, 144, 140}));
}

TEST(example, is_right_only_within_its_bound) {
  EXPECT_TRUE(check("equal", 0, 0));
  EXPECT_TRUE(check("at the bound", 1, 1));
  EXPECT_FALSE(check("beyond", 1.001, 1));
  EXPECT_FALSE(check("not a number", NAN, 1));
}

TEST(example, seconds_are_of_one_call) {
  int calls = 0;
  EXPECT_GT(seconds_of([&] { ++calls; }), 0);
  EXPECT_GT(calls, 1000);
  std::vector<std::int64_t> runs;
  seconds_a_step(10, [&](std::int64_t k) { runs.push_back(k); });
  seconds_a_step(1, [&](std::int64_t k) { runs.push_back(k); });
  EXPECT_EQ(runs, (std::vector<std::int64_t>{1, 9, 1}));
}

int run_with(std::vector<std::string> arguments, bool (*run)(const example&)) {
  arguments.insert(arguments.begin(), std::string("folder/name"));
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  return run_example(static_cast<int>(argv.size()), argv.data(),
                     {.shows = "", .size = 7, .size_is = "", .steps = 3, .picture = "draw"}, run);
}

TEST(example, returns_what_its_result_is) {
  EXPECT_EQ(
      run_with({}, [](const example& e) { return e.size == 7 && e.steps == 3 && e.out.empty(); }),
      0);
  EXPECT_EQ(
      run_with({"--size", "8", "--steps=9", "--out", "a.png"},
               [](const example& e) { return e.size == 8 && e.steps == 9 && e.out == "a.png"; }),
      0);
  EXPECT_EQ(run_with({}, [](const example&) { return false; }), 1);
  EXPECT_EQ(run_with({}, [](const example&) -> bool { throw std::runtime_error("on purpose"); }),
            1);
}

using example_deathtest = testing::Test;
TEST_F(example_deathtest, ends_where_the_command_line_is_wrong) {
  const auto never = [](const example&) { return true; };
  EXPECT_EXIT(run_with({"--size", "0"}, never), testing::ExitedWithCode(2), "--size");
  EXPECT_EXIT(run_with({"--out", "no-such-folder/a.png"}, never), testing::ExitedWithCode(2),
              "no-such-folder");
  EXPECT_EXIT(run_with({"--sise", "1"}, never), testing::ExitedWithCode(2), "sise");
  EXPECT_EXIT(run_with({"--help"}, never), testing::ExitedWithCode(0), "");
}

}  // namespace

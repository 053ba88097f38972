// Conway's Game of Life: a cell lives if three of its eight neighbours live, or if it lives itself
// and two of them do. Each generation is one kernel, which adds three cells of a column, and three
// of these sums in a row. Sums and board are bytes. The board is Gosper's gun, which shoots a
// glider of five cells every thirty generations, so its population is known.
#include <dsl/dsl.hpp>

#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "example.hpp"

using board = dsl::array<std::uint8_t, 2>;

struct life;  // The kernel's name in profilers.

// `three_by_three` includes the cell itself. `rest` is the number of generations since the cell
// lived, at most 255.
static constexpr auto generation = dsl::vectorize<life>([](auto alive, auto rest) {
  const auto dead = dsl::boundary::zero;
  auto column = dsl::shift(alive, 1, dead, 0) + alive + dsl::shift(alive, -1, dead, 0);
  auto three_by_three = dsl::shift(column, 1, dead, 1) + column + dsl::shift(column, -1, dead, 1);
  auto lives = three_by_three == 3 || (alive == 1 && three_by_three == 4);
  return std::tuple{dsl::cast<std::uint8_t>(lives),
                    where(lives, 0, rest + where(rest < 255, 1, 0))};
});

static board gun(std::int64_t rows, std::int64_t columns) {
  static constexpr char cell[] =  // 9 rows of 36 cells, by Bill Gosper, 1970.
      "........................#..........."
      "......................#.#..........."
      "............##......##............##"
      "...........#...#....##............##"
      "##........#.....#...##.............."
      "##........#...#.##....#.#..........."
      "..........#.....#.......#..........."
      "...........#...#...................."
      "............##......................";
  std::vector<std::uint8_t> cells(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < 9; ++i)
    for (std::int64_t j = 0; j < 36; ++j)
      cells[static_cast<std::size_t>((i + 4) * columns + j + 4)] = cell[36 * i + j] == '#';
  return dsl::reshape(dsl::to_device(cells), rows, columns);
}

// Draws the upper left corner, 120 x 80 cells of 4 x 4 pixels. Cells that have died fade.
static void draw(const std::string& out, const board& rest) {
  const std::int64_t columns = 120, rows = 80, pixels = 4;
  const std::vector<std::uint8_t> corner =
      rest(dsl::slice(0, rows), dsl::slice(0, columns)).copy_to_host();
  std::vector<std::uint8_t> picture;
  for (std::int64_t i = 0; i < rows * pixels; ++i)
    for (std::int64_t j = 0; j < columns * pixels; ++j)
      picture.push_back(corner[static_cast<std::size_t>(i / pixels * columns + j / pixels)]);
  std::vector<colour> colours(256, viridis().front());
  for (std::size_t k = 0; k < 140; ++k) colours[k] = viridis()[139 - k];
  colours.front() = yellow;
  write_png(out, columns * pixels, picture, colours);
}

static bool run(const example& e) {
  const std::int64_t size = e.size, steps = e.steps;
  if (size < 48 + steps / 4) {
    std::fprintf(stderr, "gliders reach the edge: --size %lld is needed for these steps\n",
                 static_cast<long long>(48 + steps / 4));
    return false;
  }
  board alive = gun(size, size);
  board rest = where(alive == 1, 0, dsl::full<std::uint8_t>(255, size, size));

  const auto run_generations = [&](std::int64_t n) {
    dsl::iterate(n, generation, dsl::state(alive, rest));
  };
  const double seconds = seconds_a_step(steps, run_generations);
  const auto cells = static_cast<double>(alive.size());
  print_speed("a generation", seconds, cells, "cells", 4 * cells);
  if (!e.out.empty()) draw(e.out, rest);

  const std::int64_t population = dsl::sum(alive).value(), want = 36 + steps / 30 * 5;
  std::printf("cells   %lld after %lld generations\n", static_cast<long long>(population),
              static_cast<long long>(steps));
  return check("population, off by",
               steps % 30 == 0 ? std::abs(static_cast<double>(population - want)) : 0, 0);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Conway's Game of Life: Gosper's gun on an empty board.",
                      .size = 4096,
                      .size_is = "the board is N x N",
                      .steps = 300,
                      .picture = "draw the board's corner"},
                     run);
}

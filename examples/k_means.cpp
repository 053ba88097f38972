// k-means: each point is assigned to the nearest of k centres, each centre moves to the mean of its
// points, repeatedly. Points are a column and centres a row: distances broadcast to n x k, and the
// argmin of a row is the point's cluster. Sums of clusters reduce the columns of an n x k formula,
// in which a point counts only in the column of its cluster. No n x k array is stored.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "example.hpp"

struct points { std::vector<float> x, y; };

// Points around seven middles, normally distributed with different widths.
static points clouds(std::int64_t n) {
  const float middles[7][3] = {{0.2f, 0.2f, 0.06f},  {0.5f, 0.15f, 0.03f}, {0.85f, 0.25f, 0.05f},
                               {0.35f, 0.5f, 0.05f}, {0.7f, 0.55f, 0.07f}, {0.15f, 0.78f, 0.04f},
                               {0.5f, 0.85f, 0.04f}};
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  points p;
  for (std::int64_t i = 0; i < n; ++i) {
    const float (&middle)[3] = middles[bits() % 7];
    p.x.push_back(middle[0] + middle[2] * normal(bits));
    p.y.push_back(middle[1] + middle[2] * normal(bits));
  }
  return p;
}

struct clusters {
  dsl::array<float> x, y;             // The centres.
  dsl::array<std::int64_t> of_point;  // Each point's cluster.
};

// Initial centres: the first point, then each time the point farthest from all centres before it
// (Gonzalez, 1985).
static clusters begin_with(const dsl::array<float>& x, const dsl::array<float>& y, std::int64_t k) {
  clusters c{dsl::full<float>(x(0), k), dsl::full<float>(y(0), k),
             dsl::zeros<std::int64_t>(x.size())};
  dsl::array<float> nearest = hypot(x - c.x(0), y - c.y(0));
  for (std::int64_t j = 1; j < k; ++j) {
    const std::int64_t farthest = dsl::argmax(nearest).value();
    c.x(j) = x(farthest);
    c.y(j) = y(farthest);
    nearest = min(nearest, hypot(x - c.x(j), y - c.y(j)));
  }
  return c;
}

static void improve(clusters& c, const dsl::array<float>& x, const dsl::array<float>& y) {
  const auto column_x = dsl::expand_dims(x, 1), column_y = dsl::expand_dims(y, 1);
  const auto dx = column_x - c.x, dy = column_y - c.y;  // Shape n x k.
  c.of_point = dsl::argmin(dx * dx + dy * dy, dsl::axis(1));

  // Whether a point is in a cluster, of shape n x k.
  const auto mine = dsl::expand_dims(c.of_point, 1) == dsl::arange<std::int64_t>(c.x.size());
  const dsl::array<double> count = dsl::sum(dsl::cast<double>(mine), dsl::axis(0));
  c.x = dsl::cast<float>(dsl::sum<double>(where(mine, column_x, 0), dsl::axis(0)) / count);
  c.y = dsl::cast<float>(dsl::sum<double>(where(mine, column_y, 0), dsl::axis(0)) / count);
}

// Draws the first 6000 points in the colours of their clusters, and the centres.
static void draw(const std::string& out, const points& p, const clusters& c) {
  const std::int64_t width = 480, height = 480;
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(width * height), 8);
  const auto square = [&](float x, float y, std::int64_t size, std::size_t index) {
    const auto column = static_cast<std::int64_t>(x * static_cast<float>(width)),
               row = static_cast<std::int64_t>(y * static_cast<float>(height));
    for (std::int64_t i = row - size; i <= row + size; ++i)
      for (std::int64_t j = column - size; j <= column + size; ++j)
        if (i >= 0 && i < height && j >= 0 && j < width)
          picture[static_cast<std::size_t>(i * width + j)] = static_cast<std::uint8_t>(index);
  };
  const std::vector<std::int64_t> cluster = c.of_point.copy_to_host();
  for (std::size_t i = 0; i < std::min<std::size_t>(6000, p.x.size()); ++i)
    square(p.x[i], p.y[i], 1, static_cast<std::size_t>(cluster[i]));
  const std::vector<float> x = c.x.copy_to_host(), y = c.y.copy_to_host();
  for (std::size_t j = 0; j < x.size(); ++j) {
    square(x[j], y[j], 6, 8);
    square(x[j], y[j], 4, 7);
  }
  write_png(
      out, width, picture,
      {orange, sky_blue, bluish_green, yellow, blue, vermillion, reddish_purple, black, white});
}

static bool run(const example& e) {
  const points p = clouds(e.size);
  const dsl::array<float> x = dsl::to_device(p.x), y = dsl::to_device(p.y);
  clusters c = begin_with(x, y, 7);
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    for (; steps > 0; --steps) improve(c, x, y);
  });
  print_speed("a step", seconds, static_cast<double>(e.size), "points");
  if (!e.out.empty()) draw(e.out, p, c);

  // Check: centres are the means of their points.
  const std::vector<float> cx = c.x.copy_to_host(), cy = c.y.copy_to_host();
  const std::vector<std::int64_t> cluster = c.of_point.copy_to_host();
  std::vector<double> sum_x(cx.size()), sum_y(cx.size()), count(cx.size());
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    const auto j = static_cast<std::size_t>(cluster[i]);
    sum_x[j] += static_cast<double>(p.x[i]);
    sum_y[j] += static_cast<double>(p.y[i]);
    ++count[j];
  }
  double worst = 0;
  for (std::size_t j = 0; j < cx.size(); ++j)
    worst = std::max(
        {worst, std::abs(cx[j] - sum_x[j] / count[j]), std::abs(cy[j] - sum_y[j] / count[j])});
  // Check: points belong to the nearest centre, so another step moves few of them.
  improve(c, x, y);
  const double moved = dsl::mean(dsl::cast<double>(c.of_point != dsl::to_device(cluster))).value();
  const bool settled = check("points that another step moves, share", moved, 0.002);
  return check("centres and means, worst difference", worst, 1e-6) && settled;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "k-means of points in the plane, with seven clusters.",
                      .size = 1'000'000,
                      .size_is = "points",
                      .steps = 20,
                      .steps_are = "times that all centres move",
                      .picture = "draw points and centres"},
                     run);
}

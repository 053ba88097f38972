// Logistic regression by gradient descent. The loss is written with arrays, as in NumPy: a product
// of the points and the weights, summed along each row, then a mean. dsl::value_and_gradient gives
// it and its derivatives with respect to the weights and the offset, which are found in it by their
// memory. No step waits for the host. The check computes the gradient at the end with loops in C++.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <tuple>
#include <vector>

#include "example.hpp"

static constexpr std::size_t features = 20;

// Random points, with labels 1 and -1: 1 with the model's probability for random weights and the
// offset 0.5.
struct sample { std::vector<double> x, label; };
static sample draw(std::size_t n) {
  std::mt19937 bits(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> weights(features);
  for (double& w : weights) w = 0.5 * normal(bits);
  sample s{std::vector<double>(n * features), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    double z = 0.5;
    for (std::size_t j = 0; j < features; ++j)
      z += weights[j] * (s.x[i * features + j] = normal(bits));
    s.label[i] = uniform(bits) < 1 / (1 + std::exp(-z)) ? 1 : -1;
  }
  return s;
}

// The largest derivative of the loss, and the share of points on the right side.
struct quality { double slope, right; };
static quality by_hand(const sample& s, const std::vector<double>& w, double b) {
  std::vector<double> slopes(features + 1);
  double right = 0;
  const auto n = static_cast<double>(s.label.size());
  for (std::size_t i = 0; i < s.label.size(); ++i) {
    double z = b;
    for (std::size_t j = 0; j < features; ++j) z += w[j] * s.x[i * features + j];
    const double off = -s.label[i] / (1 + std::exp(s.label[i] * z)) / n;
    for (std::size_t j = 0; j < features; ++j) slopes[j] += off * s.x[i * features + j];
    slopes[features] += off;
    if ((z > 0) == (s.label[i] > 0)) right += 1 / n;
  }
  double largest = 0;
  for (const double each : slopes) largest = std::max(largest, std::abs(each));
  return {largest, right};
}

static bool run(const example& e) {
  const auto width = static_cast<std::int64_t>(features);
  const sample s = draw(static_cast<std::size_t>(e.size));
  const dsl::array<double, 2> x = dsl::reshape(dsl::to_device(s.x), e.size, width);
  const dsl::array<double> label = dsl::to_device(s.label);
  dsl::array<double> w = dsl::zeros<double>(width), dw(width);
  dsl::scalar<double> b = 0.0, db, value;

  const auto z = dsl::sum(x * w, dsl::axis(1)) + b;
  // The negative logarithm of the labels' probability, log(1 + exp(-label z)).
  const auto loss = dsl::mean(logaddexp(0.0, -label * z));
  const double rate = 3;
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    for (; steps > 0; --steps) {
      dsl::tie(value, dw, db) = dsl::value_and_gradient(loss, w, b);
      w -= rate * dw;
      b -= rate * db;
    }
  });
  print_speed("a step", seconds, static_cast<double>(e.size), "points");

  const quality found = by_hand(s, w.copy_to_host(), b.value());
  std::printf("loss    %.4f, %.1f %% of the points are on the right side\n", value.value(),
              100 * found.right);
  return check("a derivative at the end", found.slope, 1e-6);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Logistic regression by gradient descent.",
                      .size = 10'000,
                      .size_is = "points",
                      .steps = 200,
                      .steps_are = "steps of gradient descent"},
                     run);
}

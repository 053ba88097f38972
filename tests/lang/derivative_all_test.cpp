// Derivatives of formulas that reduce, of rows and of neighbours, beside matrices made by hand.
#include "derivative_check.hpp"

namespace {

using namespace derivative_check;

struct more_derivatives : on_device {};
ON_EVERY_DEVICE(more_derivatives);

// The weights of several outputs for each element, each of which depends on all elements. The
// second derivative of one value of all of them.
TEST_P(more_derivatives, of_elements_that_depend_on_all) {
  const auto shares = [](auto x) {
    auto e = exp(x - dsl::max(x));
    return e / dsl::sum(e);
  };
  for (const std::int64_t n : {1, 5, 700}) {
    const auto host = random_numbers(n, -2, 2, 5), weights = random_numbers(n, -1, 1, 6);
    const auto x = dsl::to_device(host), w = dsl::to_device(weights);
    dsl::array<double> back, value, change, curved;
    back = dsl::vjp(shares)(x, w);
    dsl::tie(value, change) = dsl::jvp(shares)(x, w);
    curved = dsl::grad<0>([](auto x, auto w) {
      return dsl::sum(w * dsl::grad<0>([](auto x) { return log(dsl::sum(exp(x))); })(x));
    })(x, w);
    precise all = 0, weighted = 0;
    for (std::size_t i = 0; i < host.size(); ++i) all += std::exp(precise(host[i]));
    for (std::size_t i = 0; i < host.size(); ++i)
      weighted += weights[i] * std::exp(precise(host[i])) / all;
    const auto b = back.copy_to_host(), c = change.copy_to_host(), d = curved.copy_to_host();
    for (std::size_t i = 0; i < host.size(); ++i) {
      // The softmax's matrix of derivatives is symmetric, and the hessian of log(sum(exp(x))).
      const auto want =
          static_cast<double>(std::exp(precise(host[i])) / all * (weights[i] - weighted));
      ASSERT_NEAR(b[i], want, 1e-13) << n << ' ' << i;
      ASSERT_NEAR(c[i], want, 1e-13) << n << ' ' << i;
      ASSERT_NEAR(d[i], want, 1e-13) << n << ' ' << i;
    }
  }
}

// The gradient of a row's cross-entropy, for each row.
TEST_P(more_derivatives, of_rows) {
  const auto loss = [](auto x) { return log(dsl::sum(exp(x - dsl::max(x)))) + dsl::max(x); };
  const std::int64_t rows = 3, columns = 37;
  const auto host = random_numbers(rows * columns, -3, 3, 7);
  const auto m = dsl::reshape(dsl::to_device(host), rows, columns);
  const dsl::array<double, 2> made = dsl::apply_along_axis(dsl::grad<0>(loss), dsl::axis(1), m);
  const auto got = made.copy_to_host();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto first = static_cast<std::size_t>(r * columns),
               end = static_cast<std::size_t>((r + 1) * columns);
    precise all = 0;
    for (std::size_t i = first; i < end; ++i) all += std::exp(precise(host[i]));
    for (std::size_t i = first; i < end; ++i)
      ASSERT_NEAR(got[i], static_cast<double>(std::exp(precise(host[i])) / all), 1e-14) << i;
  }
}

// ---- Neighbours

struct grid {
  std::int64_t rows, columns;
  std::size_t at(std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>(r * columns + c);
  }
};

// w_i sin(x_read(i)) at distances 1, 2, 3, -2: the derivative is a sum over those who read x_j.
template <dsl::boundary Beyond, int Axis>
struct shifted_sines {
  template <std::int64_t Distance>
  static constexpr auto formula() {
    return [](auto x, auto w) { return w * sin(dsl::shift(x, Distance, Beyond, Axis)); };
  }
  static constexpr auto gradients = [](auto x, auto w) {
    return std::tuple{dsl::grad<0>(formula<1>())(x, w), dsl::grad<0>(formula<2>())(x, w),
                      dsl::grad<0>(formula<3>())(x, w), dsl::grad<0>(formula<-2>())(x, w)};
  };
  static constexpr std::int64_t distances[] = {1, 2, 3, -2};

  // `stride`: 0 for one weight that all elements share.
  static void check(const grid& shape, const std::vector<double>& x, const std::vector<double>& w,
                    std::size_t stride, const std::vector<dsl::array<double, 2>>& got) {
    const std::int64_t extent = Axis == 0 ? shape.rows : shape.columns;
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> want(x.size(), 0);
      for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t c = 0; c < shape.columns; ++c) {
          const std::int64_t from =
              inside_by_steps(Beyond, (Axis == 0 ? r : c) - distances[k], extent);
          if (from < 0) continue;
          const std::size_t read = Axis == 0 ? shape.at(from, c) : shape.at(r, from);
          want[read] += w[stride * shape.at(r, c)] * std::cos(x[read]);
        }
      const bool is_short =
          Beyond == dsl::boundary::reflect && extent > 1 && extent <= std::abs(distances[k]);
      const auto values = got[k].copy_to_host();
      ASSERT_EQ(values.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        expect_near(values[i], is_short ? NAN : want[i], 1e-13,
                    std::to_string(static_cast<int>(Beyond)) + ", distance " +
                        std::to_string(distances[k]) + ", " + std::to_string(shape.rows) + " x " +
                        std::to_string(shape.columns) + ", element " + std::to_string(i));
    }
  }
  static void run() {
    for (const grid shape : {grid{1, 1}, grid{1, 9}, grid{9, 1}, grid{2, 3}, grid{3, 2}, grid{4, 5},
                             grid{5, 4}, grid{7, 40}}) {
      const auto x = random_numbers(shape.rows * shape.columns, -2, 2, 11),
                 w = random_numbers(shape.rows * shape.columns, -1, 1, 12);
      const auto a = dsl::reshape(dsl::to_device(x), shape.rows, shape.columns),
                 b = dsl::reshape(dsl::to_device(w), shape.rows, shape.columns);
      std::vector<dsl::array<double, 2>> got(4);
      dsl::tie(got[0], got[1], got[2], got[3]) = dsl::vectorize(gradients)(a, b);
      check(shape, x, w, 1, got);
      // The same elements at other strides.
      const dsl::array<double, 2> turned = dsl::transpose(a);
      dsl::tie(got[0], got[1], got[2], got[3]) =
          dsl::vectorize(gradients)(dsl::transpose(turned), b);
      check(shape, x, w, 1, got);
      // A weight that all elements share, as an array of one element.
      const auto one = dsl::broadcast_to(b(dsl::slice(0, 1), dsl::slice(0, 1)), 1, 1);
      dsl::tie(got[0], got[1], got[2], got[3]) = dsl::vectorize(gradients)(a, one);
      check(shape, x, w, 0, got);
    }
  }
};
TEST_P(more_derivatives, of_neighbours) {
  using dsl::boundary;
  shifted_sines<boundary::zero, 0>::run();
  shifted_sines<boundary::wrap, 1>::run();
  shifted_sines<boundary::clamp, 0>::run();
  shifted_sines<boundary::reflect, 1>::run();
}

// Of one axis: weights that are constants, forwards and backwards; paths of two steps; sums.
TEST_P(more_derivatives, of_paths_and_sums_of_neighbours) {
  using dsl::boundary;
  const auto formula = [](auto x, auto v) {
    const auto itself = [](auto x) { return dsl::shift(x, 2, boundary::clamp); };
    const auto path = [](auto x) {
      return dsl::shift(dsl::shift(x, 2, boundary::clamp), -1, boundary::zero);
    };
    const auto energy = [](auto x) {
      auto step = dsl::shift(x, 1, boundary::reflect) - x;
      return 0.5 * dsl::sum(step * step * dsl::shift(x, -1));
    };
    return std::tuple{dsl::grad<0>(itself)(x), get<1>(dsl::jvp(itself)(x, 1.0)),
                      dsl::grad<0>(path)(x),   get<1>(dsl::jvp(path)(x, v)),
                      dsl::grad<0>(energy)(x), v * get<1>(dsl::jvp(energy)(x, v))};
  };
  for (const std::int64_t n : {4, 5, 300}) {
    const auto host = random_numbers(n, -2, 2, 13), along = random_numbers(n, -2, 2, 14);
    const auto x = dsl::to_device(host), v = dsl::to_device(along);
    std::vector<dsl::array<double>> got(6);
    dsl::tie(got[0], got[1], got[2], got[3], got[4], got[5]) = dsl::vectorize(formula)(x, v);
    const auto size = static_cast<std::size_t>(n);
    const auto read = [n](boundary beyond, std::int64_t i) {
      return inside_by_steps(beyond, i, n);
    };
    std::vector<double> itself(size), path(size), path_change(size), energy(size);
    const auto element = [&](const std::vector<double>& of, std::int64_t i) {
      return i < 0 ? 0 : of[static_cast<std::size_t>(i)];
    };
    const auto add = [](std::vector<double>& to, std::int64_t i, double by) {
      if (i >= 0) to[static_cast<std::size_t>(i)] += by;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      add(itself, read(boundary::clamp, i - 2), 1);
      const std::int64_t middle = read(boundary::zero, i + 1),
                         end = middle < 0 ? -1 : read(boundary::clamp, middle - 2);
      add(path, end, 1);
      path_change[static_cast<std::size_t>(i)] = element(along, end);
      const std::int64_t before = read(boundary::reflect, i - 1),
                         next = read(boundary::zero, i + 1);
      const double step = element(host, before) - element(host, i);
      add(energy, before, step * element(host, next));
      add(energy, i, -step * element(host, next));
      add(energy, next, step * step / 2);
    }
    double change = 0;
    for (std::size_t i = 0; i < size; ++i) change += energy[i] * along[i];
    for (std::size_t i = 0; i < size; ++i) {
      const std::string where = std::to_string(n) + ", element " + std::to_string(i);
      expect_near(got[0].copy_to_host()[i], itself[i], 1e-14, "clamp " + where);
      expect_near(got[1].copy_to_host()[i], 1, 1e-14, "clamp, forwards " + where);
      expect_near(got[2].copy_to_host()[i], path[i], 1e-14, "two steps " + where);
      expect_near(got[3].copy_to_host()[i], path_change[i], 1e-14, "two steps, forwards " + where);
      expect_near(got[4].copy_to_host()[i], energy[i], 1e-12, "a sum " + where);
      expect_near(got[5].copy_to_host()[i], change * along[i], 1e-11, "a sum, forwards " + where);
    }
  }
}

// The first of equal extrema, whose weight goes to neighbours.
TEST_P(more_derivatives, of_an_extremum_of_neighbours) {
  using dsl::boundary;
  const auto slope = dsl::grad<0>([](auto x) {
    return dsl::max(x * dsl::shift(x, 1, boundary::wrap, 1) +
                    dsl::shift(x, -1, boundary::clamp, 0));
  });
  for (const grid shape : {grid{1, 1}, grid{3, 4}, grid{5, 37}}) {
    std::vector<double> host;
    for (std::int64_t i = 0; i < shape.rows * shape.columns; ++i)
      host.push_back(static_cast<double>(i * 7 % 3));  // Many are equal.
    const dsl::array<double, 2> made =
        slope(dsl::reshape(dsl::to_device(host), shape.rows, shape.columns));
    std::vector<double> want(host.size(), 0);
    double greatest = -1;
    std::size_t at[3]{};
    for (std::int64_t r = 0; r < shape.rows; ++r)
      for (std::int64_t c = 0; c < shape.columns; ++c) {
        const std::size_t here = shape.at(r, c),
                          left = shape.at(r, (c + shape.columns - 1) % shape.columns),
                          below = shape.at(std::min(r + 1, shape.rows - 1), c);
        const double value = host[here] * host[left] + host[below];
        if (value <= greatest) continue;
        greatest = value;
        at[0] = here;
        at[1] = left;
        at[2] = below;
      }
    want[at[0]] += host[at[1]];
    want[at[1]] += host[at[0]];
    want[at[2]] += 1;
    EXPECT_EQ(made.copy_to_host(), want) << shape.rows << " x " << shape.columns;
  }
}

}  // namespace

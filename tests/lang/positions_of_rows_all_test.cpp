// Derivatives of maxima, minima and what is computed from them, along axes: they belong to the
// first element of each row that attains it, wherever the row is.
#include "positions_check.hpp"

namespace {

using namespace positions_check;

struct positions : on_device {};
ON_EVERY_DEVICE(positions);

TEST_P(positions, of_rows) {
  for (const shape& s : shapes) {
    const std::vector<double> given = numbers(s);
    const dsl::array<double, 3> m = in_device(s, given);
    for (int k = 0; k < 3; ++k) {
      SCOPED_TRACE(testing::Message() << s[0] << " x " << s[1] << " x " << s[2] << ", axis " << k);
      dsl::array<double, 3> d = dsl::apply_along_axis(at_greatest, axis(k), m);
      ASSERT_EQ(on_host(d), ones_at_greatest(s, 1u << k, given));
      for (int again = 0; again < 2; ++again) {
        d = 0;
        d = dsl::apply_along_axis(at_greatest, axis(k), m);
        ASSERT_EQ(on_host(d), ones_at_greatest(s, 1u << k, given));
      }
    }
  }
}

// Beside the position itself, from the same formula and from a statement of its own.
TEST_P(positions, beside_argmax) {
  for (const shape& s : {shape{3, 33, 5}, {2, 4, 1000}, {2, 300, 7}}) {
    const std::vector<double> given = numbers(s, 3);
    const dsl::array<double, 3> m = in_device(s, given);
    for (int k = 0; k < 3; ++k) {
      std::vector<std::int64_t> want;
      for_each_row(s, 1u << k, [&](const auto& row) {
        want.push_back(static_cast<std::int64_t>(first_of(given, row, std::greater{})));
      });
      dsl::array<double, 3> d;
      dsl::array<std::int64_t, 2> at;
      dsl::tie(d, at) = dsl::apply_along_axis(
          [](auto r) { return std::tuple{r * at_greatest(r), dsl::argmax(r)}; }, axis(k), m);
      EXPECT_EQ(on_host(at), want);
      std::vector<double> product = ones_at_greatest(s, 1u << k, given);
      for (std::size_t i = 0; i < product.size(); ++i) product[i] *= given[i];
      ASSERT_EQ(on_host(d), product);
      const dsl::array<std::int64_t, 2> alone = dsl::argmax(m, axis(k));
      EXPECT_EQ(on_host(alone), want);
    }
  }
}

TEST_P(positions, gradients_of_losses) {
  for (const shape& s : {shape{5, 33, 3}, {2, 7, 1000}, {1, 1, 1}}) {
    const std::vector<double> given = numbers(s, 8);
    const dsl::array<double, 3> m = in_device(s, given);
    for (int k = 0; k < 3; ++k) {
      shape left = s;
      left[static_cast<std::size_t>(k)] = 1;
      const std::vector<double> weights = numbers(left, 9);
      std::vector<std::int64_t> sizes;
      for (int d = 0; d < 3; ++d)
        if (d != k) sizes.push_back(s[static_cast<std::size_t>(d)]);
      dsl::array<double, 2> w(sizes[0], sizes[1]);
      w = dsl::reshape(dsl::to_device(weights), sizes[0], sizes[1]);
      const auto expect = [&](const auto& loss, const auto& better, const char* name) {
        std::vector<double> want(given.size(), 0.0);
        std::size_t number = 0;
        for_each_row(s, 1u << k, [&](const auto& row) {
          want[row[first_of(given, row, better)]] = weights[number++];
        });
        const dsl::array<double, 3> have = dsl::gradient(loss, m);
        ASSERT_EQ(on_host(have), want) << name << ", axis " << k;
      };
      expect(dsl::sum(dsl::max(m, axis(k)) * w), std::greater{}, "max");
      expect(dsl::sum(dsl::min(m, axis(k)) * w), std::less{}, "min");
      // ptp and norm<inf>.
      std::vector<double> of_ptp(given.size(), 0.0), of_norm(given.size(), 0.0);
      std::size_t number = 0;
      for_each_row(s, 1u << k, [&](const auto& row) {
        const double weight = weights[number++];
        of_ptp[row[first_of(given, row, std::greater{})]] += weight;
        of_ptp[row[first_of(given, row, std::less{})]] -= weight;
        const std::size_t at =
            row[first_of(given, row, [](double a, double b) { return std::abs(a) > std::abs(b); })];
        of_norm[at] = given[at] > 0 ? weight : given[at] < 0 ? -weight : 0;
      });
      dsl::array<double, 3> have = dsl::gradient(dsl::sum(dsl::ptp(m, axis(k)) * w), m);
      ASSERT_EQ(on_host(have), of_ptp) << k;
      have = dsl::gradient(dsl::sum(dsl::norm<dsl::inf>(m, axis(k)) * w), m);
      ASSERT_EQ(on_host(have), of_norm) << k;
    }
  }
}

// The maximum of what is computed from elements and their neighbours: the derivative with respect
// to a neighbour uses the position of another element.
TEST_P(positions, of_neighbours) {
  using dsl::boundary;
  const auto sum_of_greatest = [](auto a) {
    const auto b = a * dsl::shift(a, 1, boundary::zero, 0);
    return dsl::max(b - dsl::shift(b, -1, boundary::clamp, 1)) +
           dsl::norm<dsl::inf>(a - dsl::shift(a, 2, boundary::reflect, 1));
  };
  for (const auto& [rows, columns] : {std::pair{1, 3}, {3, 5}, {7, 33}}) {
    std::vector<double> given;
    for (const float v : random_floats(rows * columns, -4, 4, 10)) given.push_back(v);
    const auto at = [&](const std::vector<double>& x, int i, int j) {
      return x[static_cast<std::size_t>(i * columns + j)];
    };
    const auto value = [&](const std::vector<double>& x) {
      double most = -1e9, norm = 0;
      const auto product = [&](int i, int j) { return i > 0 ? at(x, i, j) * at(x, i - 1, j) : 0; };
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          most = std::max(most, product(i, j) - product(i, std::min(j + 1, columns - 1)));
          norm = std::max(norm, std::abs(at(x, i, j) - at(x, i, std::abs(j - 2))));
        }
      return most + norm;
    };
    dsl::array<double, 2> m(rows, columns);
    m = dsl::reshape(dsl::to_device(given), rows, columns);
    const dsl::array<double, 2> d = grad<0>(sum_of_greatest)(m),
                                swept = dsl::gradient(dsl::vectorize(sum_of_greatest)(m), m);
    const std::vector<double> have = on_host(d);
    EXPECT_EQ(on_host(swept), have);
    for (std::size_t i = 0; i < have.size(); ++i) {
      constexpr double h = 1e-6;
      std::vector<double> up = given, down = given;
      up[i] += h;
      down[i] -= h;
      ASSERT_NEAR(have[i], (value(up) - value(down)) / (2 * h), 1e-6)
          << rows << " x " << columns << ", element " << i;
    }
  }
}

}  // namespace

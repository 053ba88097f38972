// Reductions along axes together with the elements that use them, and formulas of rows: random
// shapes, axes and layouts against references in double precision.
#include "../on_device.hpp"
#include "../random_layout.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <tuple>

namespace {

struct rows : on_device {};
ON_EVERY_DEVICE(rows);

using dsl::axis;
using dsl::keep_dims;
using shape = dsl::extents<3>;

std::int64_t count(const shape& s) { return s[0] * s[1] * s[2]; }

/// Calls use(positions of a row's elements in row-major order, the row's number).
template <class Use>
void for_each_row(const shape& s, std::uint32_t axes, const Use& use) {
  const auto extent = [&](int d, bool reduced) {
    return ((axes >> d & 1) != 0) == reduced ? s[static_cast<std::size_t>(d)] : 1;
  };
  const auto for_each = [&](bool reduced, const auto& act) {
    for (std::int64_t i = 0; i < extent(0, reduced); ++i)
      for (std::int64_t j = 0; j < extent(1, reduced); ++j)
        for (std::int64_t k = 0; k < extent(2, reduced); ++k)
          act(static_cast<std::size_t>((i * s[1] + j) * s[2] + k));
  };
  std::size_t number = 0;
  for_each(false, [&](std::size_t first) {
    std::vector<std::size_t> positions;
    for_each(true, [&](std::size_t step) { positions.push_back(first + step); });
    use(positions, number++);
  });
}

using row = std::vector<double>;
double sum_of(const row& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double mean_of(const row& x) { return sum_of(x) / static_cast<double>(x.size()); }
double greatest_of(const row& x) {
  return x.empty() ? -std::numeric_limits<double>::infinity()
                   : *std::max_element(x.begin(), x.end());
}
row mapped(row x, const std::function<double(double)>& f) {
  for (double& v : x) v = f(v);
  return x;
}
double variance_of(const row& x) {
  const double mean = mean_of(x);
  return mean_of(mapped(x, [mean](double v) { return (v - mean) * (v - mean); }));
}
row softmax_of(const row& x) {
  const double top = greatest_of(x),
               all = sum_of(mapped(x, [top](double v) { return std::exp(v - top); }));
  return mapped(x, [&](double v) { return std::exp(v - top) / all; });
}
row standardised(const row& x) {
  const double mean = mean_of(x), deviation = std::sqrt(variance_of(x) + 0.125);
  return mapped(x, [&](double v) { return (v - mean) / deviation; });
}
double log_sum_exp_of(const row& x) {
  const double top = greatest_of(x);
  return top + std::log(sum_of(mapped(x, [top](double v) { return std::exp(v - top); })));
}

/// A formula of a matrix along axes, and the reference for a row.
struct by_hand {
  const char* name;
  std::function<void(const dsl::view<float, 3>& to, const dsl::view<float, 3>& m,
                     const dsl::axes<1>& one, const dsl::axes<2>* two)>
      run;
  row (*reference)(const row&);
};
template <class F>
by_hand formula(const char* name, F f, row (*reference)(const row&)) {
  return {name,
          [f](const auto& to, const auto& m, const auto& one, const auto* two) {
            if (two == nullptr) dsl::assign(to, f(m, one));
            else dsl::assign(to, f(m, *two));
          },
          reference};
}
const by_hand formulas[] = {
    formula(
        "softmax",
        [](const auto& m, auto along) {
          const auto above = exp(m - dsl::max(m, along, keep_dims));
          return above / dsl::sum(above, along, keep_dims);
        },
        softmax_of),
    formula(
        "standardised",
        [](const auto& m, auto along) {
          return (m - dsl::mean(m, along, keep_dims)) /
                 sqrt(dsl::var(m, along, keep_dims) + 0.125f);
        },
        standardised),
    formula(
        "RMS",
        [](const auto& m, auto along) { return m / sqrt(dsl::mean(m * m, along, keep_dims) + 1); },
        [](const row& x) {
          const double root = std::sqrt(mean_of(mapped(x, [](double v) { return v * v; })) + 1);
          return mapped(x, [root](double v) { return v / root; });
        }),
};

struct drawn {
  explicit drawn(unsigned seed) : engine(seed) {}
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
  shape of_at_most(std::int64_t most) {
    static constexpr std::int64_t some[] = {1, 2, 3, 8, 31, 32, 33, 100, 257, 1000, 4099, 17000};
    shape s;
    do {
      for (auto& n : s) n = some[below(12)];
    } while (count(s) > most);
    return s;
  }
  std::vector<float> numbers(std::int64_t n) { return random_floats(n, -3, 3, engine()); }
  std::mt19937 engine;
};

// A view of a random layout that holds the numbers, and its memory.
struct laid_out {
  laid_out(const shape& s, drawn& random, const std::vector<float>& numbers)
      : layout(s, random.engine, false), memory(layout.size) {
    if (random.below(3) == 0) {  // row-major
      layout.strides = dsl::detail::row_major(s);
      layout.first = random.below(2);
      memory = dsl::zeros<float>(count(s) + 8);
    }
    of().copy_from_host(numbers);
  }
  dsl::view<float, 3> of() { return layout.of(memory); }
  random_layout<3> layout;
  dsl::array<float> memory;
};

void expect_rows(const std::vector<float>& got, const std::vector<float>& from, const shape& s,
                 std::uint32_t axes, row (*reference)(const row&)) {
  ASSERT_EQ(got.size(), from.size());
  int wrong = 0;
  for_each_row(s, axes, [&](const std::vector<std::size_t>& positions, std::size_t) {
    row x;
    for (const std::size_t at : positions) x.push_back(static_cast<double>(from[at]));
    const row want = reference(x);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double bound =
          4e-6 *
          std::max(std::abs(want[i]), reference == softmax_of ? 0.0 : 1.0);  // differences cancel
      if (std::abs(static_cast<double>(got[positions[i]]) - want[i]) > bound && ++wrong < 4)
        ADD_FAILURE() << "element " << positions[i] << ": " << got[positions[i]] << ", not "
                      << want[i];
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(rows, by_hand_along_any_axes_of_any_layout) {
  for (unsigned seed = 0; seed < (simulated() ? 36u : 90u); ++seed) {
    drawn random(seed);
    const shape s = random.of_at_most(simulated() ? 20'000 : 200'000);
    const std::vector<float> numbers = random.numbers(count(s));
    laid_out from(s, random, numbers), to(s, random, numbers);
    const int one = random.below(3), other = (one + 1 + random.below(2)) % 3;
    const bool along_two = random.below(3) == 0, in_place = random.below(3) == 0;
    const auto first = axis(random.below(2) == 0 ? one : one - 3);
    const auto both = axis(one, other);
    const by_hand& f = formulas[seed % std::size(formulas)];
    SCOPED_TRACE(std::string(f.name) + ", seed " + std::to_string(seed));
    laid_out& target = in_place ? from : to;
    f.run(target.of(), from.of(), first, along_two ? &both : nullptr);
    expect_rows(dsl::eval(target.of()).copy_to_host(), numbers, s,
                1u << one | (along_two ? 1u << other : 0u), f.reference);
  }
}

// A target that overlaps its operands other than element by element receives values computed from
// the old elements.
TEST_P(rows, into_a_part_of_what_is_read) {
  const shape s{7, 5, 130};
  const std::vector<float> numbers = random_floats(count(s) + 200, -3, 3);
  for (const by_hand& f : formulas)
    for (const std::int64_t by : {1, 3, 130}) {
      dsl::array<float> memory = dsl::to_device(numbers);
      const shape strides = dsl::detail::row_major(s);
      const dsl::view<float, 3> from{memory.view().owner(), memory.data(), s, strides},
          to{memory.view().owner(), memory.data() + by, s, strides};
      f.run(to, from, axis(2), nullptr);
      SCOPED_TRACE(f.name);
      expect_rows(dsl::eval(to).copy_to_host(), {numbers.begin(), numbers.begin() + count(s)}, s, 4,
                  f.reference);
    }
  dsl::array<float, 2> square = dsl::reshape(dsl::to_device(random_floats(900)), 30, 30);
  const std::vector<float> before = square.copy_to_host();
  dsl::transpose(square) = square - dsl::mean(square, axis(1), keep_dims);
  const dsl::array<float, 2> turned = dsl::transpose(square);
  expect_rows(turned.copy_to_host(), before, {1, 30, 30}, 4, [](const row& x) {
    return mapped(x, [mean = mean_of(x)](double v) { return v - mean; });
  });
}

// Weights and offsets along the row, a bias and a scale for each row: operands that vary along some
// axes only.
TEST_P(rows, with_operands_that_are_broadcast) {
  for (const auto& [height, width] :
       {std::pair<int, int>{37, 1003}, {1, 70}, {300, 5}, {3, 9000}}) {
    const std::vector<float> h = random_floats(height * width), g = random_floats(width, 1, 2, 2),
                             b = random_floats(height, 1, 2, 3);
    const dsl::array<float, 2> m = dsl::reshape(dsl::to_device(h), height, width);
    const dsl::array<float> gamma = dsl::to_device(g);
    const dsl::array<float, 2> bias = dsl::reshape(dsl::to_device(b), height, 1);
    const dsl::array<float, 2> normed = gamma *
                                            (m * bias - dsl::mean(m * bias, axis(1), keep_dims)) /
                                            sqrt(dsl::var(m * bias, axis(1), keep_dims) + 0.125f) +
                                        gamma;
    const std::vector<float> got = normed.copy_to_host();
    for (int i = 0; i < height; ++i) {
      row x;
      for (int k = 0; k < width; ++k)
        x.push_back(static_cast<double>(h[static_cast<std::size_t>(i * width + k)]) *
                    b[static_cast<std::size_t>(i)]);
      const row want = standardised(x);
      for (int k = 0; k < width; ++k) {
        const double w = g[static_cast<std::size_t>(k)];
        ASSERT_NEAR(got[static_cast<std::size_t>(i * width + k)],
                    w * want[static_cast<std::size_t>(k)] + w, 2e-5)
            << i << ", " << k;
      }
    }
  }
}

// Values of one depth are targets, together with elements and values of another depth.
TEST_P(rows, log_sum_exp_and_the_values_on_the_way) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    drawn random(seed);
    const shape s = random.of_at_most(20'000);
    const std::vector<float> numbers = random.numbers(count(s));
    laid_out m(s, random, numbers);
    const int k = random.below(3);
    const auto top = dsl::max(m.of(), axis(k));
    const auto greatest = dsl::max(m.of(), axis(k), keep_dims);
    dsl::array<float, 2> highest, all;
    dsl::tie(highest, all) = std::tuple{top, top + log(dsl::sum(exp(m.of() - greatest), axis(k)))};
    const std::vector<float> got = all.copy_to_host(), got_top = highest.copy_to_host();
    for_each_row(s, 1u << k, [&](const std::vector<std::size_t>& positions, std::size_t number) {
      row x;
      for (const std::size_t at : positions) x.push_back(static_cast<double>(numbers[at]));
      ASSERT_EQ(static_cast<double>(got_top[number]), greatest_of(x)) << seed;
      ASSERT_NEAR(got[number], log_sum_exp_of(x), 2e-6 * std::abs(log_sum_exp_of(x)) + 1e-6)
          << seed;
    });
  }
}

constexpr auto described = [](auto x, auto scale, auto offset) {
  auto centred = x - dsl::mean(x), top = dsl::max(x);
  return std::tuple{
      scale * centred + offset,          dsl::mean(x),       dsl::argmax(x), dsl::norm(centred),
      top + log(dsl::sum(exp(x - top))), dsl::var(x) + scale};
};

TEST_P(rows, apply_along_axis_gives_elements_and_values_of_rows) {
  for (unsigned seed = 0; seed < 14; ++seed) {
    drawn random(seed + 100);
    const shape s = random.of_at_most(20'000);
    const std::vector<float> numbers = random.numbers(count(s));
    laid_out m(s, random, numbers);
    const int k = random.below(3);
    dsl::array<float, 3> elements;
    dsl::array<float, 2> mean, norm, all, variance;
    dsl::array<std::int64_t, 2> where;
    const dsl::scalar<float> offset = 0.5f;
    dsl::tie(elements, mean, where, norm, all, variance) =
        dsl::apply_along_axis(described, axis(k - 3), m.of(), 2, offset);
    const auto e = elements.copy_to_host(), a = mean.copy_to_host(), n = norm.copy_to_host(),
               l = all.copy_to_host(), v = variance.copy_to_host();
    const auto w = where.copy_to_host();
    for_each_row(s, 1u << k, [&](const std::vector<std::size_t>& positions, std::size_t number) {
      row x;
      for (const std::size_t at : positions) x.push_back(static_cast<double>(numbers[at]));
      const double average = mean_of(x),
                   root = std::sqrt(variance_of(x) * static_cast<double>(x.size()));
      ASSERT_NEAR(a[number], average, 2e-6);
      ASSERT_EQ(w[number], std::max_element(x.begin(), x.end()) - x.begin());
      ASSERT_NEAR(n[number], root, 4e-6 * (1 + root));
      ASSERT_NEAR(l[number], log_sum_exp_of(x), 1e-5);
      ASSERT_NEAR(v[number], variance_of(x) + 2, 4e-5);
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(e[positions[i]], 2 * (x[i] - average) + 0.5, 4e-6);
    });
  }
}

// One row that does not fit on chip: its phases run one after another over a contiguous range; the
// last one reduces with so many stores that a second launch finishes it.
TEST_P(rows, of_one_long_row) {
  constexpr std::int64_t n = 70'000;
  const std::vector<float> numbers = random_floats(n);
  const dsl::array<float, 2> m = dsl::reshape(dsl::to_device(numbers), 1, n);
  dsl::array<float, 2> elements;
  dsl::array<float> mean, norm, all, variance;
  dsl::array<std::int64_t> where;
  const dsl::scalar<float> offset = 0.5f;
  dsl::tie(elements, mean, where, norm, all, variance) =
      dsl::apply_along_axis(described, axis(1), m, 2, offset);
  row x(numbers.begin(), numbers.end());
  EXPECT_NEAR(mean(0).value(), mean_of(x), 2e-6);
  EXPECT_EQ(where(0).value(), std::max_element(x.begin(), x.end()) - x.begin());
  EXPECT_NEAR(norm(0).value(), std::sqrt(variance_of(x) * n), 1e-3);
  EXPECT_NEAR(all(0).value(), log_sum_exp_of(x), 1e-5);
  EXPECT_NEAR(variance(0).value(), variance_of(x) + 2, 4e-5);
  const std::vector<float> got = elements.copy_to_host();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(got[i], 2 * (x[i] - mean_of(x)) + 0.5, 4e-6) << i;
}

// apply_along_axis inside other expressions; with all axes it is a formula of all elements.
TEST_P(rows, apply_along_axis_within_expressions) {
  const auto shares = dsl::vectorize([](auto x) { return dsl::cast<double>(x) / dsl::sum(x); });
  const auto total = [](auto x) { return dsl::sum(x); };
  const dsl::array<std::int32_t, 2> m = dsl::reshape(dsl::arange<std::int32_t>(12), 3, 4);
  const dsl::array<double, 2> doubled = 2 * dsl::apply_along_axis(shares, axis(1), m) + 1;
  const std::vector<double> got = doubled.copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_DOUBLE_EQ(got[i],
                     2 * static_cast<double>(i) / static_cast<double>(16 * (i / 4) + 6) + 1);
  const dsl::array<std::int64_t> of_columns =
      dsl::apply_along_axis(total, axis(0), m) + dsl::apply_along_axis(total, axis(0), 2 * m);
  EXPECT_EQ(of_columns.copy_to_host(), (std::vector<std::int64_t>{36, 45, 54, 63}));
  EXPECT_EQ(dsl::eval(dsl::apply_along_axis(total, axis(0, 1), m)).value(), 66);
  EXPECT_EQ(dsl::eval(dsl::apply_along_axis(total, axis(-1), dsl::ravel(m))).value(), 66);
  const auto rest = dsl::reshape(dsl::arange<float>(24), 2, 3, 4);
  EXPECT_EQ(dsl::eval(dsl::apply_along_axis(total, axis(0, -1), rest)).copy_to_host(),
            (std::vector<float>{60, 92, 124}));
  EXPECT_THROW(dsl::eval(dsl::apply_along_axis(total, axis(2), m)), dsl::shape_error);
  EXPECT_THROW(dsl::eval(dsl::apply_along_axis(total, axis(2, -1), rest)), dsl::shape_error);
}

template <class T>
void expect_centred(const std::vector<T>& numbers, double bound) {
  dsl::array<T, 2> m =
      dsl::reshape(dsl::to_device(numbers), 6, static_cast<std::int64_t>(numbers.size()) / 6);
  const auto centred =
      dsl::eval(dsl::apply_along_axis([](auto x) { return x - dsl::mean(x); }, axis(1), m))
          .copy_to_host();
  using wide =
      std::conditional_t<(dsl::dtype_v<T> == dsl::dtype::complex64), std::complex<double>, double>;
  const std::size_t n = numbers.size() / 6;
  for (std::size_t i = 0; i < 6; ++i) {
    wide mean{};
    for (std::size_t k = 0; k < n; ++k)
      mean += static_cast<wide>(numbers[i * n + k]) / static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k)
      ASSERT_LE(std::abs(static_cast<wide>(centred[i * n + k]) -
                         (static_cast<wide>(numbers[i * n + k]) - mean)),
                bound)
          << i;
  }
}
TEST_P(rows, of_several_dtypes) {
  std::vector<std::int16_t> whole;
  std::vector<std::complex<float>> complex;
  std::vector<dsl::half> halves;
  for (const float v : random_floats(6 * 71, -3, 3)) {
    whole.push_back(static_cast<std::int16_t>(100 * v));
    complex.emplace_back(v, 1 - v * v);
    halves.emplace_back(v);
  }
  expect_centred(whole, 1e-12);
  expect_centred(complex, 4e-6);
  expect_centred(halves, 0.004);
}

TEST_P(rows, of_no_elements) {
  const auto softmax = [](auto x) {
    auto above = exp(x - dsl::max(x));
    return above / dsl::sum(above);
  };
  for (const auto& [height, width] : {std::pair<int, int>{0, 5}, {0, 0}, {5, 0}}) {
    dsl::array<float, 2> m(height, width), to(height, width);
    if (height > 0) {
      EXPECT_THROW(to = dsl::apply_along_axis(softmax, axis(1), m),
                   dsl::shape_error);  // the maximum of no elements
    } else {
      to = dsl::apply_along_axis(softmax, axis(1), m);
    }
    to = m - dsl::mean(m, axis(1), keep_dims);
  }
}

// Reductions of one depth are one pass if they share an index space, whatever they read; otherwise
// they are still correct.
TEST_P(rows, reductions_of_different_operands_at_once) {
  const std::vector<float> h = random_floats(1000), k = random_floats(77);
  const dsl::array<float> x = dsl::to_device(h), y = 2 * x, z = dsl::to_device(k);
  dsl::scalar<float> sum, product, greatest;
  const auto run = [&](const dsl::array<float>& a, const dsl::array<float>& b,
                       const dsl::array<float>& c) {
    const dsl::detail::explained_runs runs;
    dsl::tie(sum, product, greatest) = std::tuple{dsl::sum(a), dsl::sum(b * c), dsl::max(abs(c))};
    double s = 0, p = 0, g = 0;
    for (const float v : a.copy_to_host()) s += static_cast<double>(v);
    const std::vector<float> of_b = b.copy_to_host(), of_c = c.copy_to_host();
    for (std::size_t i = 0; i < of_c.size(); ++i) {
      p += static_cast<double>(of_b[i]) * of_c[i];
      g = std::max(g, std::abs(static_cast<double>(of_c[i])));
    }
    EXPECT_NEAR(sum.value(), s, 1e-3);
    EXPECT_NEAR(product.value(), p, 1e-2);
    EXPECT_NEAR(greatest.value(), g, 1e-6);
    return std::string(runs[0].text().c_str()).find("kernel 2") == std::string::npos;
  };
  EXPECT_TRUE(run(x, y, x));
  EXPECT_FALSE(run(z, x, y));
  EXPECT_FALSE(run(x, z, z));
}

}  // namespace

// dsl::reduce with accumulators of several values: functors of structs, lambdas of tuples.
#include "accumulators.hpp"

#include "../error_of.hpp"

#include <dsl/by_key.hpp>

#include <complex>
#include <limits>

// Members of several sizes, and bytes between and after them.
struct census {
  std::int32_t least;
  std::int64_t count;
  std::int32_t most;
  bool negative;
};
struct census_of_one {
  DSL_FN census operator()(std::int32_t x) const { return {x, 1, x, x < 0}; }
};
// Joined with anything but elements, init and its own results, it gives a wrong count.
struct join_census {
  DSL_FN census operator()(census a, census b) const {
    const bool is_real = a.count > 0 && b.count > 0;
    return {a.least < b.least ? a.least : b.least, is_real ? a.count + b.count : -1'000'000'000,
            a.most > b.most ? a.most : b.most, a.negative || b.negative};
  }
};
struct census_members {
  DSL_FN std::tuple<std::int32_t, std::int64_t, std::int32_t, bool> operator()(census a) const {
    return {a.least, a.count, a.most, a.negative};
  }
};

namespace {

struct accumulators : on_device {};
ON_EVERY_DEVICE(accumulators);

TEST_P(accumulators, functors_of_every_size) {
  const auto counted =
      dsl::reduce(join_census{}, census{5, 1000, 5, false}, census_of_one{}, census_members{});
  dsl::scalar<std::int32_t> least, most;
  dsl::scalar<std::int64_t> count;
  dsl::scalar<bool> negative;
  const auto check = [&](const dsl::view<const std::int32_t>& x) {
    dsl::tie(least, count, most, negative) = counted(x);
    std::int32_t low = 5, high = 5;
    for (const std::int32_t v : x.copy_to_host()) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
    EXPECT_EQ(least.value(), low) << x.size();
    EXPECT_EQ(count.value(), 1000 + x.size());
    EXPECT_EQ(most.value(), high) << x.size();
    EXPECT_EQ(negative.value(), low < 0) << x.size();
  };
  for (const std::int64_t n : sizes()) {
    std::vector<std::int32_t> h(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < h.size(); ++i)
      h[i] = static_cast<std::int32_t>((i + 1) * 2654435761u >> 8) - 10'000;
    const auto x = dsl::to_device(h);
    check(x);
    if (n > 3) check(from_element(x, 1, n - 1));
    check(from_element(x, n > 0, n / 3, 3));
  }
}

TEST_P(accumulators, lambdas_of_every_size) {
  // Of points: the box around them, their number, and the sum of numbers of other dtypes.
  const auto bounds = dsl::reduce(
      [](auto a, auto b) {
        auto [left, right, low, high, n, sum] = a;
        auto [left_b, right_b, low_b, high_b, n_b, sum_b] = b;
        return std::tuple{min(left, left_b), max(right, right_b),
                          min(low, low_b),   max(high, high_b),
                          n + n_b,           sum + sum_b};
      },
      std::tuple{9.0f, -9.0f, 9.0, -9.0, std::int64_t{3}, std::complex<double>(0, 1)},
      [](auto x, auto y, auto weight) {
        using namespace std::complex_literals;
        return std::tuple{x, x, y, y, 1, weight + 2i * weight};
      });
  dsl::scalar<float> left, right;
  dsl::scalar<double> low, high;
  dsl::scalar<std::int64_t> number;
  dsl::scalar<std::complex<double>> sum;
  for (const std::int64_t n : {0, 1, 31, 32, 255, 256, 257, 10'007}) {
    const auto h = random_floats(n);
    const auto x = dsl::to_device(h);
    const dsl::array<dsl::half> y = dsl::cast<dsl::half>(x * 2);
    const dsl::array<std::int8_t> weight = dsl::cast<std::int8_t>(dsl::arange<int>(n) % 100);
    dsl::tie(left, right, low, high, number, sum) = bounds(x, y, weight);
    float lowest = 9, greatest = -9;
    for (const float v : h) {
      lowest = std::min(lowest, v);
      greatest = std::max(greatest, v);
    }
    EXPECT_EQ(left.value(), lowest) << n;
    EXPECT_EQ(right.value(), greatest) << n;
    const auto at_half = [](float v) { return double(float(dsl::half(v * 2))); };
    EXPECT_EQ(low.value(), n > 0 ? at_half(lowest) : 9) << n;
    EXPECT_EQ(high.value(), n > 0 ? at_half(greatest) : -9) << n;
    EXPECT_EQ(number.value(), n + 3);
    double weights = 0;
    for (std::int64_t i = 0; i < n; ++i) weights += static_cast<double>(i % 100);
    EXPECT_EQ(sum.value(), std::complex<double>(weights, 2 * weights + 1)) << n;
  }
}

TEST_P(accumulators, functors_along_axes) {
  const auto welford =
      dsl::reduce(join_moments{}, moments{}, moments_of_one{}, mean_and_variance{});
  const auto check = [](double mean, double variance, const std::vector<double>& group) {
    long double want = 0, squares = 0;
    for (const double v : group) want += v;
    want /= static_cast<long double>(group.size());
    for (const double v : group) squares += (v - want) * (v - want);
    squares /= static_cast<long double>(group.size());
    EXPECT_NEAR(mean, static_cast<double>(want), 1e-13);
    EXPECT_NEAR(variance, static_cast<double>(squares), 1e-13);
  };
  for (const std::array<std::int64_t, 3> s :
       {std::array<std::int64_t, 3>{5, 33, 7}, {1, 1, 1000}, {300, 2, 3}, {2, 257, 129}}) {
    const std::int64_t n = s[0] * s[1] * s[2];
    const auto h = random_floats(n);
    const auto m = dsl::reshape(dsl::to_device(h), s[0], s[1], s[2]);
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return static_cast<double>(h[static_cast<std::size_t>((i * s[1] + j) * s[2] + k)]);
    };
    for (int axis = 0; axis < 3; ++axis) {
      dsl::array<double, 2> means, variances;
      dsl::tie(means, variances) = welford(m, dsl::axis(axis));
      const auto mean = means.copy_to_host(), variance = variances.copy_to_host();
      const std::int64_t outer = axis == 0 ? s[1] : s[0], inner = axis == 2 ? s[1] : s[2];
      ASSERT_EQ(means.extents(), (dsl::extents<2>{outer, inner}));
      for (std::int64_t a = 0; a < outer; ++a)
        for (std::int64_t b = 0; b < inner; ++b) {
          std::vector<double> group;
          for (std::int64_t c = 0; c < s[static_cast<std::size_t>(axis)]; ++c)
            group.push_back(axis == 0 ? at(c, a, b) : axis == 1 ? at(a, c, b) : at(a, b, c));
          const auto place = static_cast<std::size_t>(a * inner + b);
          check(mean[place], variance[place], group);
        }
    }
    dsl::array<double> means, variances;
    dsl::tie(means, variances) = welford(m, dsl::axis(0, -1));
    for (std::int64_t j = 0; j < s[1]; ++j) {
      std::vector<double> group;
      for (std::int64_t i = 0; i < s[0]; ++i)
        for (std::int64_t k = 0; k < s[2]; ++k) group.push_back(at(i, j, k));
      check(means(j).value(), variances(j).value(), group);
    }
  }
  // Rows without elements: init alone.
  const dsl::array<float, 2> none = dsl::zeros<float>(3, 0);
  const dsl::array<double> of_none = log_sum_exp(none, dsl::axis(1));
  EXPECT_EQ(of_none.copy_to_host(), (std::vector<double>(3, -dsl::inf)));
}

TEST_P(accumulators, compensated_sum) {
  const auto compensated = dsl::reduce(
      [](auto a, auto b) {
        auto [s, lost] = a;
        auto [t, more] = b;
        auto sum = s + t;
        auto rest = dsl::where(abs(s) >= abs(t), (s - sum) + t, (t - sum) + s);
        return std::tuple{sum, lost + more + rest};
      },
      std::tuple{0.0f, 0.0f}, [](auto x) { return std::tuple{x, 0}; },
      [](auto a) { return std::get<0>(a) + std::get<1>(a); });
  for (const std::int64_t n : {1, 100, 4097, 100'003}) {
    auto h = random_floats(n, 0, 1);
    for (std::size_t k = 0; k < h.size(); k += 7) h[k] *= 1e4f;
    // What was added is taken off again, in another place.
    for (std::size_t k = 1; k < h.size(); k += 7) h[k] = -h[k - 1];
    long double want = 0;
    for (const float v : h) want += v;
    EXPECT_FLOAT_EQ(compensated(dsl::to_device(h)).value(), static_cast<float>(want)) << n;
  }
}

TEST_P(accumulators, log_of_a_sum_of_exponentials) {
  for (const std::int64_t n : {1, 33, 1009, 34567}) {
    for (const float shift : {0.f, 500.f, -3000.f}) {
      auto h = random_floats(n, shift - 30, shift + 5);
      const double want = log_sum_exp_of(h);
      EXPECT_NEAR(log_sum_exp(dsl::to_device(h)).value(), want, 1e-12 * std::abs(want)) << n;
    }
  }
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(log_sum_exp(dsl::to_device({1.f, nan, 2.f})).value()));
}

TEST_P(accumulators, functors_and_lambdas_beside_others) {
  const auto h = random_floats(5003);
  auto x = dsl::to_device(h);
  dsl::scalar<double> mean, variance, total, both;
  dsl::scalar<float> most;
  const auto welford =
      dsl::reduce(join_moments{}, moments{}, moments_of_one{}, mean_and_variance{});
  dsl::tie(mean, variance, total, most, both) =
      std::tuple{welford(x), dsl::sum<double>(x), dsl::max(x), log_sum_exp(x)};
  EXPECT_NEAR(mean.value(), total.value() / 5003, 1e-13);
  EXPECT_NEAR(variance.value(), dsl::var(dsl::cast<double>(x)).value(), 1e-12);
  EXPECT_EQ(most.value(), *std::max_element(h.begin(), h.end()));
  EXPECT_NEAR(both.value(), log_sum_exp_of(h), 1e-11);
}

TEST_P(accumulators, by_key) {
  const auto h = random_floats(5003);
  const auto x = dsl::to_device(h);
  const dsl::array<int> keys = dsl::arange<int>(5003) % 5;
  const dsl::array<double> groups =
      dsl::reduce_by(keys, x, 6, [](auto e) { return log_sum_exp(e); });
  const auto got = groups.copy_to_host();
  for (std::size_t k = 0; k < 5; ++k) {
    std::vector<float> group;
    for (std::size_t i = k; i < h.size(); i += 5) group.push_back(h[i]);
    EXPECT_NEAR(got[k], log_sum_exp_of(group), 1e-11) << k;
  }
  EXPECT_EQ(got[5], -dsl::inf);
}

TEST_P(accumulators, functors_give_the_same_in_every_run) {
  const auto x = dsl::to_device(random_floats(1'000'003));
  const auto spread = dsl::reduce(join_moments{}, moments{}, moments_of_one{}, only_variance{});
  const double first = spread(x).value();
  for (int k = 0; k < 3; ++k) EXPECT_EQ(spread(x).value(), first);
}

TEST_P(accumulators, wrong_shapes_change_nothing) {
  const auto lowest = dsl::reduce(
      [](auto a, auto b) {
        auto [e, q] = a;
        auto [f, p] = b;
        return std::tuple{min(e, f), dsl::where(f < e, p, q)};
      },
      std::tuple{dsl::inf, 0}, [](auto e, auto q) { return std::tuple{e, q}; });
  dsl::scalar<double> least = 7.0;
  dsl::scalar<int> which = 7;
  const dsl::array<double> three = dsl::ones<double>(3), four = dsl::ones<double>(4);
  EXPECT_NE(error_of([&] {
              dsl::tie(least, which) = lowest(three, dsl::cast<int>(four));
            }).find("shapes do not broadcast: (3), (4)"),
            std::string::npos);
  EXPECT_THROW((void)lowest(three, 1, dsl::axis(1)), dsl::shape_error);
  EXPECT_EQ(least.value(), 7);
  EXPECT_EQ(which.value(), 7);
  dsl::tie(least, which) = lowest(three, 4);
  EXPECT_EQ(least.value(), 1);
  EXPECT_EQ(which.value(), 4);
}

}  // namespace

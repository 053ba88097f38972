// Accumulators of other sizes, and reductions with accumulators as operands and in formulas.
#include "accumulators.hpp"

struct color { std::uint8_t of[3]; };
struct color_of {
  DSL_FN color operator()(int r, int g, int b) const {
    return {
        {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g), static_cast<std::uint8_t>(b)}};
  }
};
struct brighter {
  DSL_FN color operator()(color a, color b) const {
    for (int k = 0; k < 3; ++k) a.of[k] = a.of[k] > b.of[k] ? a.of[k] : b.of[k];
    return a;
  }
};
struct as_number {
  DSL_FN int operator()(color a) const { return a.of[0] << 16 | a.of[1] << 8 | a.of[2]; }
};

// As many bytes as an accumulator may have.
struct powers { double sum[8]; };
struct powers_of_one {
  DSL_FN powers operator()(double x) const {
    powers p{};
    for (double power = 1; double& each : p.sum) {
      each = power;
      power *= x;
    }
    return p;
  }
};
struct join_powers {
  DSL_FN powers operator()(powers a, const powers& b) const {
    for (int k = 0; k < 8; ++k) a.sum[k] += b.sum[k];
    return a;
  }
};
struct weighted_powers {
  DSL_FN double operator()(const powers& p) const {
    double all = 0;
    for (int k = 0; k < 8; ++k) all += (k + 1) * p.sum[k];
    return all;
  }
};

namespace {

struct all_accumulators : on_device {};
ON_EVERY_DEVICE(all_accumulators);

TEST_P(all_accumulators, functors_of_structs_of_other_sizes) {
  const dsl::array<int> i = dsl::arange<int>(10'007);
  const auto brightest = dsl::reduce(brighter{}, color{{1, 2, 3}}, color_of{}, as_number{});
  EXPECT_EQ(brightest(i % 251, i % 16, 2).value(), 250 << 16 | 15 << 8 | 3);
  const auto sums = dsl::reduce(join_powers{}, powers{{1}}, powers_of_one{}, weighted_powers{});
  // Whole numbers: exact.
  double want = 1;
  for (int k = 0; k < 10'007; ++k) {
    double power = 1;
    for (int p = 1; p <= 8; ++p, power *= k % 7) want += p * power;
  }
  EXPECT_EQ(sums(dsl::cast<double>(i % 7)).value(), want);
}

TEST_P(all_accumulators, functors_as_operands_and_lambdas_in_formulas) {
  const auto h = random_floats(5003);
  const auto x = dsl::to_device(h);
  const auto m = dsl::reshape(x(dsl::slice(0, 5000)), 50, 100);
  const auto spread = dsl::reduce(join_moments{}, moments{}, moments_of_one{}, only_variance{});
  const dsl::array<double, 2> scaled = m / sqrt(spread(m, dsl::axis(1), dsl::keep_dims));
  const dsl::array<double, 2> wanted =
      m / dsl::std(dsl::cast<double>(m), dsl::axis(1), dsl::keep_dims);
  EXPECT_LT(dsl::max(abs(scaled - wanted)).value(), 1e-12);
  dsl::array<double> shifted;
  dsl::scalar<double> both;
  const auto softmax = dsl::vectorize([](auto e) {
    auto all = log_sum_exp(e);
    return std::tuple{exp(e - all), all};
  });
  dsl::tie(shifted, both) = softmax(x);
  EXPECT_NEAR(dsl::sum(shifted).value(), 1, 1e-12);
  EXPECT_NEAR(both.value(), log_sum_exp_of(h), 1e-11);
}

TEST_P(all_accumulators, in_a_loop) {
  // Each step adds the mean, by an accumulator, to a state.
  const auto step = dsl::vectorize([](auto x, auto total) {
    const auto mean = dsl::reduce(
        [](auto a, auto b) {
          return std::tuple{std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b)};
        },
        std::tuple{0.0, 0.0}, [](auto e) { return std::tuple{e, 1}; },
        [](auto a) { return std::get<0>(a) / std::get<1>(a); });
    return std::tuple{x + 1, total + mean(x)};
  });
  dsl::array<double> x = dsl::arange<double>(1001);
  dsl::scalar<double> total = 0.0;
  dsl::iterate(4, step, dsl::state(x, total));
  EXPECT_EQ(total.value(), 4 * 500 + 6);
  EXPECT_EQ(x(1000).value(), 1004);
}

}  // namespace

// skew and kurtosis of every kind of dtype, by key, for each element, and their derivatives.
#include "../on_device.hpp"

#include <dsl/by_key.hpp>

#include <cmath>

namespace {

struct all_central_moments : on_device {};
ON_EVERY_DEVICE(all_central_moments);

TEST_P(all_central_moments, dtypes) {
  const dsl::array<double> x = dsl::cast<double>(dsl::arange<int>(1009) * 37 % 101);
  const double skew = dsl::skew(x * x).value(), kurtosis = dsl::kurtosis(x * x).value();
  const auto compare = [&]<class T, class To>(T, To, double bound) {
    const dsl::array<T> y = dsl::cast<T>(x * x);
    const dsl::scalar<To> s = dsl::skew(y), k = dsl::kurtosis(y);
    EXPECT_NEAR(static_cast<double>(s.value()), skew, bound);
    EXPECT_NEAR(static_cast<double>(k.value()), kurtosis, bound);
  };
  compare(std::int16_t{}, double{}, 1e-14);
  compare(std::uint64_t{}, double{}, 1e-14);
  compare(float{}, float{}, 4e-6);
  compare(dsl::half{}, dsl::half{}, 2e-3);
  compare(dsl::bfloat16{}, dsl::bfloat16{}, 2e-2);
  const dsl::array<bool> few = x < 10.0;
  EXPECT_NEAR(dsl::skew(few).value(), dsl::skew(dsl::cast<double>(few)).value(), 1e-14);
}

TEST_P(all_central_moments, by_key_and_for_each_element) {
  const dsl::array<double> x = dsl::cast<double>(dsl::arange<int>(1000) * 37 % 101);
  const dsl::array<int> keys = dsl::arange<int>(1000) % 10;
  const auto m = dsl::transpose(dsl::reshape(x, 100, 10));
  const dsl::array<double> of_rows = dsl::kurtosis(m, dsl::axis(1));
  const dsl::array<double> of_groups =
      dsl::reduce_by(keys, x, 10, [](auto e) { return dsl::kurtosis(e); });
  EXPECT_LT(dsl::max(abs(of_rows - of_groups)).value(), 1e-12);
  const dsl::array<double, 2> beside = m - m + dsl::kurtosis(m, dsl::axis(1), dsl::keep_dims);
  EXPECT_LT(dsl::max(abs(dsl::mean(beside, dsl::axis(1)) - of_rows)).value(), 1e-12);
}

TEST_P(all_central_moments, derivatives) {
  const dsl::array<double> x = dsl::cast<double>(dsl::arange<int>(101) * 37 % 101) / 10;
  const dsl::array<double> by_skew = dsl::gradient(dsl::skew(x * x), x),
                           by_kurtosis = dsl::gradient(dsl::kurtosis(x * x), x);
  const double h = 1e-4;
  for (const std::int64_t i : {0, 17, 100}) {
    const dsl::array<double> up = dsl::where(dsl::arange<int>(101) == i, x + h, x),
                             down = dsl::where(dsl::arange<int>(101) == i, x - h, x);
    EXPECT_NEAR(by_skew(i).value(),
                (dsl::skew(up * up).value() - dsl::skew(down * down).value()) / (2 * h), 1e-8);
    EXPECT_NEAR(by_kurtosis(i).value(),
                (dsl::kurtosis(up * up).value() - dsl::kurtosis(down * down).value()) / (2 * h),
                1e-8);
  }
}

}  // namespace

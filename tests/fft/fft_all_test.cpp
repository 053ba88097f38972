// Transforms of numbers of other dtypes.
#include "sums.hpp"

namespace {

struct converted_transforms : on_device {};
ON_EVERY_DEVICE(converted_transforms);

TEST_P(converted_transforms, have_the_spectrums_dtype) {
  const std::vector<std::int32_t> host{3, 1, 4, 1, 5, 9, 2, 6, 5};
  const auto x = dsl::to_device(host);
  const values of = values::of({9}, host), want = summed(of, 0, 9, false);
  const dsl::array<dsl::half> halves = dsl::cast<dsl::half>(x);
  const dsl::array<float> floats = dsl::cast<float>(x);
  static_assert(
      std::is_same_v<decltype(dsl::eval(dsl::fft(halves))), dsl::array<std::complex<float>>>);
  static_assert(std::is_same_v<decltype(dsl::eval(dsl::rfft(x))), dsl::array<c64>>);
  expect_near<c64, 1>(dsl::eval(dsl::fft(x)), want, "int32");
  expect_near<c64, 1>(dsl::eval(dsl::rfft(x)), first_of_rows(want, 5), "int32");
  expect_near<std::complex<float>, 1>(dsl::eval(dsl::fft(halves)), want, "float16");
  expect_near<std::complex<float>, 1>(dsl::eval(dsl::rfft(halves * 1)), first_of_rows(want, 5),
                                      "float16");
  expect_near<std::complex<float>, 1>(dsl::eval(dsl::fft(floats)), want, "float32");
  const dsl::scalar<double> power = dsl::sum(square(abs(dsl::fft(x))));
  EXPECT_NEAR(power.value(), 9 * 198, 1e-9);
}

}  // namespace

// More examples of docs/fft.md.
#include <dsl/fft.hpp>

#include <cmath>
#include <complex>
#include <numbers>

#include "../on_device.hpp"

namespace {

using namespace std::complex_literals;
using std::numbers::pi;

struct more_fft_doc : on_device {};
ON_EVERY_DEVICE(more_fft_doc);

TEST_P(more_fft_doc, planes) {
  const dsl::array<double, 3> field = dsl::ones<double>(2, 3, 4);
  dsl::array<std::complex<double>, 3> planes = dsl::fftn(field, dsl::axis(0, 2));
  EXPECT_NEAR(std::abs(planes(0, 2, 0).value() - 8.0), 0, 1e-13);
  EXPECT_NEAR(dsl::sum(abs(planes)).value(), 24, 1e-13);
}

TEST_P(more_fft_doc, derivatives) {
  const dsl::array<double> x = dsl::arange<double>(128) / 128.0, u = exp(sin(2 * pi * x));
#include <docs/fft/formulas-around-a-transform-2.inc>
  EXPECT_LT(dsl::max(abs(du - 2 * pi * cos(2 * pi * x) * u)).value(), 1e-11);
}

TEST_P(more_fft_doc, potentials) {
  const auto x = dsl::cast<double>(dsl::index(0, 32, 64)) / 32.0,
             y = dsl::cast<double>(dsl::index(1, 32, 64)) / 64.0;
  const dsl::array<double, 2> want = sin(2 * pi * (x - 2 * y)) + cos(6 * pi * y),
                              density = 4 * pi * pi *
                                        (5 * sin(2 * pi * (x - 2 * y)) + 9 * cos(6 * pi * y));
#include <docs/fft/formulas-around-a-transform-3.inc>
  EXPECT_LT(dsl::max(abs(potential - want)).value(), 1e-12);
}

}  // namespace

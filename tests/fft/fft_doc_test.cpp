// The examples of docs/fft.md do what is said of them.
#include <dsl/fft.hpp>

#include <cmath>
#include <complex>
#include <numbers>

#include "../on_device.hpp"

namespace {

using namespace std::complex_literals;
using std::numbers::pi;

struct fft_doc : on_device {};
ON_EVERY_DEVICE(fft_doc);

TEST_P(fft_doc, transforms) {
  const dsl::array<double> wave = cos(2 * pi * 5 / 127 * dsl::arange<double>(127));
  const dsl::array<float, 2> image = dsl::ones<float>(3, 4);
#include <docs/fft/fourier-transforms.inc>
  EXPECT_NEAR(std::abs(spectrum(5).value() - 63.5), 0, 1e-12);
  EXPECT_NEAR(std::abs(spectrum(122).value() - 63.5), 0, 1e-12);
  EXPECT_LT(dsl::max(abs(same - wave)).value(), 1e-14);
  EXPECT_EQ(columns.extents(), (dsl::extents<2>{512, 4}));
  EXPECT_NEAR(std::abs(columns(0, 1).value() - 3.0f), 0, 1e-6);
  EXPECT_NEAR(picture(1, 2).value(), 12, 1e-14);
  EXPECT_NEAR(dsl::sum(picture).value(), 12, 1e-13);
}

TEST_P(fft_doc, planes) {
  const dsl::array<double, 3> field = dsl::ones<double>(2, 3, 4);
  dsl::array<std::complex<double>, 3> planes = dsl::fftn(field, dsl::axis(0, 2));
  EXPECT_NEAR(std::abs(planes(0, 2, 0).value() - 8.0), 0, 1e-14);
  EXPECT_NEAR(dsl::sum(abs(planes)).value(), 24, 1e-13);
}

// A packet of momentum 2 moves by 2 t and keeps its norm.
TEST_P(fft_doc, a_free_particle) {
  const double h = 0.01;
  const dsl::array<double> x = 0.1 * (dsl::arange<double>(256) - 128.0);
  dsl::array<std::complex<double>> psi = exp(-x * x / 2 + 2i * x);
#include <docs/fft/formulas-around-a-transform.inc>
  const double norm = dsl::sum(square(abs(psi))).value();
  EXPECT_NEAR(norm * 0.1 / std::sqrt(pi), 1, 1e-12);
  EXPECT_NEAR(dsl::sum(x * square(abs(psi))).value() / norm, 2, 1e-10);
}

TEST_P(fft_doc, derivatives) {
  const dsl::array<double> x = dsl::arange<double>(128) / 128.0, u = exp(sin(2 * pi * x));
#include <docs/fft/formulas-around-a-transform-2.inc>
  EXPECT_LT(dsl::max(abs(du - 2 * pi * cos(2 * pi * x) * u)).value(), 1e-11);
}

TEST_P(fft_doc, potentials) {
  const auto x = dsl::cast<double>(dsl::index(0, 32, 64)) / 32.0,
             y = dsl::cast<double>(dsl::index(1, 32, 64)) / 64.0;
  const dsl::array<double, 2> want = sin(2 * pi * (x - 2 * y)) + cos(6 * pi * y),
                              density = 4 * pi * pi *
                                        (5 * sin(2 * pi * (x - 2 * y)) + 9 * cos(6 * pi * y));
#include <docs/fft/formulas-around-a-transform-3.inc>
  EXPECT_LT(dsl::max(abs(potential - want)).value(), 1e-12);
}

}  // namespace

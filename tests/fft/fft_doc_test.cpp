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
  EXPECT_LT(dsl::max(abs(same - wave)).value(), 1e-13);
  EXPECT_EQ(columns.extents(), (dsl::extents<2>{512, 4}));
  EXPECT_NEAR(std::abs(columns(0, 1).value() - 3.0f), 0, 1e-5);
  EXPECT_NEAR(picture(1, 2).value(), 12, 1e-13);
  EXPECT_NEAR(dsl::sum(picture).value(), 12, 1e-13);
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

// The same step as that of a free particle.
TEST_P(fft_doc, rows_in_one_kernel) {
  const double h = 0.01;
  const dsl::array<double> x = 0.1 * (dsl::arange<double>(256) - 128.0),
                           k = 2 * pi * dsl::fftfreq(256, 0.1);
  dsl::array<std::complex<double>> psi = exp(-x * x / 2 + 2i * x);
  const dsl::array<std::complex<double>> want = dsl::ifft(exp(-0.5i * h * k * k) * dsl::fft(psi));
#include <docs/fft/rows-in-one-kernel.inc>
  EXPECT_LT(dsl::max(abs(psi - want)).value(), 1e-14);

  // Each signal is the pattern behind so many elements.
  const dsl::array<double> pattern = exp(-square(dsl::arange<double>(64) - 20.0));
  const dsl::array<double, 2> signals =
      exp(-square(dsl::cast<double>(dsl::index(1, 3, 64) - 7 * dsl::index(0, 3, 64)) - 20.0));
#include <docs/fft/rows-in-one-kernel-2.inc>
  EXPECT_EQ(dsl::eval(dsl::argmax(found, dsl::axis(1))).copy_to_host(),
            (std::vector<std::int64_t>{0, 7, 14}));
}

}  // namespace

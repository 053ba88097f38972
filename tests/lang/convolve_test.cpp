// Convolutions, against the sum of each element.
#include <dsl/window.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using convolution = on_device;
ON_EVERY_DEVICE(convolution);

using mode = dsl::convolve_mode;

/// np.convolve, each element by itself. `Sum`: what is summed in.
template <class Sum, class T>
std::vector<Sum> reference(const std::vector<T>& x, const std::vector<T>& taps, mode of) {
  const std::size_t n = std::max(x.size(), taps.size()), m = std::min(x.size(), taps.size());
  std::vector<Sum> all(n + m - 1);
  for (std::size_t j = 0; j < taps.size(); ++j)
    for (std::size_t i = 0; i < x.size(); ++i)
      all[i + j] += static_cast<Sum>(x[i]) * static_cast<Sum>(taps[j]);
  const std::size_t first = of == mode::full   ? 0
                            : of == mode::same ? (m - 1) / 2
                                               : m - 1,
                    count = of == mode::full   ? n + m - 1
                            : of == mode::same ? n
                                               : n - m + 1;
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

void expect_convolution(const std::vector<float>& x, const std::vector<float>& taps) {
  SCOPED_TRACE(std::to_string(x.size()) + " with " + std::to_string(taps.size()));
  const auto a = dsl::to_device(x), b = dsl::to_device(taps);
  for (const mode of : {mode::full, mode::same, mode::valid}) {
    const auto got = eval(dsl::convolve(a, b, of)).copy_to_host();
    const auto want = reference<double>(x, taps, of);
    ASSERT_EQ(got.size(), want.size());
    const double tolerance = 1e-6 * static_cast<double>(std::min(x.size(), taps.size()) + 4);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
  }
}

TEST_P(convolution, of_every_length) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 255, 1009, 2047, 2049, 5003})
    for (const std::int64_t m : {1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 200})
      expect_convolution(random_floats(n), random_floats(m, -1, 1, 2));
  expect_convolution(random_floats(3000), random_floats(1500, -1, 1, 3));
}

// An element or a tap that is infinite concerns the sums that have it, at the ends too.
TEST_P(convolution, infinities_concern_their_own_sums) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = random_floats(700, 1, 2);
  x[300] = infinity;
  std::vector<float> taps = random_floats(11, 1, 2);
  const auto expect = [&] {
    const auto got = eval(dsl::convolve(dsl::to_device(x), dsl::to_device(taps))).copy_to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      double want = 0;
      for (std::size_t j = 0; j < taps.size(); ++j)
        if (i >= j && i - j < x.size())
          want += static_cast<double>(x[i - j]) * static_cast<double>(taps[j]);
      if (std::isinf(want)) ASSERT_EQ(got[i], want) << i;
      else ASSERT_NEAR(got[i], want, 1e-4) << i;
    }
  };
  expect();
  taps[4] = infinity;
  expect();
}

TEST_P(convolution, of_other_dtypes) {
  const std::vector<std::int16_t> x = {30000, -7, 12, 5, 9}, taps = {2, 3};
  EXPECT_EQ(eval(dsl::convolve(dsl::to_device(x), dsl::to_device(taps))).copy_to_host(),
            (std::vector<std::int16_t>{-5536, 24450, 3, 46, 33, 27}));
  using complex = std::complex<double>;
  std::vector<complex> z, w;
  for (int i = 0; i < 90; ++i) z.emplace_back(i % 7, i % 5);
  for (int i = 0; i < 20; ++i) w.emplace_back(i % 3, -i % 4);
  EXPECT_EQ(eval(dsl::convolve(dsl::to_device(z), dsl::to_device(w))).copy_to_host(),
            reference<complex>(z, w, mode::full));
}

TEST_P(convolution, of_views_and_expressions) {
  const std::vector<float> host = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto x = dsl::to_device(host);
  const auto taps = dsl::to_device(std::vector<std::int32_t>{1, -1});
  const dsl::array<double> of_both = dsl::convolve(x, taps, mode::valid);  // float and int32
  EXPECT_EQ(of_both.copy_to_host(), std::vector<double>(8, 1));
  const auto odd = x(dsl::slice(0, dsl::end, 2)), later = x(dsl::slice(1, dsl::end));
  const auto of_floats = dsl::to_device(std::vector<float>{1, -1});
  EXPECT_EQ(eval(dsl::convolve(odd, of_floats, mode::valid)).copy_to_host(),
            std::vector<float>(4, 2));
  EXPECT_EQ(eval(dsl::convolve(later * 3, of_floats, mode::valid)).copy_to_host(),
            std::vector<float>(7, 3));
  EXPECT_EQ(eval(dsl::convolve(later, of_floats, mode::valid)).copy_to_host(),
            std::vector<float>(7, 1));
}

TEST_P(convolution, needs_elements) {
  const dsl::array<float> x = dsl::zeros<float>(3), none = dsl::zeros<float>(0);
  EXPECT_EQ(error_of([&] { dsl::convolve(x, none); }),
            "a convolution of 3 and 0 elements: each operand has at least one");
  EXPECT_THROW(dsl::convolve(none, x), dsl::shape_error);
}

}  // namespace

// Transforms against the sums that define them, in long double.
#include <dsl/fft.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "error_of.hpp"
#include "on_device.hpp"

namespace {

using wide = std::complex<long double>;
using c64 = std::complex<double>;
using std::numbers::pi;

struct transforms : on_device {};
ON_EVERY_DEVICE(transforms);

// Elements in row-major order.
struct values {
  std::vector<std::int64_t> shape;
  std::vector<wide> at;

  template <class T>
  static values of(const std::vector<std::int64_t>& shape, const std::vector<T>& host) {
    return {shape, std::vector<wide>(host.begin(), host.end())};
  }
};

// The sums along one axis, of n points: x is followed by zeros, or cut off.
values summed(const values& x, int axis, std::int64_t n, bool inverse, long double factor = 1) {
  const auto along = static_cast<std::size_t>(axis);
  std::int64_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < x.shape.size(); ++d)
    (d < along ? outer : inner) *= d == along ? 1 : x.shape[d];
  const std::int64_t have = x.shape[along], read = std::min(have, n);
  std::vector<wide> roots;
  for (std::int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(factor, (inverse ? 2 : -2) * std::acos(-1.0L) *
                                           static_cast<long double>(k) /
                                           static_cast<long double>(n)));
  values y = x;
  y.shape[along] = n;
  y.at.assign(static_cast<std::size_t>(outer * n * inner), 0);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t k = 0; k < n; ++k) {
        wide sum = 0;
        for (std::int64_t j = 0, turn = 0; j < read; ++j, turn = (turn + k) % n)
          sum += x.at[static_cast<std::size_t>((o * have + j) * inner + i)] *
                 roots[static_cast<std::size_t>(turn)];
        y.at[static_cast<std::size_t>((o * n + k) * inner + i)] = sum;
      }
  return y;
}
// The first elements along the last axis.
values first_of_rows(const values& x, std::int64_t n) {
  values y = x;
  y.shape.back() = n;
  y.at.clear();
  for (std::size_t i = 0; i < x.at.size(); ++i)
    if (static_cast<std::int64_t>(i) % x.shape.back() < n) y.at.push_back(x.at[i]);
  return y;
}

template <class T, int R>
void expect_near(const dsl::array<T, R>& got, const values& want, const std::string& what) {
  constexpr bool is_narrow = std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
  ASSERT_TRUE(std::equal(want.shape.begin(), want.shape.end(), got.extents().begin(),
                         got.extents().end()))
      << what;
  const std::vector<T> host = got.copy_to_host();
  long double largest = 0, off = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    largest = std::max(largest, std::abs(want.at[i]));
    off = std::max(off, std::abs(wide(host[i]) - want.at[i]));
    ASSERT_FALSE(std::isnan(std::abs(wide(host[i])))) << what;
  }
  EXPECT_LE(off, largest * (is_narrow ? 1e-6L : 2e-15L)) << what;
}

template <class T>
std::vector<T> random_values(std::int64_t n, unsigned seed = 1) {
  const std::vector<float> parts = random_floats(2 * n, -1, 1, seed);
  std::vector<T> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    if constexpr (std::is_floating_point_v<T>) all.push_back(parts[i]);
    else all.push_back({parts[2 * i], parts[2 * i + 1]});
  }
  return all;
}

template <class T>
void every_length() {
  using C = std::complex<T>;
  for (const std::int64_t n : {1,  2,  3,  4,   5,   6,   7,   8,   12,   15,   16,   17,  31, 32,
                               33, 49, 61, 101, 106, 255, 256, 257, 1000, 1009, 1024, 2053}) {
    const std::string what = std::to_string(n) + " points";
    const auto host = random_values<C>(n);
    const auto real = random_values<T>(n, 2);
    const auto x = dsl::to_device(host);
    const auto r = dsl::to_device(real);
    const values of = values::of({n}, host), of_real = values::of({n}, real);
    expect_near<C, 1>(dsl::fft(x), summed(of, 0, n, false), what);
    expect_near<C, 1>(dsl::ifft(x), summed(of, 0, n, true, 1.0L / static_cast<long double>(n)),
                      "inverse, " + what);
    const dsl::array<C> half = dsl::rfft(r);
    expect_near<C, 1>(half, first_of_rows(summed(of_real, 0, n, false), n / 2 + 1),
                      "half, " + what);
    expect_near<T, 1>(dsl::irfft(half, n), of_real, "from half, " + what);
  }
}
TEST_P(transforms, of_every_length) {
  every_length<double>();
  every_length<float>();
}

// Rows, columns and planes of several shapes, as they lie and transposed, cut off and lengthened.
TEST_P(transforms, along_every_axis) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5, 12, 7}, {3, 1, 40}, {70, 3, 9}, {1, 1, 1}, {2, 33, 1}}) {
    const auto host = random_values<c64>(shape[0] * shape[1] * shape[2]);
    const auto memory = dsl::to_device(host);
    const auto x = dsl::reshape(memory, shape[0], shape[1], shape[2]);
    // The same elements where their strides are in another order.
    const dsl::array<c64, 3> turned = dsl::transpose(x);
    const values of = values::of(shape, host);
    for (int axis = -3; axis < 3; ++axis) {
      const int along = axis < 0 ? axis + 3 : axis;
      const std::int64_t own = shape[static_cast<std::size_t>(along)];
      for (const std::int64_t n : {own, own + 3, std::max<std::int64_t>(own - 2, 1)}) {
        const std::string what = std::to_string(n) + " points along " + std::to_string(axis);
        const values want = summed(of, along, n, false);
        expect_near<c64, 3>(dsl::fft(x, dsl::axis(axis), n), want, what);
        expect_near<c64, 3>(dsl::fft(dsl::transpose(turned), n, dsl::axis(axis)), want,
                            "transposed, " + what);
      }
    }
    const auto all = [&](const values& v, bool inverse) {
      const auto factor = inverse ? 1.0L / static_cast<long double>(of.at.size()) : 1.0L;
      return summed(summed(summed(v, 0, shape[0], inverse, factor), 1, shape[1], inverse), 2,
                    shape[2], inverse);
    };
    expect_near<c64, 3>(dsl::fftn(x), all(of, false), "all axes");
    expect_near<c64, 3>(dsl::fftn(dsl::transpose(turned)), all(of, false), "all axes, transposed");
    expect_near<c64, 3>(dsl::ifftn(x), all(of, true), "all axes, inverse");
    expect_near<c64, 3>(dsl::fft2(x), summed(summed(of, 1, shape[1], false), 2, shape[2], false),
                        "two axes");
    expect_near<c64, 3>(dsl::fft2(x, dsl::axis(2, 0), dsl::extents<2>{4, 6}),
                        summed(summed(of, 0, 6, false), 2, 4, false), "two axes of other lengths");
    expect_near<c64, 3>(dsl::ifft2(dsl::fft2(x, dsl::axis(0, 2)), dsl::axis(0, 2)), of, "there and back");
  }
}

TEST_P(transforms, of_views_with_steps) {
  const auto host = random_values<c64>(40 * 21);
  const auto memory = dsl::to_device(host);
  auto x = dsl::reshape(memory, 40, 21);
  const auto rows = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
    values part{{count, 21}, {}};
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < 21; ++j)
        part.at.push_back(host[static_cast<std::size_t>((first + i * step) * 21 + j)]);
    return part;
  };
  const auto thirds = x(dsl::slice(1, dsl::end, 3), dsl::all);
  const auto back = x(dsl::slice(dsl::end, dsl::end, -1), dsl::all);
  expect_near<c64, 2>(dsl::fft(thirds, dsl::axis(0)), summed(rows(1, 3, 13), 0, 13, false),
                      "every third row");
  expect_near<c64, 2>(dsl::fft(back, dsl::axis(0)), summed(rows(39, -1, 40), 0, 40, false),
                      "rows from the end");
  expect_near<c64, 2>(dsl::fft(from_element(memory, 1, 40).view()), summed({{40}, {host.begin() + 1, host.begin() + 41}}, 0, 40, false), "misaligned");
}

}  // namespace

// Transforms against the sums that define them.
#include "sums.hpp"

#include <thread>

#include "../error_of.hpp"

namespace {

struct transforms : on_device {};
ON_EVERY_DEVICE(transforms);

template <class T>
void every_length() {
  using C = std::complex<T>;
  for (const std::int64_t n : {1,  2,  3,  4,  5,   6,   7,   8,   12,  15,   16,   17,   31,
                               32, 33, 49, 61, 101, 106, 255, 256, 257, 1000, 1009, 1024, 2053}) {
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
       {std::vector<std::int64_t>{5, 12, 7}, {3, 1, 40}, {20, 5, 18}, {1, 1, 1}, {2, 33, 1}}) {
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
    expect_near<c64, 3>(dsl::ifft2(dsl::fft2(x, dsl::axis(0, 2)), dsl::axis(0, 2)), of,
                        "there and back");
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
  const auto thirds = x(dsl::slice(1, dsl::end, 3), dsl::slice());
  const auto back = x(dsl::slice(dsl::end, dsl::end, -1), dsl::slice());
  expect_near<c64, 2>(dsl::fft(thirds, dsl::axis(0)), summed(rows(1, 3, 13), 0, 13, false),
                      "every third row");
  expect_near<c64, 2>(dsl::fft(back, dsl::axis(0)), summed(rows(39, -1, 40), 0, 40, false),
                      "rows from the end");
  expect_near<c64, 1>(dsl::fft(from_element(memory, 1, 40)),
                      summed({{40}, {host.begin() + 1, host.begin() + 41}}, 0, 40, false),
                      "misaligned");
}

TEST_P(transforms, of_real_numbers_along_several_axes) {
  for (const std::int64_t n : {18, 19}) {
    const auto host = random_values<double>(20 * 5 * n);
    const auto memory = dsl::to_device(host);
    const auto x = dsl::reshape(memory, 20, 5, n);
    const values of = values::of({20, 5, n}, host),
                 rows = first_of_rows(summed(of, 2, n, false), n / 2 + 1);
    const dsl::array<c64, 3> planes = dsl::rfftn(x, dsl::axis(0, 2)), all = dsl::rfftn(x);
    expect_near<c64, 3>(planes, summed(rows, 0, 20, false), "two axes");
    expect_near<c64, 3>(all, summed(summed(rows, 0, 20, false), 1, 5, false), "three axes");
    expect_near<double, 3>(dsl::irfftn(all, dsl::extents<3>{20, 5, n}), of, "back");
    expect_near<double, 3>(dsl::irfftn(planes, dsl::axis(0, -1), dsl::extents<2>{20, n}), of,
                           "two axes back");
    // Columns: elements that are not contiguous along the halved axis.
    const dsl::array<c64, 3> columns = dsl::rfft(x, dsl::axis(1));
    expect_near<c64, 3>(
        columns,
        [&] {
          const values whole = summed(of, 1, 5, false);
          values half{{20, 3, n}, {}};
          for (std::int64_t i = 0; i < 20; ++i)
            for (std::int64_t j = 0; j < 3 * n; ++j)
              half.at.push_back(whole.at[static_cast<std::size_t>(i * 5 * n + j)]);
          return half;
        }(),
        "columns");
    expect_near<double, 3>(dsl::irfft(columns, 5, dsl::axis(1)), of, "columns back");
  }
}

TEST_P(transforms, take_the_norm_of_either_direction) {
  const auto host = random_values<c64>(3 * 20);
  const auto memory = dsl::to_device(host);
  const auto x = dsl::reshape(memory, 3, 20);
  const values of = values::of({3, 20}, host);
  const auto norms = {std::pair{dsl::fft_norm::backward, 1.0L},
                      {dsl::fft_norm::ortho, 1 / std::sqrt(20.0L)},
                      {dsl::fft_norm::forward, 1 / 20.0L}};
  for (const auto& [norm, factor] : norms) {
    expect_near<c64, 2>(dsl::fft(x, norm), summed(of, 1, 20, false, factor), "forward");
    expect_near<c64, 2>(dsl::ifft(x, norm), summed(of, 1, 20, true, 1 / (20 * factor)), "inverse");
    expect_near<c64, 2>(dsl::ifft(2 * x, norm), summed(of, 1, 20, true, 1 / (10 * factor)),
                        "inverse of a formula");
    const dsl::array<double, 2> real = dsl::real(x);
    const dsl::array<c64, 2> spectrum = dsl::rfftn(real, norm);
    expect_near<double, 2>(dsl::irfftn(spectrum, norm), values::of({3, 20}, real.copy_to_host()),
                           "of real numbers");
  }
}

TEST_P(transforms, run_in_the_memory_of_their_operands) {
  const auto host = random_values<c64>(4 * 48);
  const auto memory = dsl::to_device(host);
  const values of = values::of({4, 48}, host), want = summed(of, 1, 48, false);
  dsl::array<c64, 2> psi = dsl::reshape(memory, 4, 48);
  const c64* const before = psi.data();
  psi = dsl::fft(psi);
  EXPECT_EQ(psi.data(), before);
  expect_near<c64, 2>(psi, want, "in place");
  psi = dsl::ifft(psi);
  expect_near<c64, 2>(psi, of, "and back");
  psi = dsl::ifft(2.0 * dsl::fft(psi));
  EXPECT_EQ(psi.data(), before);
  expect_near<c64, 2>(psi, summed(want, 1, 48, true, 2 / 48.0L), "with a formula between");
  psi = psi / 2;
  dsl::tie(psi) = dsl::fft(psi);
  expect_near<c64, 2>(psi, want, "tied");

  // Targets that overlap x, or that are views.
  dsl::array<c64> line = memory(dsl::slice(0, 100));
  auto to = line(dsl::slice(10, 58)), from = line(dsl::slice(0, 48));
  to = dsl::fft(from);
  const values first{{48}, {of.at.begin(), of.at.begin() + 48}};
  expect_near<c64, 1>(dsl::eval(to), summed(first, 0, 48, false), "overlapping");
  dsl::array<c64, 2> larger = dsl::zeros<c64>(4, 60);
  auto part = larger(dsl::slice(), dsl::slice(5, 53));
  part = dsl::fft(dsl::reshape(memory, 4, 48));
  expect_near<c64, 2>(dsl::eval(part), want, "a view");
  EXPECT_EQ(larger(3, 4).value(), c64(0));
  EXPECT_EQ(larger(3, 53).value(), c64(0));
  const dsl::array<std::complex<float>, 2> narrow =
      dsl::cast<std::complex<float>>(dsl::fft(dsl::reshape(memory, 4, 48)));
  expect_near<std::complex<float>, 2>(narrow, want, "narrowed");
}

// Only element 0 and, of an even number of points, the one in the middle have no imaginary part.
TEST_P(transforms, of_spectra_that_are_none_of_real_numbers) {
  for (const std::int64_t n : {1, 2, 3, 30, 31, 4096, 8192, 1 << 17, 177147}) {
    auto host = random_values<c64>(n / 2 + 1);
    const dsl::array<c64> x = dsl::to_device(host), backwards = dsl::flip(x);
    const dsl::array<double> got = dsl::irfft(x, n);
    // Elements that no library reads as they lie, and a formula.
    const dsl::array<double> of_copy = dsl::irfft(dsl::flip(backwards), n);
    const dsl::array<double> of_formula = dsl::irfft(1.0 * x, n);
    expect_near<double, 1>(of_copy, values::of({n}, got.copy_to_host()), "of a copy");
    expect_near<double, 1>(of_formula, values::of({n}, got.copy_to_host()), "of a formula");
    host[0].imag(0);
    if (n % 2 == 0) host.back().imag(0);
    values whole{{n}, {host.begin(), host.end()}};
    for (std::int64_t k = n / 2 + 1; k < n; ++k)
      whole.at.push_back(std::conj(whole.at[static_cast<std::size_t>(n - k)]));
    if (n < 100)
      expect_near<double, 1>(got, summed(whole, 0, n, true, 1.0L / static_cast<long double>(n)),
                             "irfft");
    else
      expect_near<c64, 1>(dsl::rfft(got), {{n / 2 + 1}, {host.begin(), host.end()}}, "rfft of it");
  }
}

TEST_P(transforms, of_one_point_along_the_last_axis) {
  const auto host = random_values<c64>(5);
  const auto x = dsl::to_device(host);
  const dsl::array<double, 2> got = dsl::irfftn(dsl::reshape(x, 5, 1), dsl::extents<2>{5, 1});
  const dsl::array<double> want = real(dsl::ifft(x));
  expect_near<double, 2>(got, values::of({5, 1}, want.copy_to_host()), "one point");
}

TEST_P(transforms, of_integers) {
  const std::vector<std::int32_t> host{3, 1, 4, 1, 5, 9, 2, 6, 5};
  const auto x = dsl::to_device(host);
  expect_near<c64, 1>(dsl::eval(dsl::fft(x)), summed(values::of({9}, host), 0, 9, false), "int32");
}

TEST_P(transforms, keep_nan_in_its_row) {
  auto host = random_values<c64>(3 * 16);
  host[20] = std::nan("");
  const auto memory = dsl::to_device(host);
  const dsl::array<double, 2> got = abs(dsl::fft(dsl::reshape(memory, 3, 16)));
  const std::vector<double> all = got.copy_to_host();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(std::isnan(all[i]), i / 16 == 1) << i;
}

TEST_P(transforms, of_no_elements) {
  const dsl::array<c64, 2> none(0, 8), empty(3, 0);
  EXPECT_EQ(dsl::eval(dsl::fft(none)).extents(), (dsl::extents<2>{0, 8}));
  EXPECT_EQ(dsl::eval(dsl::rfft(dsl::array<double, 2>(0, 8))).extents(), (dsl::extents<2>{0, 5}));
  EXPECT_EQ(dsl::eval(dsl::fft(empty, 4)).copy_to_host(), std::vector<c64>(12));
  dsl::array<c64> kept = dsl::ones<c64>(4);
  const std::string text = error_of([&] { kept = dsl::fft(dsl::array<c64>(0)); });
  EXPECT_EQ(text, "fft of shape (0): 0 points along axis 0, of which there must be one at least");
  EXPECT_EQ(kept.copy_to_host(), std::vector<c64>(4, 1));
  EXPECT_EQ(error_of([&] { dsl::irfft(dsl::ones<c64>(1)); }),
            "irfft of shape (1): 0 points along axis 0, of which there must be one at least");
  EXPECT_EQ(error_of([&] { dsl::fft(kept, -3); }),
            "fft of shape (4): -3 points along axis 0, of which there must be one at least");
}

TEST_P(transforms, refuse_axes_that_do_not_exist) {
  const dsl::array<c64, 2> x = dsl::ones<c64>(3, 4);
  EXPECT_THROW(dsl::fft(x, dsl::axis(2)), dsl::shape_error);
  EXPECT_THROW(dsl::fftn(x, dsl::axis(1, -1)), dsl::shape_error);
  EXPECT_THROW(dsl::fftfreq(0), dsl::value_error);
  dsl::array<c64, 2> other = dsl::ones<c64>(2, 2);
  EXPECT_THROW(other = dsl::fft(x), dsl::shape_error);
  EXPECT_EQ(other.copy_to_host(), std::vector<c64>(4, 1));
}

TEST_P(transforms, have_frequencies_in_numpys_order) {
  EXPECT_EQ(dsl::eval(dsl::fftfreq(6, 0.25)).copy_to_host(),
            (std::vector<double>{0, 1 / 1.5, 2 / 1.5, -3 / 1.5, -2 / 1.5, -1 / 1.5}));
  EXPECT_EQ(dsl::eval(5 * dsl::fftfreq(5)).copy_to_host(), (std::vector<double>{0, 1, 2, -2, -1}));
  EXPECT_EQ(dsl::eval(dsl::rfftfreq(6, 0.5)).copy_to_host(),
            (std::vector<double>{0, 1 / 3.0, 2 / 3.0, 1}));
  EXPECT_EQ(dsl::eval(dsl::rfftfreq(1)).copy_to_host(), std::vector<double>{0});
  const auto line = dsl::to_device(std::vector<int>{0, 1, 2, 3, 4});
  EXPECT_EQ(dsl::eval(dsl::fftshift(line)).copy_to_host(), (std::vector<int>{3, 4, 0, 1, 2}));
  EXPECT_EQ(dsl::eval(dsl::ifftshift(line)).copy_to_host(), (std::vector<int>{2, 3, 4, 0, 1}));
  const dsl::array<int, 2> m =
      dsl::reshape(dsl::to_device(std::vector<int>{0, 1, 2, 3, 4, 5}), 2, 3);
  EXPECT_EQ(dsl::eval(dsl::fftshift(m)).copy_to_host(), (std::vector<int>{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(dsl::eval(dsl::ifftshift(dsl::eval(dsl::fftshift(m)))).copy_to_host(),
            m.copy_to_host());
  EXPECT_EQ(dsl::eval(dsl::fftshift(m, dsl::axis(0))).copy_to_host(),
            (std::vector<int>{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(dsl::eval(1 + dsl::fftshift(2 * m, dsl::axis(-1))).copy_to_host(),
            (std::vector<int>{5, 1, 3, 11, 7, 9}));
  EXPECT_THROW(dsl::eval(dsl::fftshift(line, dsl::axis(1))), dsl::shape_error);
}

// On the host a long line is transformed in two parts; one with a large prime factor by a
// convolution of long lines.
TEST_P(transforms, of_long_lines) {
  for (const std::int64_t n : {32768, 49153, 65520, 40009, 2 * 32771}) {
    const auto host = random_values<c64>(n);
    const auto memory = dsl::to_device(host);
    const auto x = dsl::reshape(memory, 1, n);
    const dsl::array<c64, 2> y = dsl::fft(x);
    const std::vector<c64> got = y.copy_to_host();
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2, n - 1}) {
      wide sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += wide(host[static_cast<std::size_t>(j)]) *
               std::polar(1.0L, -2 * std::acos(-1.0L) * static_cast<long double>(j * k % n) /
                                    static_cast<long double>(n));
      EXPECT_LE(std::abs(wide(got[static_cast<std::size_t>(k)]) - sum), 1e-12L) << n << ' ' << k;
    }
    EXPECT_LT(dsl::max(abs(dsl::ifft(dsl::fft(x)) - x)).value(), 1e-13) << n;
  }
}

TEST_P(transforms, of_several_threads_at_once) {
  const std::string where = name();
  std::vector<std::thread> threads;
  std::vector<double> off(4);
  for (std::size_t i = 0; i < off.size(); ++i)
    threads.emplace_back([&off, &where, i] {
      const dsl::device_guard guard{dsl::device(where.c_str())};
      for (std::int64_t n = 20; n < 60; ++n) {
        // 43, 47, 53, 59: KissFFT's sums and convolutions.
        const auto host =
            random_values<c64>(n * 3, static_cast<unsigned>(n) + static_cast<unsigned>(i));
        const auto memory = dsl::to_device(host);
        const auto x = dsl::reshape(memory, 3, n);
        off[i] = std::max(off[i], dsl::max(abs(dsl::ifft(dsl::fft(x)) - x)).value());
      }
    });
  for (std::thread& t : threads) t.join();
  for (const double each : off) EXPECT_LT(each, 1e-13);
}

TEST_P(transforms, are_explained) {
  const dsl::array<c64, 2> x = dsl::ones<c64>(3, 4);
  dsl::array<c64, 2> y;
  const std::string text = dsl::explain(y, dsl::fft2(x)).text().c_str();
  EXPECT_NE(
      text.find("Fourier transform of (3, 4) along axes 0, 1: a call of the device's library"),
      std::string::npos)
      << text;
}

}  // namespace

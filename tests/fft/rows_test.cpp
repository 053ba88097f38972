// Transforms of rows in one kernel with their formulas, against the sums that define them.
#include "sums.hpp"

#include <functional>

#include "../error_of.hpp"

namespace {

using namespace std::complex_literals;

struct transformed_rows : on_device {};
ON_EVERY_DEVICE(transformed_rows);

// Of each element by its indices in two dimensions.
values each_of(values x, const std::function<wide(std::size_t row, std::size_t at, wide)>& f) {
  const auto n = static_cast<std::size_t>(x.shape.back());
  for (std::size_t i = 0; i < x.at.size(); ++i) x.at[i] = f(i / n, i % n, x.at[i]);
  return x;
}

// A step by a phase for each wave number, with a formula before and behind it: of other dtypes,
// a row and a column that are broadcast, positions and scalars on both sides.
TEST_P(transformed_rows, have_formulas_on_all_sides) {
  for (const std::int64_t count : {1, 3, 41}) {
    const auto host = random_values<c32>(count * 64);
    const auto phases = random_values<float>(64, 2), weights = random_values<float>(count, 3);
    const auto memory = dsl::to_device(host);
    const auto k = dsl::to_device(phases);
    const auto w = dsl::to_device(weights);
    const double h = 0.5;
    dsl::array<c32, 2> psi = dsl::reshape(memory, count, 64);
    const c32* const before = psi.data();
    psi = dsl::expand_dims(w, 1) +
          dsl::ifft<64>(exp(-0.5i * h * k * k) * dsl::fft<64>(2 * psi + dsl::expand_dims(w, 1)));
    EXPECT_EQ(psi.data(), before);
    const auto weight = [&](std::size_t row) { return wide(weights[row]); };
    const values start =
        each_of(values::of({count, 64}, host),
                [&](std::size_t row, std::size_t, wide z) { return 2.0L * z + weight(row); });
    const values turned =
        each_of(summed(start, 1, 64, false), [&](std::size_t, std::size_t at, wide z) {
          return z * std::exp(wide(0, -0.25L * static_cast<long double>(phases[at]) *
                                          static_cast<long double>(phases[at])));
        });
    expect_near<c32, 2>(
        psi,
        each_of(summed(turned, 1, 64, true, 1 / 64.0L),
                [&](std::size_t row, std::size_t, wide z) { return z + weight(row); }),
        std::to_string(count) + " rows");
  }
}

// Every second row and element, from the end, in three dimensions, transposed ones too; into a
// view.
TEST_P(transformed_rows, of_views) {
  const auto host = random_values<c64>(6 * 5 * 40);
  const auto memory = dsl::to_device(host);
  const auto x = dsl::reshape(memory, 6, 5, 40);
  const auto of =
      [&](const std::function<std::size_t(std::size_t i, std::size_t j, std::size_t k)>& place) {
        values part{{3, 5, 16}, {}};
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < 5; ++j)
            for (std::size_t k = 0; k < 16; ++k) part.at.push_back(wide(host[place(i, j, k)]));
        return summed(part, 2, 16, false);
      };
  const auto transform = [](auto& to, const auto& from) { to = dsl::fft<16>(from); };
  dsl::array<c64, 3> y;
  transform(y, x(dsl::slice(1, dsl::end, 2), dsl::slice(), dsl::slice(4, 36, 2)));
  expect_near<c64, 3>(
      y, of([](auto i, auto j, auto k) { return ((2 * i + 1) * 5 + j) * 40 + 2 * k + 4; }),
      "steps");
  transform(y, x(dsl::slice(0, 3), dsl::slice(dsl::end, dsl::end, -1), dsl::slice(30, 14, -1)));
  expect_near<c64, 3>(y, of([](auto i, auto j, auto k) { return (i * 5 + 4 - j) * 40 + 30 - k; }),
                      "backwards");
  const dsl::array<c64, 3> turned =
      dsl::transpose(dsl::eval(x(dsl::slice(0, 3), dsl::slice(), dsl::slice(0, 16))));
  transform(y, dsl::transpose(turned));
  expect_near<c64, 3>(y, of([](auto i, auto j, auto k) { return (i * 5 + j) * 40 + k; }),
                      "transposed");
  // A row for all rows, into a part of an array.
  dsl::array<c64, 3> larger = dsl::zeros<c64>(3, 5, 20);
  auto part = larger(dsl::slice(), dsl::slice(), dsl::slice(2, 18));
  transform(part, memory(dsl::slice(7, 23)));
  expect_near<c64, 3>(dsl::eval(part), of([](auto, auto, auto k) { return k + 7; }), "one row");
  EXPECT_EQ(larger(2, 4, 1).value(), c64(0));
  EXPECT_EQ(larger(2, 4, 18).value(), c64(0));
}

// A target that other rows' operands overlap gets its values from a temporary.
TEST_P(transformed_rows, read_all_before_they_write) {
  const auto host = random_values<c64>(9 * 16);
  const auto memory = dsl::to_device(host);
  const auto rows_from = [&](std::size_t first, std::size_t count) {
    return values{{static_cast<std::int64_t>(count), 16},
                  {host.begin() + static_cast<std::ptrdiff_t>(first * 16),
                   host.begin() + static_cast<std::ptrdiff_t>((first + count) * 16)}};
  };
  dsl::array<c64, 2> x = dsl::reshape(memory, 9, 16);
  auto to = x(dsl::slice(1, 9), dsl::slice());
  to = dsl::fft<16>(x(dsl::slice(0, 8), dsl::slice()));
  expect_near<c64, 2>(dsl::eval(to), summed(rows_from(0, 8), 1, 16, false), "the rows before");
  expect_near<c64, 2>(dsl::eval(x(dsl::slice(0, 1), dsl::slice())), rows_from(0, 1), "kept");
  // By the last formula alone.
  x = dsl::reshape(memory, 9, 16);
  x = dsl::fft<16>(x) + x(dsl::slice(dsl::end, dsl::end, -1), dsl::slice());
  values want = summed(rows_from(0, 9), 1, 16, false);
  for (std::size_t i = 0; i < want.at.size(); ++i)
    want.at[i] += wide(host[(8 - i / 16) * 16 + i % 16]);
  expect_near<c64, 2>(x, want, "rows from the end");
}

// Several transforms in one formula, of transforms too: a convolution and a correlation.
TEST_P(transformed_rows, are_multiplied_in_their_spectrums) {
  const auto first = random_values<float>(5 * 8, 1), second = random_values<float>(8, 2);
  const auto a = dsl::to_device(first), b = dsl::to_device(second);
  const auto x = dsl::reshape(a, 5, 8);
  const dsl::array<float, 2> got =
      dsl::real(dsl::ifft<8>(dsl::fft<8>(x) * conj(dsl::fft<8>(b)) + dsl::fft<8>(2 * x)));
  values want{{5, 8}, {}};
  for (std::size_t row = 0; row < 5; ++row)
    for (std::size_t at = 0; at < 8; ++at) {
      wide sum = 2.0L * wide(first[row * 8 + at]);
      for (std::size_t j = 0; j < 8; ++j)
        sum += wide(first[row * 8 + (at + j) % 8]) * wide(second[j]);
      want.at.push_back(sum);
    }
  expect_near<float, 2>(got, want, "correlation");
}

TEST_P(transformed_rows, take_norms_and_dtypes) {
  const std::vector<std::int32_t> host{3, 1, 4, 1, 5, 9, 2, 6};
  const auto x = dsl::to_device(host);
  const values of = values::of({8}, host);
  expect_near<c64, 1>(dsl::eval(dsl::fft<8>(x, dsl::fft_norm::ortho)),
                      summed(of, 0, 8, false, 1 / std::sqrt(8.0L)), "ortho");
  expect_near<c64, 1>(dsl::eval(dsl::ifft<8>(x, dsl::fft_norm::forward)), summed(of, 0, 8, true),
                      "forward, inverse");
  dsl::array<c32> narrow;
  dsl::tie(narrow) = dsl::fft<8>(dsl::cast<dsl::half>(x));
  expect_near<c32, 1>(narrow, summed(of, 0, 8, false), "float16");
}

TEST_P(transformed_rows, keep_nan_in_its_row) {
  auto host = random_values<c64>(5 * 16);
  host[20] = std::nan("");
  const auto memory = dsl::to_device(host);
  const dsl::array<double, 2> got = abs(dsl::fft<16>(dsl::reshape(memory, 5, 16)));
  const std::vector<double> all = got.copy_to_host();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(std::isnan(all[i]), i / 16 == 1) << i;
}

TEST_P(transformed_rows, of_no_elements_and_of_others) {
  const dsl::array<c64, 2> none(0, 16), other = dsl::ones<c64>(3, 12);
  EXPECT_EQ(dsl::eval(dsl::fft<16>(none)).extents(), (dsl::extents<2>{0, 16}));
  dsl::array<c64, 2> kept = dsl::ones<c64>(2, 16);
  const auto is_kept = [&] { return kept.copy_to_host() == std::vector<c64>(32, 1); };
  EXPECT_EQ(error_of([&] { kept = dsl::fft<16>(other); }),
            "fft<16> of shape (3, 12): its rows have 12 elements, not 16");
  EXPECT_TRUE(is_kept());
  const dsl::array<c64, 2> three = dsl::ones<c64>(3, 16);
  EXPECT_EQ(error_of([&] { kept = dsl::fft<16>(three); }),
            "an expression of shape (3, 16) cannot be assigned to shape (2, 16): fft(a)");
  EXPECT_EQ(error_of([&] { kept = kept * dsl::fft<16>(three); }),
            "shapes do not broadcast: (2, 16), (3, 16) in a * fft(b)");
  EXPECT_TRUE(is_kept());
}

TEST_P(transformed_rows, are_explained) {
  const dsl::array<c32, 2> x = dsl::ones<c32>(3, 64);
  dsl::array<c32, 2> y = x;
  const std::string text = dsl::explain(y, dsl::ifft<64>(2 * dsl::fft<64>(x))).text().c_str();
  const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
  if (has_grid()) {
    EXPECT_TRUE(says("out = 0.015625 * ifft(2 * fft(a))\none kernel on ")) << text;
    EXPECT_TRUE(says("transformed rows: 3 rows of 64 elements on chip")) << text;
    EXPECT_TRUE(says("9216 bytes of shared memory")) << text;
    EXPECT_TRUE(says("reads 8 and writes 8 bytes an element")) << text;
    EXPECT_TRUE(says("read     adjacent elements by adjacent threads\n")) << text;
    const dsl::plan plan = dsl::plan_of(y, dsl::ifft<64>(2 * dsl::fft<64>(x)));
    EXPECT_EQ(plan.grid, 1);
    EXPECT_EQ(plan.block, 128);
    EXPECT_EQ(plan.per_element.load_bytes, 8);
  } else {
    EXPECT_TRUE(says("inverse Fourier transform of (3, 64) along axis 1")) << text;
  }
}

}  // namespace

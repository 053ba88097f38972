// The examples of docs/guide.md do what is said of them.
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <dsl/scan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iostream>
#include <limits>
#include <sstream>
#include <tuple>

namespace guide_test {  // functors have names of their own in a program
#include <docs/guide/functors-a-loop-for-each-element.inc>
}  // namespace guide_test

namespace {

using namespace guide_test;
using namespace std::complex_literals;

struct guide_doc : on_device {};
ON_EVERY_DEVICE(guide_doc);

TEST_P(guide_doc, a_formula_is_computed_at_each_use) {
  auto x = dsl::to_device(std::vector<float>{1, 3}), y = dsl::to_device(std::vector<float>{2, 4});
#include <docs/guide/auto-keeps-a-formula-not-its-value.inc>
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0.25f, 0.75f}));
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{2, 4}));
}

TEST_P(guide_doc, a_value_is_computed_once) {
  auto x = dsl::to_device(std::vector<float>{1, 3}), y = dsl::to_device(std::vector<float>{2, 4});
#include <docs/guide/auto-keeps-a-formula-not-its-value-2.inc>
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0.25f, 0.75f}));
  EXPECT_EQ(half.copy_to_host(), (std::vector<float>{0.25f, 0.5f}));
}

TEST_P(guide_doc, data_in_and_out) {
#include <docs/guide/data-in-and-out.inc>
  EXPECT_EQ(t.size(), 101);
  EXPECT_EQ(a.size() + b.size(), 2 * 512 * 512);
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  const current_scratch_folder folder;
#include <docs/guide/data-in-and-out-2.inc>
  std::cout.rdbuf(before);
  EXPECT_EQ(back, host);
  EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(), host.begin()));
  EXPECT_EQ(corner, 6);
  EXPECT_EQ(sum, 21);
  EXPECT_EQ(out.str(), "[[1. 2. 3.]\n [4. 5. 6.]]\n");
  EXPECT_EQ((dsl::load_npy<float, 2>("m.npy").copy_to_host()), host);
}

TEST_P(guide_doc, what_a_lambda_may_contain) {
  const auto x = dsl::to_device(std::vector<float>{0, 0.375f, 0.5f, 1});
  dsl::array<float> shaded;
  dsl::scalar<float> brightest;
#include <docs/guide/what-a-lambda-may-contain.inc>
  const auto f = [](float t) { return t * t * (3 - 2 * t); };
  EXPECT_EQ(shaded.copy_to_host(), (std::vector<float>{-1, f(f(0.25f)), 0.5f, 1}));
  EXPECT_EQ(brightest.value(), 1);
}

TEST_P(guide_doc, mandelbrot) {
#include <docs/guide/functors-a-loop-for-each-element-2.inc>
  const auto got = n.copy_to_host();
  EXPECT_EQ(n.extents(), (dsl::extents<2>{25, 64}));
  EXPECT_EQ(got[12 * 64 + 42], 200);  // 0
  EXPECT_EQ(got[0], 1);               // -2 - 1.25i
  for (std::size_t i = 0; i < 25; ++i)
    for (std::size_t j = 0; j < 64; ++j)
      EXPECT_NEAR(got[64 * i + j], got[64 * (24 - i) + j], 1);  // the set is its own mirror image
}

TEST_P(guide_doc, the_order_of_a_steps_arguments) {
  std::vector<double> us{1, 2, 3}, vs{0, 1, 0};
  auto u = dsl::to_device(us), v = dsl::to_device(vs);
#include <docs/guide/time-loops-the-order-of-the-arguments.inc>
  const auto got = means.copy_to_host();
  double m = 2;
  for (std::size_t k = 0; k < 100; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double next = us[i] + 0.01 * (vs[i] - 0.5 * m * us[i]);
      vs[i] -= 0.01 * us[i];
      sum += us[i] = next;
    }
    ASSERT_NEAR(got[k], m = sum / 3, 1e-14);
  }
  EXPECT_NEAR(u(1).value(), us[1], 1e-14);
  EXPECT_NEAR(v(2).value(), vs[2], 1e-14);
}

TEST_P(guide_doc, masks) {
  auto x = dsl::to_device(std::vector<float>{-1, 2, 0.5f, 4});
#include <docs/guide/masks.inc>
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0, 2, 0.5f, 4}));
  EXPECT_EQ(many, 2);
  EXPECT_EQ(mean.value(), 3);
  EXPECT_FALSE(is_broken);
  EXPECT_EQ(place.copy_to_host(), (std::vector<std::int64_t>{0, 0, 1, 1}));
}

TEST_P(guide_doc, indices) {
  const auto x = dsl::to_device(std::vector<float>{0.1f, 0.9f, 0.4f}),
             table = dsl::to_device(std::vector<float>{10, 20, 30});
  const auto i = dsl::to_device(std::vector<int>{2, 0}),
             j = dsl::to_device(std::vector<int>{1, -3});
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(1, 10), 3, 3);
#include <docs/guide/indices.inc>
  EXPECT_EQ(chosen.copy_to_host(), (std::vector<float>{0.4f, 0.1f}));
  EXPECT_EQ(rows.copy_to_host(), (std::vector<float>{7, 8, 9, 1, 2, 3}));
  EXPECT_EQ(pairs(0).value(), 8);
  EXPECT_EQ(looked_up.copy_to_host(), (std::vector<float>{10, 30, 20}));
  EXPECT_EQ(upper.copy_to_host(), (std::vector<float>{1, 2, 3, 0, 5, 6, 0, 0, 9}));
  EXPECT_EQ(at, 1);
}

TEST_P(guide_doc, histograms) {
  const std::vector<float> h = random_floats(3000, -1, 3);
  const auto x = dsl::to_device(h);
  const float low = -1, width = 0.5f;
  const int bins = 8;
#include <docs/guide/histograms.inc>
  std::vector<std::int64_t> want(8);
  for (const float each : h) ++want.at(static_cast<std::size_t>((each - low) / width));
  EXPECT_EQ(counts.copy_to_host(), want);
}

TEST_P(guide_doc, n_body) {
  std::vector<double> hx, hy, hz, hm;
  for (int i = 0; i < 50; ++i) {
    hx.push_back(std::sin(i));
    hy.push_back(std::cos(3 * i));
    hz.push_back(std::sin(7 * i));
    hm.push_back(1 + i % 3);
  }
  const auto x = dsl::to_device(hx), y = dsl::to_device(hy), z = dsl::to_device(hz),
             mass = dsl::to_device(hm);
#include <docs/guide/n-body.inc>
  const auto got = ax.copy_to_host();
  for (std::size_t i = 0; i < 50; ++i) {
    double want = 0, size = 0;
    for (std::size_t j = 0; j < 50; ++j) {
      const double r2 = std::pow(hx[j] - hx[i], 2) + std::pow(hy[j] - hy[i], 2) +
                        std::pow(hz[j] - hz[i], 2) + 1e-4;
      const double each = hm[j] * (hx[j] - hx[i]) * std::pow(r2, -1.5);
      want += each;
      size += std::abs(each);
    }
    ASSERT_NEAR(got[i], want, 1e-13 * size) << i;
  }
}

TEST_P(guide_doc, k_means) {
  // Two groups, around (0, 0) and (10, 10), and centres that begin in the first one.
  std::vector<float> h;
  for (int i = 0; i < 100; ++i) {
    h.push_back(static_cast<float>(10 * (i % 2)) + static_cast<float>(i % 5 - 2) / 8);
    h.push_back(static_cast<float>(10 * (i % 2)) + static_cast<float>(i % 7 - 3) / 8);
  }
  const dsl::array<float, 2> points = dsl::reshape(dsl::to_device(h), 100, 2);
  const int k = 2;
  dsl::array<float, 2> centres = dsl::reshape(dsl::to_device(std::vector<float>{0, 0, 1, 1}), 2, 2);
#include <docs/guide/k-means.inc>
  EXPECT_EQ(nearest.size(), 100);
  const auto first = nearest.copy_to_host();
  float sum[2][2] = {}, count[2] = {};
  for (std::size_t i = 0; i < 100; ++i) {
    const float to_0 = std::hypot(h[2 * i], h[2 * i + 1]),
                to_1 = std::hypot(h[2 * i] - 1, h[2 * i + 1] - 1);
    const std::size_t which = to_1 < to_0;
    ASSERT_EQ(first[i], static_cast<std::int64_t>(which)) << i;
    sum[which][0] += h[2 * i];
    sum[which][1] += h[2 * i + 1];
    ++count[which];
  }
  const auto got = centres.copy_to_host();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(members(static_cast<std::int64_t>(i)).value(), count[i]);
    for (std::size_t axis = 0; axis < 2; ++axis)
      EXPECT_NEAR(got[2 * i + axis], sum[i][axis] / count[i], 1e-5);
  }
}

TEST_P(guide_doc, image_channels) {
  const int height = 2, width = 3;
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < height * width * 3; ++i) bytes.push_back(static_cast<std::uint8_t>(13 * i));
#include <docs/guide/image-channels.inc>
  const auto g = grey.copy_to_host();
  const auto b = bright.copy_to_host();
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(g[i], 0.299 * bytes[3 * i] + 0.587 * bytes[3 * i + 1] + 0.114 * bytes[3 * i + 2],
                1e-4);
    EXPECT_EQ(b[3 * i], 0);
    EXPECT_EQ(b[3 * i + 2], std::min(255, bytes[3 * i] * 3 / 2));
  }
}

}  // namespace

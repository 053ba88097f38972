// The examples of docs/arrays.md do what is said of them.
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <cmath>
#include <sstream>

namespace {

struct arrays_doc : on_device {};
ON_EVERY_DEVICE(arrays_doc);

TEST_P(arrays_doc, stencil) {
  dsl::array<float, 2> u = dsl::cast<float>(dsl::reshape(dsl::arange<int>(5 * 6), 5, 6) % 7);
  const auto before = u.copy_to_host();
#include <docs/arrays/arrays-views-and-shapes.inc>
  const auto after = u.copy_to_host();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      const auto at = [&](std::size_t a, std::size_t b) { return before[6 * a + b]; };
      const bool edge = i == 0 || i == 4 || j == 0 || j == 5;
      EXPECT_EQ(after[6 * i + j],
                edge ? at(i, j) : (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)) / 4);
    }
}

TEST_P(arrays_doc, neighbours) {
  dsl::array<float, 2> v = dsl::zeros<float>(3, 3);
  v(1, 1) = 1;
#include <docs/arrays/neighbours.inc>
  const float tenth = 0.1f, rest = 1 + 0.1f * -4;
  EXPECT_EQ(v.copy_to_host(), (std::vector<float>{0, tenth, 0, tenth, rest, tenth, 0, tenth, 0}));
  std::vector<float> want = v.copy_to_host();
#include <docs/arrays/neighbours-2.inc>
  const auto at = [](std::size_t i, std::size_t j) { return i % 3 * 3 + j % 3; };
  for (int step = 0; step < 2; ++step) {
    const std::vector<float> u = want;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        const float around = u[at(i + 2, j)] + u[at(i + 1, j)] + u[at(i, j + 2)] + u[at(i, j + 1)];
        want[at(i, j)] = i == 0 ? 1 : u[at(i, j)] + 0.125f * (around - 4 * u[at(i, j)]);
      }
  }
  const auto got = v.copy_to_host();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6);
}

TEST_P(arrays_doc, views_and_elements) {
#include <docs/arrays/views.inc>
  EXPECT_EQ(m.copy_to_host(),
            (std::vector<double>{18, 2, 2, 0, 0, 2 * (1.0 / 3 + 100), 2.0 / 3, 0, 16, 18, 110, 0}));
#include <docs/arrays/one-element.inc>
  EXPECT_EQ(m(0, 0), 1.0);
  EXPECT_NEAR(m(2, 3), 1 / (2 * (1.0 / 3 + 100) + 2.0 / 3), 1e-17);
}

TEST_P(arrays_doc, expressions) {
#include <docs/arrays/expressions.inc>
  const auto got = edge.copy_to_host();
  ASSERT_EQ(got.size(), 4u);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_DOUBLE_EQ(got[j], std::hypot(499, 100 * j));
  EXPECT_DOUBLE_EQ(turned(0, 499), std::hypot(499, 399));
  EXPECT_EQ(turned.extents(), (dsl::extents<2>{400, 500}));
}

TEST_P(arrays_doc, printing) {
  std::ostringstream stream;
#include <docs/arrays/printing.inc>
  EXPECT_EQ(stream.str(),
            "[[0.  0.1 0.2]\n [0.  0.1 0.2]]\n[    0     1     2 ... 99997 99998 99999]\n");
}

TEST_P(arrays_doc, files) {
  dsl::array<double, 2> m = dsl::reshape(dsl::arange<double>(12), 3, 4);
  dsl::scalar<float> total = 7.0f;
  const current_scratch_folder folder;
#include <docs/arrays/files.inc>
  EXPECT_EQ(row.copy_to_host(), (std::vector<double>{4, 5, 6, 7}));
#include <docs/arrays/files-2.inc>
  EXPECT_EQ(done, 300);
  EXPECT_EQ(m(2, 3), 11.0);
  EXPECT_EQ(total.value(), 7.0f);
}

}  // namespace

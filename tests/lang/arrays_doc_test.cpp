// The examples of docs/arrays.md: they stand here as they stand there, and do what is said of them.
#include "../doc_examples.hpp"
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
  // clang-format off
const auto inner = dsl::slice(1, -1), up = dsl::slice(0, -2), down = dsl::slice(2, dsl::end);
u(inner, inner) = (u(up, inner) + u(down, inner) + u(inner, up) + u(inner, down)) / 4;
  // clang-format on
  const auto after = u.copy_to_host();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      const auto at = [&](std::size_t a, std::size_t b) { return before[6 * a + b]; };
      const bool edge = i == 0 || i == 4 || j == 0 || j == 5;
      EXPECT_EQ(after[6 * i + j], edge ? at(i, j) : (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)) / 4);
    }
}

TEST_P(arrays_doc, neighbours) {
  dsl::array<float, 2> v = dsl::zeros<float>(3, 3);
  v(1, 1) = 1;
  // clang-format off
const auto wall = dsl::boundary::clamp;
v = v + 0.1 * (dsl::shift(v, 1, wall, 0) + dsl::shift(v, -1, wall, 0) + dsl::shift(v, 1, wall, 1) + dsl::shift(v, -1, wall, 1) - 4 * v);
  // clang-format on
  const float tenth = 0.1f, rest = 1 + 0.1f * -4;
  EXPECT_EQ(v.copy_to_host(), (std::vector<float>{0, tenth, 0, tenth, rest, tenth, 0, tenth, 0}));
}

TEST_P(arrays_doc, views_and_elements) {
  // clang-format off
dsl::array<double, 2> m = dsl::reshape(dsl::arange<double>(12), 3, 4);
m(1) = dsl::linspace<double>(0, 1, 4);                              // a row
m(dsl::slice(), -1) = 0;                                            // the last column
dsl::diagonal(m) += 100;
dsl::transpose(m)(dsl::slice(0, 2)) *= 2;                           // the first two columns
const auto odd = dsl::flip(m, 0)(dsl::slice(0, dsl::end, 2), 1);    // views of views, assigned to nothing yet
m(0, dsl::slice(0, 2)) = odd;
  // clang-format on
  EXPECT_EQ(m.copy_to_host(), (std::vector<double>{18, 2, 2, 0, 0, 2 * (1.0 / 3 + 100), 2.0 / 3, 0, 16, 18, 110, 0}));
  // clang-format off
const double corner = m(2, 3);   // waits
m(2, 3) = corner + 1;
m(0, 0) = dsl::sum(m(1));        // on the device, without waiting
m /= m(0, 0);                    // as well: complete before the first write
  // clang-format on
  EXPECT_EQ(m(0, 0), 1.0);
  EXPECT_NEAR(m(2, 3), 1 / (2 * (1.0 / 3 + 100) + 2.0 / 3), 1e-17);
}

TEST_P(arrays_doc, expressions) {
  // clang-format off
const auto distance = sqrt(dsl::cast<double>(dsl::index(0, 500, 400) * dsl::index(0, 500, 400) +
                                             dsl::index(1, 500, 400) * dsl::index(1, 500, 400)));
dsl::array<double> edge = distance(-1, dsl::slice(0, dsl::end, 100));    // 4 elements are computed
dsl::array<double, 2> turned = dsl::flip(dsl::transpose(distance), 0);
  // clang-format on
  const auto got = edge.copy_to_host();
  ASSERT_EQ(got.size(), 4u);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_DOUBLE_EQ(got[j], std::hypot(499, 100 * j));
  EXPECT_DOUBLE_EQ(turned(0, 499), std::hypot(499, 399));
  EXPECT_EQ(turned.extents(), (dsl::extents<2>{400, 500}));
}

TEST_P(arrays_doc, printing) {
  std::ostringstream stream;
  // clang-format off
stream << dsl::full<float>(0.1f, 2, 3) * dsl::arange<float>(3) << '\n'
       << dsl::arange<int>(100000) << '\n';
  // clang-format on
  EXPECT_EQ(stream.str(), "[[0.  0.1 0.2]\n [0.  0.1 0.2]]\n[    0     1     2 ... 99997 99998 99999]\n");
}

TEST_P(arrays_doc, files) {
  dsl::array<double, 2> m = dsl::reshape(dsl::arange<double>(12), 3, 4);
  dsl::scalar<float> total = 7.0f;
  const current_scratch_folder folder;
  // clang-format off
dsl::save_npy("row.npy", m(1));                          // np.load("row.npy")
const auto row = dsl::load_npy<double>("row.npy");       // dsl::array<double, 1>
  // clang-format on
  EXPECT_EQ(row.copy_to_host(), (std::vector<double>{4, 5, 6, 7}));
  // clang-format off
dsl::save_checkpoint("run", 300, m, total);
const std::int64_t done = dsl::load_checkpoint("run", m, total);
  // clang-format on
  EXPECT_EQ(done, 300);
  EXPECT_EQ(m(2, 3), 11.0);
  EXPECT_EQ(total.value(), 7.0f);
}

TEST(arrays_doc, every_example_is_compiled) { expect_examples_in(__FILE__, "arrays.md", 8); }

}  // namespace

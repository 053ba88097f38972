// Arrays with more than 2^32 elements. Only on a GPU: other devices take minutes.
#include "../on_device.hpp"

namespace {

struct big : on_device {
  void SetUp() override {
    on_device::SetUp();
    if (!IsSkipped() && dsl::device::current().kind != dsl::backend::cuda)
      GTEST_SKIP() << "billions of elements: on a GPU only";
  }
};
ON_EVERY_DEVICE(big);

// Expected value of element i. 251 is prime, so an index without its upper bits is detected.
template <class Index>
auto pattern(const Index& i) {
  return dsl::cast<std::int8_t>(i % 251 - 125);
}

TEST_P(big, linear) {
  for (const std::int64_t n : {(std::int64_t{1} << 31) + 3, (std::int64_t{1} << 32) + 21}) {
    dsl::array<std::int8_t> a(n), b(n);
    const auto i = dsl::arange<std::int64_t>(n);
    a = pattern(i);
    b = a + 1;
    const dsl::scalar<std::int64_t> wrong = dsl::sum(b != pattern(i) + 1),
                                    all = dsl::sum(b == pattern(i) + 1);
    EXPECT_EQ(wrong.value(), 0);
    EXPECT_EQ(all.value(), n);
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1} << 31, n - 1})
      EXPECT_EQ(b(at).value(), at % 251 - 124) << at;
    const dsl::view<std::int8_t, 1> shifted =
        b(dsl::slice(1, dsl::end));  // every access misaligned
    shifted = a(dsl::slice(0, -1)) + 2;
    const dsl::scalar<std::int64_t> off =
        dsl::sum(b(dsl::slice(1, dsl::end)) != pattern(dsl::arange<std::int64_t>(n - 1)) + 2);
    EXPECT_EQ(off.value(), 0);
  }
}

TEST_P(big, strided) {
  const std::int64_t rows = 65'537, columns = 65'552;  // 4,296,081,424 elements
  dsl::array<std::int8_t, 2> a(rows, columns), b(columns, rows);
  const auto row = dsl::index(0, rows, columns), column = dsl::index(1, rows, columns);
  a = pattern(row * 7 + column);
  const dsl::view<std::int8_t, 2> inner = a(dsl::slice(), dsl::slice(1, dsl::end, 3));
  inner = inner + 1;
  const dsl::scalar<std::int64_t> wrong =
      dsl::sum(a != pattern(row * 7 + column) + dsl::cast<std::int8_t>(column % 3 == 1));
  EXPECT_EQ(wrong.value(), 0);
  b = dsl::transpose(a);
  const dsl::scalar<std::int64_t> turned = dsl::sum(dsl::transpose(b) != a);
  EXPECT_EQ(turned.value(), 0);
  EXPECT_EQ(b(columns - 1, rows - 1).value(), a(rows - 1, columns - 1).value());
}

TEST_P(big, axis) {
  const std::int64_t columns = std::int64_t{1} << 30;
  dsl::array<std::int8_t, 2> a(3, columns);  // 3,221,225,472 elements
  a = pattern(7 * dsl::index(0, 3, columns) + dsl::index(1, 3, columns));
  const auto across = dsl::eval(dsl::sum(a, dsl::axis(1))).copy_to_host();
  const auto last = dsl::eval(dsl::argmin(a, dsl::axis(1))).copy_to_host();
  for (std::int64_t i = 0; i < 3; ++i) {
    std::int64_t sum = 0;
    for (std::int64_t j = columns / 251 * 251; j < columns; ++j) sum += (7 * i + j) % 251 - 125;
    EXPECT_EQ(across[static_cast<std::size_t>(i)], sum) << i;
    EXPECT_EQ(last[static_cast<std::size_t>(i)], i == 0 ? 0 : 251 - 7 * i) << i;
  }
  // 2^30 sums of three elements each.
  const auto j = dsl::arange<std::int64_t>(columns);
  const dsl::array<std::int64_t> down = dsl::sum(a, dsl::axis(0));
  const auto want = dsl::cast<std::int64_t>(pattern(j)) + pattern(j + 7) + pattern(j + 14);
  EXPECT_EQ(dsl::count_nonzero(down != want).value(), 0);
}

}  // namespace

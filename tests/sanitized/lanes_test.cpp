// Compiled with the undefined behaviour sanitizer: no lane is read before it is written, whatever
// the memory held, and no other byte is read as a bool.
#include "../on_device.hpp"

namespace {

struct lanes : on_device {};
ON_EVERY_DEVICE(lanes);

// Leaves bytes on the stack that are neither true nor false.
[[gnu::noinline]] void fill_stack() {
  unsigned char bytes[1 << 16];
  for (unsigned char& b : bytes) b = 0xf0;
  asm volatile("" : : "r"(bytes) : "memory");
}

TEST_P(lanes, of_rows_of_every_length) {
  const auto largest = dsl::reduce([](auto a, auto b) { return max(a, b); });
  for (std::int64_t n = 1; n < 1100; n += n < 70 ? 1 : 51) {
    const dsl::array<float, 2> m = dsl::arange<float>(n) + dsl::zeros<float>(3, 1);
    const auto x = m(0, dsl::slice());
    const auto every_second = m(dsl::slice(), dsl::slice(0, dsl::end, 2));
    const auto eval = [](const auto& expression) {
      return fill_stack(), dsl::eval(expression).copy_to_host();
    };
    const std::vector<bool> all(3, true), exceed(3, n > 6);
    fill_stack();
    EXPECT_EQ(dsl::any(x > 5).value(), n > 6);
    fill_stack();
    EXPECT_EQ(largest(x).value(), static_cast<float>(n - 1));
    const auto same = [](const auto& got, const std::vector<bool>& want) {
      return std::equal(got.begin(), got.end(), want.begin(), want.end());
    };
    EXPECT_TRUE(same(eval(dsl::any(m > 5, dsl::axis(1))), exceed)) << n;
    EXPECT_TRUE(same(eval(dsl::any(every_second > 5, dsl::axis(1))), exceed)) << n;
    EXPECT_TRUE(same(eval(dsl::all(m >= 0, dsl::axis(1))), all)) << n;
    EXPECT_EQ(eval(dsl::argmax(m, dsl::axis(1))), std::vector<std::int64_t>(3, n - 1)) << n;
    EXPECT_EQ(eval(largest(m, dsl::axis(1))), std::vector<float>(3, static_cast<float>(n - 1)))
        << n;
  }
}

// An index space whose reduced dimensions all have one element drops them. (Preset asan instruments
// the library as well.)
TEST_P(lanes, of_rows_of_one_element) {
  for (const std::int64_t n : {1, 5, 300}) {
    const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(n), n, 1);
    const auto turned = dsl::transpose(m);
    const std::vector<float> zeros(static_cast<std::size_t>(n));
    EXPECT_EQ(dsl::eval(m - dsl::mean(m, dsl::axis(1), dsl::keep_dims)).copy_to_host(), zeros) << n;
    EXPECT_EQ(dsl::eval(turned - dsl::mean(turned, dsl::axis(0), dsl::keep_dims)).copy_to_host(),
              zeros)
        << n;
  }
}

}  // namespace

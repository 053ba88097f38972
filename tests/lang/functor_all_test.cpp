// Reductions by functors that fail or do not terminate if called with something that is no element.
#include "../on_device.hpp"

struct least_common_multiple {
  DSL_FN std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    std::int64_t x = a, y = b;
    while (y != 0) {
      const std::int64_t rest = x % y;
      x = y;
      y = rest;
    }
    return a / x * b;
  }
};
struct halvings {  // does not terminate for 0 and below
  DSL_FN std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    std::int64_t n = 1;
    for (; a != 1; ++n) a = (a + 1) / 2;
    for (; b != 1; ++n) b = (b + 1) / 2;
    return n;
  }
};

namespace {

struct all_functors : on_device {};
ON_EVERY_DEVICE(all_functors);

TEST_P(all_functors, reductions_combine_elements_alone) {
  const auto x = dsl::to_device(std::vector<std::int64_t>{4, 6, 10, 15, 21});
  EXPECT_EQ(dsl::reduce(least_common_multiple{})(x).value(), 420);
  EXPECT_EQ(dsl::reduce(least_common_multiple{}, std::int64_t{11})(x).value(), 4620);
  EXPECT_EQ(dsl::reduce(least_common_multiple{}, std::int64_t{11})(x(dsl::slice(0, 0))).value(),
            11);
  EXPECT_GT(dsl::reduce(halvings{})(x).value(), 0);
  EXPECT_THROW(dsl::reduce(halvings{})(x(dsl::slice(0, 0))).value(), dsl::shape_error);
}

}  // namespace

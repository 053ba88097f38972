// A new reduction, sum_of_squares: of all elements, along an axis, in a lambda; and its name.
#include "expect.hpp"

int main() {
  for (const dsl::backend where : {dsl::backend::host, dsl::backend::sim}) {
    const dsl::device_guard on(where);
    const auto x = dsl::to_device({1.0f, 2.0f, 3.0f, 4.0f});
    dsl::scalar<float> s = dsl::sum_of_squares(x);
    EXPECT(s.value() == 30);
    const dsl::array<float> rows = dsl::sum_of_squares(dsl::reshape(x, 2, 2), dsl::axis(1));
    EXPECT(rows.copy_to_host() == (std::vector<float>{5, 25}));
    s = dsl::vectorize([](auto v) { return dsl::sum_of_squares(v - 1); })(x);
    EXPECT(s.value() == 14);
    EXPECT(
        begins_with(dsl::explain(s, dsl::sum_of_squares(2 * x)), "out = sum_of_squares(2 * a)\n"));
    // Integers widen, as in sum.
    const dsl::scalar<std::int64_t> n = dsl::sum_of_squares(dsl::to_device({3, 4}));
    EXPECT(n.value() == 25);
  }
}

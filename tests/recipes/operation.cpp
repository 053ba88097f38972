// A new operation, softsign(x) = x / (1 + |x|): as a function of arrays, of symbols and in
// formulas.
#include "expect.hpp"

int main() {
  for (const dsl::backend where : {dsl::backend::host, dsl::backend::sim}) {
    const dsl::device_guard on(where);
    const auto x = dsl::to_device({-3.0f, 0.0f, 1.0f});
    dsl::array<float> y = softsign(x);
    EXPECT(y.copy_to_host() == (std::vector<float>{-0.75f, 0.0f, 0.5f}));
    y = dsl::vectorize([](auto v) { return 2 * softsign(v); })(x);
    EXPECT(y.copy_to_host() == (std::vector<float>{-1.5f, 0.0f, 1.0f}));
    EXPECT(begins_with(dsl::explain(y, softsign(x) + 1), "out = softsign(a) + 1\n"));
    y = dsl::grad<0>([](auto v) { return softsign(v); })(x);
    EXPECT(y.copy_to_host() == (std::vector<float>{0.0625f, 1.0f, 0.25f}));
    // Integers become floating point numbers, as for other functions.
    const dsl::array<double> z = softsign(dsl::to_device({1, -3}));
    EXPECT(z.copy_to_host() == (std::vector<double>{0.5, -0.75}));
  }
}

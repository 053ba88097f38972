// Fills of elements of every size; a loop over moved-from variables.
#include "../on_device.hpp"

#include <complex>

namespace {

struct all_arrays : on_device {};
ON_EVERY_DEVICE(all_arrays);

template <class T>
void fills(T value) {
  for (const std::int64_t n : {0, 1, 3, 1000}) {
    const auto a = dsl::full<T>(value, n);
    for (const T x : a.copy_to_host()) ASSERT_EQ(x, value);
    dsl::array<T> b(n);
    b = value;
    EXPECT_EQ(b.copy_to_host().size(), static_cast<std::size_t>(n));
    for (const T x : b.copy_to_host()) ASSERT_EQ(x, value);
  }
}

TEST_P(all_arrays, fills_with_every_size_of_element) {
  fills<std::int8_t>(-5);
  fills<std::int16_t>(300);
  fills<float>(0.1f);
  fills<double>(0.1);
  fills<std::complex<double>>({0.1, -0.2});
}

TEST_P(all_arrays, moved_from_is_no_loops_variable) {
  dsl::scalar<float> s = 2.0f;
  const dsl::scalar<float> t = std::move(s);
  EXPECT_THROW(dsl::iterate(1, dsl::vectorize([](auto v) { return v + 1; }), dsl::state(s)),
               dsl::memory_error);
  EXPECT_EQ(t.value(), 2.0f);
}

}  // namespace

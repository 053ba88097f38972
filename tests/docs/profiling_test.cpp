// The examples of docs/profiling.md: names, and reads of memory that was never written.
#include "../on_device.hpp"

#include <cmath>
#include <complex>
#include <vector>

namespace profiling_test {  // the block stands at namespace scope
#include <docs/profiling/what-kernels-are-called.inc>
}  // namespace profiling_test

namespace {

struct profiling_doc : on_device {};
ON_EVERY_DEVICE(profiling_doc);

TEST_P(profiling_doc, a_name_is_a_type) {
  const dsl::array<float> x = dsl::full<float>(1, 3), v = dsl::full<float>(2, 3);
  EXPECT_EQ(dsl::eval(profiling_test::move(x, v, 0.5f)).copy_to_host(),
            std::vector<float>(3, 2.0f));
}

TEST(profiling_doc_simulator, arrays_begin_with_nans) {
  const dsl::device_guard guard(dsl::device("sim"));
  const dsl::array<std::complex<float>, 2> field(3, 4);
  for (const std::complex<float> z : field.copy_to_host())
    EXPECT_TRUE(std::isnan(z.real()) && std::isnan(z.imag()));
  const dsl::array<int> numbers(5);
  EXPECT_EQ(numbers.copy_to_host(), std::vector<int>(5, -1));
}

}  // namespace

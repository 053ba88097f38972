// The examples of docs/how-kernels.md do what is said of them.
#include "../on_device.hpp"

#include <docs/how-kernels/policies.inc>

namespace {

struct how_kernels_doc : on_device {};
ON_EVERY_DEVICE(how_kernels_doc);

TEST_P(how_kernels_doc, policies_of_a_name) {
  const dsl::array<float> x = dsl::arange<float>(1000);
  dsl::array<float> y;
#include <docs/how-kernels/policies-2.inc>
  const auto got = y.copy_to_host();
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(got[i], static_cast<float>(i) / 2 + 1);
  const auto plan = dsl::plan_of(y, dsl::vectorize<by_twos>([](auto v) { return v / 2 + 1; })(x));
  if (dsl::device::current().kind != dsl::backend::host) {
    EXPECT_EQ(plan.block, 128);
  }
}

}  // namespace

// A loop that continues from a checkpoint.
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <dsl/mem/checkpoint.hpp>

#include <complex>

namespace {

using c32 = std::complex<float>;

struct all_checkpoints : on_device, scratch_folder {};
ON_EVERY_DEVICE(all_checkpoints);

TEST_P(all_checkpoints, a_loop_goes_on_as_if_it_had_not_stopped) {
  const auto step = dsl::vectorize([](auto F, auto x, auto, auto h) {
    return std::tuple{F + h * c32(0, 1) * F * x, x - h * x, dsl::sum(x)};
  });
  const auto start = [] {
    return std::tuple{dsl::array<c32, 2>(dsl::full<c32>(c32(1, 2), 3, 5)),
                      dsl::array<float, 2>(dsl::full<float>(0.5f, 3, 5)), dsl::scalar<float>()};
  };
  auto [F, x, total] = start();
  dsl::iterate(7, step, dsl::state(F, x, total), 0.125f);

  auto [F1, x1, total1] = start();
  dsl::iterate(3, step, dsl::state(F1, x1, total1), 0.125f);
  dsl::save_checkpoint(folder, 3, F1, x1, total1);
  dsl::array<c32, 2> F2;  // takes the file's shape
  auto x2 = dsl::zeros<float>(3, 5);
  dsl::scalar<float> total2 = -1.0f;
  const std::int64_t done = dsl::load_checkpoint(folder, F2, x2, total2);
  ASSERT_EQ(done, 3);
  dsl::iterate(7 - done, step, dsl::state(F2, x2, total2), 0.125f);
  EXPECT_EQ(F2.copy_to_host(), F.copy_to_host());
  EXPECT_EQ(x2.copy_to_host(), x.copy_to_host());
  EXPECT_EQ(total2.value(), total.value());
}

}  // namespace

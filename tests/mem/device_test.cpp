// Devices and their memory.
#include "../on_device.hpp"

namespace {

// Asked for before main, when the library's own objects may not be initialized yet.
const std::vector<dsl::device> devices_before_main = dsl::devices();

TEST(device, can_be_asked_for_before_main) { EXPECT_EQ(devices_before_main, dsl::devices()); }

struct device_memory : on_device {};
ON_EVERY_DEVICE(device_memory);

TEST_P(device_memory, is_counted_and_released) {
  const bool gpu = dsl::device::current().kind == dsl::backend::cuda;
  const auto kept = dsl::eval(dsl::arange<std::int64_t>(1 << 20) * 3);
  { const auto freed = dsl::zeros<double>(1 << 22); }
  const dsl::memory_usage m = dsl::memory_usage_of();
  EXPECT_GT(m.total, 0u);
  EXPECT_LE(m.free, m.total);
  EXPECT_GE(m.reserved, m.used);
  EXPECT_GE(m.used, gpu ? std::size_t{8} << 20 : 0u);
  dsl::release_memory();
  dsl::set_release_threshold(0);
  dsl::device::current().synchronize();
  const dsl::memory_usage after = dsl::memory_usage_of();
  EXPECT_LE(after.reserved, m.reserved);
  EXPECT_GE(after.used, gpu ? std::size_t{8} << 20 : 0u);
  dsl::set_release_threshold(SIZE_MAX);
  EXPECT_EQ(kept(1000).value(), 3000);
  EXPECT_EQ(dsl::sum(kept(dsl::slice(0, 10)) + 1).value(), 145);
}

TEST(device, that_is_none_has_no_memory) {
  EXPECT_THROW(dsl::memory_usage_of("cuda:99"), dsl::device_error);
  EXPECT_THROW(dsl::release_memory("cuda:99"), dsl::device_error);
  EXPECT_THROW(dsl::set_release_threshold(0, "cuda:99"), dsl::device_error);
  EXPECT_THROW(dsl::stream::current("cuda:99"), dsl::device_error);
}

}  // namespace

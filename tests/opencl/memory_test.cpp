// Devices, memory, transfers, streams and events of OpenCL.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "../error_of.hpp"
#include "mem/stream.hpp"
#include "on_opencl.hpp"

namespace {

std::vector<int> numbers(std::int64_t n, int first = 0) {
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int& each : v) each = first++;
  return v;
}

struct opencl_device : on_opencl {};

TEST_F(opencl_device, is_listed_and_described) {
  const dsl::device first("opencl:0");
  EXPECT_EQ(first, dsl::device("opencl"));
  EXPECT_EQ(first, dsl::device(dsl::backend::opencl));
  EXPECT_EQ(first.name(), "opencl:0");
  const std::vector<dsl::device> all = dsl::devices();
  EXPECT_EQ(std::count(all.begin(), all.end(), first), 1);
  const dsl::device_properties& p = dsl::properties(first);
  EXPECT_STRNE(p.name, "");
  EXPECT_GT(p.multiprocessors, 0);
  EXPECT_GT(p.threads_per_multiprocessor, 0);
  EXPECT_GT(p.memory, 0u);
  EXPECT_GT(p.shared_per_block, 0u);
  EXPECT_EQ(p.compute_capability, 0);
}

TEST_F(opencl_device, that_is_none_is_an_error) {
  EXPECT_NE(error_of([] {
              dsl::properties("opencl:99");
            }).find("there is no device \"opencl:99\"; valid are \"host\", \"sim\""),
            std::string::npos);
  EXPECT_NE(error_of([] { dsl::device("opencl:0,0"); }).find("has device 0 twice"),
            std::string::npos);
}

struct opencl_memory : on_opencl {};

TEST_F(opencl_memory, takes_arrays_and_gives_them_back) {
  for (const std::int64_t n : {0, 1, 31, 33, 1000, 100'003}) {  // the last one is not staged
    const std::vector<int> sent = numbers(n);
    const auto x = dsl::to_device(sent);
    EXPECT_EQ(x.where().name(), "opencl:0");
    EXPECT_EQ(x.copy_to_host(), sent);
    const auto copied = x;
    EXPECT_EQ(copied.copy_to_host(), sent);
  }
}

TEST_F(opencl_memory, copies_parts_of_arrays) {
  auto x = dsl::to_device(numbers(1000));
  EXPECT_EQ(x(dsl::slice(10, 20)).copy_to_host(), numbers(10, 10));
  const std::vector<int> others = numbers(5, -5);
  x(dsl::slice(100, 105)).copy_from_host(others);
  EXPECT_EQ(x(dsl::slice(100, 105)).copy_to_host(), others);
  EXPECT_EQ(x(dsl::slice(99, 100)).copy_to_host(), numbers(1, 99));
  EXPECT_EQ(x(105).value(), 105);
}

template <class T>
void expect_filled(T value) {
  auto x = dsl::full<T>(value, 1001);
  for (const T& each : x.copy_to_host()) ASSERT_EQ(each, value);
  for (const T& each : dsl::zeros<T>(77).copy_to_host()) ASSERT_EQ(each, T{});
}

TEST_F(opencl_memory, is_filled_with_values_of_any_size) {
  expect_filled<std::uint8_t>(7);
  expect_filled<std::int16_t>(-7);
  expect_filled<float>(1.5f);
  expect_filled<double>(-2.5);
  expect_filled<std::complex<double>>({1.5, -2.5});
}

TEST_F(opencl_memory, moves_between_devices) {
  dsl::array<int> here = dsl::to_device(numbers(1000));
  const dsl::device_guard on_host("host");
  dsl::array<int> there(1000);
  there = here;
  EXPECT_EQ(there.where(), dsl::device("host"));
  EXPECT_EQ(there.copy_to_host(), numbers(1000));
  there.copy_from_host(numbers(1000, 5));
  here = there;
  EXPECT_EQ(here.where(), dsl::device("opencl:0"));
  EXPECT_EQ(here.copy_to_host(), numbers(1000, 5));
}

TEST_F(opencl_memory, is_taken_again_once_freed) {
  dsl::release_memory();
  const dsl::memory_usage before = dsl::memory_usage_of();
  const void* first = nullptr;
  {
    const dsl::array<float> x(1 << 20);
    first = x.data();
    const dsl::memory_usage m = dsl::memory_usage_of();
    EXPECT_EQ(m.used, before.used + (4 << 20));
    EXPECT_LE(m.free, m.total);
  }
  EXPECT_EQ(dsl::memory_usage_of().used, before.used);
  EXPECT_GE(dsl::memory_usage_of().reserved, before.reserved + (4 << 20));
  {
    const dsl::array<float> again(1 << 20);
    EXPECT_EQ(again.data(), first);
    const dsl::stream other;
    const dsl::stream_guard on(other);
    const dsl::array<float> apart(1 << 20);
    EXPECT_NE(apart.data(), first);
  }
  dsl::release_memory();
  EXPECT_EQ(dsl::memory_usage_of().reserved, before.reserved);
  dsl::set_release_threshold(0);
  { const dsl::array<float> x(1 << 20); }
  EXPECT_EQ(dsl::memory_usage_of().reserved, dsl::memory_usage_of().used);
  dsl::set_release_threshold(SIZE_MAX);
}

TEST_F(opencl_memory, that_is_too_much_is_an_error) {
  const auto all = static_cast<std::int64_t>(dsl::properties("opencl:0").memory);
  const std::string what = error_of([&] { dsl::array<unsigned char> x(2 * all); });
  EXPECT_NE(what.find("out of memory on opencl:0"), std::string::npos) << what;
}

TEST_F(opencl_memory, is_known_by_its_address) {
  const dsl::array<float> x(100);
  EXPECT_EQ(dsl::device_of(x.data() + 99), dsl::device("opencl:0"));
  int here = 0;
  EXPECT_EQ(dsl::device_of(&here), dsl::device("host"));
}

struct opencl_stream : on_opencl {};

TEST_F(opencl_stream, orders_work_behind_that_of_others) {
  const dsl::stream first, second;
  dsl::array<int> x(1 << 20);
  for (int i = 0; i < 20; ++i) {
    {
      const dsl::stream_guard on(first);
      x = i;
    }
    const dsl::stream_guard on(second);
    EXPECT_EQ(x(dsl::slice(-1, dsl::end)).copy_to_host(), std::vector<int>{i});
  }
  first.synchronize();
  EXPECT_EQ(first.where().name(), "opencl:0");
}

TEST_F(opencl_stream, has_events) {
  const auto x = dsl::full<int>(1, 1000);
  const dsl::detail::marker behind(dsl::stream::current());
  behind.wait();
  EXPECT_TRUE(behind.is_reached());
  dsl::device("opencl:0").synchronize();
}

TEST_F(opencl_stream, wraps_a_queue_of_the_library) {
  const dsl::stream made;
  const dsl::stream wrapped(made.native());
  EXPECT_EQ(wrapped.where(), dsl::device("opencl:0"));
  const dsl::stream_guard on(wrapped);
  EXPECT_EQ(dsl::full<int>(3, 10).copy_to_host(), std::vector<int>(10, 3));
}

TEST_F(opencl_stream, copies_pinned_memory_without_waiting) {
  dsl::pinned_array<int> sent(1 << 20), received(1 << 20);
  for (int i = 0; i < 1 << 20; ++i) sent[i] = i;
  dsl::array<int> x(1 << 20);
  x.copy_from_host_async(sent);
  x.copy_to_host_async(received);
  received.wait();
  for (int i = 0; i < 1 << 20; ++i) ASSERT_EQ(received[i], i);
}

}  // namespace

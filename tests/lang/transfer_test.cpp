// Copies from and to the host: into existing arrays, from page-locked memory, concurrent with the
// program.
#include <span>

#include "../on_device.hpp"

namespace {

using transfer = on_device;
ON_EVERY_DEVICE(transfer);

std::vector<int> counted(std::size_t n, int first) {
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = first + static_cast<int>(i);
  return v;
}

TEST_P(transfer, into_an_array_that_is_there) {
  for (const std::int64_t n : {0, 1, 1000}) {
    dsl::array<int> x(n);
    const int* const before = x.data();
    const std::vector<int> host = counted(static_cast<std::size_t>(n), 3);
    x.copy_from_host(host);
    EXPECT_EQ(x.copy_to_host(), host);
    EXPECT_EQ(x.data(), before);
  }
  dsl::array<int> x(10);
  const std::vector<int> longer = counted(20, 0);
  x.copy_from_host(std::span(longer).subspan(5, 10));
  EXPECT_EQ(x.copy_to_host(), counted(10, 5));
  EXPECT_THROW(x.copy_from_host(counted(9, 0)), dsl::shape_error);
  EXPECT_EQ(x.copy_to_host(), counted(10, 5));
  dsl::array<int> none;
  EXPECT_THROW(none.copy_from_host(counted(1, 0)), dsl::memory_error);
}

TEST_P(transfer, into_parts) {
  dsl::array<int, 2> m = dsl::zeros<int>(4, 6);
  m(dsl::slice(), 1).copy_from_host(counted(4, 1));
  dsl::transpose(m)(dsl::slice(2, 4)).copy_from_host(counted(8, 10));
  EXPECT_EQ(m.copy_to_host(), (std::vector<int>{0, 1, 10, 14, 0, 0, 0, 2, 11, 15, 0, 0,
                                                0, 3, 12, 16, 0, 0, 0, 4, 13, 17, 0, 0}));
  m(dsl::slice(0, 0)).copy_from_host(std::vector<int>());
}

TEST_P(transfer, from_and_to_page_locked_memory) {
  constexpr std::int64_t n = 100'003;
  dsl::pinned_array<int> in(n), out(n);
  ASSERT_EQ(in.size(), static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) in[i] = static_cast<int>(i);
  std::fill(out.begin(), out.end(), -1);
  {
    const dsl::stream first, second;
    dsl::array<int> x(n);
    {
      const dsl::stream_guard on(first);
      x.copy_from_host_async(in);
    }
    const dsl::stream_guard on(second);
    dsl::array<int> y = 2 * x;
    y(dsl::slice(0, 50'000)).copy_to_host_async(out.subspan(0, 50'000));
    y(dsl::slice(50'001, dsl::end, 2)).copy_to_host_async(out.subspan(50'000, 25'001));
  }
  out.wait();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t want = i < 50'000   ? 2 * i
                              : i < 75'001 ? 2 * (50'001 + 2 * (i - 50'000))
                                           : -1;
    ASSERT_EQ(out[i], want) << i;
  }
  EXPECT_THROW((void)out.subspan(n - 1, 2), dsl::index_error);
  EXPECT_THROW((void)out.subspan(-1, 1), dsl::index_error);
  dsl::array<int> fewer(n - 1);
  EXPECT_THROW(fewer.copy_from_host_async(in), dsl::shape_error);
  EXPECT_THROW(fewer.copy_to_host_async(out), dsl::shape_error);
}

// The source may be overwritten as soon as the call returns, page-locked or not.
TEST_P(transfer, waits_for_what_it_reads) {
  constexpr std::int64_t n = 1 << 22;
  dsl::pinned_array<int> host(n);
  dsl::array<int> x(n), y;
  for (int round = 0; round < 3; ++round) {
    std::fill(host.begin(), host.end(), round);
    x.copy_from_host(host);
    y = dsl::to_device(host);
    std::fill(host.begin(), host.end(), -1);
    ASSERT_TRUE(dsl::all(x == round && y == round).value()) << round;
  }
}

// The memory is freed after the copies that are queued on it.
TEST_P(transfer, keeps_page_locked_memory_for_a_copy) {
  constexpr std::int64_t n = 1 << 22;
  dsl::array<int> x(n);
  {
    dsl::pinned_array<int> host(n);
    std::fill(host.begin(), host.end(), 5);
    x.copy_from_host_async(host);
    dsl::pinned_array<int> moved = std::move(host);
    EXPECT_EQ(host.data(), nullptr);
    EXPECT_EQ(moved[n - 1], 5);
  }
  EXPECT_TRUE(dsl::all(x == 5 && x == 5).value());
  const dsl::pinned_array<int> none(0);
  none.wait();
  dsl::array<int>(0).copy_from_host_async(none);
  EXPECT_THROW(dsl::pinned_array<int>(-1), dsl::shape_error);
}

}  // namespace

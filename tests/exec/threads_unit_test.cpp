// Which threads take the host's work, and the memory that they work in.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "host/threads.hpp"
#include "host/working_memory.hpp"

namespace {

using namespace dsl::detail;

TEST(threads, take_each_task_once_whatever_the_work_and_within_each_other) {
  for (const std::int64_t count : {0, 1, 2, 7, 64, 1000})
    for (const double nanoseconds : {0.0, 1e3, 1e9}) {
      std::vector<int> done(static_cast<std::size_t>(count) * 3);
      on_threads(count, nanoseconds, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t outer = begin; outer < end; ++outer)
          on_threads(3, nanoseconds, [&, outer](std::int64_t first, std::int64_t last) {
            for (std::int64_t inner = first; inner < last; ++inner) ++done[static_cast<std::size_t>(3 * outer + inner)];
          });
      });
      EXPECT_EQ(done, std::vector<int>(done.size(), 1)) << count << " tasks of " << nanoseconds << " ns";
    }
}

TEST(threads, keep_no_more_of_an_affinity_than_one_call_holds) {
  const held_affinity outer;
  EXPECT_NE(outer.get(), nullptr);
  { EXPECT_EQ(held_affinity().get(), nullptr); }
  EXPECT_EQ(held_affinity().get(), nullptr);
  std::thread([] { EXPECT_NE(held_affinity().get(), nullptr); }).join();
}

TEST(working_memory, is_aligned_and_of_one_call_at_a_time) {
  for (int round = 0; round < 2; ++round) {
    std::vector<host_memory> held;
    std::set<const void*> known;
    for (const std::size_t bytes : {1, 4096, 4097, 5000, 262'144, 262'145, 1'000'000, 4096, 4096, 4096, 4096, 4096}) {
      held.push_back(allocate_host_memory(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().get()) % 64, 0U);
      EXPECT_TRUE(known.insert(held.back().get()).second);
      std::memset(held.back().get(), static_cast<int>(held.size()), bytes);
    }
    for (std::size_t k = 0; k < held.size(); ++k) EXPECT_EQ(*held[k], k + 1);
  }
  EXPECT_EQ(allocate_host_memory(0), nullptr);
}

TEST(working_memory, may_be_given_back_by_another_thread) {
  host_memory memory = allocate_host_memory(100);
  std::thread([given = std::move(memory)]() mutable { given.reset(); }).join();
}

}  // namespace

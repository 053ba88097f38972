// Which threads run the host's work, and the memory that they work in.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
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
            for (std::int64_t inner = first; inner < last; ++inner)
              ++done[static_cast<std::size_t>(3 * outer + inner)];
          });
      });
      EXPECT_EQ(done, std::vector<int>(done.size(), 1))
          << count << " tasks of " << nanoseconds << " ns";
    }
}

// Adds 1 to each of `count` numbers, in place.
void add_one(std::vector<int>& numbers, std::int64_t count, double nanoseconds) {
  on_threads(count, nanoseconds, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) ++numbers[static_cast<std::size_t>(k)];
  });
}

TEST(threads, take_one_job_after_another) {
  constexpr int jobs = 20'000, most = 300;
  std::vector<int> numbers(most), expected(most);
  for (int job = 0; job < jobs; ++job) {
    const int count = job % 2 == 0 ? 5 : job * 7919 % most;  // shares of one piece, and of several
    add_one(numbers, count, 1e6);
    for (int k = 0; k < count; ++k) ++expected[static_cast<std::size_t>(k)];
    if (job % 1000 == 0)
      std::this_thread::sleep_for(
          std::chrono::milliseconds(1));  // the threads sleep, and are woken again
  }
  EXPECT_EQ(numbers, expected);
}

TEST(threads, serve_callers_that_come_together) {
  constexpr int jobs = 500, count = 40;
  std::vector<std::vector<int>> numbers(4, std::vector<int>(count));
  std::vector<std::thread> callers;
  for (std::vector<int>& mine : numbers)
    callers.emplace_back([&mine] {
      for (int job = 0; job < jobs; ++job) add_one(mine, count, job % 2 == 0 ? 1e4 : 1e6);
    });
  for (std::thread& caller : callers) caller.join();
  for (const std::vector<int>& mine : numbers) EXPECT_EQ(mine, std::vector<int>(count, jobs));
}

TEST(threads, pass_an_error_on_and_take_the_next_job) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(on_threads(100, 1e6,
                            [](std::int64_t, std::int64_t end) {
                              if (end == 100) throw std::runtime_error("of the last task");
                            }),
                 std::runtime_error);
    std::vector<int> numbers(100);
    add_one(numbers, 100, 1e6);
    EXPECT_EQ(numbers, std::vector<int>(100, 1));
  }
}

TEST(working_memory, is_aligned_and_of_one_call_at_a_time) {
  for (int round = 0; round < 2; ++round) {
    std::vector<host_memory> held;
    std::set<const void*> known;
    for (const std::size_t bytes :
         {1, 4096, 4097, 5000, 262'144, 262'145, 1'000'000, 4096, 4096, 4096, 4096, 4096}) {
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

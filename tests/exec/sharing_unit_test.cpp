// Which threads' partial results make a result, and which thread owns it: rows shorter than a warp,
// as long, and of many warps, in warps of 32 and of 64 threads.
#include <gtest/gtest.h>

#include <dsl/exec/reduce/reduction.hpp>

#include <random>
#include <vector>

namespace {

using namespace dsl::detail;
using parts = std::vector<std::uint64_t>;

// A block combines as kernels do: lanes by halves, then the values of warps. A lane without a
// partner receives its own value.
parts combined(parts of, const sharing& threads, int warp) {
  const auto block = static_cast<int>(of.size());
  for (int step = warp / 2; step > 0; step /= 2) {
    if (!halves_at(step, threads)) continue;
    const parts before = of;
    for (int t = 0; t < block; ++t)
      of[static_cast<std::size_t>(t)] +=
          before[static_cast<std::size_t>(t % warp + step < warp ? t + step : t)];
  }
  if (!goes_across_warps(threads, warp)) return of;
  parts all = of;
  for (int t = 0; t < block; ++t) {
    if (threads.owned_by(t, block, warp) < 0) continue;
    const warp_leaders from = leaders_of(t, threads, warp);
    std::uint64_t sum = 0;
    for (int i = 0; i < from.count; ++i)
      sum += of.at(static_cast<std::size_t>(from.first + i * from.step));
    all[static_cast<std::size_t>(t)] = sum;
  }
  return all;
}

// Threads `distance` apart share a result, `parts` of them; a result has the number of its first
// thread.
int result_of(int thread, const sharing& threads) {
  return thread / threads.span() * threads.distance() + thread % threads.distance();
}

template <class Visit> void for_each_sharing(const Visit& visit) {
  for (const int warp : {32, 64})
    for (int block = warp; block <= 1024; block *= 2)
      for (int log2_distance = 0; 1 << log2_distance <= block; ++log2_distance)
        for (int log2_threads = 0; 1 << (log2_distance + log2_threads) <= block; ++log2_threads)
          visit(block, sharing{log2_distance, log2_threads}, warp);
}

std::string name_of(int block, const sharing& s) {
  return std::to_string(s.threads_a_result()) + " parts " + std::to_string(s.distance()) +
         " apart in a block of " + std::to_string(block);
}

TEST(sharing, has_one_owner_for_each_result) {
  for_each_sharing([](int block, const sharing& s, int warp) {
    std::vector<int> owners(static_cast<std::size_t>(s.owners(block)), 0);
    ASSERT_EQ(s.owners(block) * s.threads_a_result(), block);
    for (int t = 0; t < block; ++t) {
      const int owned = s.owned_by(t, block, warp);
      ASSERT_LT(owned, s.owners(block)) << name_of(block, s);
      if (owned >= 0) ++owners[static_cast<std::size_t>(owned)];
    }
    for (const int count : owners) ASSERT_EQ(count, 1) << name_of(block, s);
  });
}

// Random numbers of 64 bits: a partial result that is missing, counted twice or taken from another
// result changes the sum.
TEST(sharing, owners_get_every_part_once) {
  std::mt19937_64 engine(5);
  for_each_sharing([&](int block, const sharing& s, int warp) {
    parts of(static_cast<std::size_t>(block)), want(static_cast<std::size_t>(s.owners(block)), 0);
    for (int t = 0; t < block; ++t) {
      of[static_cast<std::size_t>(t)] = engine();
      want[static_cast<std::size_t>(result_of(t, s))] += of[static_cast<std::size_t>(t)];
    }
    const parts got = combined(of, s, warp);
    for (int t = 0; t < block; ++t)
      if (const int owned = s.owned_by(t, block, warp); owned >= 0) {
        ASSERT_EQ(got[static_cast<std::size_t>(t)], want[static_cast<std::size_t>(owned)])
            << name_of(block, s) << ", thread " << t;
      }
  });
}

// Only the values of the warps' leaders are read, and no thread beyond the block's.
TEST(sharing, leaders_are_the_first_of_their_warps) {
  for_each_sharing([](int block, const sharing& s, int warp) {
    if (!goes_across_warps(s, warp)) return;
    for (int t = 0; t < block; ++t) {
      if (s.owned_by(t, block, warp) < 0) continue;
      const warp_leaders from = leaders_of(t, s, warp);
      ASSERT_EQ(from.count * from.step, s.span()) << name_of(block, s);
      for (int i = 0; i < from.count; ++i) {
        const int leader = from.first + i * from.step;
        ASSERT_LT(leader, block);
        ASSERT_LT(leader % warp, std::min(warp, s.distance())) << name_of(block, s);
        ASSERT_EQ(result_of(leader, s), result_of(from.first, s)) << name_of(block, s);
      }
    }
  });
}

}  // namespace

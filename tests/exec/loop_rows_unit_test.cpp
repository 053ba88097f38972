// How blocks and threads of a loop divide the elements: each belongs to one thread, in registers,
// in shared memory or streamed.
#include <gtest/gtest.h>

#include <dsl/exec/loop/loop_arguments.hpp>

#include <random>
#include <vector>

namespace {

using namespace dsl::detail;

TEST(loop_rows, have_each_element_once) {
  std::mt19937 engine(1);
  const auto below = [&engine](int n) {
    return static_cast<int>(engine() % static_cast<unsigned>(n));
  };
  int uneven = 0;
  for (int round = 0; round < 3000; ++round) {
    const int lanes = 1 << below(5), threads = 32 * (1 + below(4)), blocks = 1 + below(7);
    step_schedule w{};
    w.in_shared = below(3);
    w.streamed = below(2) * (3 + below(3));
    const std::int64_t rows = w.in_shared + w.streamed;  // full rows, of all threads
    constexpr int held = 4;  // maximum number of groups in a thread's registers
    const std::int64_t most = static_cast<std::int64_t>(held) * threads * blocks;
    const std::int64_t groups = rows * threads * blocks + below(static_cast<int>(most)) + 1;
    const std::int64_t elements = groups * lanes - (rows > 0 || groups > 1 ? below(lanes) : 0);
    w.divide(groups, blocks, threads);
    uneven += w.more_from > 0 && w.more_from < blocks ? 1 : 0;
    std::vector<int> times(static_cast<std::size_t>(elements), 0);
    const auto take = [&](std::int64_t first) {
      ASSERT_EQ(first % lanes, 0);
      for (std::int64_t i = first; i < first + lanes && i < elements; ++i)
        ++times[static_cast<std::size_t>(i)];
    };
    std::int64_t fewest = most, largest = 0;
    const std::int64_t border =
        round % 2 == 0 ? 0 : below(static_cast<int>(blocks));  // offset of a mesh's second member
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t from = b < border ? 0 : border,
                         own = b < border ? border : blocks - border;
      const std::int64_t in_block = loop_rows::of(w, b, from, own, 0, threads, lanes).held_groups;
      fewest = std::min(fewest, in_block);
      largest = std::max(largest, in_block);
      for (int t = 0; t < threads; ++t) {
        const loop_rows mine = loop_rows::of(w, b, from, own, t, threads, lanes);
        ASSERT_EQ(mine.held_groups, in_block);
        for (std::int64_t r = 0; r < rows; ++r) {
          ASSERT_LE(mine.first + r * mine.row + lanes, elements) << "a row is whole";
          take(mine.first + r * mine.row);
        }
        for (std::int64_t r = 0; r * threads + t < mine.held_groups; ++r) {
          ASSERT_LT(mine.first_held + r * threads * lanes, elements) << "a group has an element";
          take(mine.first_held + r * threads * lanes);
        }
      }
    }
    ASSERT_LE(largest, fewest + 1) << "blocks have as much to do";
    for (std::size_t i = 0; i < times.size(); ++i)
      ASSERT_EQ(times[i], 1) << "round " << round << ", element " << i << " of " << elements << ", "
                             << blocks << " blocks of " << threads;
  }
  EXPECT_GT(uneven, 500);
}

TEST(history_place, comes_each_so_many_steps) {
  for (std::int64_t every = 1; every < 6; ++every)
    for (std::int64_t done = 0; done < 9; ++done) {  // steps done by earlier launches
      step_schedule w{};
      w.every = every;
      w.recorded = done / every;
      w.to_record = every - done % every;
      history_place at(w);
      for (std::int64_t step = done + 1; step < done + 20; ++step) {
        ASSERT_EQ(at.comes(w), step % every == 0) << step;
        ASSERT_EQ(at.row, step / every) << step;
      }
    }
}

}  // namespace

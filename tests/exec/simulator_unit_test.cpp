// The simulator, on small hand-written kernels: correct ones run, and each kind of fault is
// reported by its sentence.
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <dsl/mem/error.hpp>

#include "sim/grid.hpp"

namespace {

using namespace dsl::detail;

struct shape {
  int grid = 1, block = 32, shared_bytes = 0;
  bool cooperative = false;
  int cluster = 1;
};
constexpr shape one_warp{}, two_warps{1, 64};

class simulator : public testing::Test {
 protected:
  void TearDown() override { unsetenv("DSL_SIM_SEED"); }

  template <class T>
  simulated_range range_of(std::vector<T>& v, bool is_written = true, bool is_empty = false) {
    return {reinterpret_cast<std::uintptr_t>(v.data()), v.size() * sizeof(T), is_written, is_empty};
  }

  /// Runs kernel(memory, team), which may access `ints` and `cells`, and read `constants`.
  template <class Kernel>
  void run(const shape& s, const Kernel& kernel) {
    const simulated_entry entry = [](const void* k, simulated_thread& t) {
      (*static_cast<const Kernel*>(k))(simulated_memory{&t}, simulated_team{&t});
    };
    simulate({entry,
              &kernel,
              s.grid,
              s.block,
              s.shared_bytes,
              s.cooperative,
              s.cluster,
              {range_of(ints), range_of(cells), range_of(left, true, true), range_of(counters),
               range_of(constants, false)},
              "[with Name = planted]",
              nullptr,
              nullptr});
  }
  template <class Kernel>
  std::string error_of(const shape& s, const Kernel& kernel) {
    try {
      run(s, kernel);
    } catch (const dsl::memory_error& e) {
      return e.what();
    }
    return "no error";
  }

  std::vector<int> ints = std::vector<int>(4096), left = std::vector<int>(64),
                   constants = std::vector<int>(64);
  std::vector<unsigned> counters = std::vector<unsigned>(4);
  std::vector<tagged<int>> cells = std::vector<tagged<int>>(64);
};

struct tag;

TEST_F(simulator, runs_every_thread) {
  run({3, 100}, [this](auto memory, auto team) {
    memory.store(&ints[static_cast<std::size_t>(team.block() * team.threads() + team.thread())],
                 team.thread() + 1);
  });
  for (int i = 0; i < 300; ++i) ASSERT_EQ(ints[static_cast<std::size_t>(i)], i % 100 + 1);
  EXPECT_EQ(ints[300], 0);
}

TEST_F(simulator, lanes_exchange_values) {
  run({1, 40}, [this](auto memory, auto team) {
    const long value = team.thread();
    const long down = team.shift_down(value, 8), up = team.shift_up(value, 8),
               first = team.from_lane(value, 0);
    int* const to = &ints[static_cast<std::size_t>(3 * team.thread())];
    memory.store(to, static_cast<int>(down));
    memory.store(to + 1, static_cast<int>(up));
    memory.store(to + 2, static_cast<int>(first));
  });
  for (int t = 0; t < 40; ++t) {
    const int end = t < 32 ? 32 : 40, begin = t < 32 ? 0 : 32;
    ASSERT_EQ(ints[static_cast<std::size_t>(3 * t)], t + 8 < end ? t + 8 : t);
    ASSERT_EQ(ints[static_cast<std::size_t>(3 * t + 1)], t - 8 >= begin ? t - 8 : t);
    ASSERT_EQ(ints[static_cast<std::size_t>(3 * t + 2)], begin);
  }
}

// A block's sum by shared memory and barriers; the last block adds the blocks' sums.
constexpr auto sum_of_blocks = [](auto memory, auto team, const int* from, int* partials,
                                  unsigned* counter, int* to) {
  int* const shared = reinterpret_cast<int*>(memory.shared());
  const int t = team.thread(), n = team.threads();
  memory.store(shared + t, memory.template load<int>(from + team.block() * n + t));
  for (int half = n / 2; half > 0; half /= 2) {
    team.synchronize();
    if (t < half)
      memory.store(shared + t, memory.template load<int>(shared + t) +
                                   memory.template load<int>(shared + t + half));
  }
  if (t == 0) memory.store(partials + team.block(), memory.template load<int>(shared));
  if (!team.is_last(counter, static_cast<unsigned>(team.blocks()))) return;
  int sum = 0;
  for (std::int64_t b = 0; b < team.blocks(); ++b) sum += memory.template load<int>(partials + b);
  if (t == 0) memory.store(to, sum);
};

TEST_F(simulator, blocks_combine_what_they_left) {
  std::iota(ints.begin(), ints.begin() + 1024, 0);
  for (const char* seed : {"0", "1", "2", "3"}) {
    setenv("DSL_SIM_SEED", seed, 1);
    run({16, 64, 64 * sizeof(int)}, [this](auto memory, auto team) {
      sum_of_blocks(memory, team, &ints[0], &left[0], &counters[0], &ints[2000]);
    });
    EXPECT_EQ(ints[2000], 1023 * 1024 / 2);
    EXPECT_EQ(counters[0], 0u);
  }
}

// Each block writes its number to all blocks of its cluster. `waits`: which of the two barriers are
// used.
constexpr auto numbers_of_cluster = [](auto memory, auto team, int blocks, const bool (&waits)[2],
                                       int* to) {
  int* const shared = reinterpret_cast<int*>(memory.shared());
  const int block = static_cast<int>(team.block()) % blocks;
  team.arrive_in_cluster();
  team.wait_for_cluster();
  if (team.thread() < blocks)
    memory.store(team.in_block_of_cluster(shared + block, team.thread()),
                 10 * static_cast<int>(team.block()));
  if (waits[0]) team.arrive_in_cluster();
  if (waits[1]) team.wait_for_cluster();
  if (team.thread() < blocks)
    memory.store(to + static_cast<int>(team.block()) * blocks + team.thread(),
                 memory.template load<int>(shared + team.thread()));
};

TEST_F(simulator, blocks_of_a_cluster_write_to_each_others_shared_memory) {
  for (const char* seed : {"0", "1", "2", "3"}) {
    setenv("DSL_SIM_SEED", seed, 1);
    run({12, 64, 4 * sizeof(int), false, 4}, [this](auto memory, auto team) {
      numbers_of_cluster(memory, team, 4, {true, true}, &ints[0]);
    });
    for (int b = 0; b < 12; ++b)
      for (int i = 0; i < 4; ++i)
        ASSERT_EQ(ints[static_cast<std::size_t>(4 * b + i)], 10 * (b / 4 * 4 + i));
  }
  unsetenv("DSL_SIM_SEED");
  const auto error_where = [this](const bool (&waits)[2]) {
    return error_of({8, 32, 4 * sizeof(int), false, 4}, [&, this](auto memory, auto team) {
      numbers_of_cluster(memory, team, 4, waits, &ints[0]);
    });
  };
  EXPECT_NE(error_where({false, false}).find("a r"), std::string::npos)
      << error_where({false, false});  // a race, or a read of memory that was never written
  EXPECT_NE(error_where({true, false}).find("a r"), std::string::npos)
      << error_where({true, false});
  EXPECT_EQ(error_of({4, 32, 16, false, 4},
                     [](auto, auto team) {
                       if (team.block() == 1) return;
                       team.arrive_in_cluster();
                       team.wait_for_cluster();
                     }),
            "a barrier that not all threads of the cluster reach, by block 0, thread 0 of kernel "
            "planted");
  EXPECT_EQ(error_of({4, 32, 16, false, 2},
                     [](auto memory, auto team) {
                       static_cast<void>(team.in_block_of_cluster(memory.shared(), 2));
                     }),
            "an access to a block outside its cluster, by block 0, thread 0 of kernel planted");
}

TEST_F(simulator, blocks_wait_for_each_other) {
  // Each block waits for the fifth after it, which is only possible if they run concurrently.
  const auto ring = [this](auto memory, auto team) {
    if (team.thread() == 0) {
      team.publish(&cells[static_cast<std::size_t>(team.block())],
                   tagged<int>(static_cast<int>(team.block()), 7));
      tagged<int> seen;
      do {
        team.pause(100);
        team.poll(seen, &cells[static_cast<std::size_t>((team.block() + 5) % team.blocks())]);
      } while (seen.tag() != 7);
      memory.store(&ints[static_cast<std::size_t>(team.block())], seen.value());
    }
    team.synchronize();
  };
  run({16, 64, 0, true}, ring);
  for (int b = 0; b < 16; ++b) EXPECT_EQ(ints[static_cast<std::size_t>(b)], (b + 5) % 16);
  std::fill(cells.begin(), cells.end(), tagged<int>());
  EXPECT_EQ(error_of({16, 64}, ring),
            "a wait that nobody ends: no block that runs will write what is polled, by block 0, "
            "thread 0 of kernel planted");
}

TEST_F(simulator, copies_arrive) {
  std::iota(constants.begin(), constants.end(), 100);
  run({1, 32, 64 * sizeof(int)}, [this](auto memory, auto team) {
    int* const shared = reinterpret_cast<int*>(memory.shared());
    for (int i = 0; i < 2; ++i) {
      memory.copy_async(shared + 32 * i + team.thread(),
                        &constants[static_cast<std::size_t>(32 * i + team.thread())]);
      memory.commit_copies();
    }
    memory.template wait_for_copies<1>();
    const int first = memory.template load<int>(shared + team.thread());
    memory.template wait_for_copies<0>();
    team.synchronize();
    memory.store(&ints[static_cast<std::size_t>(team.thread())],
                 first + memory.template load<int>(shared + 63 - team.thread()));
  });
  for (int t = 0; t < 32; ++t) ASSERT_EQ(ints[static_cast<std::size_t>(t)], 100 + t + 163 - t);
}

TEST_F(simulator, the_order_of_arrival_is_drawn) {
  // Blocks number themselves by a ticket: the numbers depend on the order in which they begin.
  const auto numbered = [this](const char* seed) {
    setenv("DSL_SIM_SEED", seed, 1);
    counters[0] = 0;
    run({40, 32}, [this](auto memory, auto team) {
      if (team.thread() == 0)
        memory.store(&ints[static_cast<std::size_t>(team.block())],
                     static_cast<int>(team.next_ticket(&counters[0])));
    });
    return std::vector<int>(ints.begin(), ints.begin() + 40);
  };
  std::vector<int> in_order(40);
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(numbered("0"), in_order);
  EXPECT_NE(numbered("1"), in_order);
  EXPECT_NE(numbered("1"), numbered("2"));
  EXPECT_EQ(numbered("1"), numbered("1"));
  setenv("DSL_SIM_SEED", "one", 1);
  EXPECT_THROW(run(one_warp, [](auto, auto) {}), dsl::device_error);
}

TEST_F(simulator, a_sum_in_the_order_of_arrival_depends_on_the_seed) {
  const auto sum = [this](const char* seed, bool by_arrival) {
    setenv("DSL_SIM_SEED", seed, 1);
    counters[0] = 0;
    run({40, 32}, [&](auto memory, auto team) {
      if (team.thread() == 0) {
        const auto number =
            by_arrival ? team.next_ticket(&counters[0]) : static_cast<unsigned>(team.block());
        memory.store(reinterpret_cast<float*>(&left[number]),
                     1.f / static_cast<float>(team.block() * team.block() + 1));
      }
      if (!team.is_last(&counters[1], 40) || team.thread() != 0) return;
      float all = 0;
      for (int b = 0; b < 40; ++b)
        all += memory.template load<float>(&left[static_cast<std::size_t>(b)]);
      memory.store(reinterpret_cast<float*>(&ints[0]), all);
    });
    return ints[0];
  };
  EXPECT_EQ(sum("1", false), sum("0", false));
  EXPECT_EQ(sum("2", false), sum("0", false));
  EXPECT_TRUE(sum("1", true) != sum("0", true) || sum("2", true) != sum("0", true));
}

TEST_F(simulator, threads_of_the_host_launch_at_once) {
  std::fill_n(ints.begin(), 256, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 50; ++round)
        run({4, 64, 64 * sizeof(int)}, [this, i](auto memory, auto team) {
          sum_of_blocks(memory, team, &ints[0], &left[static_cast<std::size_t>(4 * i)],
                        &counters[static_cast<std::size_t>(i)],
                        &ints[static_cast<std::size_t>(2000 + i)]);
        });
    });
  for (std::thread& each : threads) each.join();
  for (const int i : {0, 1, 2, 3}) EXPECT_EQ(ints[static_cast<std::size_t>(2000 + i)], 256);
}

// Faults.

TEST_F(simulator, an_access_outside) {
  EXPECT_EQ(error_of({2, 32},
                     [this](auto memory, auto team) {
                       if (team.block() == 1 && team.thread() == 5)
                         memory.store(ints.data() + ints.size(), 1);
                     }),
            "an access outside every operand's memory, of 4 bytes, by block 1, thread 5 of kernel "
            "planted");
  struct two { int first, second; };
  EXPECT_EQ(error_of(one_warp,
                     [this](auto memory, auto) {
                       memory.template load<two>(ints.data() + ints.size() - 1);
                     }),
            "an access outside every operand's memory, of 8 bytes, by block 0, thread 0 of kernel "
            "planted");
  EXPECT_EQ(error_of(one_warp,
                     [this](auto memory, auto) {
                       memory.template load<double>(reinterpret_cast<const char*>(ints.data()) + 4);
                     }),
            "a misaligned access, of 8 bytes, by block 0, thread 0 of kernel planted");
  EXPECT_EQ(error_of(one_warp, [this](auto memory, auto) { memory.store(&constants[0], 1); }),
            "a write to memory that the kernel only reads, of 4 bytes, by block 0, thread 0 of "
            "kernel planted");
}

TEST_F(simulator, a_read_of_shared_memory_that_nobody_wrote) {
  EXPECT_EQ(error_of({3, 32, 256},
                     [](auto memory, auto team) {
                       float* const shared = reinterpret_cast<float*>(memory.shared());
                       if (team.block() == 0)
                         memory.store(shared + team.thread(),
                                      1.f);  // it is gone when the next block begins
                       if (team.thread() == 3) memory.template load<float>(shared + 3);
                     }),
            "a read of what nobody wrote, of 4 bytes of shared memory, by block 1, thread 3 of "
            "kernel planted");
  EXPECT_EQ(error_of(one_warp,
                     [](auto memory, auto team) {
                       float* const shared = team.template shared<tag, float, 4>();
                       if (team.thread() == 0) memory.store(shared, 1.f);
                       team.synchronize();
                       memory.template load<float>(shared + team.thread() / 8);
                     }),
            "a read of what nobody wrote, of 4 bytes of shared memory, by block 0, thread 31 of "
            "kernel planted");
  run({1, 32, 4}, [this](auto memory, auto) {
    if (*reinterpret_cast<const unsigned*>(memory.shared()) != 0xffffffffu)
      memory.store(&constants[0], 1);  // NaNs
  });
}

TEST_F(simulator, a_missing_wait_for_a_copy) {
  const shape s{1, 32, 512};
  const auto missing = [this](auto memory, auto team, auto wait) {
    int* const shared = reinterpret_cast<int*>(memory.shared());
    memory.copy_async(shared + team.thread(), &constants[static_cast<std::size_t>(team.thread())]);
    memory.commit_copies();
    memory.copy_async(shared + 32 + team.thread(),
                      &constants[static_cast<std::size_t>(team.thread())]);
    memory.commit_copies();
    wait(memory);
    team.synchronize();
    return memory.template load<int>(shared + 32 + team.thread());
  };
  const char* const sentence =
      "a read of what a copy brings that was not waited for, of 4 bytes of shared memory, by block "
      "0, thread 31 of kernel "
      "planted";
  EXPECT_EQ(error_of(s, [&](auto memory, auto team) { missing(memory, team, [](auto) {}); }),
            sentence);
  EXPECT_EQ(error_of(s,
                     [&](auto memory, auto team) {
                       missing(memory, team, [](auto m) { m.template wait_for_copies<1>(); });
                     }),
            sentence);
  EXPECT_EQ(error_of(s,
                     [&](auto memory, auto team) {
                       missing(memory, team, [](auto m) { m.template wait_for_copies<0>(); });
                     }),
            "no error");
}

TEST_F(simulator, a_barrier_that_not_all_threads_reach) {
  EXPECT_EQ(error_of(two_warps,
                     [](auto, auto team) {
                       if (team.thread() != 40) team.synchronize();
                     }),
            "a barrier that not all threads of the block reach: thread 40 has ended, and thread 0 "
            "waits at a barrier of the "
            "block, by block 0, thread 0 of "
            "kernel planted");
  EXPECT_EQ(error_of(two_warps,
                     [](auto, auto team) {
                       if (team.thread() % 2 == 0) team.synchronize_warp();
                     }),
            "a warp's operation that not all its lanes reach: thread 1 has ended, and thread 0 "
            "waits at a barrier of the warp, "
            "by block 0, thread 0 of kernel planted");
  EXPECT_EQ(error_of(two_warps,
                     [](auto, auto team) {
                       if (team.thread() < 40) team.synchronize();
                       else team.shift_down(1, 1);
                     }),
            "a warp's operation that not all its lanes reach: thread 32 waits at a barrier of the "
            "block, and thread 40 waits for "
            "other lanes' values, by block 0, "
            "thread 40 of kernel planted");
}

TEST_F(simulator, a_race_in_shared_memory) {
  // A block's sum without the barrier before the halves are added, and without the one between
  // them.
  EXPECT_EQ(error_of({1, 64, 512},
                     [](auto memory, auto team) {
                       int* const shared = reinterpret_cast<int*>(memory.shared());
                       memory.store(shared + team.thread(), 1);
                       memory.template load<int>(shared + (team.thread() + 1) % 64);
                     }),
            "a read of what nobody wrote, of 4 bytes of shared memory, by block 0, thread 0 of "
            "kernel planted");
  EXPECT_EQ(error_of({1, 64, 512},
                     [](auto memory, auto team) {
                       int* const shared = reinterpret_cast<int*>(memory.shared());
                       memory.store(shared + team.thread(), 1);
                       team.synchronize();
                       memory.store(shared + team.thread(),
                                    memory.template load<int>(shared + (team.thread() + 63) % 64));
                     }),
            "a race: a read of 4 bytes of shared memory that block 0, thread 32 writes with no "
            "barrier between them, by block 0, "
            "thread 33 of kernel planted");
  EXPECT_EQ(error_of({1, 64, 512},
                     [](auto memory, auto team) {
                       int* const shared = reinterpret_cast<int*>(memory.shared());
                       if (team.thread() == 9) memory.store(shared, 1);
                       team.synchronize_warp();
                       if (team.thread() == 3) memory.store(shared, 2);
                       team.synchronize_warp();
                       if (team.thread() == 35) memory.store(shared, 3);
                     }),
            "a race: a write of 4 bytes of shared memory that block 0, thread 3 writes with no "
            "barrier between them, by block 0, "
            "thread 35 of kernel planted");
  EXPECT_EQ(error_of({1, 64, 512},
                     [](auto memory, auto team) {
                       if (team.thread() < 2)
                         memory.store(memory.shared() + team.thread(),
                                      static_cast<unsigned char>(1));  // neighbours: no race
                     }),
            "no error");
}

// Three warps add to one cell in turn, twice; one wait or arrival is left out.
TEST_F(simulator, a_missing_turn) {
  const auto error_with = [&](bool passes, bool awaits) {
    return error_of({1, 96, 512}, [=](auto memory, auto team) {
      int* const cell = reinterpret_cast<int*>(memory.shared()) + team.lane();
      if (team.warp() == 0) memory.store(cell, 0);
      team.synchronize();
      for (int round = 0; round < 2; ++round) {
        if (awaits && (round > 0 || team.warp() > 0)) team.await_turn();
        memory.store(cell, memory.template load<int>(cell) + 1);
        if (passes) team.pass_turn((team.warp() + 1) % 3);
      }
      if (awaits && team.warp() == 0) team.await_turn();
      team.synchronize();
      if (team.warp() == 2 && memory.template load<int>(cell) != 6)
        memory.template load<int>(nullptr);
    });
  };
  EXPECT_EQ(error_with(true, true), "no error");
  const std::string none = error_with(false, false), unawaited = error_with(true, false),
                    ungiven = error_with(false, true);
  EXPECT_TRUE(none.starts_with("a race: a ") && unawaited.starts_with("a race: a "))
      << none << unawaited;
  EXPECT_TRUE(ungiven.find("wait") != std::string::npos) << ungiven;
}

TEST_F(simulator, a_race_in_global_memory) {
  EXPECT_EQ(error_of({2, 32},
                     [this](auto memory, auto team) {
                       memory.store(&ints[static_cast<std::size_t>(team.thread())], 1);
                     }),
            "a race: a write of 4 bytes of global memory that block 0, thread 0 writes with no "
            "barrier between them, by block 1, "
            "thread 0 of kernel planted");
  EXPECT_EQ(error_of(one_warp,
                     [this](auto memory, auto team) {
                       memory.template load<int>(&ints[7]);
                       if (team.thread() == 20) memory.store(&ints[7], 1);
                     }),
            "a race: a write of 4 bytes of global memory that block 0, thread 0 reads with no "
            "barrier between them, by block 0, "
            "thread 20 of kernel planted");
  // A value passed between blocks with a separate tag, without a fence between the two writes.
  EXPECT_EQ(error_of({2, 32, 0, true},
                     [this](auto memory, auto team) {
                       if (team.thread() != 0) return;
                       if (team.block() == 0) {
                         memory.store(&ints[7], 1);
                         team.publish(&cells[0], tagged<int>(1, 1));
                       } else {
                         tagged<int> seen;
                         do team.poll(seen, &cells[0]);
                         while (seen.tag() != 1);
                         memory.template load<int>(&ints[7]);
                       }
                     }),
            "a race: a read of 4 bytes of global memory that block 0, thread 0 writes with no "
            "barrier between them, by block 1, "
            "thread 0 of kernel planted");
}

TEST_F(simulator, goes_on_after_a_fault) {
  for (int i = 0; i < 100; ++i)
    EXPECT_NE(error_of({4, 256},
                       [](auto, auto team) {
                         if (team.thread() != 100) team.synchronize();
                       }),
              "no error");
  run({2, 256}, [](auto, auto team) { team.synchronize(); });
  struct other {};
  EXPECT_THROW(run({2, 256},
                   [](auto, auto team) {
                     team.synchronize();
                     if (team.thread() == 77) throw other{};
                     team.synchronize();
                   }),
               other);
}

}  // namespace

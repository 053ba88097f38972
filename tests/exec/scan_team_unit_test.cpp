// Scans within a block and across blocks: how threads join what precedes each, with numbered
// elements as values, in the simulator.
#include <gtest/gtest.h>

#include <dsl/exec/scan/scan_kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "sim/grid.hpp"

namespace {

using dsl::detail::scan_block_threads;
using dsl::detail::scan_groups;
using dsl::detail::segment_state;
using dsl::detail::simulated_memory;
using dsl::detail::simulated_team;
using dsl::detail::simulated_thread;

// Elements first .. last of a row, in the order in which they were joined.
struct numbers {
  std::int64_t first, last;
  bool has_gap;  // joined elements that are not consecutive
  friend bool operator==(const numbers&, const numbers&) = default;
};
struct numbered_segment {
  numbers value;
  segment_state state;
  bool is_none() const { return state == segment_state::none; }
  bool is_headed() const { return state == segment_state::headed; }
  numbered_segment where(bool exists) const {
    return {value, exists ? state : segment_state::none};
  }
  unsigned tag() const { return static_cast<unsigned>(state); }
  static numbered_segment of(const numbers& value, unsigned tag) {
    return {value, static_cast<segment_state>(tag)};
  }
};
struct following;
template <class Operator> numbered_segment join(const numbered_segment& a,
                                                const numbered_segment& b) {
  if (a.is_none() || b.is_headed()) return b;
  if (b.is_none()) return a;
  return {{a.value.first, b.value.last,
           a.value.has_gap || b.value.has_gap || a.value.last != b.value.first},
          a.state};
}
using scan_of_numbers =
    dsl::detail::segment_scan<following, numbered_segment, simulated_memory, simulated_team>;

// Beginnings of rows: of equal length, or drawn.
struct rows {
  std::vector<std::int64_t> begins;
  std::int64_t begin_of(std::int64_t element) const {
    return *(std::upper_bound(begins.begin(), begins.end(), element) - 1);
  }
  bool begin_at(std::int64_t element) const { return begin_of(element) == element; }
};
rows rows_of(std::int64_t elements, std::int64_t longest, std::mt19937& engine) {
  rows r;
  for (std::int64_t at = 0; at < elements;
       at += 1 + static_cast<std::int64_t>(engine() % static_cast<unsigned long>(longest)))
    r.begins.push_back(at);
  return r;
}

// The joined elements from `first` up to `last`, restricted to the last row among them.
numbered_segment total_of(const rows& r, std::int64_t first, std::int64_t last) {
  if (first >= last) return {};
  const std::int64_t begin = r.begin_of(last - 1);
  return {{std::max(first, begin), last, false},
          begin >= first ? segment_state::headed : segment_state::open};
}

// Runs kernel(memory, team) on a grid.
template <class Kernel>
void run(std::int64_t grid, int block, const Kernel& kernel,
         std::vector<dsl::detail::simulated_range> memory = {}) {
  const dsl::detail::simulated_entry entry = [](const void* k, simulated_thread& t) {
    (*static_cast<const Kernel*>(k))(simulated_memory{&t}, simulated_team{&t});
  };
  dsl::detail::simulate(
      {entry, &kernel, grid, block, 0, false, 1, std::move(memory), "the scan", nullptr, nullptr});
}

TEST(scan_team, a_block_knows_what_comes_before_each_thread) {
  std::mt19937 engine(1);
  constexpr std::int64_t threads = scan_block_threads, before = 1000;
  for (const std::int64_t longest : {1, 40, 5000})
    for (const std::int64_t elements : {threads, threads - 1, std::int64_t{33}, std::int64_t{1}}) {
      const rows r = rows_of(before + threads, longest, engine);
      const numbered_segment first =
          r.begin_at(before) ? numbered_segment{} : total_of(r, 0, before);
      std::vector<numbered_segment> got(threads);
      run(1, scan_block_threads, [&](simulated_memory memory, simulated_team team) {
        const std::int64_t i = team.thread();
        const numbered_segment own =
            i < elements ? total_of(r, before + i, before + i + 1) : numbered_segment{};
        got[static_cast<std::size_t>(i)] =
            scan_of_numbers(memory, team).scan_block(own, [&](const numbered_segment& total) {
              EXPECT_EQ(total.value, total_of(r, before, before + elements).value) << elements;
              return first;
            });
      });
      for (std::int64_t i = 0; i < elements; ++i) {
        // The row's elements before this one; not checked where the thread begins a row.
        if (r.begin_at(before + i)) continue;
        const numbered_segment& each = got[static_cast<std::size_t>(i)];
        ASSERT_FALSE(each.is_none()) << i;
        ASSERT_EQ(each.value, (numbers{r.begin_of(before + i), before + i, false}))
            << i << " of " << elements << ", rows up to " << longest;
      }
    }
}

// Blocks that wait only for blocks before them.
void blocks_know_what_comes_before(std::int64_t tiles, std::int64_t tile, std::int64_t longest,
                                   std::mt19937& engine) {
  using cells = std::vector<scan_of_numbers::cell>;
  const rows r = rows_of(tiles * tile, longest, engine);
  const auto groups = static_cast<std::size_t>(tiles / scan_groups + 1),
             prefixes = groups / scan_groups + 2;
  cells of_tiles(static_cast<std::size_t>(tiles)), of_groups(groups), of_all(prefixes);
  unsigned ticket = 0;
  dsl::detail::scan_parameters given{};
  given.tiles = of_tiles.data();
  given.groups = of_groups.data();
  given.prefixes = of_all.data();
  const auto range_of = [](cells& c) {
    return dsl::detail::simulated_range{reinterpret_cast<std::uintptr_t>(c.data()),
                                        c.size() * sizeof(c[0]), true};
  };
  std::vector<numbered_segment> got(static_cast<std::size_t>(tiles));
  // Blocks of two warps: at the barrier after the ticket one warp may overtake the other.
  run(tiles, 64,
      [&](simulated_memory memory, simulated_team team) {
        unsigned mine = 0;
        if (team.thread() == 0) mine = team.next_ticket(&ticket);
        const unsigned number = team.from_lane(mine, 0);
        team.synchronize();
        if (team.warp() > 0) return;
        const scan_of_numbers scan(memory, team);
        const numbered_segment before =
            scan.look_back(given, number, r.begin_at(number * tile),
                           total_of(r, number * tile, (number + 1) * tile), 0);
        if (team.thread() == 0) got[number] = before;
      },
      {range_of(of_tiles),
       range_of(of_groups),
       range_of(of_all),
       {reinterpret_cast<std::uintptr_t>(&ticket), sizeof ticket, true}});
  for (std::int64_t k = 0; k < tiles; ++k) {
    const numbered_segment& before = got[static_cast<std::size_t>(k)];
    const bool begins_row = r.begin_at(k * tile);
    ASSERT_EQ(before.is_none(), begins_row) << "tile " << k << " of " << tiles;
    if (begins_row) continue;
    ASSERT_EQ(before.value, (numbers{r.begin_of(k * tile), k * tile, false}))
        << "tile " << k << " of " << tiles << ", rows up to " << longest;
  }
}

TEST(scan_team, a_block_knows_what_comes_before_it) {
  std::mt19937 engine(2);
  for (const char* seed : {"1", "2", "3"}) {
    setenv("DSL_SIM_SEED", seed, 1);
    blocks_know_what_comes_before(70, 7, 300, engine);
  }
  unsetenv("DSL_SIM_SEED");
  for (const std::int64_t tiles : {1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 3200})
    for (const std::int64_t longest :
         {std::int64_t{1}, std::int64_t{9}, std::int64_t{300}, std::int64_t{8000}, tiles * 7})
      if (tiles <= 64 || longest >= 8000) blocks_know_what_comes_before(tiles, 7, longest, engine);
}

}  // namespace

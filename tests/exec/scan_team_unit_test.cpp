// How the threads of a block, and blocks, join what comes before each: with stretches of numbered elements in the place of values.
#include <gtest/gtest.h>

#include <dsl/exec/scan_kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using dsl::detail::scan_block_threads;
using dsl::detail::scan_groups;

// Elements first .. last of a row, in the order in which they were joined; headed: a row begins among them, at `first`.
struct stretch_of_elements {
  std::int64_t first = 0, last = 0;
  bool any = false, headed = false;
  friend bool operator==(const stretch_of_elements&, const stretch_of_elements&) = default;
};
using lanes = std::vector<stretch_of_elements>;

// All threads of a block at once, or a warp's. It counts what must not be: stretches joined that do not follow each other, and waiting
// for what nobody will leave.
struct team {
  struct slot {
    stretch_of_elements left;
    bool is_full = false;
  };
  static constexpr int warps = scan_block_threads / 32;
  lanes of_warp = none();
  int gaps = 0, deadlocks = 0, overwritten = 0;

  static lanes none() { return lanes(32); }
  lanes join(const lanes& a, const lanes& b) {
    lanes joined = b;
    for (std::size_t t = 0; t < a.size(); ++t) {
      if (!a[t].any || b[t].headed) continue;
      joined[t] = a[t];
      if (!b[t].any) continue;
      if (a[t].last != b[t].first) ++gaps;
      joined[t].last = b[t].last;
    }
    return joined;
  }
  static bool is_headed(const lanes& v) { return v[0].headed; }
  static bool is_first_warp() { return true; }
  static void synchronize() {}
  static lanes shift_up(const lanes& v, int step) {
    lanes shifted(v.size());
    for (std::size_t t = 0; t < v.size(); ++t)
      if (t % 32 >= static_cast<std::size_t>(step)) shifted[t] = v[t - static_cast<std::size_t>(step)];
    return shifted;
  }
  static lanes from_lane(const lanes& v, int lane) { return lanes(32, v.at(static_cast<std::size_t>(lane))); }

  void leave_warp_total(int round, const lanes& scanned) {
    for (int w = 0; w < warps; ++w)
      of_warp.at(static_cast<std::size_t>(round * warps + w)) = scanned[static_cast<std::size_t>(32 * w + 31)];
  }
  template <int Rounds> lanes warp_totals() const {
    lanes v = of_warp;
    for (std::size_t i = Rounds * warps; i < 32; ++i) v[i] = {};
    return v;
  }
  void leave_prefixes(const lanes& v) { of_warp = v; }
  lanes warp_prefix(int round) const {
    lanes v;
    for (int t = 0; t < scan_block_threads; ++t) v.push_back(of_warp.at(static_cast<std::size_t>(round * warps + t / 32)));
    return v;
  }

  void publish(slot* to, const lanes& v) {
    overwritten += to->is_full ? 1 : 0;
    *to = {v[0], true};
  }
  struct request_type {
    const slot* from;
    unsigned count;
  };
  static request_type request(const slot* from, unsigned count) { return {from, count}; }
  lanes wait_for(const request_type& r) {
    lanes v = none();
    for (unsigned i = 0; i < r.count; ++i) {
      deadlocks += r.from[i].is_full ? 0 : 1;
      v.at(i) = r.from[i].left;
    }
    return v;
  }
};

// Where rows begin: as long as they are, or drawn.
struct rows {
  std::vector<std::int64_t> begins;
  std::int64_t begin_of(std::int64_t element) const { return *(std::upper_bound(begins.begin(), begins.end(), element) - 1); }
  bool begin_at(std::int64_t element) const { return begin_of(element) == element; }
};
rows rows_of(std::int64_t elements, std::int64_t longest, std::mt19937& engine) {
  rows r;
  for (std::int64_t at = 0; at < elements; at += 1 + static_cast<std::int64_t>(engine() % static_cast<unsigned long>(longest)))
    r.begins.push_back(at);
  return r;
}

// Elements from one on, up to another: of the last row among them.
stretch_of_elements total_of(const rows& r, std::int64_t first, std::int64_t last) {
  if (first >= last) return {};
  const std::int64_t begin = r.begin_of(last - 1);
  return {std::max(first, begin), last, true, begin >= first};
}

template <int Rounds> void a_block_knows_what_comes_before_each_thread(std::mt19937& engine) {
  constexpr std::int64_t threads = Rounds * scan_block_threads, before = 1000;
  for (const std::int64_t longest : {1, 3, 40, 700, 5000})
    for (const std::int64_t elements : {threads, threads - 1, std::int64_t{33}, std::int64_t{1}}) {
      rows r = rows_of(before + threads, longest, engine);
      team block;
      lanes values[Rounds];
      for (std::int64_t i = 0; i < threads; ++i)
        values[i / scan_block_threads].push_back(i < elements ? total_of(r, before + i, before + i + 1) : stretch_of_elements{});
      const stretch_of_elements first = r.begin_at(before) ? stretch_of_elements{} : total_of(r, 0, before);
      dsl::detail::scan_block(block, values, [&](const lanes& total) {
        EXPECT_EQ(total[0], total_of(r, before, before + elements)) << elements;
        return lanes(32, first);
      });
      EXPECT_EQ(block.gaps, 0);
      for (std::int64_t i = 0; i < elements; ++i) {
        // The row's elements before this one; where the thread begins a row nobody looks.
        if (r.begin_at(before + i)) continue;
        const stretch_of_elements got = values[i / scan_block_threads].at(static_cast<std::size_t>(i % scan_block_threads));
        ASSERT_TRUE(got.any) << i;
        ASSERT_EQ(got.first, r.begin_of(before + i)) << i << " of " << elements << ", rows up to " << longest;
        ASSERT_EQ(got.last, before + i) << i;
      }
    }
}

TEST(scan_team, a_block_knows_what_comes_before_each_thread) {
  std::mt19937 engine(1);
  a_block_knows_what_comes_before_each_thread<1>(engine);
  a_block_knows_what_comes_before_each_thread<2>(engine);
  a_block_knows_what_comes_before_each_thread<4>(engine);
}

// Blocks one after another, each of which waits only for those before it.
void blocks_know_what_comes_before(std::int64_t tiles, std::int64_t tile, std::int64_t longest, std::mt19937& engine) {
  const rows r = rows_of(tiles * tile, longest, engine);
  const auto groups = static_cast<std::size_t>(tiles / scan_groups + 1), prefixes = groups / scan_groups + 2;
  std::vector<team::slot> of_tiles(static_cast<std::size_t>(tiles)), of_groups(groups), of_all(prefixes);
  dsl::detail::scan_parameters scan{};
  scan.tiles = of_tiles.data(), scan.groups = of_groups.data(), scan.prefixes = of_all.data();
  team all;
  for (std::int64_t k = 0; k < tiles; ++k) {
    const lanes total(32, total_of(r, k * tile, (k + 1) * tile));
    const bool begins_row = r.begin_at(k * tile);
    const stretch_of_elements before = dsl::detail::look_back(all, scan, static_cast<unsigned>(k), begins_row, total)[0];
    ASSERT_EQ(before.any, !begins_row) << "tile " << k << " of " << tiles;
    if (begins_row) continue;
    ASSERT_EQ(before.first, r.begin_of(k * tile)) << "tile " << k << " of " << tiles << ", rows up to " << longest;
    ASSERT_EQ(before.last, k * tile) << "tile " << k << " of " << tiles;
  }
  EXPECT_EQ(all.gaps, 0);
  EXPECT_EQ(all.deadlocks, 0);
  EXPECT_EQ(all.overwritten, 0);
}

TEST(scan_team, a_block_knows_what_comes_before_it) {
  std::mt19937 engine(2);
  for (const std::int64_t tiles : {1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 3200})
    for (const std::int64_t longest : {std::int64_t{1}, std::int64_t{9}, std::int64_t{300}, std::int64_t{8000}, tiles * 7})
      blocks_know_what_comes_before(tiles, 7, longest, engine);
}

}  // namespace

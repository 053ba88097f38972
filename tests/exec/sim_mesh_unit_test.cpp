// Simulated GPUs as one device: which member owns memory, which blocks each runs, and which
// accesses need a wait.
#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <string>
#include <vector>

#include "../error_of.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/shares.hpp"
#include "mem/buffer.hpp"
#include "sim/mesh.hpp"

namespace {

using namespace dsl::detail;
using ends = std::vector<std::int64_t>;

constexpr std::size_t granule = 256;

struct sim_meshes : testing::Test {
  const dsl::device where{"sim:0-3"};
  sim_mesh& mesh = static_cast<sim_mesh&>(back_end::of(where));
  const dsl::device_guard guard{where};

  std::vector<std::size_t> parts(const dsl::array<std::uint8_t>& a, std::size_t first,
                                 std::size_t bytes) const {
    std::vector<std::size_t> all(4);
    mesh.part_ends(a.data() + first, bytes, all.data());
    return all;
  }

  // Member m runs block m, which calls touch(memory) for some of an array's bytes.
  struct touch {
    const unsigned char* at;
    std::int64_t bytes;
    bool writes;
  };
  void run(const dsl::array<std::uint8_t>& a, const std::vector<touch>& by_member,
           bool is_local) const {
    const simulated_entry entry = [](const void* touches, simulated_thread& t) {
      const touch& mine =
          (*static_cast<const std::vector<touch>*>(touches))[static_cast<std::size_t>(t.block)];
      const simulated_memory memory{&t};
      for (std::int64_t i = 0; i < mine.bytes; ++i)
        if (mine.writes)
          memory.store(const_cast<unsigned char*>(mine.at + i),
                       static_cast<unsigned char>(t.member));
        else static_cast<void>(memory.load<unsigned char>(mine.at + i));
    };
    simulated_launch launch{entry,   &by_member, 4, 1, 0, false, 1, {}, "[with Name = planted]",
                            nullptr, nullptr};
    launch.memory.push_back(
        {reinterpret_cast<std::uintptr_t>(a.data()), static_cast<std::size_t>(a.size()), true});
    launch.member_ends = {1, 2, 3, 4};
    mesh.run(launch, is_local);
  }
};

TEST_F(sim_meshes, have_the_sum_of_their_members) {
  EXPECT_STREQ(where.name().c_str(), "sim:0-3");
  EXPECT_STREQ(dsl::properties(where).name, "4 x simulator");
  EXPECT_EQ(dsl::properties(where).multiprocessors,
            4 * dsl::properties(dsl::backend::sim).multiprocessors);
  EXPECT_EQ(dsl::device("sim:3,0-2"), dsl::device("sim:3,0,1,2"));
  EXPECT_NE(dsl::device("sim:3,0-2"), where);
}

TEST_F(sim_meshes, share_an_array_s_memory) {
  const dsl::array<std::uint8_t> small(4 * granule - 1), large(4 * granule),
      odd(10 * granule + 100);
  EXPECT_EQ(parts(small, 0, 100), (std::vector<std::size_t>{100, 100, 100, 100}));
  EXPECT_EQ(parts(large, 0, 4 * granule),
            (std::vector<std::size_t>{granule, 2 * granule, 3 * granule, 4 * granule}));
  EXPECT_EQ(parts(large, granule, 2 * granule),
            (std::vector<std::size_t>{0, granule, 2 * granule, 2 * granule}));
  EXPECT_EQ(parts(large, 1, 1), (std::vector<std::size_t>{1, 1, 1, 1}));
  const auto all = parts(odd, 0, 10 * granule + 100);
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(all[m] % granule, 0);
    EXPECT_NEAR(static_cast<double>(all[m]),
                static_cast<double>((10 * granule + 100) * (m + 1)) / 4, granule / 2 + 4);
  }
  EXPECT_EQ(all[3], 10 * granule + 100);
}

// Each member's blocks, for a given number of elements per block.
struct shared_launch {
  dsl::array<float> a, b;
  operand operands[2]{};
  pass_view pass{};
  kernel_launch k{{nullptr, nullptr, nullptr, pass}, 0, 32, 0, nullptr, operands, 1, 1, 0};
  explicit shared_launch(std::int64_t n, std::int64_t elements_a_block) : a(n), b(n) {
    const auto set = [n](operand& o, const dsl::array<float>& of) {
      const std::int64_t one = 1;
      set_array(o, dsl::dtype::float32, 1, of.view().owner(), of.data(), &n, &one);
    };
    set(operands[0], a);
    set(operands[1], b);
    k.grid = (n + elements_a_block - 1) / elements_a_block;
    k.elements = n;
    k.elements_a_block = elements_a_block;
  }
};

TEST_F(sim_meshes, maps_of_whole_arrays_are_cut_at_the_same_elements) {
  for (const std::int64_t tile : {256, 512, 1024}) {
    const shared_launch of(10000, tile);
    const grid_shares shares = shares_of(of.k, mesh);
    EXPECT_TRUE(shares.is_local);
    EXPECT_EQ(shares.ends, (ends{2048 / tile, 5120 / tile, 7168 / tile, of.k.grid}));
  }
  const shared_launch wide(10000, 2048);
  EXPECT_FALSE(shares_of(wide.k, mesh).is_local);
  EXPECT_EQ(shares_of(wide.k, mesh).ends, (ends{2, 3, 4, 5}));
}

TEST_F(sim_meshes, what_is_no_map_of_whole_arrays_waits) {
  shared_launch of(10000, 1024);
  of.operands[0].word[0] += 4;
  EXPECT_FALSE(shares_of(of.k, mesh).is_local);
  of.operands[0].word[0] -= 4;
  EXPECT_TRUE(shares_of(of.k, mesh).is_local);
  of.operands[0].kind = operand_kind::neighbour;
  EXPECT_FALSE(shares_of(of.k, mesh).is_local);
  of.operands[0].kind = operand_kind::array;
  of.k.elements = 9999;
  EXPECT_FALSE(shares_of(of.k, mesh).is_local);
  of.k.elements = 10000;
  const memory_range other{of.a.data(), 4, false};
  of.k.others = &other;
  of.k.other_count = 1;
  EXPECT_FALSE(shares_of(of.k, mesh).is_local);
  const dsl::array<float> one(1);
  of.k.other_count = 0;
  set_array(of.operands[0], dsl::dtype::float32, 0, one.view().owner(), one.data(), nullptr,
            nullptr);
  EXPECT_FALSE(shares_of(of.k, mesh).is_local);
}

TEST_F(sim_meshes, what_lies_with_one_member_is_done_by_it) {
  shared_launch of(100, 32);
  EXPECT_TRUE(shares_of(of.k, mesh).is_local);
  EXPECT_EQ(shares_of(of.k, mesh).ends, (ends{4, 4, 4, 4}));
  EXPECT_EQ(properties_for(where, of.operands, 2).multiprocessors,
            dsl::properties(dsl::backend::sim).multiprocessors);
  const shared_launch large(10000, 1024);
  EXPECT_EQ(properties_for(where, large.operands, 2).multiprocessors,
            dsl::properties(where).multiprocessors);
  of.operands[0] = large.operands[0];
  EXPECT_FALSE(shares_of(of.k, mesh).is_local);
  EXPECT_EQ(shares_of(of.k, mesh).ends, (ends{1, 2, 3, 4}));
}

TEST_F(sim_meshes, clusters_are_not_divided) {
  shared_launch of(100000, 1024);
  of.k.grid = 30;
  of.k.cluster = 5;
  of.k.elements_a_block = 0;
  EXPECT_EQ(shares_of(of.k, mesh).ends, (ends{10, 15, 25, 30}));
}

TEST_F(sim_meshes, values_for_other_members_are_published_for_them) {
  struct exchange {
    bool to_mesh, of_mesh;
    tagged<int> cell[1]{};
  };
  const auto run_with = [](exchange x) {
    const simulated_entry entry = [](const void* given, simulated_thread& t) {
      auto& of = *static_cast<exchange*>(const_cast<void*>(given));
      const simulated_team team{&t};
      if (t.block == 1) return team.publish(of.cell, tagged<int>(5, 1), of.to_mesh);
      tagged<int> seen;
      do team.poll(seen, of.cell, of.of_mesh);
      while (seen.tag() != 1);
    };
    simulated_launch launch{entry,   &x,     2, 1, 0, true, 1, {}, "[with Name = planted]",
                            nullptr, nullptr};
    launch.memory.push_back({reinterpret_cast<std::uintptr_t>(x.cell), sizeof x.cell, true});
    launch.member_ends = {1, 2};
    return error_of([&] { simulate(launch); });
  };
  EXPECT_EQ(run_with({true, true}), "no error");
  EXPECT_EQ(run_with({false, true}),
            "a value of another device's block that is published for one device, by block 0, "
            "thread 0 of kernel planted");
  EXPECT_EQ(run_with({true, false}),
            "a value of another device's block that is polled for one device, by block 0, thread 0 "
            "of kernel planted");
}

TEST_F(sim_meshes, members_wait_where_they_share_elements) {
  const dsl::array<std::uint8_t> a(4000);
  const unsigned char* const p = a.data();
  const auto own = [p](bool writes) {
    return std::vector<touch>{{p, 1000, writes},
                              {p + 1000, 1000, writes},
                              {p + 2000, 1000, writes},
                              {p + 3000, 1000, writes}};
  };
  run(a, own(true), true);
  run(a, own(false), true);
  run(a, own(true), true);
  const std::vector<touch> reads{{p, 0, false}, {p + 999, 1, false}, {p, 0, false}, {p, 0, false}};
  EXPECT_EQ(error_of([&] { run(a, reads, true); }),
            "a race between devices of sim:0-3: number 1 reads what number 0 has written, and does "
            "not wait for it, in kernel planted");
  run(a, reads, false);
  run(a, reads, true);
  EXPECT_EQ(error_of([&] { run(a, own(true), true); }),
            "a race between devices of sim:0-3: number 0 writes what number 1 has read, and does "
            "not wait for it, in kernel planted");
  mesh.set_zero(const_cast<unsigned char*>(p), 1, 0, nullptr);
  run(a, own(true), true);
  const std::vector<touch> writes{{p, 0, true}, {p, 0, true}, {p, 0, true}, {p + 2999, 1, true}};
  EXPECT_EQ(error_of([&] { run(a, writes, true); }),
            "a race between devices of sim:0-3: number 3 writes what number 2 has written, and "
            "does not wait for it, in kernel "
            "planted");
}

}  // namespace

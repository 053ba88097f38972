// The kernels of a reduction by key: elements become a table of accumulators, one for each group, and tables become results.
#pragma once

#include <dsl/exec/by_key_arguments.hpp>
#include <dsl/exec/cuda_team.hpp>
#include <dsl/exec/kernel_name.hpp>
#include <dsl/exec/sim_team.hpp>
#include <dsl/exec/warp_tiles.hpp>

namespace dsl::detail {

/// A pass whose elements' first output is the key, int64, and whose one result is a group's.
template <class Pass, int Inputs, class Arguments, class Memory, class Team>
struct by_key_body : warp_tiles<Pass, Inputs, Arguments, Memory> {
  using base = warp_tiles<Pass, Inputs, Arguments, Memory>;
  using group = typename base::group;
  using accumulators = typename base::accumulators;
  using reductions = typename base::reductions;
  using base::args, base::lanes, base::memory;
  // Groups of lanes that are read before the first of them is computed with.
  static constexpr int ahead = base::strided || base::calls_formula ? 1 : lanes > 4 ? 2 : 4;

  const by_key_parameters& given;
  const Team team;

  DSL_DETAIL_KERNEL_FN by_key_body(const by_key_arguments<Arguments>& a, Memory m, Team t)
      : base(a, m), given(a.by_key), team(t) {}

  /// Makes a block's table of its elements. Each warp has copies of its own, of which the lanes share one: nothing is done
  /// atomically, so any rule will do, and the order is the same each time.
  DSL_DETAIL_KERNEL_FN void accumulate() {
    const int lane = team.lane(), entries = given.span << given.log2_copies;
    accumulators* const tables = reinterpret_cast<accumulators*>(memory.shared());
    accumulators* const table = tables + team.warp() * entries;
    DSL_DETAIL_ROLLED
    for (int i = lane; i < entries; i += 32) memory.store(table + i, reductions::identities());
    team.synchronize_warp();

    const int warps = team.threads() / 32;
    const std::int64_t step = team.blocks() * warps;
    DSL_DETAIL_ROLLED
    for (std::int64_t tile = team.block() * warps + team.warp(); tile < args.tiles; tile += ahead * step) {
      group g[ahead];
      if (this->are_whole_to(tile + (ahead - 1) * step)) {
        DSL_DETAIL_UNROLL
        for (int u = 0; u < ahead; ++u) this->read_whole(g[u], tile + u * step, lane);
      } else {
        DSL_DETAIL_UNROLL
        for (int u = 0; u < ahead; ++u) this->read(g[u], tile + u * step, lane);
      }
      DSL_DETAIL_UNROLL
      for (int u = 0; u < ahead; ++u) add(g[u], table);
    }
    team.synchronize_warp();

    DSL_DETAIL_ROLLED
    for (int i = lane; i < given.span; i += 32) {
      accumulators sum = memory.template load<accumulators>(table + (i << given.log2_copies));
      DSL_DETAIL_ROLLED
      for (int c = 1; c < 1 << given.log2_copies; ++c)
        reductions::add(sum, memory.template load<accumulators>(table + (i << given.log2_copies) + c));
      memory.store(table + (i << given.log2_copies), sum);
    }
    team.synchronize();
    accumulators* const to = static_cast<accumulators*>(given.partials) + team.block() * given.span;
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < given.span; i += team.threads()) {
      accumulators sum = memory.template load<accumulators>(tables + (i << given.log2_copies));
      DSL_DETAIL_ROLLED
      for (int w = 1; w < warps; ++w)
        reductions::add(sum, memory.template load<accumulators>(tables + w * entries + (i << given.log2_copies)));
      memory.store(to + i, sum);
    }
  }

  /// Makes results of the blocks' tables.
  DSL_DETAIL_KERNEL_FN void finish() {
    const bool by_warps = given.span <= by_key_warps_to;
    const std::int64_t number = team.block() * team.threads() + team.thread(), i = by_warps ? number / 32 : number;
    if (i >= given.span) return;
    const accumulators* const from = static_cast<const accumulators*>(given.partials) + i;
    accumulators sum = reductions::identities();
    DSL_DETAIL_UNROLL_BY_4
    for (int b = by_warps ? team.lane() : 0; b < given.tables; b += by_warps ? 32 : 1)
      reductions::add(sum, memory.template load<accumulators>(from + static_cast<std::int64_t>(b) * given.span));
    if (by_warps) combine_warp<reductions>(sum, team);
    if (!by_warps || team.lane() == 0) store_result(sum, given.first_group + i);
  }

 private:
  DSL_DETAIL_KERNEL_FN void add(const group& g, accumulators* table) const {
    typename base::lane_results out;
    if (g.count > 0) out = this->compute_read(g);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      const std::int64_t key = nth<0>(out.of[l]);
      const auto in_table = static_cast<std::uint64_t>(key - given.first_group);
      const bool exists = l < g.count, is_mine = exists && in_table < static_cast<std::uint64_t>(given.span);
      if (exists && !is_mine && given.ignores_others == 0 && (key < 0 || key >= given.groups)) team.refuse_key(key, given.groups);
      const int copy = team.lane() & ((1 << given.log2_copies) - 1);
      // What is of no group is joined with nothing.
      const unsigned entry = is_mine ? static_cast<unsigned>(in_table) << given.log2_copies | static_cast<unsigned>(copy)
                                     : ~static_cast<unsigned>(team.lane());
      accumulators mine = reductions::of_element(out.of[l]);
      const bool shares = given.log2_copies < 5;
      const bool writes = shares ? join_lanes(mine, entry) && is_mine : is_mine;
      if (writes) {
        accumulators all = memory.template load<accumulators>(table + entry);
        reductions::add(all, mine);
        memory.store(table + entry, all);
      }
      if (shares) team.synchronize_warp();
    }
  }

  // Lanes with the same entry join what they have, the first with the second, the third with the fourth, and the firsts of these
  // pairs again. Returns whether this one has what all of them come to.
  DSL_DETAIL_KERNEL_FN bool join_lanes(accumulators& mine, unsigned entry) const {
    const int lane = team.lane();
    const unsigned same = team.match(entry), before = same & ((1u << lane) - 1);
    unsigned rest = same & ~((2u << lane) - 1);
    unsigned rank = this->count_bits(before);
    while (team.ballot(rest != 0) != 0) {
      const accumulators other = team.from_lane(mine, rest != 0 ? lowest_bit(rest) : lane);
      if (rest != 0) reductions::add(mine, other);
      rest &= ~team.ballot((rank & 1) != 0);
      rank >>= 1;
    }
    return before == 0;
  }
  DSL_DETAIL_FN static int lowest_bit(unsigned bits) {
#if DSL_DETAIL_ON_DEVICE
    return __ffs(static_cast<int>(bits)) - 1;
#else
    return __builtin_ctz(bits);
#endif
  }

  DSL_DETAIL_KERNEL_FN void store_result(const accumulators& totals, std::int64_t at) const {
    using after = evaluator<typename Pass::results>;
    typename base::template totals_source<typename after::inputs> from{*this, totals, {}};
    after::read(from);
    const argument& result = args.operand[Inputs + 1];
    using T = memory_t<Pass::results::output(0).type()>;
    memory.store(reinterpret_cast<T*>(result.word) + at * static_cast<std::int64_t>(result.descriptor),
                 static_cast<T>(nth<0>(after::compute(from.in))));
  }
};

template <class Pass, int Inputs, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_by_key(const by_key_arguments<Arguments>& args, Memory memory, Team team) {
  by_key_body<Pass, Inputs, Arguments, Memory, Team>(args, memory, team).accumulate();
}
template <class Pass, int Inputs, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_by_key_finish(const by_key_arguments<Arguments>& args, Memory memory, Team team) {
  by_key_body<Pass, Inputs, Arguments, Memory, Team>(args, memory, team).finish();
}

template <class Pass, int Inputs, class Arguments>
DSL_DETAIL_SMALL void simulate_by_key(const void* arguments, simulated_thread& self) {
  run_by_key<Pass, Inputs>(*static_cast<const by_key_arguments<Arguments>*>(arguments), simulated_memory{&self},
                           simulated_team{&self});
}
template <class Pass, int Inputs, class Arguments>
DSL_DETAIL_SMALL void simulate_by_key_finish(const void* arguments, simulated_thread& self) {
  run_by_key_finish<Pass, Inputs>(*static_cast<const by_key_arguments<Arguments>*>(arguments), simulated_memory{&self},
                                  simulated_team{&self});
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

template <class Name, class Arguments, int Inputs, class Pass>
__global__ void __launch_bounds__(detail::by_key_threads)
    by_key(const __grid_constant__ detail::by_key_arguments<Arguments> args) {
  detail::run_by_key<Pass, Inputs>(args, detail::device_memory{}, detail::device_team{args.range});
}
template <class Name, class Arguments, int Inputs, class Pass>
__global__ void __launch_bounds__(detail::by_key_finish_threads)
    by_key_finish(const __grid_constant__ detail::by_key_arguments<Arguments> args) {
  detail::run_by_key_finish<Pass, Inputs>(args, detail::device_memory{}, detail::device_team{args.range});
}

}  // namespace dsl::kernels
#endif

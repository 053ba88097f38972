// The kernels of a reduction by key: elements become a table of accumulators, one for each group, and tables become results.
#pragma once

#include <dsl/exec/by_key_runs.hpp>
#include <dsl/exec/cuda_team.hpp>
#include <dsl/exec/kernel_name.hpp>
#include <dsl/exec/sim_team.hpp>
#include <dsl/exec/warp_tiles.hpp>

namespace dsl::detail {

/// Whether a pass only counts a group's elements: they are counted in 32 bits, by atomic additions, whose order does not matter.
template <class Pass>
inline constexpr bool only_counts = [] {
  constexpr pass_view pass = Pass::view();
  if (pass.reductions != 1 || pass.elements.output_count != 2) return false;
  const program_view rule = pass.rules[0];
  const int value = node_of(pass.elements, pass.elements.output(1));
  return rule.nodes == 3 && head{rule.heads[2]}.code() == op::add && pass.elements.output(1).type() == dtype::int64 &&
         head{pass.elements.heads[value]}.code() == op::constant && pass.elements.payloads[value] == 1;
}();

/// A pass whose elements' first output is the key, int32 or int64, and whose one result is a group's.
template <class Pass, int Inputs, class Arguments, class Memory, class Team>
struct by_key_body : warp_tiles<Pass, Inputs, Arguments, Memory> {
  using base = warp_tiles<Pass, Inputs, Arguments, Memory>;
  using group = typename base::group;
  using accumulators = typename base::accumulators;
  using reductions = typename base::reductions;
  using base::args, base::lanes, base::memory;
  static constexpr bool counts = only_counts<Pass>;
  using entry_type = std::conditional_t<counts, unsigned, accumulators>;
  // Tiles of a warp that are computed with together, so that a lane's steps for one element are hidden behind those for others.
  static constexpr int together = base::strided || base::calls_formula || lanes > 8     ? 1
                                  : lanes > 4 || (!counts && sizeof(accumulators) > 16) ? 2
                                                                                        : 4;
  static constexpr int vectors = together * lanes;

  const by_key_parameters& given;
  const Team team;

  DSL_DETAIL_KERNEL_FN by_key_body(const by_key_arguments<Arguments>& a, Memory m, Team t)
      : base(a, m), given(a.by_key), team(t) {}

  /// Makes a block's table of its elements. A warp has a table of its own, and copies of it, of which the lanes share one; lanes
  /// that have one entry at a time join what they have first. So any rule will do, and the order is the same each time.
  DSL_DETAIL_KERNEL_FN void accumulate() {
    if (given.step == by_key_step::pairs) return make_pairs();
    const auto entries = static_cast<int>(by_key_entries(given.span, given.log2_copies));
    const int warps = team.threads() / 32;
    unsigned* const tags = reinterpret_cast<unsigned*>(memory.shared());
    entry_type* const tables = reinterpret_cast<entry_type*>(memory.shared() + by_key_tag_bytes(warps, given.tags));
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < given.tables * entries; i += team.threads()) memory.store(tables + i, nothing());
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < warps * given.tags; i += team.threads()) memory.store(tags + i, 0u);
    team.synchronize();

    entry_type* const table = tables + team.warp() % given.tables * entries;
    unsigned* const tag = tags + team.warp() * given.tags;
    unsigned epoch = 1;
    const std::int64_t apart = team.blocks() * warps;
    std::int64_t tile = team.block() * warps + team.warp();
    group g[together];
    read_tiles(g, tile, apart);
    DSL_DETAIL_ROLLED
    while (tile < args.tiles) {
      tile += together * apart;
      group next[together];  // on its way while those before it are computed with
      read_tiles(next, tile, apart);
      add(g, table, tag, epoch);
      epoch += vectors;
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) g[u] = next[u];
    }

    team.synchronize();
    accumulators* const to = static_cast<accumulators*>(given.partials) + team.block() * given.span;
    const int all_copies = given.span << given.log2_copies;
    DSL_DETAIL_ROLLED
    for (int first = 32 * team.warp(); first < all_copies; first += team.threads()) {
      const int at = first + team.lane();
      accumulators sum = reductions::identities();
      DSL_DETAIL_ROLLED
      for (int t = 0; t < given.tables && at < all_copies; ++t)
        reductions::add(sum, sum_of(memory.template load<entry_type>(tables + t * entries + at)));
      DSL_DETAIL_ROLLED
      for (int step = (1 << given.log2_copies) / 2; step > 0; step /= 2) combine_with_lane<reductions>(sum, step, team);
      if (at < all_copies && (at & ((1 << given.log2_copies) - 1)) == 0) memory.store(to + (at >> given.log2_copies), sum);
    }
  }

  /// What launches do that know no elements.
  DSL_DETAIL_KERNEL_FN void run_step() {
    switch (given.step) {
      case by_key_step::identities: return clear();
      case by_key_step::runs: return by_key_runs<reductions, Memory, Team>{given, memory, team}.reduce();
      case by_key_step::ends: return by_key_runs<reductions, Memory, Team>{given, memory, team}.join_ends();
      default: return finish();
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
    for (int b = by_warps ? team.lane() : 0; b < given.left_tables; b += by_warps ? 32 : 1)
      reductions::add(sum, memory.template load<accumulators>(from + static_cast<std::int64_t>(b) * given.span));
    if (by_warps) combine_warp<reductions>(sum, team);
    if (!by_warps || team.lane() == 0) store_result(sum, given.first_group + i);
  }

 private:
  DSL_DETAIL_KERNEL_FN void make_pairs() {
    const std::int64_t warps = team.blocks() * (team.threads() / 32);
    DSL_DETAIL_ROLLED
    for (std::int64_t tile = team.block() * (team.threads() / 32) + team.warp(); tile < args.tiles; tile += warps) {
      group g;
      this->read(g, tile, team.lane());
      typename base::lane_results out;
      if (g.count > 0) out = this->compute_read(g);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t key = nth<0>(out.of[l]), at = (tile * 32 + team.lane()) * lanes + l;
        const bool exists = l < g.count, is_in_group = exists && key >= 0 && key < given.groups;
        if (exists && !is_in_group && given.ignores_others == 0) team.refuse_key(key, given.groups);
        memory.store(given.pairs.keys + at, static_cast<std::uint32_t>(is_in_group ? key : given.groups));
        accumulators mine = reductions::identities();
        if (is_in_group) mine = reductions::of_element(out.of[l]);
        if constexpr (sizeof(accumulators) == sizeof(std::uint32_t)) {
          memory.store(reinterpret_cast<accumulators*>(given.pairs.values) + at, mine);
        } else {
          memory.store(given.pairs.values + at, static_cast<std::uint32_t>(at));
          memory.store(static_cast<accumulators*>(given.pairs.accumulators) + at, mine);
        }
      }
    }
  }
  DSL_DETAIL_KERNEL_FN void clear() {
    const std::int64_t i = team.block() * team.threads() + team.thread();
    if (i < given.groups) memory.store(static_cast<accumulators*>(given.partials) + i, reductions::identities());
  }

  DSL_DETAIL_KERNEL_FN static entry_type nothing() {
    if constexpr (counts) return 0;
    else return reductions::identities();
  }
  DSL_DETAIL_KERNEL_FN static accumulators sum_of(const entry_type& entry) {
    if constexpr (!counts) {
      return entry;
    } else {
      accumulators sum;
      nth<0>(nth_accumulator<0>(sum)) = static_cast<std::int64_t>(entry);
      return sum;
    }
  }

  DSL_DETAIL_KERNEL_FN void read_tiles(group (&g)[together], std::int64_t tile, std::int64_t apart) {
    if (this->are_whole_to(tile + (together - 1) * apart)) {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) this->read_whole(g[u], tile + u * apart, team.lane());
    } else {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) this->read(g[u], tile + u * apart, team.lane());
    }
  }

  DSL_DETAIL_KERNEL_FN void add(const group (&g)[together], entry_type* table, unsigned* tag, unsigned epoch) const {
    const int lane = team.lane(), copy = lane & ((1 << given.log2_copies) - 1), rest = (given.span << given.log2_copies) + lane;
    unsigned entry[vectors];
    accumulators mine[vectors];
    DSL_DETAIL_UNROLL
    for (int u = 0; u < together; ++u) {
      typename base::lane_results out;
      if (g[u].count > 0) out = this->compute_read(g[u]);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t key = nth<0>(out.of[l]);
        const bool exists = l < g[u].count;
        const auto in_table = static_cast<std::uint64_t>(key - given.first_group);
        const bool is_mine = exists && in_table < static_cast<std::uint64_t>(given.span);
        if (exists && !is_mine && given.ignores_others == 0 && (key < 0 || key >= given.groups))
          team.refuse_key(key, given.groups);
        entry[u * lanes + l] = static_cast<unsigned>(is_mine ? static_cast<int>(in_table) << given.log2_copies | copy : rest);
        if constexpr (!counts) {
          mine[u * lanes + l] = reductions::identities();
          if (is_mine) mine[u * lanes + l] = reductions::of_element(out.of[l]);
        }
      }
    }
    if constexpr (counts) {
      DSL_DETAIL_UNROLL
      for (int v = 0; v < vectors; ++v) team.atomic_add(table + entry[v], 1u);
    } else if (given.tags == 0) {
      DSL_DETAIL_UNROLL
      for (int v = 0; v < vectors; ++v) add_to(table + entry[v], mine[v]);
    } else {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) join_tile(entry + u * lanes, mine + u * lanes, static_cast<unsigned>(rest));
      add_apart(table, tag, epoch, entry, mine);
    }
  }
  DSL_DETAIL_KERNEL_FN void add_to(entry_type* to, const accumulators& mine) const {
    if constexpr (!counts) {
      accumulators all = memory.template load<accumulators>(to);
      reductions::add(all, mine);
      memory.store(to, all);
    }
  }

  // Of a tile whose elements are all of one group, as sorted keys make them, the first lane gets what all come to.
  DSL_DETAIL_KERNEL_FN void join_tile(unsigned* entry, accumulators* mine, unsigned rest) const {
    const unsigned first = team.from_lane(entry[0] >> given.log2_copies, 0);
    bool same = true;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) same = same && entry[l] >> given.log2_copies == first;
    if (team.ballot(same) != ~0u) return;
    accumulators all = mine[0];
    DSL_DETAIL_UNROLL
    for (int l = 1; l < lanes; ++l) {
      reductions::add(all, mine[l]);
      entry[l] = rest;
    }
    combine_warp<reductions>(all, team);
    mine[0] = all;
    if (team.lane() != 0) entry[0] = rest;
  }

  // Whoever finds a tag with the number of this step sees that another lane has the same entry. Where there are more entries than
  // tags it may be another one.
  DSL_DETAIL_KERNEL_FN void add_apart(entry_type* table, unsigned* tags, unsigned epoch, const unsigned (&entry)[vectors],
                                      accumulators (&mine)[vectors]) const {
    const bool exact = given.tags >= by_key_entries(given.span, given.log2_copies);
    const unsigned mask = exact ? ~0u : static_cast<unsigned>(given.tags) - 1;
    unsigned found[vectors], meets = 0;
    DSL_DETAIL_UNROLL
    for (int v = 0; v < vectors; ++v) {
      found[v] = team.atomic_exchange(tags + (entry[v] & mask), epoch + static_cast<unsigned>(v));
      team.synchronize_warp();
    }
    DSL_DETAIL_UNROLL
    for (int v = 0; v < vectors; ++v) meets |= (team.ballot(found[v] == epoch + static_cast<unsigned>(v)) != 0 ? 1u : 0u) << v;
    DSL_DETAIL_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if ((meets >> v & 1) == 0) {
        add_to(table + entry[v], mine[v]);
      } else {
        const unsigned same = exact ? lanes_with(tags + entry[v]) : team.match(entry[v]);
        if (join_lanes(mine[v], same)) add_to(table + entry[v], mine[v]);
      }
      team.synchronize_warp();
    }
  }
  // The lanes that have one tag.
  DSL_DETAIL_KERNEL_FN unsigned lanes_with(unsigned* tag) const {
    team.atomic_exchange(tag, 0u);
    team.synchronize_warp();
    team.atomic_or(tag, 1u << team.lane());
    team.synchronize_warp();
    const unsigned same = team.atomic_or(tag, 0u);
    team.synchronize_warp();
    return same;
  }

  // Lanes with the same entry join what they have, the first with the second, the third with the fourth, and the firsts of these
  // pairs again. Returns whether this one has what all of them come to.
  DSL_DETAIL_KERNEL_FN bool join_lanes(accumulators& mine, unsigned same) const {
    const int lane = team.lane();
    const unsigned before = same & ((1u << lane) - 1);
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
  by_key_body<Pass, Inputs, Arguments, Memory, Team>(args, memory, team).run_step();
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

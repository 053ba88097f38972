// The kernels of a reduction by key: elements become a table of accumulators, one for each group, and tables become results.
#pragma once

#include <dsl/exec/by_key_buckets.hpp>
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
  // Tiles of a warp that are computed with together, so that a lane's steps for one element are hidden behind those for others.
  static constexpr int together = base::strided || base::calls_formula || lanes > 8     ? 1
                                  : lanes > 4 || (!counts && sizeof(accumulators) > 16) ? 2
                                                                                        : 4;
  using table = by_key_table<typename Pass::reductions, counts, together * lanes, Memory, Team>;

  const by_key_parameters& given;
  const Team team;

  DSL_DETAIL_KERNEL_FN by_key_body(const by_key_arguments<Arguments>& a, Memory m, Team t)
      : base(a, m), given(a.by_key), team(t) {}

  /// Makes a block's table of its elements, or pairs.
  DSL_DETAIL_KERNEL_FN void accumulate() {
    if (given.step == by_key_step::pairs) return make_pairs();
    table t(given, memory, team);
    t.clear();
    const int warps = team.threads() / 32;
    const std::int64_t apart = team.blocks() * warps, first = team.block() * warps;
    std::int64_t tile = first + team.warp();
    group g[together];
    read_tiles(g, tile, apart);
    DSL_DETAIL_ROLLED
    for (std::int64_t begin = first; begin < args.tiles; begin += together * apart) {
      typename table::batch b;
      evaluate(g, b, t);
      tile += together * apart;
      read_tiles(g, tile, apart);  // on its way while those before it are added
      t.template add<lanes>(b);
    }
    t.leave(static_cast<accumulators*>(given.partials) + team.block() * given.span);
  }

  /// What launches do that know no elements.
  DSL_DETAIL_KERNEL_FN void run_step() {
    const by_key_buckets<typename Pass::reductions, counts, Memory, Team> buckets{given, memory, team};
    switch (given.step) {
      case by_key_step::bounds: return buckets.find_bounds();
      case by_key_step::buckets: return buckets.accumulate();
      default: return finish();
    }
  }

 private:
  // Makes results of the blocks' tables. In buckets a group has one of each block whose slice has pairs of its bucket.
  DSL_DETAIL_KERNEL_FN void finish() {
    const bool by_warps = given.results <= by_key_warps_to;
    const std::int64_t number = team.block() * team.threads() + team.thread(), i = by_warps ? number / 32 : number;
    if (i >= given.results) return;
    std::int64_t first = 0, end = given.left_tables;
    if (given.pairs.buckets > 0) {
      const std::int64_t* const bound = given.pairs.bounds + (i >> given.pairs.log2_span);
      const std::int64_t pair = memory.template load<std::int64_t>(bound), behind = memory.template load<std::int64_t>(bound + 1);
      first = pair / given.pairs.slice;
      end = behind > pair ? (behind - 1) / given.pairs.slice + 1 : first;
    }
    const accumulators* const from = static_cast<const accumulators*>(given.partials) + i;
    accumulators sum = reductions::identities();
    DSL_DETAIL_UNROLL_BY_4
    for (std::int64_t b = by_warps ? first + team.lane() : first; b < end; b += by_warps ? 32 : 1)
      reductions::add(sum, memory.template load<accumulators>(from + b * given.span));
    if (by_warps) combine_warp<reductions>(sum, team);
    if (!by_warps || team.lane() == 0) store_result(sum, given.first_group + i);
  }

  struct alignas(base::lanes % 4 == 0 ? 16 : base::lanes % 2 == 0 ? 8 : 4) lane_words { std::uint32_t of[base::lanes]; };

  DSL_DETAIL_KERNEL_FN void make_pairs() {
    const std::int64_t warps = team.blocks() * (team.threads() / 32);
    DSL_DETAIL_ROLLED
    for (std::int64_t tile = team.block() * (team.threads() / 32) + team.warp(); tile < args.tiles; tile += warps) {
      group g;
      this->read(g, tile, team.lane());
      typename base::lane_results out;
      if (g.count > 0) out = this->compute_read(g);
      const std::int64_t at = (tile * 32 + team.lane()) * lanes;
      lane_words keys, values;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t key = nth<0>(out.of[l]);
        const bool exists = l < g.count, is_in_group = exists && key >= 0 && key < given.groups;
        if (exists && !is_in_group && given.ignores_others == 0) team.refuse_key(key, given.groups);
        keys.of[l] = static_cast<std::uint32_t>(is_in_group ? key : given.groups);
        if constexpr (!counts) {
          accumulators mine = reductions::identities();
          if (is_in_group) mine = reductions::of_element(out.of[l]);
          if constexpr (sizeof mine == sizeof(std::uint32_t)) {
            memcpy(values.of + l, &mine, sizeof mine);
          } else {
            values.of[l] = static_cast<std::uint32_t>(at + l);
            memory.store(static_cast<accumulators*>(given.pairs.accumulators) + at + l, mine);
          }
        }
      }
      memory.store_whole(reinterpret_cast<lane_words*>(given.pairs.keys + at), keys);
      if constexpr (!counts) memory.store_whole(reinterpret_cast<lane_words*>(given.pairs.values + at), values);
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

  DSL_DETAIL_KERNEL_FN void evaluate(const group (&g)[together], typename table::batch& b, const table& t) const {
    DSL_DETAIL_UNROLL
    for (int u = 0; u < together; ++u) {
      typename base::lane_results out;
      if (g[u].count > 0) out = this->compute_read(g[u]);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const auto key = nth<0>(out.of[l]);
        using unsigned_key = std::make_unsigned_t<std::remove_const_t<decltype(key)>>;
        const bool exists = l < g[u].count;
        const unsigned_key in_table = static_cast<unsigned_key>(key) - static_cast<unsigned_key>(given.first_group);
        const bool is_in_table = exists && key >= 0 && in_table < static_cast<unsigned_key>(given.span);
        if (exists && !is_in_table && given.ignores_others == 0 && (key < 0 || key >= given.groups))
          team.refuse_key(key, given.groups);
        t.put(b, u * lanes + l, is_in_table, static_cast<unsigned>(in_table));
        if constexpr (!counts) {
          b.element[u * lanes + l] = reductions::identities();
          if (is_in_table) b.element[u * lanes + l] = reductions::of_element(out.of[l]);
        }
      }
    }
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
__global__ void __launch_bounds__(detail::by_key_threads)
    by_key_finish(const __grid_constant__ detail::by_key_arguments<Arguments> args) {
  detail::run_by_key_finish<Pass, Inputs>(args, detail::device_memory{}, detail::device_team{args.range});
}

}  // namespace dsl::kernels
#endif

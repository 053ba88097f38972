// The kernels of a reduction by key: elements become a table of accumulators, one for each group,
// and tables become results.
#pragma once

#include <dsl/exec/by_key/by_key_buckets.hpp>
#include <dsl/exec/by_key/by_key_parts.hpp>
#include <dsl/exec/by_key/warp_tiles.hpp>
#include <dsl/exec/team/cuda_team.hpp>
#include <dsl/exec/team/kernel_name.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl::detail {

/// Whether only the number of a group's elements is computed: it is counted in 32 bits by atomic
/// additions, whose order does not matter.
template <class Pass, int Groups>
inline constexpr bool only_counts = [] {
  constexpr pass_view pass = Pass::view();
  constexpr std::uint32_t bits = results_of_groups<Pass, Groups>::bits;
  if (!std::has_single_bit(bits)) return false;
  const program_view rule = pass.rules[std::countr_zero(bits)];
  const reference counted = pass.elements.output(pass.firsts[std::countr_zero(bits)]);
  const int value = node_of(pass.elements, counted);
  return rule.nodes == 3 && head{rule.heads[2]}.code() == op::add &&
         counted.type() == dtype::int64 &&
         head{pass.elements.heads[value]}.code() == op::constant &&
         pass.elements.payloads[value] == 1;
}();

/// A pass whose first output is the key, int32 or int64, and whose first `Groups` results belong to
/// groups; the others are reductions of all elements, whatever their keys.
template <class Pass, int Inputs, int Groups, class Arguments, class Memory, class Team>
struct by_key_body : warp_tiles<Pass, Inputs, Arguments, Memory, Team::warp_size> {
  using base = warp_tiles<Pass, Inputs, Arguments, Memory, Team::warp_size>;
  using group = typename base::group;
  using of_groups = results_of_groups<Pass, Groups>;
  using of_all = results_of_all<Pass, Groups>;
  using accumulators = typename of_groups::accumulators;
  using reductions = typename of_groups::reductions;
  using base::args, base::lanes, base::memory;
  static constexpr int warp_size = Team::warp_size;
  static constexpr bool counts = only_counts<Pass, Groups>,
                        reduces_all = of_all::reductions::count > 0;
  // Whether an accumulator and its combining rule leave too few registers for four tiles.
  static constexpr bool needs_registers =
      !counts && (sizeof(accumulators) > 16 || !combines_within<typename of_groups::chosen, 16>);
  // Tiles of a warp that are computed together, so that the latency of one element's steps is
  // hidden by the others'.
  static constexpr int together = base::strided || base::calls_formula || lanes > 8 ? 1
                                  : lanes > 4 || needs_registers                    ? 2
                                                                                    : 4;
  using table = by_key_table<typename of_groups::chosen, counts, together * lanes, Memory, Team>;

  const by_key_parameters& given;
  const Team team;

  DSL_DETAIL_KERNEL_FN by_key_body(const by_key_arguments<Arguments>& a, Memory m, Team t)
      : base(a, m), given(a.by_key), team(t) {}

  /// Makes a block's table of its elements, or its pairs.
  DSL_DETAIL_KERNEL_FN void accumulate() {
    if (given.step == by_key_step::pairs) return make_pairs();
    table t(given, memory, team);
    t.clear();
    const int warps = team.threads() / warp_size;
    const std::int64_t apart = team.blocks() * warps, first = team.block() * warps;
    std::int64_t tile = first + team.warp();
    group g[together];
    typename of_all::accumulators all = of_all::reductions::identities();
    read_tiles(g, tile, apart);
    DSL_DETAIL_ROLLED
    for (std::int64_t begin = first; begin < args.tiles; begin += together * apart) {
      typename table::batch b;
      evaluate(g, b, t, all);
      tile += together * apart;
      // The loads are in flight while the previous tiles are added.
      read_tiles(g, tile, apart);
      t.template add<lanes>(b);
    }
    t.leave(static_cast<accumulators*>(given.partials) + team.block() * given.span);
    leave_all(all);
  }

  /// The launches that do not read elements.
  DSL_DETAIL_KERNEL_FN void run_step() {
    const by_key_buckets<typename of_groups::chosen, counts, Memory, Team> buckets{given, memory,
                                                                                   team};
    switch (given.step) {
      case by_key_step::bounds: return buckets.find_bounds();
      case by_key_step::buckets: return buckets.accumulate();
      default: return finish();
    }
  }

 private:
  // Makes results from the blocks' tables. With buckets, a group has one table from each block
  // whose slice has pairs of its bucket.
  DSL_DETAIL_KERNEL_FN void finish() {
    const bool by_warps = given.results <= by_key_warps_to;
    const std::int64_t number = team.block() * team.threads() + team.thread(),
                       i = by_warps ? number / warp_size : number;
    // The warp after those that make groups' results.
    if constexpr (reduces_all) {
      if (given.warps_of_all >= 0 &&
          number / warp_size ==
              (by_warps ? given.results : (given.results + warp_size - 1) / warp_size))
        return finish_all();
    }
    if (i >= given.results) return;
    std::int64_t first = 0, end = given.left_tables;
    if (given.pairs.buckets > 0) {
      const std::int64_t* const bound = given.pairs.bounds + (i >> given.pairs.log2_span);
      const std::int64_t pair = memory.template load<std::int64_t>(bound),
                         behind = memory.template load<std::int64_t>(bound + 1);
      first = pair / given.pairs.slice;
      end = behind > pair ? (behind - 1) / given.pairs.slice + 1 : first;
    }
    const accumulators* const from = static_cast<const accumulators*>(given.partials) + i;
    accumulators sum = reductions::identities();
    DSL_DETAIL_UNROLL_BY_4
    for (std::int64_t b = by_warps ? first + team.lane() : first; b < end;
         b += by_warps ? warp_size : 1)
      reductions::add(sum, memory.template load<accumulators>(from + b * given.span));
    if (by_warps) combine_warp<reductions>(sum, team);
    if (!by_warps || team.lane() == 0) store_results<of_groups>(sum, given.first_group + i);
  }

  // Combines a warp's lanes, then the warps, in the order of their numbers.
  DSL_DETAIL_KERNEL_FN void leave_all(typename of_all::accumulators& mine) const {
    if constexpr (reduces_all) {
      if (given.warps_of_all < 0) return;
      combine_warp<typename of_all::reductions>(mine, team);
      const std::int64_t warp = team.block() * (team.threads() / warp_size) + team.warp();
      if (team.lane() == 0)
        memory.store(static_cast<typename of_all::accumulators*>(given.of_all) + warp, mine);
    }
  }
  DSL_DETAIL_KERNEL_FN void finish_all() const {
    const auto* const from = static_cast<const typename of_all::accumulators*>(given.of_all);
    typename of_all::accumulators sum = of_all::reductions::identities();
    DSL_DETAIL_ROLLED
    for (int w = team.lane(); w < given.warps_of_all; w += warp_size)
      of_all::reductions::add(sum, memory.template load<typename of_all::accumulators>(from + w));
    combine_warp<typename of_all::reductions>(sum, team);
    if (team.lane() == 0) store_results<of_all>(sum, 0);
  }

  struct alignas(base::lanes % 4 == 0 ? 16 : base::lanes % 2 == 0 ? 8 : 4) lane_words {
    std::uint32_t of[base::lanes];
  };

  DSL_DETAIL_KERNEL_FN void make_pairs() {
    const std::int64_t warps = team.blocks() * (team.threads() / warp_size);
    typename of_all::accumulators all = of_all::reductions::identities();
    DSL_DETAIL_ROLLED
    for (std::int64_t tile = team.block() * (team.threads() / warp_size) + team.warp();
         tile < args.tiles; tile += warps) {
      group g;
      this->read(g, tile, team.lane());
      typename base::lane_results out;
      if (g.count > 0) out = this->compute_read(g);
      const std::int64_t at = (tile * warp_size + team.lane()) * lanes;
      lane_words keys, values;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t key = nth<0>(out.of[l]);
        const bool exists = l < g.count, is_in_group = exists && key >= 0 && key < given.groups;
        if (reduces_all && exists)
          of_all::reductions::add(all, of_all::reductions::of_element(out.of[l]));
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
      if constexpr (!counts)
        memory.store_whole(reinterpret_cast<lane_words*>(given.pairs.values + at), values);
    }
    leave_all(all);
  }

  DSL_DETAIL_KERNEL_FN void read_tiles(group (&g)[together], std::int64_t tile,
                                       std::int64_t apart) {
    if (this->are_whole_to(tile + (together - 1) * apart)) {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) this->read_whole(g[u], tile + u * apart, team.lane());
    } else {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) this->read(g[u], tile + u * apart, team.lane());
    }
  }

  DSL_DETAIL_KERNEL_FN void evaluate(const group (&g)[together], typename table::batch& b,
                                     const table& t, typename of_all::accumulators& all) const {
    DSL_DETAIL_UNROLL
    for (int u = 0; u < together; ++u) {
      typename base::lane_results out;
      if (g[u].count > 0) out = this->compute_read(g[u]);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const auto key = nth<0>(out.of[l]);
        using unsigned_key = std::make_unsigned_t<std::remove_const_t<decltype(key)>>;
        const bool exists = l < g[u].count;
        if (reduces_all && exists)
          of_all::reductions::add(all, of_all::reductions::of_element(out.of[l]));
        const unsigned_key in_table =
            static_cast<unsigned_key>(key) - static_cast<unsigned_key>(given.first_group);
        const bool is_in_table =
            exists && key >= 0 && in_table < static_cast<unsigned_key>(given.span);
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

  template <class Results, class In>
  struct totals_source {
    const by_key_body& body;
    const typename Results::accumulators& totals;
    In in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::reduced)
        input_of<Head>(in) =
            Results::template value_of<value_t<D>, (N & 0xffff), (N >> 16)>(totals);
      else input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
    }
  };
  template <class Results>
  DSL_DETAIL_KERNEL_FN void store_results(const typename Results::accumulators& totals,
                                          std::int64_t at) const {
    using after = evaluator<typename Pass::results>;
    totals_source<Results, typename after::inputs> from{*this, totals, {}};
    after::read(from);
    store_each<Results>(
        after::compute(from.in), at,
        std::make_index_sequence<static_cast<std::size_t>(Results::end - Results::first)>{});
  }
  template <class Results, class Values, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_each(const Values& values, std::int64_t at,
                                       std::index_sequence<I...>) const {
    (store_one<Results::first + static_cast<int>(I)>(
         nth<Results::first + static_cast<int>(I)>(values), at),
     ...);
  }
  template <int I, class Value>
  DSL_DETAIL_KERNEL_FN void store_one(const Value& value, std::int64_t at) const {
    const argument& result = args.operand[Inputs + 1 + I];
    using T = memory_t<Pass::results::output(I).type()>;
    memory.store(
        reinterpret_cast<T*>(result.word) + at * static_cast<std::int64_t>(result.descriptor),
        static_cast<T>(value));
  }
};

template <class Pass, int Inputs, int Groups, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_by_key(const by_key_arguments<Arguments>& args, Memory memory,
                                     Team team) {
  by_key_body<Pass, Inputs, Groups, Arguments, Memory, Team>(args, memory, team).accumulate();
}
template <class Pass, int Inputs, int Groups, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_by_key_finish(const by_key_arguments<Arguments>& args, Memory memory,
                                            Team team) {
  by_key_body<Pass, Inputs, Groups, Arguments, Memory, Team>(args, memory, team).run_step();
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

template <class Name, class Arguments, int Inputs, int Groups, class Pass>
__global__ void __launch_bounds__(detail::by_key_threads)
    by_key(const __grid_constant__ detail::by_key_arguments<Arguments> args) {
  detail::run_by_key<Pass, Inputs, Groups>(args, detail::device_memory{},
                                           detail::team_of_launch(args.range));
}
template <class Name, class Arguments, int Inputs, int Groups, class Pass>
__global__ void __launch_bounds__(detail::by_key_threads)
    by_key_finish(const __grid_constant__ detail::by_key_arguments<Arguments> args) {
  detail::run_by_key_finish<Pass, Inputs, Groups>(args, detail::device_memory{},
                                                  detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

template <class Pass, int Inputs, int Groups, class Arguments>
struct by_key_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_by_key<Pass, Inputs, Groups>(*static_cast<const by_key_arguments<Arguments>*>(arguments),
                                     simulated_memory{&self}, simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::by_key<Name, Arguments, Inputs, Groups, Pass>);
  }
#endif
};
template <class Pass, int Inputs, int Groups, class Arguments>
struct by_key_finish_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_by_key_finish<Pass, Inputs, Groups>(
        *static_cast<const by_key_arguments<Arguments>*>(arguments), simulated_memory{&self},
        simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(
        &kernels::by_key_finish<Name, Arguments, Inputs, Groups, Pass>);
  }
#endif
};

}  // namespace dsl::detail

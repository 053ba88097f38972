// The kernel of a pass, on the GPU and in the simulator.
#pragma once

#include <dsl/exec/map/kernel.hpp>
#include <dsl/exec/reduce/columns.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

// These functions depend on the pass only where necessary: the simulator's copies are then compiled
// once for several kernels.

// Combines the warps' accumulators of one reduction, through the block's dynamic shared memory.
// Called by all threads of the block; the owners of a result get it.
template <class Reduction, class Memory, class Team>
DSL_DETAIL_KERNEL_FN accumulator_of<Reduction> combine_across_warps(accumulator_of<Reduction> value,
                                                                    const sharing& threads,
                                                                    const Memory& memory,
                                                                    const Team& team) {
  using state = accumulator_of<Reduction>;
  const int thread = team.thread();
  auto* const of_thread = reinterpret_cast<state*>(memory.shared());
  team.synchronize();
  memory.store(of_thread + thread, value);
  team.synchronize();
  if (threads.owned_by(thread, team.threads(), Team::warp_size) < 0) return value;
  const warp_leaders from = leaders_of(thread, threads, Team::warp_size);
  value = memory.template load<state>(of_thread + from.first);
  // Unrolled by more, as nvcc would, it takes more registers in the whole kernel.
  DSL_DETAIL_UNROLL_BY_4
  for (int i = 1; i < from.count; ++i)
    value = combine<Reduction>(value,
                               memory.template load<state>(of_thread + from.first + i * from.step));
  return value;
}
template <class Reductions, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void combine_sums_across_warps(typename Reductions::accumulators& sums,
                                                    const sharing& threads, const Memory& memory,
                                                    const Team& team) {
  Reductions::visit([&]<class Reduction, int J>() {
    nth_accumulator<J>(sums) =
        combine_across_warps<Reduction>(nth_accumulator<J>(sums), threads, memory, team);
  });
}

// Combines the first `count` accumulators of the threads that share a result, and calls
// leave(accumulators, count, number of the first) in all threads; owners have the result.
// `Compact`: one accumulator after another, in less code.
template <class Reductions, bool Compact, int Sums, class Memory, class Team, class Leave>
DSL_DETAIL_KERNEL_FN void combine_threads(typename Reductions::accumulators (&sums)[Sums],
                                          int count, const sharing& threads, const Memory& memory,
                                          const Team& team, const Leave& leave) {
  const auto combine_at = [&](int step) {
    if (!halves_at(step, threads)) return;
    DSL_DETAIL_UNROLL
    for (int s = 0; s < Sums; ++s)
      if (s < count) combine_with_lane<Reductions>(sums[s], step, team);
  };
  if constexpr (Compact) {
    DSL_DETAIL_ROLLED
    for (int step = Team::warp_size / 2; step > 0; step /= 2) combine_at(step);
  } else {
    for (int step = Team::warp_size / 2; step > 0; step /= 2) combine_at(step);
    if (Sums <= 4 && !goes_across_warps(threads, Team::warp_size)) return leave(sums, count, 0);
  }
  DSL_DETAIL_ROLLED
  for (int result_index = 0; result_index < count; ++result_index) {
    typename Reductions::accumulators mine[] = {sums[0]};
    DSL_DETAIL_UNROLL
    // A variable index would put all accumulators into local memory.
    for (int s = 1; s < Sums; ++s)
      if (s == result_index) mine[0] = sums[s];
    if (goes_across_warps(threads, Team::warp_size))
      combine_sums_across_warps<Reductions>(mine[0], threads, memory, team);
    leave(mine, 1, result_index);
  }
}

// Stores the accumulators that a thread owns, as results or partial results.
template <class Body>
struct result_writer {
  using accumulators = typename Body::accumulators;
  Body& body;
  const reduction_schedule& schedule;
  int owned;             // The result that the thread owns, or -1.
  std::int64_t partial;  // The block's number among those that leave partial results.
  int owners;            // Threads of a block that own a result.
  bool finishes;         // Whether the accumulators become results.
  template <int N>
  DSL_DETAIL_KERNEL_FN void operator()(const accumulators (&sums)[N], int count, int first) const {
    if (owned < 0) return;
    if (finishes) {
      DSL_DETAIL_UNROLL
      for (int s = 0; s < N; ++s)
        if (s < count) body.finish(sums[s], owned, first + s);
    } else {
      accumulators* const to = static_cast<accumulators*>(schedule.partials) +
                               (partial * schedule.results_a_thread + first) * owners + owned;
      DSL_DETAIL_UNROLL
      for (int s = 0; s < N; ++s)
        if (s < count) body.memory.store(to + s * owners, sums[s]);
    }
  }
};

// A pass that reduces. A block's share of the elements becomes a result or a partial result; the
// group's last block combines partial results in the order of the blocks. `take(group, tile, sums)`
// adds a thread's elements of a tile to its accumulators.
template <bool Compact, class Body, class Team, class Take>
DSL_DETAIL_KERNEL_FN void reduce(Body& body, const reduction_schedule& schedule, std::int64_t tiles,
                                 const Team& team, const Take& take) {
  using reductions = typename Body::reductions;
  using accumulators = typename Body::accumulators;
  const auto& memory = body.memory;
  const int thread = team.thread(), threads = team.threads(),
            owners = schedule.threads.owners(threads);
  const auto block = static_cast<std::uint32_t>(team.block()),
             blocks = static_cast<std::uint32_t>(schedule.splits);
  std::uint32_t group = blocks == 1 ? block : block / blocks, split = block - group * blocks;
  if (schedule.by_splits > 0) {
    split = block / schedule.by_splits;
    group = block - split * schedule.by_splits;
  }
  accumulators sums[Body::sums_a_thread];
  DSL_DETAIL_UNROLL
  for (int s = 0; s < Body::sums_a_thread; ++s) sums[s] = reductions::identities();
  for (std::int64_t tile = schedule.first_tile + split; tile < schedule.end_tile;
       tile += schedule.blocks_in_turn)
    take(group, tile, sums);
  if (tiles == 0) body.enter(group, 0);
  align_columns(body, sums, team);

  const int results_a_thread = schedule.results_a_thread;
  if (results_a_thread == 1) {
    DSL_DETAIL_UNROLL
    for (int s = 1; s < Body::ahead; ++s) reductions::add(sums[0], sums[s]);
  }
  constexpr int most = Body::sums_a_thread;
  accumulators left[most];
  DSL_DETAIL_UNROLL
  for (int s = 0; s < most; ++s) left[s] = sums[s];
  const reduction_steps steps = schedule.steps;
  const std::int64_t first = static_cast<std::int64_t>(group) * schedule.partial_count;
  if (steps != reduction_steps::of_partials)
    combine_threads<reductions, Compact>(
        left, results_a_thread, schedule.threads, memory, team,
        result_writer<Body>{body, schedule,
                            schedule.threads.owned_by(thread, threads, Team::warp_size),
                            first + split, owners, steps == reduction_steps::whole});
  if (steps == reduction_steps::whole || steps == reduction_steps::to_partials) return;
  // By then every block has read the scalars in device memory that a result may overwrite.
  if (steps == reduction_steps::by_last_block &&
      !team.is_last(schedule.tickets + group, blocks, schedule.of_member(team.member(), group)))
    return;

  // Partial results take the place of a tile's rows: the distance between threads that share a
  // result is the number of results.
  sharing across = schedule.threads;
  across.log2_distance = 0;
  while (across.distance() < owners) ++across.log2_distance;
  DSL_DETAIL_UNROLL
  for (int s = 0; s < most; ++s) left[s] = reductions::identities();
  const accumulators* const of_group =
      static_cast<const accumulators*>(schedule.partials) + first * results_a_thread * owners;
  const std::uint32_t own = static_cast<std::uint32_t>(thread & (owners - 1));
  DSL_DETAIL_ROLLED
  for (int b = thread >> across.log2_distance; b < schedule.partial_count;
       b += across.threads_a_result()) {
    const std::uint32_t at =
        static_cast<std::uint32_t>(b) * static_cast<std::uint32_t>(results_a_thread * owners) + own;
    accumulators partial[most];  // All loads are in flight before the first value is added.
    DSL_DETAIL_UNROLL
    for (int s = 0; s < most; ++s)
      if (s < results_a_thread)
        partial[s] = memory.template load<accumulators>(
            of_group + (at + static_cast<std::uint32_t>(s * owners)));
    DSL_DETAIL_UNROLL
    for (int s = 0; s < most; ++s)
      if (s < results_a_thread) reductions::add(left[s], partial[s]);
  }
  combine_threads<reductions, Compact>(
      left, results_a_thread, across, memory, team,
      result_writer<Body>{body, schedule, across.owned_by(thread, threads, Team::warp_size), 0,
                          owners, true});
}

// Combines the accumulators of all threads of a block, in the order of combine_threads, through the
// block's dynamic shared memory. The first thread gets the result. Callers need a barrier before
// the next call.
template <class Reductions, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void combine_block(typename Reductions::accumulators& sums,
                                        const Memory& memory, const Team& team) {
  using accumulators = typename Reductions::accumulators;
  combine_warp<Reductions>(sums, team);
  const int warps = team.threads() / Team::warp_size;
  if (warps == 1) return;
  auto* const of_warp = reinterpret_cast<accumulators*>(memory.shared());
  if (team.lane() == 0) memory.store(of_warp + team.warp(), sums);
  team.synchronize();
  if (team.thread() != 0) return;
  DSL_DETAIL_UNROLL_BY_4
  for (int w = 1; w < warps; ++w)
    Reductions::add(sums, memory.template load<accumulators>(of_warp + w));
}

// Combines the blocks' partial results in one block, in the order of those blocks.
template <int Ahead, class Body, class Team>
DSL_DETAIL_KERNEL_FN void finish_line(Body& body, const reduction_schedule& schedule,
                                      const Team& team) {
  using reductions = typename Body::reductions;
  using accumulators = typename Body::accumulators;
  const auto* const from = static_cast<const accumulators*>(schedule.partials);
  const int count = schedule.partial_count, threads = team.threads();
  accumulators sums = reductions::identities();
  DSL_DETAIL_ROLLED
  for (int first = team.thread(); first < count; first += Ahead * threads) {
    accumulators partial[Ahead];  // All loads are in flight before the first value is added.
    DSL_DETAIL_UNROLL
    for (int u = 0; u < Ahead; ++u) {
      const int i = first + u * threads;
      // Without a value for the missing ones, a variance takes 72 registers instead of 64.
      partial[u] = u == 0 || i < count ? body.memory.template load<accumulators>(from + i)
                                       : reductions::identities();
    }
    DSL_DETAIL_UNROLL
    for (int u = 0; u < Ahead; ++u)
      if (u == 0 || first + u * threads < count) reductions::add(sums, partial[u]);
  }
  combine_block<reductions>(sums, body.memory, team);
  if (team.thread() == 0) body.finish(sums, 0, 0);
}

// As `reduce`, for elements in one line that become one result: there are many, short blocks, which
// do little besides reading their elements.
template <class Body, class Team>
DSL_DETAIL_KERNEL_FN void reduce_line(Body& body, const reduction_schedule& schedule,
                                      const Team& team) {
  using reductions = typename Body::reductions;
  using accumulators = typename Body::accumulators;
  const reduction_steps steps = schedule.steps;
  if (steps != reduction_steps::of_partials) {
    accumulators sums[Body::sums_a_thread];
    DSL_DETAIL_UNROLL
    for (int s = 0; s < Body::sums_a_thread; ++s) sums[s] = reductions::identities();
    for (std::int64_t tile = schedule.first_tile + team.block(); tile < schedule.end_tile;
         tile += schedule.blocks_in_turn)
      body.reduce(tile, team.thread(), team.threads(), sums);
    DSL_DETAIL_UNROLL
    for (int s = 1; s < Body::sums_a_thread; ++s) reductions::add(sums[0], sums[s]);
    combine_block<reductions>(sums[0], body.memory, team);
    if (team.thread() == 0) {
      if (steps == reduction_steps::whole) body.finish(sums[0], 0, 0);
      else body.memory.store(static_cast<accumulators*>(schedule.partials) + team.block(), sums[0]);
    }
    if (steps == reduction_steps::whole || steps == reduction_steps::to_partials) return;
    // By then every block has read the scalars in device memory that a result may overwrite.
    if (!team.is_last(schedule.tickets, static_cast<std::uint32_t>(schedule.splits),
                      schedule.of_member(team.member(), 0)))
      return;
  }
  finish_line<4>(body, schedule, team);
}

/// Combines the partial results of an earlier launch of a pass that reduces all of its elements:
/// one block, with several loads in flight at a time.
template <class Pass, int Inputs, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_finish(const Arguments& args, Memory memory, Team team) {
  using body = kernel_body<Pass, Inputs, Arguments, Memory>;
  constexpr std::size_t bytes = sizeof(typename body::accumulators);
  if (args.reduction.stop != nullptr && memory.template load<bool>(args.reduction.stop)) return;
  body mine(args, memory);
  finish_line<(bytes <= 8 ? 16 : 8)>(mine, args.reduction, team);
}

/// Evaluates a pass. `Compact`: combine accumulators in less code.
template <class Pass, int Inputs, bool Compact = false, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_pass(const Arguments& args, Memory memory, Team team) {
  using body = kernel_body<Pass, Inputs, Arguments, Memory>;
  body mine(args, memory);
  const auto enter = [&](std::uint32_t group, std::int64_t tile) {
    if constexpr (Arguments::strided) {
      mine.enter(group, static_cast<std::uint32_t>(tile));
      if (takes_patches<Arguments> || args.tiles_of.shared_bytes == 0) return;
      team.synchronize();
      int thread = team.thread(), threads = team.threads();
      // Otherwise nvcc computes these early, and blocks without a tile in shared memory wait for
      // them.
      keep_in_register(thread);
      keep_in_register(threads);
      mine.load_tile(thread, threads);
      memory.commit_copies();
      memory.template wait_for_copies<0>();
      team.synchronize();
    }
  };
  if constexpr (body::reductions::count > 0) {
    if (args.reduction.stop != nullptr && memory.template load<bool>(args.reduction.stop)) return;
    if constexpr (!Arguments::strided) reduce_line(mine, args.reduction, team);
    else
      reduce<Compact>(
          mine, args.reduction, args.tiles, team,
          [&](std::uint32_t group, std::int64_t tile, typename body::accumulators* sums) {
            enter(group, tile);
            mine.template reduce<Compact>(tile, team.thread(), team.threads(), sums);
          });
  } else {
    enter(0, team.block());
    mine.map(team.block(), team.thread(), team.threads());
  }
}

}  // namespace dsl::detail

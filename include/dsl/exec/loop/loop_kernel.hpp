// The kernel of a loop: all steps in one launch, with each step's reductions over all blocks.
#pragma once

#include <dsl/exec/loop/loop_body.hpp>
#include <dsl/exec/loop/tile_body.hpp>
#include <dsl/exec/team/cuda_team.hpp>
#include <dsl/exec/team/kernel_name.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl::detail {

/// Combines the partial results of a phase over all threads of a loop's blocks, always in the same
/// order. `CellBytes`: of the largest accumulators that the blocks exchange in a step.
template <class Reductions, std::size_t CellBytes, class Memory, class Team>
class step_reduction {
 public:
  using accumulators = typename Reductions::accumulators;

  /// Called by all threads of a block.
  DSL_DETAIL_KERNEL_FN step_reduction(Memory memory, Team team)
      : memory_(memory),
        team_(team),
        of_warp_(team.template shared<struct of_warp, accumulators, 2 * most_warps>()),
        of_reader_(team.template shared<struct of_reader, accumulators, most_warps>()),
        warps_(team.threads() / Team::warp_size) {
    if (team.thread() < most_warps) {
      const accumulators none = Reductions::identities();
      memory.store(of_warp_ + team.thread(), none);
      memory.store(of_warp_ + most_warps + team.thread(), none);
      memory.store(of_reader_ + team.thread(), none);
    }
    team.synchronize();
  }

  /// Combines the values of a block's threads: its first thread gets the result.
  DSL_DETAIL_KERNEL_FN accumulators of_block(accumulators mine, std::int64_t exchange) const {
    combine_warp<Reductions>(mine, team_);
    if (warps_ == 1) return mine;
    // A warp may be one exchange ahead of another.
    accumulators* const of = of_warp_ + (exchange & 1) * most_warps;
    if (team_.lane() == 0) memory_.store(of + team_.warp(), mine);
    team_.synchronize();
    if (team_.blocks() == 1 || team_.warp() == 0) mine = combine_warps(of, warps_);
    return mine;
  }

  /// Combines the values of all blocks (`of_block`), so that all threads of all blocks get the same
  /// result. Each block publishes its value in every GPU's copy of the cells; each thread reads
  /// some of the others' cells, and the block combines them. A read that comes too early delays the
  /// writes it waits for: 132 blocks take 0.8 microseconds with the pause, 1.2 without, and 1.7 if
  /// one warp reads all cells until all values have arrived (docs/lab.md).
  DSL_DETAIL_KERNEL_FN accumulators exchange(const accumulators& of_block,
                                             const step_schedule& steps, unsigned epoch) {
    using cell = tagged<accumulators>;
    const int thread = team_.thread(), threads = team_.threads(),
              blocks = static_cast<int>(team_.blocks());
    if (blocks == 1) return warps_ == 1 ? team_.from_lane(of_block, 0) : of_block;
    const cell own(of_block, epoch);
    cell* all = cells_of_exchange<accumulators, CellBytes>(steps.cells, epoch,
                                                           static_cast<unsigned>(blocks));
    const bool in_mesh = team_.members() > 1;
    if (!in_mesh) {
      if (thread == 0) team_.publish(all + team_.block(), own);
    } else {
      DSL_DETAIL_ROLLED
      for (int m = 0; m < team_.members() && thread == 0; ++m)
        team_.publish(steps.copy(all, m) + team_.block(), own, true);
      all = steps.copy(all, team_.member());
    }
    team_.pause(static_cast<unsigned>(3 * blocks / 2));
    accumulators read = Reductions::identities();
    DSL_DETAIL_ROLLED
    for (int b = thread; b < blocks; b += threads) {
      cell other;
      if (!in_mesh) {
        do team_.poll(other, all + b);
        while (other.tag() != epoch);
      } else {
        unsigned tries = 0;
        do team_.poll(other, all + b, true);
        while (other.tag() != epoch &&
               !(gave_up_ || (gave_up_ = team_.gives_up(tries, b, epoch - steps.epoch))));
      }
      Reductions::add(read, other.value());
    }
    team_.synchronize_warp();
    combine_warp<Reductions>(read, team_);
    if (warps_ == 1) return team_.from_lane(read, 0);
    if (team_.lane() == 0) memory_.store(of_reader_ + team_.warp(), read);
    team_.synchronize();
    return combine_warps(
        of_reader_, blocks >= threads ? warps_ : (blocks + Team::warp_size - 1) / Team::warp_size);
  }

 private:
  static constexpr int most_warps = 1024 / Team::warp_size;

  // Combines the warps' values in shared memory, several reads at a time, because sequential reads
  // would each take the full latency. Identities follow the last value.
  DSL_DETAIL_KERNEL_FN accumulators combine_warps(const accumulators* of_warp, int warps) const {
    constexpr int at_once = sizeof(accumulators) <= 16 ? 8 : 4;
    if (warps == 1) return memory_.template load<accumulators>(of_warp);
    accumulators all = Reductions::identities();
    DSL_DETAIL_ROLLED
    for (int first = 0; first < warps; first += at_once) {
      DSL_DETAIL_UNROLL
      for (int w = 0; w < at_once; ++w)
        Reductions::add(all, memory_.template load<accumulators>(of_warp + first + w));
    }
    return all;
  }

  Memory memory_;
  Team team_;
  accumulators *of_warp_, *of_reader_;
  int warps_;
  // Set after giving up a wait: the thread then never waits again, and the kernel ends with
  // meaningless values.
  bool gave_up_ = false;
};

/// The reductions of a step's phases before the last one.
template <int P, class Reduction> struct numbered_reduction { Reduction of; };
template <int P, class Reduction> DSL_DETAIL_FN Reduction& reduction_of_phase(
    numbered_reduction<P, Reduction>& r) {
  return r.of;
}
template <class Earlier, std::size_t CellBytes, class Memory, class Team,
          class Numbers = typename Earlier::numbers>
struct phase_reductions;
template <class Earlier, std::size_t CellBytes, class Memory, class Team, std::size_t... P>
struct phase_reductions<Earlier, CellBytes, Memory, Team, std::index_sequence<P...>>
    : numbered_reduction<
          static_cast<int>(P),
          step_reduction<
              reductions_of<typename Earlier::template pass<static_cast<int>(P)>::reductions>,
              CellBytes, Memory, Team>>... {
  DSL_DETAIL_KERNEL_FN phase_reductions([[maybe_unused]] Memory memory, [[maybe_unused]] Team team)
      : numbered_reduction<
            static_cast<int>(P),
            step_reduction<
                reductions_of<typename Earlier::template pass<static_cast<int>(P)>::reductions>,
                CellBytes, Memory, Team>>{{memory, team}}... {}

  /// Runs the phases before the last one in step k of the launch.
  template <class Loop>
  DSL_DETAIL_KERNEL_FN void run([[maybe_unused]] Loop& loop,
                                [[maybe_unused]] typename Loop::thread_state& mine,
                                [[maybe_unused]] typename Loop::scalars& s,
                                [[maybe_unused]] std::int64_t k,
                                [[maybe_unused]] std::int64_t exchange) {
    (run_one<static_cast<int>(P)>(loop, mine, s, k, exchange + static_cast<std::int64_t>(P)), ...);
  }

 private:
  template <int P_, class Loop>
  DSL_DETAIL_KERNEL_FN void run_one(Loop& loop, typename Loop::thread_state& mine,
                                    typename Loop::scalars& s, std::int64_t k,
                                    std::int64_t exchange) {
    unsigned epoch = loop.args.loop.epoch + static_cast<unsigned>(exchange);
    keep_in_register(epoch);
    auto& reduction = reduction_of_phase<P_>(*this);
    const auto of_block = reduction.of_block(loop.template reduce_phase<P_>(mine, s, k), exchange);
    loop.template finish_phase<P_>(s, reduction.exchange(of_block, loop.args.loop, epoch), k);
  }
};

/// Runs the steps of a launch. If a step reduces, blocks wait for each other, so all must be on the
/// device at once.
template <class Pass, int Inputs, int States, int Stop, class Earlier, bool OnChip, class Arguments,
          class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_loop(const Arguments& args, Memory memory, Team team) {
  constexpr bool by_tiles = takes_patches<Arguments>;
  constexpr auto cell_bytes = static_cast<std::size_t>(accumulator_bytes_of_step<Pass, Earlier>);
  using body =
      std::conditional_t<by_tiles,
                         tile_body<Pass, Inputs, States, Stop, Earlier, OnChip, Memory, Team>,
                         loop_body<Pass, Inputs, States, Stop, Earlier, OnChip, Memory, Team>>;
  using reductions = typename body::reductions;
  body loop(args, memory, team);
  if constexpr (reductions::count == 0 && Earlier::count == 0) {
    if constexpr (by_tiles) {
      typename body::thread_state mine;
      loop.begin(mine);
      DSL_DETAIL_ROLLED
      for (std::int64_t k = 0; k < args.loop.steps; ++k) {
        loop.begin_step(mine, k);
        loop.step(mine, {}, k);
      }
      loop.end(mine);
    } else {
      loop.run_elementwise();
    }
  } else {
    constexpr int exchanges = exchanges_of_step<Pass, Earlier>;
    if (loop.has_ended()) return;
    typename body::scalars s = loop.read_scalars();
    phase_reductions<Earlier, cell_bytes, Memory, Team> phases(memory, team);
    step_reduction<reductions, cell_bytes, Memory, Team> reduction(memory, team);
    typename body::thread_state mine;
    history_place history(args.loop);
    loop.begin(mine);
    DSL_DETAIL_ROLLED
    for (std::int64_t k = 0; k < args.loop.steps; ++k) {
      const std::int64_t exchange = k * exchanges + Earlier::count;
      unsigned epoch = args.loop.epoch + static_cast<unsigned>(exchange);
      // Computed before the block's partial results, which the other blocks wait for.
      keep_in_register(epoch);
      loop.begin_step(mine, k);
      phases.run(loop, mine, s, k, exchange - Earlier::count);
      typename body::accumulators totals = loop.step(mine, s, k);
      if constexpr (reductions::count > 0)
        totals = reduction.exchange(reduction.of_block(totals, exchange), args.loop, epoch);
      loop.finish(s, totals, k);
      if (team.block() == 0 && team.thread() == team.threads() - 1)
        loop.record_reduced(s.now, history);
      if (body::stops(s.now)) break;
    }
    loop.end(mine);
    if (team.block() == 0 && team.thread() == 0) loop.store_reduced(s.now);
  }
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

/// All steps of a loop. `OnChip`: all variables are on chip, and so is what phases reuse.
/// `Earlier`: the passes of a step before the last one.
template <class Name, bool OnChip, int States, int Stop, int FirstValue, int Operands, class Pass,
          class... Earlier>
__global__ void __launch_bounds__(
    detail::loop_policy_of<Pass>(States, detail::lowest_capability()).block)
    loop(const __grid_constant__ detail::loop_arguments<Operands> args) {
  detail::run_loop<Pass, Operands - Pass::targets, States, Stop,
                   detail::earlier_phases<FirstValue, Earlier...>, OnChip>(
      args, detail::device_memory{}, detail::team_of_launch(args.range));
}

/// The same for steps that read neighbours.
template <class Name, bool OnChip, int States, int Stop, int FirstValue, int Operands, class Pass,
          class... Earlier>
__global__ void __launch_bounds__(
    detail::loop_policy_of<Pass>(States, detail::lowest_capability()).block)
    tiled_loop(const __grid_constant__ detail::tiled_loop_arguments<Operands, States> args) {
  detail::run_loop<Pass, Operands - Pass::targets, States, Stop,
                   detail::earlier_phases<FirstValue, Earlier...>, OnChip>(
      args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

template <class Pass, int Operands, int States, int Stop, bool OnChip, int FirstValue,
          class... Earlier>
struct loop_kernel {
  static constexpr bool by_tiles = runs_by_tiles<Pass, States, Earlier...>;
  using given = std::conditional_t<by_tiles, tiled_loop_arguments<Operands, States>,
                                   loop_arguments<Operands>>;
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_loop<Pass, Operands - Pass::targets, States, Stop, earlier_phases<FirstValue, Earlier...>,
             OnChip>(*static_cast<const given*>(arguments), simulated_memory{&self},
                     simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    if constexpr (by_tiles)
      return reinterpret_cast<const void*>(
          &kernels::tiled_loop<Name, OnChip, States, Stop, FirstValue, Operands, Pass, Earlier...>);
    else
      return reinterpret_cast<const void*>(
          &kernels::loop<Name, OnChip, States, Stop, FirstValue, Operands, Pass, Earlier...>);
  }
#endif
};

}  // namespace dsl::detail

// The kernels of a scan: of rows in one pass over the elements, of columns in up to three.
#pragma once

#include <dsl/exec/scan/scan_body.hpp>
#include <dsl/exec/team/cuda_team.hpp>
#include <dsl/exec/team/kernel_name.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl::detail {

/// Combines segments over the threads of a block, and over blocks: each thread and each block gets
/// its prefix. `AcrossMembers`: over all blocks of a mesh rather than those of one member.
template <class Operator, class Segment, class Memory, class Team, bool AcrossMembers = false>
class segment_scan {
 public:
  using cell = tagged<decltype(Segment::value)>;

  DSL_DETAIL_KERNEL_FN segment_scan(Memory memory, Team team)
      : memory_(memory),
        team_(team),
        of_warp_(
            team.template shared<struct of_warp, Segment, scan_block_threads / Team::warp_size>()) {
  }

  /// The prefix of a thread's segment. `prefix(all)`, called by the first warp, returns the prefix
  /// of the block.
  template <class Prefix>
  DSL_DETAIL_KERNEL_FN Segment scan_block(const Segment& own, const Prefix& prefix) const {
    constexpr int warps = scan_block_threads / Team::warp_size;
    const Segment scanned = scan_warp(own), before_in_warp = shift_up(scanned, 1);
    if (team_.lane() == Team::warp_size - 1) memory_.store(of_warp_ + team_.warp(), scanned);
    team_.synchronize();
    if (team_.warp() == 0) {
      Segment total{};
      if (team_.thread() < warps) total = memory_.template load<Segment>(of_warp_ + team_.thread());
      const Segment totals = scan_warp(total), before = prefix(from_lane(totals, warps - 1));
      const Segment before_warp = join<Operator>(before, shift_up(totals, 1));
      if (team_.thread() < warps) memory_.store(of_warp_ + team_.thread(), before_warp);
    }
    team_.synchronize();
    return join<Operator>(memory_.template load<Segment>(of_warp_ + team_.warp()), before_in_warp);
  }

  /// The prefix of a tile whose own total is `total`; called by one warp. A tile publishes its
  /// total; the last of 32 tiles publishes that of the group, and the last of 32 such groups the
  /// prefix of the next 32 groups. So the values that are combined, and their order, do not depend
  /// on timing, as they do if a block takes whatever its predecessors have published by then
  /// (Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016), and
  /// sums of floating-point numbers are the same in every run. Waits for earlier tiles only. The
  /// prefix of the first 32 groups is the totals of earlier members (`scan.carries`).
  DSL_DETAIL_KERNEL_FN Segment look_back(const scan_parameters& scan, unsigned tile,
                                         bool begins_row, const Segment& total,
                                         unsigned pause) const {
    cell *const tiles = static_cast<cell*>(scan.tiles),
                *const groups = static_cast<cell*>(scan.groups),
                *const prefixes = static_cast<cell*>(scan.prefixes);
    const unsigned group = tile / scan_groups, in_group = tile % scan_groups,
                   super = group / scan_groups, in_super = group % scan_groups;
    publish(tiles + tile, total);
    // A read that comes too early delays the write that it waits for.
    if (tile > 0) team_.pause(pause);
    // All cells are polled once before the first is waited for.
    request of_tiles = ask(tiles + (tile - in_group), begins_row ? 0 : in_group);
    request of_groups = ask(groups + (group - in_super), begins_row ? 0 : in_super);
    request of_all =
        super == 0 ? ask(static_cast<const cell*>(scan.carries), begins_row ? 0 : scan.carry_count)
                   : ask(prefixes + super, begins_row ? 0 : 1);
    Segment before{};
    if (of_tiles.count > 0) before = join_cells(of_tiles);
    if (in_group == scan_groups - 1) publish(groups + group, join<Operator>(before, total));
    if (of_groups.count > 0 && !before.is_headed())
      before = join<Operator>(join_cells(of_groups), before);
    if (of_all.count > 0 && !before.is_headed())
      before = join<Operator>(join_cells(of_all), before);
    if (in_group == scan_groups - 1 && in_super == scan_groups - 1)
      publish(prefixes + super + 1, join<Operator>(before, total));
    return before;
  }

  /// Publishes the total of a member's tiles to later members. Called by one thread.
  DSL_DETAIL_KERNEL_FN void publish_to_later_members(const scan_parameters& scan,
                                                     const Segment& total) const {
    auto* to = static_cast<unsigned char*>(scan.total_to);
    DSL_DETAIL_ROLLED
    for (int m = 0; m < scan.later_members; ++m, to += scan.copy_bytes)
      team_.publish(reinterpret_cast<cell*>(to), cell(total.value, total.tag()), true);
  }

 private:
  // In a segment of one row each lane knows whether it exists; otherwise its state is sent with the
  // value.
  DSL_DETAIL_KERNEL_FN Segment from_lane(const Segment& s, int lane) const {
    Segment from = s;
    if constexpr (requires { s.state; }) {
      constexpr std::size_t value_words = (sizeof(s.value) + 3) / 4;
      struct { unsigned word[value_words + 1]; } both{};
      memcpy(both.word, &s.value, sizeof(s.value));
      both.word[value_words] = s.tag();
      both = team_.from_lane(both, lane);
      memcpy(&from.value, both.word, sizeof(s.value));
      from.state = static_cast<segment_state>(both.word[value_words]);
    } else {
      from.value = team_.from_lane(s.value, lane);
    }
    return from;
  }
  DSL_DETAIL_KERNEL_FN Segment shift_up(const Segment& s, int step) const {
    const int lane = team_.lane();
    return from_lane(s, lane - step).where(lane >= step);
  }
  DSL_DETAIL_KERNEL_FN Segment scan_warp(Segment s) const {
    DSL_DETAIL_UNROLL
    for (int step = 1; step < Team::warp_size; step *= 2) s = join<Operator>(shift_up(s, step), s);
    return s;
  }

  // At most `scan_groups` cells, one for each lane of the first warp.
  struct request {
    const cell* from;
    unsigned count;
    cell seen;
  };
  DSL_DETAIL_KERNEL_FN request ask(const cell* from, unsigned count) const {
    const auto lane = static_cast<unsigned>(team_.thread());
    request r{from + lane, count, {}};
    if (lane < count)
      // May miss another GPU's value: a choice of the scope here would wait for the loaded value.
      team_.poll(r.seen, r.from);
    return r;
  }
  // Waits for the cells, and combines their segments in order.
  DSL_DETAIL_KERNEL_FN Segment join_cells(request& r) const {
    const bool is_asked_for = static_cast<unsigned>(team_.thread()) < r.count;
    [[maybe_unused]] unsigned tries = 0;
    if (is_asked_for) {
      if (AcrossMembers && team_.members() > 1) {
        while (r.seen.tag() == 0 && !team_.gives_up(tries, team_.block(), 0))
          team_.poll(r.seen, r.from, true);
      } else {
        while (r.seen.tag() == 0) team_.poll(r.seen, r.from);
      }
    }
    team_.synchronize_warp();
    return from_lane(scan_warp(Segment::of(r.seen.value(), is_asked_for ? r.seen.tag() : 0)),
                     static_cast<int>(r.count) - 1);
  }
  DSL_DETAIL_KERNEL_FN void publish(cell* to, const Segment& s) const {
    if (team_.thread() == 0)
      team_.publish(to, cell(s.value, s.tag()), AcrossMembers && team_.members() > 1);
  }

  Memory memory_;
  Team team_;
  Segment* of_warp_;
};

/// Every element is read once, and written once its predecessors are known. Blocks take tiles in
/// the order in which they start, so a block waits only for blocks that already run. On a mesh each
/// member takes its own tiles; the totals of earlier members come from a preceding launch, which
/// writes nothing else.
template <class Scan, bool Rows, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_scan_rows(const scan_arguments<Arguments>& args, Memory memory,
                                        Team team) {
  using body = scan_body<Scan, Rows, Arguments, Memory, Team>;
  using segment_type = typename body::segment_type;
  unsigned* const ticket = team.template shared<struct ticket_of_block, unsigned, 1>();
  if (team.thread() == 0) memory.store(ticket, team.next_ticket(args.scan.ticket));
  team.synchronize();
  const auto tile = memory.template load<unsigned>(ticket);

  body thread(args, memory, team);
  thread.enter_tile(args.scan.first_tile + tile);
  // In shared memory, groups of lanes of adjacent threads become consecutive elements of one
  // thread, and wait for their prefix.
  using values = typename body::values;
  constexpr int words = values::word_count;
  const values of_warp(team.template shared<struct words_of_tile, typename values::word,
                                            scan_block_threads / Team::warp_size * words>() +
                           team.warp() * words,
                       memory);
  thread.evaluate(of_warp);
  team.synchronize_warp();
  const auto marks = thread.mark(of_warp);
  const segment_scan<typename Scan::combine, segment_type, Memory, Team> scan(memory, team);
  const segment_type before =
      scan.scan_block(thread.total(of_warp, marks), [&](const segment_type& total) {
        return scan.look_back(args.scan, tile, thread.begins_row(), total, body::policy.pause);
      });
  if (args.scan.total_tiles > 0) {
    if (tile + 1 == args.scan.total_tiles && team.thread() == scan_block_threads - 1)
      scan.publish_to_later_members(
          args.scan, join<typename Scan::combine>(before, thread.total(of_warp, marks)));
    return;
  }
  thread.scan_own(of_warp, marks, before);
  team.synchronize_warp();
  thread.write(of_warp);
}

/// Adjacent threads take adjacent columns.
template <class Scan, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_scan_columns(const scan_arguments<Arguments>& args, Memory memory,
                                           Team team) {
  scan_body<Scan, true, Arguments, Memory, Team>(args, memory, team).scan_columns(team.block());
}

/// Replaces the chunks' totals by their prefixes in each column: one thread for each column, or one
/// block if a column has many chunks. `Run` totals are combined one after another, and `Ahead`
/// loads are in flight together.
template <class Operator, class V, int Run, int Ahead, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_scan_column_totals(const scan_totals_arguments& args, Memory memory,
                                                 Team team) {
  const scan_parameters& given = args.scan;
  using segment_type = row_segment<Operator, V>;
  const bool alone = given.chunks <= scan_block_threads;
  const std::int64_t column =
      alone ? team.block() * scan_block_threads + team.thread() : team.block();
  if (column >= given.columns) return;
  const std::int64_t outer = column / given.across;
  V* const totals = static_cast<V*>(given.totals) + outer * given.chunks * given.across +
                    (column - outer * given.across);
  const std::int64_t each =
      alone ? given.chunks : (given.chunks + scan_block_threads - 1) / scan_block_threads;
  const std::int64_t first = alone ? 0 : team.thread() * each,
                     end = first + each < given.chunks ? first + each : given.chunks;
  segment_type before{};
  const auto visit = [&](const auto& take) {
    V* at = totals + first * given.across;
    for (std::int64_t k = first; k < end; k += Ahead, at += Ahead * given.across) {
      V mine[Ahead];
      DSL_DETAIL_UNROLL
      for (int i = 0; i < Ahead; ++i)
        if (k + i < end) mine[i] = memory.template load<V>(at + i * given.across);
      DSL_DETAIL_UNROLL
      for (int i = 0; i < Ahead; ++i)
        if (k + i < end) take(k + i, at + i * given.across, segment_type::of(mine[i], 1));
    }
  };
  if (!alone) {
    visit(
        [&](std::int64_t, V*, const segment_type& mine) { before = join<Operator>(before, mine); });
    const segment_scan<Operator, segment_type, Memory, Team> scan(memory, team);
    before = scan.scan_block(before, [](const segment_type&) { return segment_type{}; });
  }
  segment_type run{};
  visit([&](std::int64_t k, V* at, const segment_type& mine) {
    if ((k - first) % Run == 0) {
      before = join<Operator>(before, run);
      run = segment_type{};
    }
    memory.store(at, join<Operator>(before, run).value);
    run = join<Operator>(run, mine);
  });
}

#if defined(__CUDACC__)
template <class Scan> inline constexpr scan_policy device_scan_policy =
    scan_policy_of<typename Scan::pass>(lowest_capability(), device_team::warp_size);
#endif

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

template <class Name, class Arguments, bool Rows, class Scan>
__global__ void __launch_bounds__(detail::scan_block_threads,
                                  Arguments::strided
                                      ? detail::device_scan_policy<Scan>.strided_blocks
                                      : detail::device_scan_policy<Scan>.blocks)
    scan_rows(const __grid_constant__ detail::scan_arguments<Arguments> args) {
  detail::run_scan_rows<Scan, Rows>(args, detail::device_memory{},
                                    detail::team_of_launch(args.range));
}
template <class Name, class Arguments, class Scan>
__global__ void __launch_bounds__(detail::scan_block_threads,
                                  detail::device_scan_policy<Scan>.column_blocks)
    scan_columns(const __grid_constant__ detail::scan_arguments<Arguments> args) {
  detail::run_scan_columns<Scan>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}
template <class Name, dtype Value, int Run, int Ahead, class Operator>
__global__ void __launch_bounds__(detail::scan_block_threads)
    scan_column_totals(const __grid_constant__ detail::scan_totals_arguments args) {
  detail::run_scan_column_totals<Operator, detail::value_t<Value>, Run, Ahead>(
      args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

template <class Arguments, bool Rows, class Scan>
struct scan_rows_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_scan_rows<Scan, Rows>(*static_cast<const scan_arguments<Arguments>*>(arguments),
                              simulated_memory{&self}, simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::scan_rows<Name, Arguments, Rows, Scan>);
  }
#endif
};
template <class Arguments, class Scan>
struct scan_columns_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_scan_columns<Scan>(*static_cast<const scan_arguments<Arguments>*>(arguments),
                           simulated_memory{&self}, simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::scan_columns<Name, Arguments, Scan>);
  }
#endif
};
template <dtype Value, int Run, int Ahead, class Operator>
struct scan_totals_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_scan_column_totals<Operator, value_t<Value>, Run, Ahead>(
        *static_cast<const scan_totals_arguments*>(arguments), simulated_memory{&self},
        simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(
        &kernels::scan_column_totals<Name, Value, Run, Ahead, Operator>);
  }
#endif
};

}  // namespace dsl::detail

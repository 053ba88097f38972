// How the threads of a thread group combine their accumulators.
#pragma once

#include <dsl/exec/reduce/reduction.hpp>
#include <dsl/exec/rows/row_arguments.hpp>
#include <dsl/exec/team/team.hpp>
#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// The largest size of one phase's accumulators, in bytes, rounded up to a multiple of the
/// alignment of each.
template <class Chain> inline constexpr int accumulator_bytes_of = 0;
template <class... Phase>
inline constexpr int accumulator_bytes_of<pass_chain<Phase...>> = [] {
  std::size_t most = 0, unit = 1;
  const auto look = [&](std::size_t size, std::size_t alignment) {
    most = size > most ? size : most;
    unit = alignment > unit ? alignment : unit;
  };
  (look(sizeof(typename reductions_of<typename Phase::pass::reductions>::accumulators),
        alignof(typename reductions_of<typename Phase::pass::reductions>::accumulators)),
   ...);
  return static_cast<int>((most + unit - 1) / unit * unit);
}();

/// A thread's position in its thread group, and the operations with other threads of its row. All
/// threads of a block call them together. `InOneBlock`: a thread group has one row, all of it in
/// this block. `Exchanged`: the bytes that blocks exchange (`exchanged_bytes`).
template <bool InOneBlock, int Exchanged, class Memory, class Team>
class row_team {
 public:
  DSL_DETAIL_KERNEL_FN row_team(const row_schedule& s, Memory memory, Team team)
      : s_(s), memory_(memory), team_(team), group_(static_cast<std::uint32_t>(team.block())) {
    if (parts() > 1) {
      group_ = s.of_parts.divide(group_);
      part_ = static_cast<int>(static_cast<std::uint32_t>(team.block()) - group_ * s.of_parts.by);
      if (s.in_cluster != 0) {
        if (team.thread() < inboxes) team.open(inbox(static_cast<unsigned>(team.thread())));
        team.arrive_in_cluster();
      }
    }
  }

  DSL_DETAIL_KERNEL_FN int thread_group() const {
    return s_.thread_groups == 1 ? 0 : team_.thread() >> s_.log2_group_threads;
  }
  /// The number of the thread's row in the thread group, and the thread's number in the row.
  DSL_DETAIL_KERNEL_FN int row_in_group() const { return team_.thread() & (rows_a_group() - 1); }
  DSL_DETAIL_KERNEL_FN int thread_of_row() const {
    return (s_.thread_groups == 1 ? team_.thread() : team_.thread() & (s_.group_threads - 1)) >>
           log2_across();
  }
  DSL_DETAIL_KERNEL_FN int rows_a_group() const { return 1 << log2_across(); }
  /// The block's number among those of its row, and the number of the row or tile.
  DSL_DETAIL_KERNEL_FN int part() const { return part_; }
  DSL_DETAIL_KERNEL_FN std::uint32_t group() const { return group_; }

  /// Combines the accumulators of all threads of a row, always in the same order. All of these
  /// threads get the result.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators combine(
      typename Reductions::accumulators mine) {
    if constexpr (InOneBlock) {
      return combine_block<Reductions>(mine, team_.threads());
    } else {
      DSL_DETAIL_ROLLED
      for (int parts = s_.parts;; parts = 1) {
        // Threads of a row whose result other blocks need.
        const int receivers = s_.in_cluster != 0 ? parts : 1;
        mine = combine_block<Reductions>(mine,
                                         parts == 1 ? team_.threads() : receivers << log2_across());
        if (parts == 1) return mine;
        if (s_.in_cluster != 0) return combine_cluster<Reductions>(mine);
        mine = exchange<Reductions>(mine);
      }
    }
  }

 private:
  static constexpr int inboxes = 2, warp_size = Team::warp_size;
  DSL_DETAIL_KERNEL_FN int parts() const { return InOneBlock ? 1 : s_.parts; }
  DSL_DETAIL_KERNEL_FN int log2_across() const { return InOneBlock ? 0 : s_.log2_across; }

  // A long combining rule is compiled once for all steps.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN void combine_lanes(typename Reductions::accumulators& mine,
                                          int threads) const {
    const int rows = rows_a_group();
    if constexpr (sizeof(typename Reductions::accumulators) <= 16) {
      DSL_DETAIL_UNROLL
      for (int step = warp_size / 2; step > 0; step /= 2)
        if (step >= rows && step < threads) combine_with_lane<Reductions>(mine, step, team_);
    } else {
      DSL_DETAIL_ROLLED
      for (int step = threads >= warp_size ? warp_size / 2 : threads / 2; step >= rows; step /= 2)
        combine_with_lane<Reductions>(mine, step, team_);
    }
  }

  // The first `receivers` threads get the result, in whole warps.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators combine_block(
      typename Reductions::accumulators mine, int receivers) {
    using accumulators = typename Reductions::accumulators;
    const int lane = team_.lane(), rows = rows_a_group();
    combine_lanes<Reductions>(mine, s_.group_threads);
    int threads = s_.group_threads;
    if (threads > warp_size) {
      // Each warp stores its own; a warp may be one turn ahead of another.
      const int warps = threads / warp_size;
      accumulators* const of_warp = reinterpret_cast<accumulators*>(memory_.shared() + turn_);
      turn_ = s_.shared_sums / 2 - turn_;
      if (lane < rows) memory_.store(of_warp + team_.warp() * rows + lane, mine);
      team_.synchronize();
      if (!InOneBlock && team_.warp() * warp_size >= receivers) return mine;
      mine = Reductions::identities();
      const accumulators* const of_thread_group = of_warp + thread_group() * warps * rows;
      if constexpr (InOneBlock) {  // A block has at most as many warps as a warp has lanes.
        if (lane < warps) mine = memory_.template load<accumulators>(of_thread_group + lane);
      } else {
        DSL_DETAIL_UNROLL_BY_4
        for (int i = lane; i < warps * rows; i += warp_size)
          Reductions::add(mine, memory_.template load<accumulators>(of_thread_group + i));
      }
      threads = warp_size;
      combine_lanes<Reductions>(mine, warp_size);
    }
    // The first lanes have the result.
    const int first = (lane & ~(threads - 1)) + row_in_group();
    Reductions::visit([&]<class Reduction, int J>() {
      nth_accumulator<J>(mine) = team_.from_lane(nth_accumulator<J>(mine), first);
    });
    return mine;
  }

  // In front of the values they count. A block may be one exchange ahead of another.
  DSL_DETAIL_KERNEL_FN cluster_inbox* inbox(unsigned exchange) const {
    return reinterpret_cast<cluster_inbox*>(memory_.shared() + s_.shared_sums) + exchange % inboxes;
  }
  // Address of the value number `values` of `Bytes` bytes each. It computes in bytes only where
  // necessary, because that takes ptxas more registers.
  template <class T, std::size_t Bytes> DSL_DETAIL_KERNEL_FN static T* behind(
      void* address, std::uint32_t values) {
    if constexpr (Bytes % sizeof(T) == 0)
      return static_cast<T*>(address) + values * static_cast<std::uint32_t>(Bytes / sizeof(T));
    else
      return reinterpret_cast<T*>(static_cast<unsigned char*>(address) +
                                  values * static_cast<std::uint32_t>(Bytes));
  }
  // A value in 4-byte words, as it is sent.
  template <class T> struct alignas(alignof(T) < 4 ? 4 : alignof(T)) in_words { T value; };
  // Combines the values of a row's blocks in a cluster: each block sends to all. Such a block has
  // one thread group.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators combine_cluster(
      const typename Reductions::accumulators& of_block) {
    using sent = in_words<typename Reductions::accumulators>;
    const unsigned exchange = exchanges_++,
                   count = static_cast<unsigned>(s_.parts * rows_a_group());
    sent* of_parts =
        behind<sent, Exchanged>(inbox(0) + inboxes, exchange % inboxes * count) + row_in_group();
    if (exchange == 0) team_.wait_for_cluster();
    DSL_DETAIL_ROLLED
    for (int b = thread_of_row(); b < s_.parts; b += s_.row_threads)
      team_.send(of_parts + part_ * rows_a_group(), sent{of_block}, inbox(exchange), b);
    team_.receive(inbox(exchange), count * static_cast<unsigned>(sizeof(sent)), exchange / inboxes);
    auto all = Reductions::identities();
    DSL_DETAIL_UNROLL_BY_4
    for (int b = 0; b < s_.parts; ++b, of_parts += rows_a_group())
      Reductions::add(all, memory_.template load<sent>(of_parts).value);
    return all;
  }

  // Combines the values of a row's blocks through global memory.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators exchange(
      const typename Reductions::accumulators& of_block) {
    using accumulators = typename Reductions::accumulators;
    using cell = tagged<accumulators>;
    const std::uint32_t rows = static_cast<std::uint32_t>(rows_a_group()),
                        epoch = s_.epoch + exchanges_++, cells = s_.of_parts.by * rows;
    cell* const all = behind<cell, tagged_bytes(Exchanged)>(
                          s_.cells, (epoch & 1) * static_cast<std::uint32_t>(s_.groups) * cells) +
                      group_ * cells + static_cast<std::uint32_t>(row_in_group());
    if (thread_of_row() == 0)
      team_.publish(all + static_cast<std::uint32_t>(part_) * rows, cell(of_block, epoch));
    team_.pause(static_cast<unsigned>(3 * s_.parts / 2));
    accumulators read = Reductions::identities();
    DSL_DETAIL_ROLLED
    for (int b = thread_of_row(); b < s_.parts; b += s_.row_threads) {
      cell other;
      do team_.poll(other, all + static_cast<std::uint32_t>(b) * rows);
      while (other.tag() != epoch);
      Reductions::add(read, other.value());
    }
    team_.synchronize_warp();
    return read;
  }

  const row_schedule& s_;
  Memory memory_;
  Team team_;
  std::uint32_t group_, exchanges_ = 0;
  int part_ = 0, turn_ = 0;  // turn_: the offset in shared memory of the warps' next values.
};

}  // namespace dsl::detail

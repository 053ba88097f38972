// How the threads of crews combine what they have of their rows.
#pragma once

#include <dsl/exec/reduction.hpp>
#include <dsl/exec/row_arguments.hpp>
#include <dsl/exec/team.hpp>

namespace dsl::detail {

/// A thread's place among those that work on rows, and what it does with the others of its row. All threads of a block do the same
/// at the same time.
template <class Memory, class Team>
class row_team {
 public:
  DSL_DETAIL_KERNEL_FN row_team(const row_schedule& s, Memory memory, Team team) : s_(s), memory_(memory), team_(team) {}

  DSL_DETAIL_KERNEL_FN int crew() const { return team_.thread() >> s_.log2_crew; }
  /// The row's number in the crew, and the thread's in the row.
  DSL_DETAIL_KERNEL_FN int across() const { return team_.thread() & (rows_a_crew() - 1); }
  DSL_DETAIL_KERNEL_FN int along() const { return in_crew() >> s_.log2_across; }
  DSL_DETAIL_KERNEL_FN int rows_a_crew() const { return 1 << s_.log2_across; }
  /// Of a row's blocks, and of the rows that are worked on at once.
  DSL_DETAIL_KERNEL_FN int part() const { return s_.parts == 1 ? 0 : static_cast<int>(block() % parts()); }
  DSL_DETAIL_KERNEL_FN std::uint32_t group() const { return s_.parts == 1 ? block() : block() / parts(); }
  DSL_DETAIL_KERNEL_FN std::uint32_t groups() const {
    return static_cast<std::uint32_t>(team_.blocks()) / (s_.parts == 1 ? 1u : parts());
  }

  /// What all threads of a row come to, always in the same order. All of them have it.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators combine(typename Reductions::accumulators mine) {
    mine = combine_block<Reductions>(mine);
    return s_.parts > 1 ? exchange<Reductions>(mine) : mine;
  }

 private:
  DSL_DETAIL_KERNEL_FN std::uint32_t block() const { return static_cast<std::uint32_t>(team_.block()); }
  DSL_DETAIL_KERNEL_FN std::uint32_t parts() const { return static_cast<std::uint32_t>(s_.parts); }
  DSL_DETAIL_KERNEL_FN int in_crew() const { return team_.thread() - (crew() << s_.log2_crew); }

  // The first lanes of a crew have what its lanes come to.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN void combine_lanes(typename Reductions::accumulators& mine, int threads) const {
    DSL_DETAIL_ROLLED
    for (int step = 16; step >= rows_a_crew(); step /= 2) {
      if (step >= threads) continue;
      Reductions::visit([&]<class Reduction, int J>() {
        nth_accumulator<J>(mine) =
            detail::combine<Reduction>(nth_accumulator<J>(mine), team_.shift_down(nth_accumulator<J>(mine), step));
      });
    }
  }

  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators combine_block(typename Reductions::accumulators mine) {
    using accumulators = typename Reductions::accumulators;
    const int lane = team_.lane();
    combine_lanes<Reductions>(mine, s_.crew);
    if (s_.crew <= 32) return from_first_lanes<Reductions>(mine, s_.crew);
    // Each warp leaves its own; a warp may be one turn ahead of another.
    const int warps = s_.crew / 32, rows = rows_a_crew();
    accumulators* const of_warp = reinterpret_cast<accumulators*>(memory_.shared() + (turn_ ? s_.shared_sums / 2 : 0));
    turn_ = !turn_;
    if (lane < rows) memory_.store(of_warp + team_.warp() * rows + lane, mine);
    team_.synchronize();
    mine = Reductions::identities();
    const accumulators* const of_crew = of_warp + crew() * warps * rows;
    DSL_DETAIL_ROLLED
    for (int w = lane >> s_.log2_across; w < warps; w += 32 >> s_.log2_across)
      Reductions::add(mine, memory_.template load<accumulators>(of_crew + w * rows + across()));
    combine_lanes<Reductions>(mine, 32);
    return from_first_lanes<Reductions>(mine, 32);
  }

  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators from_first_lanes(typename Reductions::accumulators mine,
                                                                          int threads) const {
    const int first = (team_.lane() & ~(threads - 1)) + across();
    Reductions::visit([&]<class Reduction, int J>() { nth_accumulator<J>(mine) = team_.from_lane(nth_accumulator<J>(mine), first); });
    return mine;
  }

  // Between the blocks of a row. There each block has one crew.
  template <class Reductions>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators exchange(const typename Reductions::accumulators& of_block) {
    using accumulators = typename Reductions::accumulators;
    using cell = tagged<accumulators>;
    const std::uint32_t rows = static_cast<std::uint32_t>(rows_a_crew()), epoch = s_.epoch + exchanges_++;
    cell* const all =
        cells_of_step<accumulators>(s_.cells, epoch, groups() * parts() * rows) + group() * parts() * rows + across();
    if (along() == 0) team_.publish(all + static_cast<std::uint32_t>(part()) * rows, cell(of_block, epoch));
    team_.pause(static_cast<unsigned>(3 * s_.parts / 2));
    accumulators read = Reductions::identities();
    DSL_DETAIL_ROLLED
    for (int b = along(); b < s_.parts; b += s_.along) {
      cell other;
      do team_.poll(other, all + static_cast<std::uint32_t>(b) * rows);
      while (other.tag() != epoch);
      Reductions::add(read, other.value());
    }
    team_.synchronize_warp();
    return combine_block<Reductions>(read);
  }

  const row_schedule& s_;
  Memory memory_;
  Team team_;
  std::uint32_t exchanges_ = 0;
  bool turn_ = false;
};

}  // namespace dsl::detail

// Reductions of sorted pairs of a key and an accumulator.
#pragma once

#include <dsl/exec/by_key_arguments.hpp>
#include <dsl/exec/reduction.hpp>

namespace dsl::detail {

/// One thread of the kernels that reduce runs of pairs with one key, and leave a group's accumulator in a table.
template <class Reductions, class Memory, class Team>
struct by_key_runs {
  using accumulators = typename Reductions::accumulators;
  const by_key_parameters& given;
  Memory memory;
  Team team;

  /// Reduces a warp's slice, 32 pairs at a time: a run that begins and ends in it is a group's; what the first run comes to, and
  /// the last, is left.
  DSL_DETAIL_KERNEL_FN void reduce() {
    const std::int64_t slice = team.block() * (team.threads() / 32) + team.warp(), begin = slice * given.pairs.slice;
    if (slice >= given.pairs.slices) return;
    const std::int64_t behind = begin + given.pairs.slice, end = behind < given.pairs.count ? behind : given.pairs.count;
    const auto none = static_cast<std::uint32_t>(given.groups);
    const std::uint32_t first_key = begin < end ? memory.template load<std::uint32_t>(given.pairs.keys + begin) : none;
    const auto leave = [&](std::uint32_t key, const accumulators& sum) {
      if (key == first_key) leave_end(2 * slice, key, sum);
      else memory.store(static_cast<accumulators*>(given.partials) + key, sum);
    };
    std::uint32_t last_key = none;  // of the run that may go on, and what it has come to
    accumulators last = Reductions::identities();
    DSL_DETAIL_ROLLED
    for (std::int64_t at = begin; at < end && first_key != none; at += 32) {
      const std::int64_t i = at + team.lane();
      std::uint32_t key = none;
      accumulators sum = Reductions::identities();
      if (i < end) {
        key = memory.template load<std::uint32_t>(given.pairs.keys + i);
        sum = accumulator_of_pair(i);
      }
      DSL_DETAIL_UNROLL
      for (int step = 1; step < 32; step *= 2) {
        accumulators before = team.shift_up(sum, step);
        const std::uint32_t key_before = team.shift_up(key, step);
        if (team.lane() < step || key_before != key) continue;
        Reductions::add(before, sum);
        sum = before;
      }
      const std::uint32_t first = team.from_lane(key, 0);
      if (last_key != none && first != last_key && team.lane() == 0) leave(last_key, last);
      if (last_key != none && key == last_key) {
        accumulators before = last;
        Reductions::add(before, sum);
        sum = before;
      }
      const std::uint32_t next = team.from_lane(key, team.lane() + 1);
      if (team.lane() < 31 && key != next && key != none) leave(key, sum);
      last_key = team.from_lane(key, 31);
      last = team.from_lane(sum, 31);
    }
    if (team.lane() != 0) return;
    const bool is_one_run = last_key == first_key;
    if (is_one_run) leave_end(2 * slice, first_key, last);
    leave_end(2 * slice + 1, is_one_run ? none : last_key, last);
  }

  /// Joins what slices have left of one key: a thread for each that is its first.
  DSL_DETAIL_KERNEL_FN void join_ends() {
    const std::int64_t count = 2 * given.pairs.slices, mine = team.block() * team.threads() + team.thread();
    if (mine >= count) return;
    const auto none = static_cast<std::uint32_t>(given.groups);
    const auto key_at = [&](std::int64_t i) { return memory.template load<std::uint32_t>(given.pairs.end_keys + i); };
    const std::uint32_t key = key_at(mine);
    if (key == none) return;
    std::int64_t before = mine - 1;
    while (before >= 0 && key_at(before) == none) --before;
    if (before >= 0 && key_at(before) == key) return;
    accumulators sum = memory.template load<accumulators>(static_cast<accumulators*>(given.pairs.ends) + mine);
    DSL_DETAIL_ROLLED
    for (std::int64_t i = mine + 1; i < count; ++i) {
      const std::uint32_t other = key_at(i);
      if (other == none) continue;
      if (other != key) break;
      Reductions::add(sum, memory.template load<accumulators>(static_cast<accumulators*>(given.pairs.ends) + i));
    }
    memory.store(static_cast<accumulators*>(given.partials) + key, sum);
  }

 private:
  DSL_DETAIL_KERNEL_FN accumulators accumulator_of_pair(std::int64_t i) const {
    if constexpr (sizeof(accumulators) == sizeof(std::uint32_t)) {
      return memory.template load<accumulators>(given.pairs.values + i);
    } else {
      const auto place = memory.template load<std::uint32_t>(given.pairs.values + i);
      return memory.template load<accumulators>(static_cast<const accumulators*>(given.pairs.accumulators) + place);
    }
  }
  DSL_DETAIL_KERNEL_FN void leave_end(std::int64_t at, std::uint32_t key, const accumulators& sum) const {
    memory.store(given.pairs.end_keys + at, key);
    memory.store(static_cast<accumulators*>(given.pairs.ends) + at, sum);
  }
};

}  // namespace dsl::detail

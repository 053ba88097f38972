// The kernel that finds the elements which reach a bound. They are so few that a counter of all
// blocks gives each its place.
#pragma once

#include <dsl/exec/team/team.hpp>

#include "exec/tasks/reach_task.hpp"

namespace dsl::detail {

/// The kernel's parameters.
struct reach_arguments {
  block_range range;
  reach_task task;
};

/// `Bits`: an unsigned integer as large as an element.
template <class Bits, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_reach(const reach_arguments& args, Memory memory, Team team) {
  constexpr int items = reach_plan::items;
  const reach_task& task = args.task;
  const std::int64_t first = team.block() * team.threads() * items, after = task.count - first;
  const int left =
      after < team.threads() * items ? static_cast<int>(after) : team.threads() * items;
  const Bits* const elements = static_cast<const Bits*>(task.elements) + first;
  // All loads are in flight together.
  using word = std::conditional_t<(sizeof(Bits) > 4), std::uint64_t, std::uint32_t>;
  word bits[items];
  DSL_DETAIL_UNROLL
  for (int u = 0; u < items; ++u) {
    const int i = team.thread() + u * team.threads();
    bits[u] = i < left ? memory.template load<Bits>(elements + i) : Bits{};
  }
  const word bound = task.keys.to_key(word{memory.template load<Bits>(task.bound)}, true);
  const std::int64_t last = memory.template load<std::int64_t>(task.last) - first;
  DSL_DETAIL_UNROLL
  for (int u = 0; u < items; ++u) {
    const int i = team.thread() + u * team.threads();
    const word key = task.keys.to_key(bits[u], true);
    if (i >= left || key < bound || (key == bound && i > last)) continue;
    const unsigned place = team.next_ticket(task.reached);
    if (place < task.capacity) memory.store(task.found + place, first + i);
  }
}

/// Calls use(Bits{}) for the elements of a task.
template <class Use>
decltype(auto) with_bits(const reach_task& task, const Use& use) {
  switch (task.keys.bytes) {
    case 1: return use(std::uint8_t{});
    case 2: return use(std::uint16_t{});
    case 4: return use(std::uint32_t{});
    default: return use(std::uint64_t{});
  }
}

}  // namespace dsl::detail

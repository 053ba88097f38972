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

/// How an element that reaches the bound is reported: `run_reach`.
template <class Bits, class Word>
DSL_DETAIL_FN std::uint64_t reached_element(Word key, std::int64_t position) {
  const auto at = static_cast<std::uint64_t>(position);
  if constexpr (sizeof(Bits) > 4) return at;
  else return std::uint64_t{~static_cast<std::uint32_t>(key)} << 32 | at;
}

/// `Bits`: an unsigned integer as large as an element.
template <class Bits, bool IsReal, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_reach(const reach_arguments& args, Memory memory, Team team) {
  constexpr int items = reach_plan::items, threads = reach_plan::threads;
  static_assert(items <= 32);
  const reach_task& task = args.task;
  const std::int64_t first = team.block() * threads * items, after = task.count - first;
  const int left = after < threads * items ? static_cast<int>(after) : threads * items;
  const Bits* const elements = static_cast<const Bits*>(task.elements) + first;
  // All loads are in flight together.
  using word = std::conditional_t<(sizeof(Bits) > 4), std::uint64_t, std::uint32_t>;
  word key[items];
  DSL_DETAIL_UNROLL
  for (int u = 0; u < items; ++u) {
    const int i = team.thread() + u * threads;
    key[u] = i < left ? memory.template load<Bits>(elements + i) : Bits{};
  }
  ordered_key keys = task.keys;
  keys.of = IsReal ? kind::real : kind::integer;  // Known while compiling.
  const word bound = keys.to_key(word{memory.template load<Bits>(task.bound)}, true);
  const std::int64_t last = memory.template load<std::int64_t>(task.last) - first;
  std::uint32_t reach = 0;
  DSL_DETAIL_UNROLL
  for (int u = 0; u < items; ++u) {
    key[u] = keys.to_key(key[u], true);
    reach |= key[u] >= bound ? std::uint32_t{1} << u : 0;
  }
  if (reach == 0) return;
  DSL_DETAIL_UNROLL
  for (int u = 0; u < items; ++u) {
    const int i = team.thread() + u * threads;
    if ((reach >> u & 1) == 0 || i >= left || (key[u] == bound && i > last)) continue;
    const unsigned place = team.next_ticket(task.reached);
    if (place < task.capacity)
      memory.store(task.found + place, reached_element<Bits>(key[u], first + i));
  }
}

/// Calls use(Bits{}, is_real) for the elements of a task.
template <class Use>
decltype(auto) with_bits(const reach_task& task, const Use& use) {
  const auto with_kind = [&](auto bits) -> decltype(auto) {
    if constexpr (sizeof(bits) > 1)
      if (task.keys.of == kind::real) return use(bits, std::true_type{});
    return use(bits, std::false_type{});
  };
  switch (task.keys.bytes) {
    case 1: return with_kind(std::uint8_t{});
    case 2: return with_kind(std::uint16_t{});
    case 4: return with_kind(std::uint32_t{});
    default: return with_kind(std::uint64_t{});
  }
}

}  // namespace dsl::detail

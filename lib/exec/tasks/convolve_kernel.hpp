// The kernel of convolutions: each thread has adjacent results in registers and slides along the
// elements, which a block shares, as it goes through the taps.
#pragma once

#include <dsl/exec/team/team.hpp>

#include "exec/tasks/convolve_task.hpp"
#include "exec/tasks/memory_type.hpp"

namespace dsl::detail {

/// Adjacent results of a thread.
inline constexpr int convolve_items = 8;

/// The kernel's parameters.
struct convolve_arguments {
  block_range range;
  convolve_task task;
  int taps;  // that a block holds at a time
};

template <class V, class Memory, class Team>
struct convolve_block {
  static constexpr int items = convolve_items;

  const convolve_arguments& args;
  Memory memory;
  Team team;
  // Elements for a block's results and for the taps that it holds.
  V *elements, *taps;

  DSL_DETAIL_FN convolve_block(const convolve_arguments& a, Memory m, Team t)
      : args(a),
        memory(m),
        team(t),
        elements(reinterpret_cast<V*>(memory.shared())),
        taps(elements + place(t.threads() * items + a.taps)) {}

  /// A free place after each `items` elements, so that all threads reach theirs without conflicts.
  DSL_DETAIL_FN static int place(int i) { return i + i / items; }

  DSL_DETAIL_FN void run() const {
    const convolve_task& task = args.task;
    const int own = team.threads() * items;
    const std::int64_t first = team.block() * own;
    V sum[items]{};
    for (std::int64_t begin = 0; begin < task.taps_count; begin += args.taps) {
      const std::int64_t left = task.taps_count - begin;
      const int held = left < args.taps ? static_cast<int>(left) : args.taps;
      // The element of the first place, so that those of a thread's results begin at its own
      // places.
      const int before = (held + items - 1) / items * items;
      const std::int64_t lowest = task.first + first - begin - before;
      const int count = own + before;
      if (begin > 0) team.synchronize();
      load(begin, held, lowest, count);
      team.synchronize();
      if (lowest >= 0 && lowest + count <= task.elements_count)
        add(sum, held, before, [](int) { return true; });
      else
        add(sum, held, before,
            [&](int at) { return lowest + at >= 0 && lowest + at < task.elements_count; });
    }
    store(first, sum);
  }

 private:
  DSL_DETAIL_FN void load(std::int64_t begin, int held, std::int64_t lowest, int count) const {
    const convolve_task& task = args.task;
    with_memory_type<V>(task.type, [&](auto type) {
      using T = decltype(type);
      for (int i = team.thread(); i < held; i += team.threads())
        memory.store(taps + i, widened<V>(memory.template load<T>(static_cast<const T*>(task.taps) +
                                                                  begin + i)));
      const T* const from = static_cast<const T*>(task.elements) + lowest;
      DSL_DETAIL_UNROLL_BY_4
      for (int i = team.thread(); i < count; i += team.threads()) {
        const bool exists = lowest + i >= 0 && lowest + i < task.elements_count;
        memory.store(elements + place(i),
                     exists ? widened<V>(memory.template load<T>(from + i)) : V{});
      }
    });
  }

  /// Adds the products with the taps that are held and with elements that exist: others are not
  /// zeros, which an infinite tap would make NaN.
  template <class Exists>
  DSL_DETAIL_FN void add(V (&sum)[items], int held, int before, const Exists& exists) const {
    // The thread's elements for tap k begin at `base` - k.
    int base = team.thread() * items + before;
    V window[2 * items], tap[items];
    read(window + items, base);
    int k = 0;
    for (; k + items <= held; k += items, base -= items) {
      read(window, base - items);
      read_taps(tap, k);
      DSL_DETAIL_UNROLL
      for (int j = 0; j < items; ++j) add_tap(sum, window, tap[j], j, base, exists);
      DSL_DETAIL_UNROLL
      for (int u = 0; u < items; ++u) window[items + u] = window[u];
    }
    if (k == held) return;
    read(window, base - items);
    DSL_DETAIL_UNROLL
    for (int j = 0; j < items; ++j)
      if (k + j < held)
        add_tap(sum, window, memory.template load<V>(taps + k + j), j, base, exists);
  }
  template <class Exists>
  DSL_DETAIL_FN void add_tap(V (&sum)[items], const V (&window)[2 * items], V tap, int j, int base,
                             const Exists& exists) const {
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      if (exists(base - j + u)) sum[u] = sum[u] + tap * window[items + u - j];
  }
  /// `from`: a multiple of `items`.
  DSL_DETAIL_FN void read(V* window, int from) const {
    const V* const at = elements + place(from);
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) window[u] = memory.template load<V>(at + u);
  }
  DSL_DETAIL_FN void read_taps(V (&tap)[items], int k) const {
    constexpr int together = 16 / sizeof(V);
    struct alignas(16) several { V of[together]; };
    DSL_DETAIL_UNROLL
    for (int j = 0; j < items; j += together) {
      const auto some = memory.template load<several>(taps + k + j);
      DSL_DETAIL_UNROLL
      for (int u = 0; u < together; ++u) tap[j + u] = some.of[u];
    }
  }

  DSL_DETAIL_FN void store(std::int64_t first, const V (&sum)[items]) const {
    const convolve_task& task = args.task;
    team.synchronize();
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      memory.store(elements + place(team.thread() * items + u), sum[u]);
    team.synchronize();
    with_memory_type<V>(task.type, [&](auto type) {
      using T = decltype(type);
      T* const to = static_cast<T*>(task.result) + first;
      DSL_DETAIL_UNROLL
      for (int u = 0; u < items; ++u) {
        const int i = team.thread() + u * team.threads();
        if (first + i < task.count)
          memory.store(to + i, rounded<T>(memory.template load<V>(elements + place(i))));
      }
    });
  }
};

template <class V, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_convolve(const convolve_arguments& args, Memory memory, Team team) {
  convolve_block<V, Memory, Team>(args, memory, team).run();
}

/// Calls use(V{}) with the type that a task computes with. Integers of any size are the lower bits
/// of those of 64 bits.
template <class Use>
decltype(auto) with_convolved_type(dtype type, const Use& use) {
  if (kind_of(type) <= kind::integer) return use(std::uint64_t{});
  switch (computed_in(type)) {
    case dtype::float32: return use(float{});
    case dtype::complex64: return use(complex_value<float>{});
    case dtype::complex128: return use(complex_value<double>{});
    default: return use(double{});
  }
}

}  // namespace dsl::detail

// The kernel of rolling reductions.
//
// Elements are cut into segments as long as a window. A window is then the end of a segment and the
// beginning of the next one, so that it takes one reduction from each element to the end of its
// segment, one from the beginning of the segment to the element, and one operation that joins two
// of these (van Herk, A fast algorithm for local minimum and maximum filters, 1992; Gil and Werman,
// Computing 2-D min, median, and max filters, 1993). Nothing is subtracted: an infinity or a NaN is
// seen by the windows that have it, and the rounding error depends on the window's length alone.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/exec/team/team.hpp>
#include <dsl/ir/op.hpp>

#include "exec/tasks/memory_type.hpp"
#include "exec/tasks/rolling_task.hpp"

namespace dsl::detail {

/// Adjacent elements of a thread, and the threads of the largest block.
template <class V> inline constexpr int rolling_items = sizeof(V) == 4 ? 16 : 8;
template <class V> inline constexpr int rolling_threads = 8192 / rolling_items<V>;

/// The kernel's parameters.
struct rolling_arguments {
  block_range range;
  rolling_task task;
  std::int64_t tile;
};

// The functions: what is known of adjacent elements, and how it is joined. `origin` is one of the
// elements, the outermost of its segment.

template <class V>
struct rolling_sum {
  using value = V;
  using state = V;
  static constexpr bool has_origin = false;
  DSL_DETAIL_FN static state of(V x, V) { return x; }
  DSL_DETAIL_FN static state join(state a, state b) { return a + b; }
  DSL_DETAIL_FN static V result(const rolling_task& task, state sum) {
    if constexpr (std::floating_point<V>)
      if (task.function == rolling_function::mean) return sum / static_cast<V>(task.window);
    return sum;
  }
};

template <class V, bool Max>
struct rolling_extremum {
  using value = V;
  using state = V;
  static constexpr bool has_origin = false;
  DSL_DETAIL_FN static state of(V x, V) { return x; }
  DSL_DETAIL_FN static state join(state a, state b) {
    return Max ? math::max(a, b) : math::min(a, b);
  }
  DSL_DETAIL_FN static V result(const rolling_task&, state extremum) { return extremum; }
};

/// Sums of the differences from an element of the same window and of their squares: a large common
/// offset leaves no error, and no other window's elements do.
template <class V>
struct rolling_variance {
  using value = V;
  struct state { V sum, squares; };
  static constexpr bool has_origin = true;
  DSL_DETAIL_FN static state of(V x, V origin) {
    const V d = x - origin;
    return {d, d * d};
  }
  DSL_DETAIL_FN static state join(state a, state b) {
    return {a.sum + b.sum, a.squares + b.squares};
  }
  /// The same for n elements relative to another origin, from which theirs differs by `by`.
  DSL_DETAIL_FN static state moved(state s, V n, V by) {
    const V sum = s.sum + n * by;
    return {sum, s.squares + by * (s.sum + sum)};
  }
  DSL_DETAIL_FN static V result(const rolling_task& task, state s) {
    const V n = static_cast<V>(task.window);
    const std::int64_t free = task.window > task.ddof ? task.window - task.ddof : 0;
    const V squares = math::max(s.squares - s.sum * s.sum / n, V(0));
    const V variance = squares / static_cast<V>(free);
    return task.function == rolling_function::std ? math::sqrt(variance) : variance;
  }
};

template <class Function, class Memory, class Team>
struct rolling_block {
  using V = typename Function::value;
  using state = typename Function::state;
  static constexpr int items = rolling_items<V>, warp_size = Team::warp_size;

  const rolling_arguments& args;
  Memory memory;
  Team team;
  // Of the block's elements: their values, then the results; and the reductions up to them.
  V* values;
  state* prefixes;
  unsigned window, elements;

  DSL_DETAIL_FN rolling_block(const rolling_arguments& a, Memory m, Team t)
      : args(a),
        memory(m),
        team(t),
        values(reinterpret_cast<V*>(memory.shared())),
        prefixes(reinterpret_cast<state*>(values + place(t.threads() * items))),
        window(static_cast<unsigned>(a.task.window)),
        elements(static_cast<unsigned>(t.threads() * items)) {}

  /// A free place after a thread's elements, so that all threads reach theirs without conflicts.
  /// place(a + b) is place(a) + place(b) if a is a multiple of `items`.
  DSL_DETAIL_FN static unsigned place(unsigned i) { return i + i / static_cast<unsigned>(items); }

  DSL_DETAIL_FN void run() const {
    const std::int64_t first = team.block() * args.tile;
    load(first);
    team.synchronize();
    const unsigned begin = static_cast<unsigned>(team.thread() * items);
    V x[items];
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) x[u] = memory.template load<V>(values + place(begin) + u);
    state upto[items], from[items];
    const unsigned firsts = reduce<true>(x, upto);
    team.synchronize();
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) memory.store(prefixes + place(begin) + u, upto[u]);
    reduce<false>(x, from);
    unsigned at = begin % window;
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) {
      x[u] = finish(begin, static_cast<unsigned>(u), at, (firsts >> u & 1) != 0, from[u]);
      if (++at == window) at = 0;
    }
    team.synchronize();
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) memory.store(values + place(begin) + u, x[u]);
    team.synchronize();
    store(first);
  }

 private:
  /// Calls use(element's number in the block, its place) for a thread's part of a block's adjacent
  /// elements.
  template <class Use>
  DSL_DETAIL_FN void for_each_adjacent(const Use& use) const {
    const unsigned place_of_first = place(static_cast<unsigned>(team.thread())),
                   step = place(static_cast<unsigned>(team.threads()));
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      use(u, team.thread() + u * team.threads(), place_of_first + static_cast<unsigned>(u) * step);
  }

  DSL_DETAIL_FN void load(std::int64_t first) const {
    with_memory_type<V>(args.task.type, [&](auto type) {
      using T = decltype(type);
      const T* const from = static_cast<const T*>(args.task.elements) + first;
      const std::int64_t after = args.task.count - first;
      const int left =
          after < static_cast<int>(elements) ? static_cast<int>(after) : static_cast<int>(elements);
      // All loads are in flight together.
      V x[items];
      for_each_adjacent([&](int u, int i, unsigned) {
        x[u] = i < left ? widened<V>(memory.template load<T>(from + i)) : V{};
      });
      for_each_adjacent([&](int u, int, unsigned at) { memory.store(values + at, x[u]); });
    });
  }

  /// The result of the window that begins at element begin + u, which is at `at` in its segment;
  /// `suffix` is the reduction from it to the segment's end. Without meaning if the window ends
  /// beyond the block's elements.
  DSL_DETAIL_FN V finish(unsigned begin, unsigned u, unsigned at, bool is_first,
                         state suffix) const {
    const unsigned last = begin + u + window - 1;
    const state prefix =
        memory.template load<state>(prefixes + place(last < elements ? last : elements - 1));
    state both;
    if constexpr (Function::has_origin) {
      unsigned next = begin + u + window - at;  // the next segment
      if (next >= elements) next = elements - 1;
      const V end_of_this = memory.template load<V>(values + place(next - 1)),
              begin_of_next = memory.template load<V>(values + place(next));
      both = Function::join(
          suffix, Function::moved(prefix, static_cast<V>(at), begin_of_next - end_of_this));
    } else {
      both = Function::join(suffix, prefix);
    }
    return Function::result(args.task, is_first ? suffix : both);
  }

  /// `Up`: reduces the elements from the beginning of its segment up to each of the thread's.
  /// Otherwise those from it to the end of its segment: the same, with all elements in reverse
  /// order. Returns a bit for each element that is the first of its segment in this order.
  template <bool Up>
  DSL_DETAIL_FN unsigned reduce(const V (&x)[items], state (&reduced)[items]) const {
    const int thread = Up ? team.thread() : team.threads() - 1 - team.thread(),
              lane = thread % warp_size, warp = thread / warp_size;
    const unsigned begin = static_cast<unsigned>(thread * items);
    // The first element's place in its segment. In reverse order the first segment may be cut off.
    const unsigned first_at = (begin + (Up ? 0 : window - elements % window)) % window;
    const auto index = [](int u) { return Up ? u : items - 1 - u; };
    unsigned firsts = 0;
    for (unsigned u = first_at == 0 ? 0 : window - first_at; u < items; u += window)
      firsts |= 1u << u;
    const auto is_first = [firsts](int u) { return (firsts >> u & 1) != 0; };

    // The thread's own elements.
    V origin{};
    if constexpr (Function::has_origin)
      if (first_at <= begin) {
        const unsigned at = begin - first_at;
        origin = memory.template load<V>(values + place(Up ? at : elements - 1 - at));
      }
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) {
      if (is_first(u)) origin = x[index(u)];
      const state one = Function::of(x[index(u)], origin);
      reduced[index(u)] =
          u == 0 || is_first(u) ? one : Function::join(reduced[index(u - (u > 0))], one);
    }

    // Those of the threads before, from the one in which the segment begins.
    const int segment_begins = static_cast<int>(first_at < begin ? begin - first_at : 0) / items;
    const int last_begins = firsts != 0 ? thread : segment_begins;
    state sum = reduced[index(items - 1)];
    DSL_DETAIL_UNROLL
    for (int step = 1; step < warp_size; step *= 2) {
      const state other = Up ? team.shift_up(sum, step) : team.shift_down(sum, step);
      if (step <= lane && thread - step >= last_begins) sum = Function::join(other, sum);
    }
    constexpr int most_warps = rolling_threads<V> / warp_size;
    state* const of_warps = team.template shared<rolling_block, state, most_warps>();
    if (lane == warp_size - 1) memory.store(of_warps + warp, sum);
    state before = Up ? team.shift_up(sum, 1) : team.shift_down(sum, 1);
    team.synchronize();
    if (is_first(0)) return firsts;
    bool is_some = lane > 0;
    for (int w = warp - 1; w >= segment_begins / warp_size; --w) {
      const state of_warp = memory.template load<state>(of_warps + w);
      before = is_some ? Function::join(of_warp, before) : of_warp;
      is_some = true;
    }
    if (!is_some) return firsts;
    // The elements before the first segment that begins in this thread.
    const int own_first = firsts != 0 ? lowest_bit(firsts) : items;
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      if (u < own_first) reduced[index(u)] = Function::join(before, reduced[index(u)]);
    return firsts;
  }

  /// Stores the results of windows that are in one row.
  DSL_DETAIL_FN void store(std::int64_t first) const {
    const rolling_task& task = args.task;
    const std::int64_t results = task.length - task.window + 1;
    with_memory_type<V>(task.result, [&](auto type) {
      using T = decltype(type);
      T* const to = static_cast<T*>(task.results);
      const auto result_at = [&](unsigned at) {
        return rounded<T>(memory.template load<V>(values + at));
      };
      if (task.count == task.length) {  // One row.
        const std::int64_t after = results - first;
        const int left = after < args.tile ? static_cast<int>(after) : static_cast<int>(args.tile);
        for_each_adjacent([&](int, int i, unsigned at) {
          if (i < left) memory.store(to + first + i, result_at(at));
        });
      } else {
        const std::int64_t row = first / task.length, column = first - row * task.length,
                           left = task.count - first;
        for_each_adjacent([&](int, int i, unsigned at) {
          if (i >= args.tile || i >= left) return;
          const std::int64_t rows = column + i < task.length ? 0 : (column + i) / task.length,
                             in_row = column + i - rows * task.length;
          if (in_row < results) memory.store(to + (row + rows) * results + in_row, result_at(at));
        });
      }
    });
  }
};

template <class Function, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_rolling(const rolling_arguments& args, Memory memory, Team team) {
  rolling_block<Function, Memory, Team>(args, memory, team).run();
}

/// Calls use(Function{}) with the function of a task.
template <class Use>
decltype(auto) with_rolling_function(const rolling_task& task, const Use& use) {
  const auto with_type = [&]<class V>(V) -> decltype(auto) {
    switch (task.function) {
      case rolling_function::min: return use(rolling_extremum<V, false>{});
      case rolling_function::max: return use(rolling_extremum<V, true>{});
      case rolling_function::sum:
      case rolling_function::mean: break;
      case rolling_function::var:
      case rolling_function::std:
        if constexpr (std::floating_point<V>) return use(rolling_variance<V>{});
    }
    return use(rolling_sum<std::conditional_t<std::integral<V>, std::uint64_t, V>>{});
  };
  switch (rolling_type(task.function, task.type)) {
    case dtype::int64: return with_type(std::int64_t{});
    case dtype::uint64: return with_type(std::uint64_t{});
    case dtype::float32: return with_type(float{});
    default: return with_type(double{});
  }
}

}  // namespace dsl::detail

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

/// Adjacent elements of a thread.
inline constexpr int rolling_items = 8;

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
  static constexpr int items = rolling_items, warp_size = Team::warp_size;

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
  DSL_DETAIL_FN static unsigned place(unsigned i) { return i + i / static_cast<unsigned>(items); }

  DSL_DETAIL_FN void run() const {
    const std::int64_t first = team.block() * args.tile;
    load(first);
    team.synchronize();
    const unsigned begin = static_cast<unsigned>(team.thread() * items);
    V x[items];
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      x[u] = memory.template load<V>(values + place(begin) + static_cast<unsigned>(u));
    state upto[items], from[items];
    reduce<true>(x, upto);
    team.synchronize();
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      memory.store(prefixes + place(begin) + static_cast<unsigned>(u), upto[u]);
    reduce<false>(x, from);
    unsigned at = begin % window;
    V result[items];
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) {
      const unsigned i = begin + static_cast<unsigned>(u), last = i + window - 1;
      result[u] = last < elements ? finish(i, at, from[u]) : V{};
      if (++at == window) at = 0;
    }
    team.synchronize();
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      memory.store(values + place(begin) + static_cast<unsigned>(u), result[u]);
    team.synchronize();
    store(first);
  }

 private:
  DSL_DETAIL_FN void load(std::int64_t first) const {
    with_memory_type<V>(args.task.type, [&](auto type) {
      using T = decltype(type);
      const T* const from = static_cast<const T*>(args.task.elements) + first;
      const std::int64_t left = args.task.count - first;
      V x[items];
      DSL_DETAIL_UNROLL
      for (int u = 0; u < items; ++u) {
        const int i = team.thread() + u * team.threads();
        x[u] = i < left ? widened<V>(memory.template load<T>(from + i)) : V{};
      }
      DSL_DETAIL_UNROLL
      for (int u = 0; u < items; ++u)
        memory.store(values + place(static_cast<unsigned>(team.thread() + u * team.threads())),
                     x[u]);
    });
  }

  /// The result of the window that begins at element i, which is at `at` in its segment; `suffix`
  /// is the reduction from it to the segment's end.
  DSL_DETAIL_FN V finish(unsigned i, unsigned at, state suffix) const {
    if (at == 0) return Function::result(args.task, suffix);
    const state prefix = memory.template load<state>(prefixes + place(i + window - 1));
    if constexpr (Function::has_origin) {
      const unsigned next = i + window - at;  // the next segment
      const V last = memory.template load<V>(values + place(next - 1)),
              first = memory.template load<V>(values + place(next));
      return Function::result(
          args.task,
          Function::join(suffix, Function::moved(prefix, static_cast<V>(at), first - last)));
    } else {
      return Function::result(args.task, Function::join(suffix, prefix));
    }
  }

  /// `Up`: reduces the elements from the beginning of its segment up to each of the thread's.
  /// Otherwise those from it to the end of its segment: the same, with all elements in reverse
  /// order.
  template <bool Up>
  DSL_DETAIL_FN void reduce(const V (&x)[items], state (&reduced)[items]) const {
    const int thread = Up ? team.thread() : team.threads() - 1 - team.thread(),
              lane = thread % warp_size, warp = thread / warp_size;
    const unsigned begin = static_cast<unsigned>(thread * items);
    // The first element's place in its segment. In reverse order the first segment may be cut off.
    const unsigned first_at = (begin + (Up ? 0 : window - elements % window)) % window;
    const auto index = [](int u) { return Up ? u : items - 1 - u; };
    V origin{};
    if constexpr (Function::has_origin)
      if (first_at <= begin) {
        const unsigned at = begin - first_at;
        origin = memory.template load<V>(values + place(Up ? at : elements - 1 - at));
      }
    // The thread's own elements.
    unsigned at = first_at;
    int own_first = items;  // the first element of a segment that begins in this thread
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) {
      if (at == 0) {
        origin = x[index(u)];
        if (u < own_first) own_first = u;
      }
      const state one = Function::of(x[index(u)], origin);
      reduced[index(u)] =
          u == 0 || at == 0 ? one : Function::join(reduced[index(u - (u > 0))], one);
      if (++at == window) at = 0;
    }
    // Those of the threads before, from the one in which the last element's segment begins.
    const unsigned last_at = at == 0 ? window - 1 : at - 1, last = begin + items - 1;
    const int segment_begins = static_cast<int>(last_at < last ? last - last_at : 0) / items;
    state sum = reduced[index(items - 1)];
    DSL_DETAIL_UNROLL
    for (int step = 1; step < warp_size; step *= 2) {
      const state other = Up ? team.shift_up(sum, step) : team.shift_down(sum, step);
      if (step <= lane && thread - step >= segment_begins) sum = Function::join(other, sum);
    }
    state* const of_warps = team.template shared<rolling_block, state, 1024 / warp_size>();
    if (lane == warp_size - 1) memory.store(of_warps + warp, sum);
    state before = Up ? team.shift_up(sum, 1) : team.shift_down(sum, 1);
    team.synchronize();
    if (own_first == 0) return;
    bool is_some = lane > 0;
    const int begins = static_cast<int>(first_at < begin ? begin - first_at : 0) / items;
    for (int w = warp - 1; w >= begins / warp_size; --w) {
      const state of_warp = memory.template load<state>(of_warps + w);
      before = is_some ? Function::join(of_warp, before) : of_warp;
      is_some = true;
    }
    if (!is_some) return;
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      if (u < own_first) reduced[index(u)] = Function::join(before, reduced[index(u)]);
  }

  /// Stores the results of windows that are in one row.
  DSL_DETAIL_FN void store(std::int64_t first) const {
    const rolling_task& task = args.task;
    const std::int64_t row = first / task.length, column = first - row * task.length,
                       results = task.length - task.window + 1, left = task.count - first;
    with_memory_type<V>(task.result, [&](auto type) {
      using T = decltype(type);
      DSL_DETAIL_UNROLL
      for (int u = 0; u < items; ++u) {
        const int i = team.thread() + u * team.threads();
        if (i >= args.tile || i >= left) continue;
        std::int64_t in_row = column + i, of_row = row;
        if (in_row >= task.length) {
          const std::int64_t rows = in_row / task.length;
          of_row += rows;
          in_row -= rows * task.length;
        }
        if (in_row >= results) continue;
        const V result = memory.template load<V>(values + place(static_cast<unsigned>(i)));
        memory.store(static_cast<T*>(task.results) + of_row * results + in_row, rounded<T>(result));
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

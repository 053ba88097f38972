// The kernel of rolling reductions.
//
// Each thread has adjacent elements, a chunk. A window longer than that is the end of a chunk, some
// whole chunks and the beginning of a later chunk, and what is known of these three is joined. The
// whole chunks are a window of chunks, and all windows have one of two adjacent numbers of them:
// they are joined from those of 1, 2, 4, ... chunks. Nothing is subtracted: an infinity or a NaN is
// seen by the windows that have it, and the rounding error depends on the window's length alone.
#pragma once

#include <limits>

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

// The functions. A state is what is known of some elements, relative to an origin, which is one of
// them. `none` knows nothing yet; `add` adds an element; `plus` joins states of one origin, and
// `join` any two: the result has a's origin, and b is of n elements. In shared memory are parts of
// states; `with_origin` makes them states again, with the origin of another one. A `finish` makes
// results of states; what does not depend on the state is computed once, in its constructor.

template <class V>
struct rolling_sum {
  using value = V;
  using state = V;
  using part = V;
  DSL_DETAIL_FN static state none(V) { return std::floating_point<V> ? -V{} : V{}; }
  DSL_DETAIL_FN static state add(state a, V x) { return a + x; }
  DSL_DETAIL_FN static state plus(state a, state b) { return a + b; }
  DSL_DETAIL_FN static state join(state a, state b, V) { return a + b; }
  DSL_DETAIL_FN static part part_of(state s) { return s; }
  DSL_DETAIL_FN static state with_origin(part p, state) { return p; }

  class finish {
   public:
    DSL_DETAIL_FN explicit finish(const rolling_task& task)
        : is_mean_(std::floating_point<V> && task.function == rolling_function::mean),
          n_(static_cast<V>(task.window)),
          inverse_(V(1) / n_) {}
    // sum / n, for an n that is the same for many sums: one correction makes the product with the
    // rounded inverse the rounded quotient (P. Markstein, IBM Journal of Research and Development
    // 34, 1990). An infinite sum has no correction.
    DSL_DETAIL_FN V operator()(state sum) const {
      if constexpr (std::floating_point<V>) {
        if (!is_mean_) return sum;
        const V quotient = sum * inverse_,
                corrected = math::fma(math::fma(-quotient, n_, sum), inverse_, quotient);
        return corrected == corrected ? corrected : quotient;
      } else {
        return sum;
      }
    }

   private:
    bool is_mean_;
    V n_, inverse_;
  };
};

template <class V, bool Max>
struct rolling_extremum {
  using value = V;
  using state = V;
  using part = V;
  DSL_DETAIL_FN static state none(V) {
    using limits = std::numeric_limits<V>;
    if constexpr (std::floating_point<V>) return Max ? -limits::infinity() : limits::infinity();
    else return Max ? limits::min() : limits::max();
  }
  DSL_DETAIL_FN static state add(state a, V x) { return Max ? math::max(a, x) : math::min(a, x); }
  DSL_DETAIL_FN static state plus(state a, state b) { return add(a, b); }
  DSL_DETAIL_FN static state join(state a, state b, V) { return add(a, b); }
  DSL_DETAIL_FN static part part_of(state s) { return s; }
  DSL_DETAIL_FN static state with_origin(part p, state) { return p; }
  struct finish {
    DSL_DETAIL_FN explicit finish(const rolling_task&) {}
    DSL_DETAIL_FN V operator()(state extremum) const { return extremum; }
  };
};

/// Sums of the differences from one of the elements and of their squares: a large common offset
/// leaves no error, and no other window's elements do.
template <class V>
struct rolling_variance {
  using value = V;
  struct alignas(2 * sizeof(V)) part { V sum, squares; };
  struct state { V origin, sum, squares; };
  DSL_DETAIL_FN static state none(V origin) { return {origin, 0, 0}; }
  DSL_DETAIL_FN static state add(state a, V x) {
    const V d = x - a.origin;
    return {a.origin, a.sum + d, a.squares + d * d};
  }
  DSL_DETAIL_FN static state plus(state a, state b) {
    return {a.origin, a.sum + b.sum, a.squares + b.squares};
  }
  DSL_DETAIL_FN static state join(state a, state b, V n) {
    const V by = b.origin - a.origin, moved = n * by;
    return {a.origin, a.sum + (b.sum + moved),
            a.squares + (b.squares + by * (b.sum + b.sum + moved))};
  }
  DSL_DETAIL_FN static part part_of(state s) { return {s.sum, s.squares}; }
  DSL_DETAIL_FN static state with_origin(part p, state of) { return {of.origin, p.sum, p.squares}; }

  class finish {
   public:
    DSL_DETAIL_FN explicit finish(const rolling_task& task)
        : is_std_(task.function == rolling_function::std),
          share_(V(1) / static_cast<V>(task.window)),
          scale_(V(1) / static_cast<V>(task.window > task.ddof ? task.window - task.ddof : 0)) {}
    DSL_DETAIL_FN V operator()(state s) const {
      const V variance = math::max(s.squares - s.sum * (s.sum * share_), V(0)) * scale_;
      return is_std_ ? math::sqrt(variance) : variance;
    }

   private:
    bool is_std_;
    V share_, scale_;
  };
};

/// What a thread leaves for others of the windows of chunks that begin with its own.
template <class State>
struct rolling_chunks {
  State power, some;
};
/// A block's memory for each of its threads.
template <class Function>
inline constexpr std::size_t rolling_bytes_a_thread =
    (rolling_items<typename Function::value> + 1) *
        (sizeof(typename Function::value) + sizeof(typename Function::part)) +
    2 * sizeof(rolling_chunks<typename Function::state>);

template <class Function, class Memory, class Team>
struct rolling_block {
  using V = typename Function::value;
  using state = typename Function::state;
  using part = typename Function::part;
  static constexpr int items = rolling_items<V>;

  const rolling_arguments& args;
  Memory memory;
  Team team;
  // Of the block's elements: their values, then the results; and what is known of each one's chunk
  // up to it.
  V* values;
  part* prefixes;
  // Two for each thread.
  rolling_chunks<state>* chunks;

  DSL_DETAIL_FN rolling_block(const rolling_arguments& a, Memory m, Team t)
      : args(a),
        memory(m),
        team(t),
        values(reinterpret_cast<V*>(memory.shared())),
        prefixes(reinterpret_cast<part*>(values + place(t.threads() * items))),
        chunks(reinterpret_cast<rolling_chunks<state>*>(prefixes + place(t.threads() * items))) {}

  /// A free place after a thread's elements, so that all threads reach theirs without conflicts.
  /// place(a + b) is place(a) + place(b) if a is a multiple of `items`.
  DSL_DETAIL_FN static unsigned place(unsigned i) { return i + i / static_cast<unsigned>(items); }

  DSL_DETAIL_FN void run() const {
    const std::int64_t first = team.block() * args.tile;
    load(first);
    team.synchronize();
    V x[items];
    read(x, team.thread());
    const auto window = static_cast<unsigned>(args.task.window);
    if (window <= items) reduce_short(x, window);
    else reduce_long(x, window - 1);
    V* const own = values + place(static_cast<unsigned>(team.thread() * items));
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) memory.store(own + u, x[u]);
    team.synchronize();
    store(first);
  }

 private:
  /// Calls use(u, element's number in the block, its place) for a thread's part of its warp's
  /// adjacent elements.
  template <class Use>
  DSL_DETAIL_FN void for_each_adjacent(const Use& use) const {
    constexpr int lanes = Team::warp_size;
    static_assert(lanes % items == 0);
    const int first = team.warp() * lanes * items + team.lane();
    const unsigned place_of_first = place(static_cast<unsigned>(first));
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u)
      use(u, first + u * lanes, place_of_first + static_cast<unsigned>(u) * place(lanes));
  }

  DSL_DETAIL_FN void load(std::int64_t first) const {
    with_memory_type<V>(args.task.type, [&](auto type) {
      using T = decltype(type);
      const T* const from = static_cast<const T*>(args.task.elements) + first;
      const std::int64_t after = args.task.count - first;
      const int elements = team.threads() * items,
                left = after < elements ? static_cast<int>(after) : elements;
      // All loads are in flight together.
      V x[items];
      for_each_adjacent([&](int u, int i, unsigned) {
        x[u] = i < left ? widened<V>(memory.template load<T>(from + i)) : V{};
      });
      for_each_adjacent([&](int u, int, unsigned at) { memory.store(values + at, x[u]); });
    });
  }
  DSL_DETAIL_FN void read(V (&x)[items], int chunk) const {
    const V* const from = values + place(static_cast<unsigned>(chunk * items));
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) x[u] = memory.template load<V>(from + u);
  }
  /// A chunk of the block, or its last one. Windows that would end beyond it are not stored.
  DSL_DETAIL_FN int chunk_of_block(int chunk) const {
    return chunk < team.threads() ? chunk : team.threads() - 1;
  }

  // Each replaces the thread's elements by the results of the windows that begin with them. After a
  // barrier, so that the places of the elements are free.

  /// Windows that end in the same chunk or in the next one.
  DSL_DETAIL_FN void reduce_short(V (&x)[items], unsigned window) const {
    V next[items];
    read(next, chunk_of_block(team.thread() + 1));
    state known[items];
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) known[u] = Function::add(Function::none(x[u]), x[u]);
    DSL_DETAIL_UNROLL
    for (int k = 1; k < items; ++k) {
      if (static_cast<unsigned>(k) >= window) continue;
      DSL_DETAIL_UNROLL
      for (int u = 0; u < items; ++u)
        known[u] =
            Function::add(known[u], u + k < items ? x[(u + k) % items] : next[(u + k) % items]);
    }
    const typename Function::finish finish(args.task);
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) x[u] = finish(known[u]);
    team.synchronize();
  }

  /// Windows that end `ahead` elements after the one with which they begin, in a later chunk.
  DSL_DETAIL_FN void reduce_long(V (&x)[items], unsigned ahead) const {
    part* const own = prefixes + place(static_cast<unsigned>(team.thread() * items));
    state prefix = Function::none(x[0]);
    DSL_DETAIL_UNROLL
    for (int u = 0; u < items; ++u) {
      prefix = Function::add(prefix, x[u]);
      memory.store(own + u, Function::part_of(prefix));
    }
    leave(0, {prefix, Function::none(V{})});
    team.synchronize();
    // The last element is `over` elements after the place of the first one, in the chunk `later`
    // chunks on or in the one after that.
    constexpr auto size = static_cast<unsigned>(items);
    const unsigned later = ahead / size, over = ahead % size;
    const state fewer = reduce_chunks(later - 1, prefix);
    const int last = chunk_of_block(team.thread() + static_cast<int>(later)),
              next = chunk_of_block(last + 1);
    const part *const ends = prefixes + place(static_cast<unsigned>(last) * size),
                      *const ends_of_next = prefixes + place(static_cast<unsigned>(next) * size);
    const state of_last = left_by(0, last).power, of_next = left_by(0, next).power;
    const auto n = static_cast<V>(later * size), whole = static_cast<V>(size);
    const state more = Function::join(
        fewer, Function::with_origin(memory.template load<part>(ends + size - 1), of_last), whole);
    const typename Function::finish finish(args.task);
    // All states are relative to the chunk's last element from here on.
    state suffix = Function::none(x[items - 1]);
    const state with_fewer = Function::join(suffix, fewer, n - whole),
                with_more = Function::join(suffix, more, n);
    DSL_DETAIL_UNROLL
    for (int u = items - 1; u >= 0; --u) {
      suffix = Function::add(suffix, x[u]);
      const bool crosses = static_cast<unsigned>(u) + over >= size;
      const unsigned ends_at = static_cast<unsigned>(u) + over - (crosses ? size : 0);
      const V ended = static_cast<V>(over) + static_cast<V>(crosses ? u + 1 - items : u + 1);
      const state end = Function::with_origin(
          memory.template load<part>((crosses ? ends_of_next : ends) + ends_at),
          crosses ? of_next : of_last);
      x[u] = finish(
          Function::join(Function::plus(suffix, crosses ? with_more : with_fewer), end, ended));
    }
  }

  DSL_DETAIL_FN void leave(int table, const rolling_chunks<state>& own) const {
    memory.store(chunks + table * team.threads() + team.thread(), own);
  }
  DSL_DETAIL_FN rolling_chunks<state> left_by(int table, int chunk) const {
    return memory.template load<rolling_chunks<state>>(chunks + table * team.threads() +
                                                       chunk_of_block(chunk));
  }
  /// What is known of `count` chunks after the thread's own.
  DSL_DETAIL_FN state reduce_chunks(unsigned count, state own) const {
    constexpr auto size = static_cast<unsigned>(items);
    // Of `length` chunks, and of as many as the lower binary digits of `count` say.
    rolling_chunks<state> mine{own, Function::none(V{})};
    int table = 0;
    unsigned done = 0;
    for (unsigned length = 1; length <= count; length *= 2) {
      const rolling_chunks<state> others = left_by(table, team.thread() + static_cast<int>(length));
      if ((count & length) != 0) {
        mine.some = Function::join(mine.power, others.some, static_cast<V>(done * size));
        done += length;
      }
      mine.power = Function::join(mine.power, others.power, static_cast<V>(length * size));
      table = 1 - table;
      leave(table, mine);
      team.synchronize();
    }
    return left_by(table, team.thread() + 1).some;
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

// The arrays that a loop carries: a thread's share of them, in registers, in shared memory, or
// streamed through shared memory.
#pragma once

#include <dsl/exec/loop/earlier_phases.hpp>
#include <dsl/exec/loop/loop_variables.hpp>

namespace dsl::detail {

/// Vectors of each array that a thread holds in registers, together with what phases reuse of them;
/// 0: they take too many registers.
template <class Pass, class Earlier>
constexpr int rows_of_reused(int states) {
  constexpr int most_bytes = 256;
  const int bytes = lanes_of_pass<Pass> *
                    (traits_of(Pass::view(), states).carried_bytes + Earlier::reused_bytes),
            rows = bytes == 0 ? 0 : most_bytes / bytes,
            most = loop_policy_of<Pass>(states, 0).vectors_held;
  return Earlier::reused == 0 ? 0 : rows < most ? rows : most;
}

/// `OnChip`: all arrays are in registers, and so is what phases reuse.
template <class Pass, int Inputs, int States, class Earlier, bool OnChip, class Memory, class Team>
struct held_state : loop_elements<Pass, Inputs, loop_arguments<Inputs + Pass::targets>, Memory>,
                    loop_variables<Pass, States> {
  using arguments = loop_arguments<Inputs + Pass::targets>;
  using base = loop_elements<Pass, Inputs, arguments, Memory>;
  using variables = loop_variables<Pass, States>;
  using base::args, base::memory, base::lanes;
  using typename base::group, typename variables::states;
  using variables::for_arrays;
  using row_lanes = state_lanes<Pass, lanes, states>;
  static constexpr loop_policy policy = loop_policy_of<Pass>(States, Memory::compute_capability);
  static constexpr int in_registers =
      OnChip ? rows_of_reused<Pass, Earlier>(States) : policy.vectors_held;
  static constexpr int rows_ahead = policy.rows_ahead;

  Team team;

  DSL_DETAIL_KERNEL_FN held_state(const arguments& a, Memory m, Team t) : base(a, m), team(t) {}

  /// A thread's share of the state.
  struct thread_state {
    row_lanes held[in_registers];
    reused_lanes<Earlier, lanes> reused[in_registers];
    int count[in_registers];  // Existing lanes of each.
    std::int64_t first, row;  // Its first row's element, and the distance between rows.
    std::int64_t first_held;  // Its first element in registers.
    int next_buffer;          // Next buffer for streamed rows.
  };

  /// Reads the state, and starts copying the first streamed rows.
  DSL_DETAIL_KERNEL_FN void begin(thread_state& t) const {
    const step_schedule& s = args.loop;
    const int thread = team.thread(), threads = team.threads();
    const loop_rows mine = loop_rows::of(s, team.block(), team.first_block(), team.own_blocks(),
                                         thread, threads, lanes);
    t.first = mine.first;
    keep_in_register(t.first);  // Otherwise it would be computed again for each row.
    t.row = mine.row;
    t.first_held = mine.first_held;
    t.next_buffer = 0;
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_group(t, r);
      const std::int64_t left = args.elements - g.first;
      g.count = t.count[r] = r * threads + thread >= mine.held_groups ? 0
                             : left < lanes                           ? static_cast<int>(left)
                                                                      : lanes;
      keep_in_register(t.count[r]);
      if (g.count > 0) load(g, t.held[r]);
    }
    if constexpr (!OnChip) {
      DSL_DETAIL_ROLLED
      for (int r = 0; r < s.in_shared; ++r) {
        row_lanes h;
        load(row_of(t, r), h);
        store_shared(h, r);
      }
      DSL_DETAIL_ROLLED
      for (int m = 0; m < rows_ahead && s.streamed > 0; ++m) begin_copy(t, m, m);
    }
  }

  /// Writes the state.
  DSL_DETAIL_KERNEL_FN void end(const thread_state& t) const {
    if constexpr (!OnChip) memory.template wait_for_copies<0>();
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_group(t, r);
      g.count = t.count[r];
      if (g.count > 0) store(g, t.held[r]);
    }
    if constexpr (!OnChip) {
      DSL_DETAIL_ROLLED
      for (int r = 0; r < args.loop.in_shared; ++r) {
        row_lanes h;
        load_shared(h, r);
        store(row_of(t, r), h);
      }
    }
  }

 protected:
  // Keeps the state after step k of the launch, beside the variables.
  DSL_DETAIL_KERNEL_FN void keep(const group& g, const row_lanes& h, std::int64_t k) const {
    for_arrays([&]<int I, class T>() {
      T* const all = reinterpret_cast<T*>(args.by_step[Inputs + I]);
      if (all == nullptr) return;
      T* const to =
          all + (args.loop.recorded + k) * distance_of_states(args.elements, sizeof(T)) + g.first;
      if (g.count == lanes && args.elements > 1) {
        memory.store(reinterpret_cast<pack<T, lanes>*>(to), lanes_of<I>(h));
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          if (l < g.count) memory.store(to + l, lanes_of<I>(h).lane[l]);
      }
    });
  }

  // A whole group.
  DSL_DETAIL_KERNEL_FN static group row_of(const thread_state& t, int row) {
    group g;
    g.first = t.first + row * t.row;
    g.count = lanes;
    return g;
  }
  DSL_DETAIL_KERNEL_FN group held_group(const thread_state& t, int r) const {
    group g;
    g.first = t.first_held + r * (team.threads() * lanes);
    return g;
  }

  // ---- between memory and registers
  template <int I, class T> DSL_DETAIL_KERNEL_FN T* element(const group& g) const {
    return reinterpret_cast<T*>(args.operand[I].word) + g.first;
  }
  template <int I> DSL_DETAIL_KERNEL_FN bool in_whole_vectors(const group& g) const {
    return g.count == lanes && args.operand[I].descriptor == in_vectors;
  }
  DSL_DETAIL_KERNEL_FN void load(const group& g, row_lanes& h) const {
    for_arrays([&]<int I, class T>() {
      const T* const from = element<I, const T>(g);
      if (in_whole_vectors<I>(g)) {
        lanes_of<I>(h) = memory.template load<pack<T, lanes>>(from);
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          lanes_of<I>(h).lane[l] = memory.template load<T>(from + (l < g.count ? l : 0));
      }
    });
  }
  DSL_DETAIL_KERNEL_FN void store(const group& g, const row_lanes& h) const {
    for_arrays([&]<int I, class T>() {
      T* const to = element<I, T>(g);
      if (in_whole_vectors<I>(g)) {
        memory.store(reinterpret_cast<pack<T, lanes>*>(to), lanes_of<I>(h));
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          if (l < g.count) memory.store(to + l, lanes_of<I>(h).lane[l]);
      }
    });
  }

  // Streamed rows are whole and aligned. Of every eight, `l2_resident` should stay in the L2 cache.
  DSL_DETAIL_KERNEL_FN bool is_l2_resident(int row) const {
    return (row & 7) < args.loop.l2_resident;
  }
  DSL_DETAIL_KERNEL_FN void begin_copy(const thread_state& t, int row, int buffer) const {
    const group g = row_of(t, args.loop.in_shared + row);
    for_arrays([&]<int I, class T>() {
      memory.copy_async(in_shared<I, T>(args.loop.in_shared + buffer),
                        reinterpret_cast<const pack<T, lanes>*>(element<I, const T>(g)),
                        is_l2_resident(row));
    });
    memory.commit_copies();
  }
  DSL_DETAIL_KERNEL_FN void stream_out(const group& g, int row, const row_lanes& h) const {
    for_arrays([&]<int I, class T>() {
      memory.store_streaming(reinterpret_cast<pack<T, lanes>*>(element<I, T>(g)), lanes_of<I>(h),
                             is_l2_resident(row));
    });
  }

  // In shared memory each array has its groups side by side. The rows that stay come first, then
  // the buffers of streamed rows.
  template <int I>
  static constexpr int bytes_before() {
    int bytes = 0;
    for (int i = 0; i < I; ++i)
      if (!Pass::is_result(i)) bytes += lanes * size_of(Pass::view().type(i));
    return bytes;
  }
  template <int I, class T>
  DSL_DETAIL_KERNEL_FN pack<T, lanes>* in_shared(int row) const {
    const int count =
        (args.loop.in_shared + (args.loop.streamed > 0 ? rows_ahead : 0)) * team.threads();
    unsigned char* const array = memory.shared() + static_cast<std::size_t>(bytes_before<I>()) *
                                                       static_cast<std::size_t>(count);
    return reinterpret_cast<pack<T, lanes>*>(array) + row * team.threads() + team.thread();
  }
  DSL_DETAIL_KERNEL_FN void load_shared(row_lanes& h, int row) const {
    for_arrays([&]<int I, class T>() {
      lanes_of<I>(h) = memory.template load<pack<T, lanes>>(in_shared<I, T>(row));
    });
  }
  DSL_DETAIL_KERNEL_FN void store_shared(const row_lanes& h, int row) const {
    for_arrays([&]<int I, class T>() { memory.store(in_shared<I, T>(row), lanes_of<I>(h)); });
  }
};

}  // namespace dsl::detail

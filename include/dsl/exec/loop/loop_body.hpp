// A step's work of one thread of a loop's kernel.
#pragma once

#include <dsl/exec/loop/held_state.hpp>
#include <dsl/exec/loop/loop_scalars.hpp>

namespace dsl::detail {

template <class Pass, int Inputs, int States, int Stop, class Earlier, bool OnChip, class Memory,
          class Team>
struct loop_body : loop_scalars<held_state<Pass, Inputs, States, Earlier, OnChip, Memory, Team>,
                                Pass, Inputs, States, Stop, Earlier> {
  using base = loop_scalars<held_state<Pass, Inputs, States, Earlier, OnChip, Memory, Team>, Pass,
                            Inputs, States, Stop, Earlier>;
  using reused = reused_lanes<Earlier, base::lanes>;
  using base::args, base::has_ended, base::in_registers, base::lanes, base::memory,
      base::rows_ahead, base::team;
  using base::base;
  using typename base::accumulators, typename base::eval, typename base::reductions,
      typename base::group, typename base::lane_results, typename base::row_lanes,
      typename base::scalars, typename base::states, typename base::targets,
      typename base::thread_state;

  /// Without reductions: runs all steps of a thread's group of lanes.
  DSL_DETAIL_KERNEL_FN void run_elementwise() {
    group g;
    place(g, team.block() * team.threads() + team.thread());
    if (g.count <= 0 || has_ended()) return;
    typename base::template reader<> from{*this, g};
    eval::read(from);
    lane_results out;
    history_place history(args.loop);
    DSL_DETAIL_ROLLED
    for (std::int64_t k = 0;; ++k) {
      count_step(g, k);
      out = this->compute_read(g);
      if constexpr (Stop == keeps_states) {
        row_lanes now;
        take_new(now, out);
        this->keep(g, now, k);
      } else if (args.elements == 1 && history.comes(args.loop)) {
        record(out, history.row - 1, targets{});
      }
      bool ends = k + 1 == args.loop.steps;
      if constexpr (Stop >= 0)
        ends = ends || nth<target_word{Pass::target_words[Stop]}.output()>(out.of[0]);
      if (ends) break;
      feed_back(out, g);
    }
    this->write_all(g, out, targets{});
  }

  /// Prepares step k.
  DSL_DETAIL_KERNEL_FN void begin_step(thread_state&, std::int64_t) const {}
  /// Computes a thread's share of a step and returns its partial results.
  DSL_DETAIL_KERNEL_FN accumulators step(thread_state& t, const scalars& s, std::int64_t k) const {
    return walk_rows<reductions, true>(
        t, [&](group& g, row_lanes& h, const reused& before, accumulators& sums) {
          advance(g, h, before, s, k, sums);
        });
  }
  /// The same for phase P, which changes no variable.
  template <int P>
  DSL_DETAIL_KERNEL_FN auto reduce_phase(thread_state& t, const scalars& s, std::int64_t k) const {
    using reduced = typename base::template reductions_of_phase<P>;
    using elements = loop_elements<typename base::template pass_of_phase<P>, Inputs,
                                   typename base::arguments, Memory, lanes>;
    const elements phase(args, memory);
    return walk_rows<reduced, false>(t, [&](const group& at, row_lanes& h, reused& values,
                                            typename reduced::accumulators& sums) {
      typename elements::group g;
      g.first = at.first;
      g.count = at.count;
      state_reader<elements> from{phase, g, h, values, s, k};
      elements::eval::read(from);
      const auto out = phase.compute_read(g);
      Earlier::template for_reused<P>([&]<int K, class T, int Output>() {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          lanes_of_reused<K>(values).lane[l] = static_cast<T>(nth<Output>(out.of[l]));
      });
      add_group<reduced>(sums, out, g.count);
    });
  }

 private:
  using base::begin_copy, base::for_arrays, base::held_group, base::load_shared, base::row_of,
      base::store_shared, base::stream_out;
  template <int I> static constexpr bool is_array = base::template is_array<I>;
  template <int I> static constexpr bool is_array_of_state = [] {
    if constexpr (I < States) return base::template is_array<I>;
    else return false;
  }();
  template <int I> static constexpr int output = base::template output<I>;

  DSL_DETAIL_KERNEL_FN void place(group& g, std::int64_t number) const {
    g.first = number * lanes;
    g.count = args.elements - g.first < lanes ? static_cast<int>(args.elements - g.first) : lanes;
  }
  // Calls take(group, variables, reused elements, sums) for all of a thread's groups; `Changes`: it
  // changes the variables. A few rows' values are combined first, because the rounding error grows
  // with the longest chain of additions. Rows in shared memory are interleaved with streamed ones,
  // so that memory is never idle.
  template <class Reductions, bool Changes, class Take>
  DSL_DETAIL_KERNEL_FN typename Reductions::accumulators walk_rows(thread_state& t,
                                                                   const Take& take) const {
    typename Reductions::accumulators sums = Reductions::identities();
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_group(t, r);
      g.count = t.count[r];
      if (g.count <= 0) break;  // So are those of the following ones.
      take(g, t.held[r], t.reused[r], sums);
    }
    if constexpr (!OnChip) walk_rows_in_memory<Reductions, Changes>(t, take, sums);
    return sums;
  }
  // The same for rows in shared memory and streamed ones.
  template <class Reductions, bool Changes, class Take>
  DSL_DETAIL_KERNEL_FN void walk_rows_in_memory(thread_state& t, const Take& take,
                                                typename Reductions::accumulators& sums) const {
    typename Reductions::accumulators joined = Reductions::identities();
    const int resident = args.loop.in_shared, streamed = args.loop.streamed;
    [[maybe_unused]] reused none;
    DSL_DETAIL_ROLLED
    for (int s = 0, m = 0, turn = 0; s < resident || m < streamed;) {
      const bool stays = s < resident && (m == streamed || turn >= streamed);
      if (!stays) memory.template wait_for_copies<rows_ahead - 1>();
      group g = row_of(t, stays ? s : resident + m);
      row_lanes h;
      load_shared(h, stays ? s : resident + t.next_buffer);
      take(g, h, none, joined);
      if (stays) {
        if constexpr (Changes) store_shared(h, s);
        ++s;
        turn -= streamed;
      } else {
        if constexpr (Changes) stream_out(g, m, h);
        const int next = m + rows_ahead;
        begin_copy(t, next < streamed ? next : next - streamed, t.next_buffer);
        t.next_buffer = t.next_buffer + 1 == rows_ahead ? 0 : t.next_buffer + 1;
        ++m;
        turn += resident;
      }
      if ((s + m) % base::policy.rows_joined == 0 || s + m == resident + streamed) {
        Reductions::add(sums, joined);
        joined = Reductions::identities();
      }
    }
  }
  template <class Reductions, class Results>
  DSL_DETAIL_KERNEL_FN static void add_group(typename Reductions::accumulators& sums,
                                             const Results& out, int count) {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if (l < count) Reductions::add(sums, Reductions::of_element(out.of[l]));
  }
  // Computes one step of one group.
  DSL_DETAIL_KERNEL_FN void advance(group& g, row_lanes& h, const reused& before, const scalars& s,
                                    std::int64_t k, accumulators& sums) const {
    state_reader<loop_body> from{*this, g, h, before, s, k};
    eval::read(from);
    const lane_results out = this->compute_read(g);
    take_new(h, out);
    if constexpr (Stop == keeps_states) this->keep(g, h, k);
    add_group<reductions>(sums, out, g.count);
  }
  DSL_DETAIL_KERNEL_FN static void take_new(row_lanes& h, const lane_results& out) {
    for_arrays([&]<int I, class T>() {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        lanes_of<I>(h).lane[l] = static_cast<T>(nth<output<I>>(out.of[l]));
    });
  }

  template <class Elements>
  struct state_reader {
    const Elements& body;
    typename Elements::group& g;
    const row_lanes& mine;
    const reused& before;
    const scalars& known;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      constexpr bool is_known = Earlier::is_value(N) || Earlier::is_reused(N);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        if constexpr (N >= States && !is_known) {
        } else if constexpr (Earlier::is_reused(N)) {
          operand_lanes<Head>(g).set(l, lanes_of_reused<N - Earlier::first_reused>(before).lane[l]);
        } else if constexpr (is_array_of_state<N>)
          operand_lanes<Head>(g).set(l, lanes_of<N>(mine).lane[l]);
        else operand_lanes<Head>(g).set(l, base::template known_scalar<N>(known));
      }
      if constexpr (N >= States && !is_known) body.template read_parameter<Code, D, N, Head>(g, k);
    }
  };
  // Without reductions: passes outputs to the next step's inputs.
  struct feedback {
    const loop_body& body;
    const lane_results& out;
    group& g;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      if constexpr (N < States) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          operand_lanes<Head>(g).set(
              l, static_cast<state_element<N, Pass>>(nth<output<N>>(out.of[l])));
      }
    }
  };
  DSL_DETAIL_KERNEL_FN void feed_back(const lane_results& out, group& g) const {
    feedback from{*this, out, g};
    eval::read(from);
  }
  // Without reductions: reads what differs from step to step.
  struct step_counter {
    const loop_body& body;
    group& g;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      if constexpr (Code == op::value && D == dtype::int64 && N >= States)
        body.template add_step<N, Head>(g, k);
      else if constexpr (Code == op::load && base::is_step_array(N))
        body.template read_parameter<Code, D, N, Head>(g, k);
    }
  };
  DSL_DETAIL_KERNEL_FN void count_step(group& g, std::int64_t k) const {
    step_counter from{*this, g, k};
    eval::read(from);
  }
  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void record(const lane_results& out, std::int64_t row,
                                   std::index_sequence<I...>) const {
    (record<static_cast<int>(I)>(out, row), ...);
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN void record(const lane_results& out, std::int64_t row) const {
    using T = state_element<I, Pass>;
    if (T* const to = reinterpret_cast<T*>(args.by_step[Inputs + I]))
      memory.store(to + row, static_cast<T>(nth<output<I>>(out.of[0])));
  }
};

}  // namespace dsl::detail

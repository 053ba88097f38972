// One thread of a loop's kernel: what it computes of a step.
#pragma once

#include <dsl/exec/held_state.hpp>

namespace dsl::detail {

template <class Pass, int Inputs, int States, int Stop, class Memory, class Team>
struct loop_body : held_state<Pass, Inputs, States, Memory, Team> {
  using base = held_state<Pass, Inputs, States, Memory, Team>;
  using base::args, base::memory, base::team, base::lanes, base::in_registers, base::rows_ahead;
  using typename base::accumulators, typename base::eval, typename base::reductions, typename base::group,
      typename base::lane_results;
  using typename base::row_lanes, typename base::states, typename base::targets, typename base::thread_state;
  using after = evaluator<typename Pass::results>;
  using reduced_values = typename after::results;
  using base::base;

  /// Whether an earlier launch has ended the loop.
  DSL_DETAIL_KERNEL_FN bool has_ended() const {
    if constexpr (Stop >= 0) return memory.template load<bool>(reinterpret_cast<const void*>(args.operand[Inputs + Stop].word));
    else return false;
  }

  /// Without reductions: all steps of a thread's group of lanes.
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
      if (args.elements == 1 && history.comes(args.loop)) record(out, history.row - 1, targets{});
      bool ends = k + 1 == args.loop.steps;
      if constexpr (Stop >= 0) ends = ends || nth<target_word{Pass::target_words[Stop]}.output()>(out.of[0]);
      if (ends) break;
      feed_back(out, g);
    }
    this->write_all(g, out, targets{});
  }

  /// A thread's share of a step. Returns its partial results: those of a few rows are joined at a time, for the rounding error
  /// grows with the longest chain. Rows in shared memory come between those that are streamed, so that memory is never idle.
  DSL_DETAIL_KERNEL_FN accumulators step(thread_state& t, const reduced_values& now, std::int64_t k) const {
    accumulators sums = reductions::identities(), joined = sums;
    const int resident = args.loop.in_shared, streamed = args.loop.streamed;
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_group(t, r);
      g.count = t.count[r];
      if (g.count <= 0) break;  // so are the others'
      advance(g, t.held[r], now, k, sums);
    }
    DSL_DETAIL_ROLLED
    for (int s = 0, m = 0, turn = 0; s < resident || m < streamed;) {
      const bool stays = s < resident && (m == streamed || turn >= streamed);
      if (!stays) memory.template wait_for_copies<rows_ahead - 1>();
      group g = row_of(t, stays ? s : resident + m);
      row_lanes h;
      load_shared(h, stays ? s : resident + t.next_buffer);
      advance(g, h, now, k, joined);
      if (stays) {
        store_shared(h, s);
        ++s;
        turn -= streamed;
      } else {
        stream_out(g, m, h);
        const int next = m + rows_ahead;
        begin_copy(t, next < streamed ? next : next - streamed, t.next_buffer);
        t.next_buffer = t.next_buffer + 1 == rows_ahead ? 0 : t.next_buffer + 1;
        ++m;
        turn += resident;
      }
      if ((s + m) % base::policy.rows_joined == 0 || s + m == resident + streamed) {
        reductions::add(sums, joined);
        joined = reductions::identities();
      }
    }
    return sums;
  }

  /// What a step reduces to, and the scalars in device memory that the results depend on beside it. These are read once: a
  /// variable may be among what the end depends on, and is written at the end.
  struct scalars {
    reduced_values now;
    typename after::inputs given;
  };
  DSL_DETAIL_KERNEL_FN scalars read_scalars() const {
    scalars s{};
    for_reduced(
        [&]<int I, class T>() {
          nth<output<I>>(s.now) = memory.template load<T>(reinterpret_cast<const void*>(args.operand[I].word));
        },
        states{});
    scalar_reader from{*this, s.given};
    after::read(from);
    return s;
  }
  /// Goes on to what all elements' results of a step come to, each as its memory can hold it.
  DSL_DETAIL_KERNEL_FN void finish(scalars& s, const accumulators& totals, std::int64_t k) const {
    totals_source from{*this, totals, s.now, k, s.given};
    after::read(from);
    s.now = after::compute(from.in);
    for_reduced([&]<int I, class T>() { nth<output<I>>(s.now) = static_cast<T>(nth<output<I>>(s.now)); }, targets{});
  }
  DSL_DETAIL_KERNEL_FN static bool stops([[maybe_unused]] const reduced_values& s) {
    if constexpr (Stop >= 0) return nth<target_word{Pass::target_words[Stop]}.output()>(s);
    else return false;
  }
  DSL_DETAIL_KERNEL_FN void record_reduced(const reduced_values& s, history_place& at) const {
    if (!at.comes(args.loop)) return;
    for_reduced(
        [&]<int I, class T>() {
          if (T* const to = reinterpret_cast<T*>(args.history[Inputs + I]))
            memory.store(to + (at.row - 1), static_cast<T>(nth<output<I>>(s)));
        },
        targets{});
  }
  DSL_DETAIL_KERNEL_FN void store_reduced(const reduced_values& s) const {
    for_reduced(
        [&]<int I, class T>() {
          if (T* const to = reinterpret_cast<T*>(args.operand[Inputs + I].word))
            memory.store(to, static_cast<T>(nth<output<I>>(s)));
        },
        targets{});
  }

 private:
  using base::begin_copy, base::for_arrays, base::held_group, base::load_shared, base::row_of, base::store_shared,
      base::stream_out;
  template <int I> static constexpr bool is_array = base::template is_array<I>;
  template <int I> static constexpr int output = base::template output<I>;

  // Calls each<number, element type>() for each scalar.
  template <class Each, std::size_t... I>
  DSL_DETAIL_KERNEL_FN static void for_reduced(const Each& each, std::index_sequence<I...>) {
    (for_reduced_value<static_cast<int>(I)>(each), ...);
  }
  template <int I, class Each>
  DSL_DETAIL_KERNEL_FN static void for_reduced_value([[maybe_unused]] const Each& each) {
    if constexpr (!is_array<I>) each.template operator()<I, memory_t<Pass::results::output(output<I>).type()>>();
  }

  DSL_DETAIL_KERNEL_FN void place(group& g, std::int64_t number) const {
    g.first = number * lanes;
    g.count = args.elements - g.first < lanes ? static_cast<int>(args.elements - g.first) : lanes;
  }
  // One group, one step.
  DSL_DETAIL_KERNEL_FN void advance(group& g, row_lanes& h, const reduced_values& now, std::int64_t k, accumulators& sums) const {
    state_reader from{*this, g, h, now, k};
    eval::read(from);
    const lane_results out = this->compute_read(g);
    for_arrays([&]<int I, class T>() {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) lanes_of<I>(h).lane[l] = static_cast<T>(nth<output<I>>(out.of[l]));
    });
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if (l < g.count) reductions::add(sums, reductions::of_element(out.of[l]));
  }

  struct state_reader {
    const loop_body& body;
    group& g;
    const row_lanes& mine;
    const reduced_values& now;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        if constexpr (N >= States) {
        } else if constexpr (is_array<N>) operand_lanes<Head>(g).set(l, lanes_of<N>(mine).lane[l]);
        else operand_lanes<Head>(g).set(l, nth<output<N>>(now));
      }
      if constexpr (N >= States) body.template read_parameter<Code, D, N, Head>(g, k);
    }
  };
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read_parameter(group& g, [[maybe_unused]] std::int64_t k) const {
    this->template read<Code, D, N, Head>(g);
    if constexpr (Code == op::value && D == dtype::int64) add_step<N, Head>(g, k);
  }
  template <int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void add_step(group& g, std::int64_t k) const {
    if (args.operand[N].descriptor != counts_steps) return;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) operand_lanes<Head>(g).set(l, static_cast<std::int64_t>(args.operand[N].word) + k);
  }

  struct scalar_reader {
    const loop_body& body;
    typename after::inputs& in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::load_scalar && N >= States) input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
    }
  };
  struct totals_source {
    const loop_body& body;
    const accumulators& totals;
    const reduced_values& now;
    std::int64_t k;
    typename after::inputs in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::reduced) input_of<Head>(in) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
      else if constexpr (Code == op::count) input_of<Head>(in) = body.args.reduction.count;
      else if constexpr (N < States) input_of<Head>(in) = nth<output<N>>(now);
      else if constexpr (Code != op::load_scalar) {
        input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
        if constexpr (Code == op::value && D == dtype::int64)
          if (body.args.operand[N].descriptor == counts_steps) input_of<Head>(in) += k;
      }
    }
  };

  // Without reductions: outputs as the next step's inputs.
  struct feedback {
    const loop_body& body;
    const lane_results& out;
    group& g;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      if constexpr (N < States) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          operand_lanes<Head>(g).set(l, static_cast<state_element<N, Pass>>(nth<output<N>>(out.of[l])));
      }
    }
  };
  DSL_DETAIL_KERNEL_FN void feed_back(const lane_results& out, group& g) const {
    feedback from{*this, out, g};
    eval::read(from);
  }
  struct step_counter {
    const loop_body& body;
    group& g;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      if constexpr (Code == op::value && D == dtype::int64 && N >= States) body.template add_step<N, Head>(g, k);
    }
  };
  DSL_DETAIL_KERNEL_FN void count_step(group& g, std::int64_t k) const {
    step_counter from{*this, g, k};
    eval::read(from);
  }
  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void record(const lane_results& out, std::int64_t row, std::index_sequence<I...>) const {
    (record<static_cast<int>(I)>(out, row), ...);
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN void record(const lane_results& out, std::int64_t row) const {
    using T = state_element<I, Pass>;
    if (T* const to = reinterpret_cast<T*>(args.history[Inputs + I]))
      memory.store(to + row, static_cast<T>(nth<output<I>>(out.of[0])));
  }
};

}  // namespace dsl::detail

// What one thread of a loop's kernel does. The same code runs on the GPU and, a thread after another, in the simulator.
#pragma once

#include <dsl/exec/kernel.hpp>
#include <dsl/exec/loop_arguments.hpp>

namespace dsl::detail {

template <class Pass, int Inputs, int States, int Stop, class Memory>
struct loop_body : kernel_body<Pass, Inputs, loop_arguments<Inputs + Pass::targets>, Memory> {
  using base = kernel_body<Pass, Inputs, loop_arguments<Inputs + Pass::targets>, Memory>;
  using base::args, base::memory, base::lanes, base::operands;
  using typename base::accumulators, typename base::eval, typename base::folds, typename base::group, typename base::lane_results, typename base::targets;
  using after = evaluator<typename Pass::results>;
  using singles = typename after::results;  // what all elements' folds come to
  using states = std::make_index_sequence<static_cast<std::size_t>(States)>;
  using held = held_arrays<Pass, lanes, states>;
  static constexpr int in_registers = groups_held(Pass::view(), States);
  static constexpr int rows_ahead = rows_on_their_way(state_bytes(Pass::view(), States));
  using base::base;

  /// Whether an earlier launch has ended the loop.
  DSL_DETAIL_KERNEL_FN bool has_ended() const {
    if constexpr (Stop >= 0) return memory.template load<bool>(reinterpret_cast<const void*>(args.operand[Inputs + Stop].word));
    else return false;
  }

  /// No reductions: all steps of a thread's group of lanes.
  DSL_DETAIL_KERNEL_FN void run_elementwise(std::int64_t number) {
    group g;
    place(g, number);
    if (g.count <= 0) return;
    typename base::reader from{*this, g};
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

  /// A thread between steps.
  struct thread_state {
    held mine[in_registers];
    int count[in_registers];  // lanes that exist
    std::int64_t first, row;  // element of its first row; from one to the next
    std::int64_t first_held;  // element of its first group in registers
    int slot;                 // next of those for rows that are streamed
  };

  DSL_DETAIL_KERNEL_FN void begin(thread_state& t, std::int64_t block, std::int64_t blocks, int thread, int threads) const {
    const loop_walk& w = args.loop;
    const loop_rows mine = loop_rows::of(w, block, blocks, thread, threads, lanes);
    t.first = mine.first, t.row = mine.row, t.first_held = mine.first_held, t.slot = 0;
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_row(t, r, threads);
      const std::int64_t left = args.elements - g.first;
      g.count = t.count[r] = r * threads + thread >= mine.held_groups ? 0 : left < lanes ? static_cast<int>(left) : lanes;
      keep_in_register(t.count[r]);
      if (g.count > 0) load(g, t.mine[r], states{});
    }
    DSL_DETAIL_ROLLED
    for (int s = 0; s < w.in_shared; ++s) {
      held h;
      load(row_of(t, s), h, states{});
      put(h, s, thread, threads, states{});
    }
    DSL_DETAIL_ROLLED
    for (int m = 0; m < rows_ahead && w.streamed > 0; ++m) fetch(t, m, m, thread, threads);
  }

  /// A thread's share of a step: its sums, a few rows' joined at a time, for the rounding error grows with the longest chain. Rows in
  /// shared memory come between those that are streamed, so that memory is never idle.
  DSL_DETAIL_KERNEL_FN accumulators step(thread_state& t, const singles& now, std::int64_t k, int thread, int threads) const {
    accumulators sums = folds::identities(), joined = sums;
    const int resident = args.loop.in_shared, streamed = args.loop.streamed;
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_row(t, r, threads);
      g.count = t.count[r];
      if (g.count <= 0) break;  // so are the others'
      advance(g, t.mine[r], now, k, sums);
    }
    DSL_DETAIL_ROLLED
    for (int s = 0, m = 0, turn = 0; s < resident || m < streamed;) {
      const bool stays = s < resident && (m == streamed || turn >= streamed);
      if (!stays) memory.template wait_for_copies<rows_ahead - 1>();
      group g = row_of(t, stays ? s : resident + m);
      held h;
      take(h, stays ? s : resident + t.slot, thread, threads, states{});
      advance(g, h, now, k, joined);
      if (stays) {
        put(h, s, thread, threads, states{});
        ++s, turn -= streamed;
      } else {
        stream_out(g, m, h, states{});
        const int next = m + rows_ahead;
        fetch(t, next < streamed ? next : next - streamed, t.slot, thread, threads);
        t.slot = t.slot + 1 == rows_ahead ? 0 : t.slot + 1;
        ++m, turn += resident;
      }
      if ((s + m) % rows_joined == 0 || s + m == resident + streamed) folds::add(sums, joined), joined = folds::identities();
    }
    return sums;
  }

  DSL_DETAIL_KERNEL_FN void end(const thread_state& t, int thread, int threads) const {
    memory.template wait_for_copies<0>();
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g = held_row(t, r, threads);
      g.count = t.count[r];
      if (g.count > 0) store(g, t.mine[r], states{});
    }
    DSL_DETAIL_ROLLED
    for (int s = 0; s < args.loop.in_shared; ++s) {
      held h;
      take(h, s, thread, threads, states{});
      store(row_of(t, s), h, states{});
    }
  }

  /// The scalars among the variables, from memory.
  DSL_DETAIL_KERNEL_FN singles first_singles() const {
    singles s{};
    read_singles(s, states{});
    return s;
  }
  /// What the folds of a step come to.
  DSL_DETAIL_KERNEL_FN singles finish(const accumulators& totals, const singles& now, std::int64_t k) const {
    totals_source from{*this, totals, now, k, {}};
    after::read(from);
    singles s = after::compute(from.in);
    round(s, targets{});
    return s;
  }
  DSL_DETAIL_KERNEL_FN static bool stops([[maybe_unused]] const singles& s) {
    if constexpr (Stop >= 0) return nth<target_word{Pass::target_words[Stop]}.output()>(s);
    else return false;
  }
  DSL_DETAIL_KERNEL_FN void record_singles(const singles& s, history_place& at) const {
    if (at.comes(args.loop)) store_singles<true>(s, at.row - 1, targets{});
  }
  DSL_DETAIL_KERNEL_FN void store_singles(const singles& s) const { store_singles<false>(s, 0, targets{}); }

 private:
  template <int I> static constexpr bool is_array = !Pass::is_result(I);
  template <int I> static constexpr int output = target_word{Pass::target_words[I]}.output();

  DSL_DETAIL_KERNEL_FN void place(group& g, std::int64_t number) const {
    g.first = number * lanes, g.count = args.elements - g.first < lanes ? static_cast<int>(args.elements - g.first) : lanes;
  }
  // A whole group.
  DSL_DETAIL_KERNEL_FN static group row_of(const thread_state& t, int row) {
    group g;
    g.first = t.first + row * t.row;
    g.count = lanes;
    return g;
  }
  DSL_DETAIL_KERNEL_FN static group held_row(const thread_state& t, int r, int threads) {
    group g;
    g.first = t.first_held + r * (threads * lanes);
    return g;
  }

  // One group, one step.
  DSL_DETAIL_KERNEL_FN void advance(group& g, held& h, const singles& now, std::int64_t k, accumulators& sums) const {
    state_reader from{*this, g, h, now, k};
    eval::read(from);
    const lane_results out = this->compute_read(g);
    keep(out, h, states{});
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if (l < g.count) folds::add(sums, folds::of_element(out.of[l]));
  }

  struct state_reader {
    const loop_body& body;
    group& g;
    const held& mine;
    const singles& now;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        if constexpr (N >= States) {}
        else if constexpr (is_array<N>) input_of<Head>(g.in[l]) = lanes_of<N>(mine)[l];
        else input_of<Head>(g.in[l]) = nth<output<N>>(now);
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
    if (args.operand[N].extra != counts_steps) return;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) input_of<Head>(g.in[l]) = static_cast<std::int64_t>(args.operand[N].word) + k;
  }

  struct totals_source {
    const loop_body& body;
    const accumulators& totals;
    const singles& now;
    std::int64_t k;
    typename after::inputs in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::folded) input_of<Head>(in) = nth<(N >> 16)>(nth_fold<(N & 0xffff)>(totals));
      else if constexpr (Code == op::count) input_of<Head>(in) = body.args.folds.count;
      else if constexpr (N < States) input_of<Head>(in) = nth<output<N>>(now);
      else {
        input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
        if constexpr (Code == op::value && D == dtype::int64)
          if (body.args.operand[N].extra == counts_steps) input_of<Head>(in) += k;
      }
    }
  };

  // Between memory and registers.
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN void load(const group& g, held& h, std::index_sequence<I...>) const { (load<static_cast<int>(I)>(g, h), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void load([[maybe_unused]] const group& g, [[maybe_unused]] held& h) const {
    if constexpr (is_array<I>) {
      using T = held_element<I, Pass>;
      const T* const from = reinterpret_cast<const T*>(args.operand[I].word) + g.first;
      if (g.count == lanes && args.operand[I].extra == in_vectors) {
        const auto all = memory.template load<pack<T, lanes>>(from);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) lanes_of<I>(h)[l] = all.lane[l];
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) lanes_of<I>(h)[l] = memory.template load<T>(from + (l < g.count ? l : 0));
      }
    }
  }
  // Rows that are streamed: whole, and aligned.
  DSL_DETAIL_KERNEL_FN bool is_near(int row) const { return (row & 7) < args.loop.near; }
  DSL_DETAIL_KERNEL_FN void fetch(const thread_state& t, int row, int slot, int thread, int threads) const {
    fetch(row_of(t, args.loop.in_shared + row), is_near(row), args.loop.in_shared + slot, thread, threads, states{});
    memory.commit_copies();
  }
  template <std::size_t... I>
  DSL_DETAIL_KERNEL_FN void fetch(const group& g, bool near, int slot, int thread, int threads, std::index_sequence<I...>) const { (fetch<static_cast<int>(I)>(g, near, slot, thread, threads), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void fetch([[maybe_unused]] const group& g, [[maybe_unused]] bool near, [[maybe_unused]] int slot, [[maybe_unused]] int thread, [[maybe_unused]] int threads) const {
    if constexpr (is_array<I>) {
      using T = held_element<I, Pass>;
      memory.copy_async(in_shared<I, T>(slot, thread, threads), reinterpret_cast<const pack<T, lanes>*>(reinterpret_cast<const T*>(args.operand[I].word) + g.first), near);
    }
  }
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN void stream_out(const group& g, int row, const held& h, std::index_sequence<I...>) const { (stream_out<static_cast<int>(I)>(g, row, h), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void stream_out([[maybe_unused]] const group& g, [[maybe_unused]] int row, [[maybe_unused]] const held& h) const {
    if constexpr (is_array<I>) {
      using T = held_element<I, Pass>;
      pack<T, lanes> all;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) all.lane[l] = lanes_of<I>(h)[l];
      memory.store_streaming(reinterpret_cast<pack<T, lanes>*>(reinterpret_cast<T*>(args.operand[I].word) + g.first), all, is_near(row));
    }
  }
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN void store(const group& g, const held& h, std::index_sequence<I...>) const { (store<static_cast<int>(I)>(g, h), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void store([[maybe_unused]] const group& g, [[maybe_unused]] const held& h) const {
    if constexpr (is_array<I>) {
      using T = held_element<I, Pass>;
      T* const to = reinterpret_cast<T*>(args.operand[I].word) + g.first;
      if (g.count == lanes && args.operand[I].extra == in_vectors) {
        pack<T, lanes> all;
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) all.lane[l] = lanes_of<I>(h)[l];
        memory.store(reinterpret_cast<pack<T, lanes>*>(to), all);
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          if (l < g.count) memory.store(to + l, lanes_of<I>(h)[l]);
      }
    }
  }
  // Between the state and shared memory, where each array has its groups side by side.
  template <int I>
  static constexpr int bytes_before() {
    int bytes = 0;
    for (int i = 0; i < I; ++i)
      if (!Pass::is_result(i)) bytes += lanes * size_of(Pass::view().type(i));
    return bytes;
  }
  template <int I, class T>
  DSL_DETAIL_KERNEL_FN pack<T, lanes>* in_shared(int s, int thread, int threads) const {
    const int count = (args.loop.in_shared + (args.loop.streamed > 0 ? rows_ahead : 0)) * threads;
    return reinterpret_cast<pack<T, lanes>*>(memory.shared() + static_cast<std::size_t>(bytes_before<I>()) * static_cast<std::size_t>(count)) + s * threads + thread;
  }
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN void take(held& h, int s, int thread, int threads, std::index_sequence<I...>) const { (take<static_cast<int>(I)>(h, s, thread, threads), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void take([[maybe_unused]] held& h, int s, int thread, int threads) const {
    if constexpr (is_array<I>) {
      const auto all = memory.template load<pack<held_element<I, Pass>, lanes>>(in_shared<I, held_element<I, Pass>>(s, thread, threads));
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) lanes_of<I>(h)[l] = all.lane[l];
    }
  }
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN void put(const held& h, int s, int thread, int threads, std::index_sequence<I...>) const { (put<static_cast<int>(I)>(h, s, thread, threads), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void put([[maybe_unused]] const held& h, int s, int thread, int threads) const {
    if constexpr (is_array<I>) {
      pack<held_element<I, Pass>, lanes> all;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) all.lane[l] = lanes_of<I>(h)[l];
      memory.store(in_shared<I, held_element<I, Pass>>(s, thread, threads), all);
    }
  }
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN static void keep(const lane_results& out, held& h, std::index_sequence<I...>) { (keep<static_cast<int>(I)>(out, h), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN static void keep([[maybe_unused]] const lane_results& out, [[maybe_unused]] held& h) {
    if constexpr (is_array<I>) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) lanes_of<I>(h)[l] = static_cast<held_element<I, Pass>>(nth<output<I>>(out.of[l]));
    }
  }

  // Without reductions: outputs as the next step's inputs.
  struct feedback {
    const loop_body& body;
    const lane_results& out;
    group& g;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() const {
      if constexpr (N < States) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) input_of<Head>(g.in[l]) = static_cast<held_element<N, Pass>>(nth<output<N>>(out.of[l]));
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
  DSL_DETAIL_KERNEL_FN void record(const lane_results& out, std::int64_t row, std::index_sequence<I...>) const { (record<static_cast<int>(I)>(out, row), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void record(const lane_results& out, std::int64_t row) const {
    using T = held_element<I, Pass>;
    if (T* const to = reinterpret_cast<T*>(args.history[Inputs + I])) memory.store(to + row, static_cast<T>(nth<output<I>>(out.of[0])));
  }

  template <std::size_t... I> DSL_DETAIL_KERNEL_FN void read_singles(singles& s, std::index_sequence<I...>) const { (read_single<static_cast<int>(I)>(s), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN void read_single([[maybe_unused]] singles& s) const {
    if constexpr (!is_array<I>) nth<output<I>>(s) = memory.template load<memory_t<Pass::results::output(output<I>).type()>>(reinterpret_cast<const void*>(args.operand[I].word));
  }
  // A variable is what its memory can hold.
  template <std::size_t... I> DSL_DETAIL_KERNEL_FN static void round(singles& s, std::index_sequence<I...>) { (round<static_cast<int>(I)>(s), ...); }
  template <int I>
  DSL_DETAIL_KERNEL_FN static void round([[maybe_unused]] singles& s) {
    if constexpr (!is_array<I>) nth<output<I>>(s) = static_cast<memory_t<Pass::results::output(output<I>).type()>>(nth<output<I>>(s));
  }
  template <bool History, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_singles(const singles& s, std::int64_t row, std::index_sequence<I...>) const { (store_single<History, static_cast<int>(I)>(s, row), ...); }
  template <bool History, int I>
  DSL_DETAIL_KERNEL_FN void store_single([[maybe_unused]] const singles& s, [[maybe_unused]] std::int64_t row) const {
    if constexpr (!is_array<I>) {
      using T = memory_t<Pass::results::output(output<I>).type()>;
      T* const to = reinterpret_cast<T*>(History ? args.history[Inputs + I] : args.operand[Inputs + I].word);
      if (to != nullptr) memory.store(to + row, static_cast<T>(nth<output<I>>(s)));
    }
  }
};

}  // namespace dsl::detail

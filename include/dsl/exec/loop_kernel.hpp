// What one thread of a loop's kernel does. The same code runs on the GPU and, a thread after another, in the simulator.
#pragma once

#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

/// What blocks tell each other, read and written whole.
struct alignas(16) quad { unsigned x, y, z, w; };

/// How a launch goes through steps. Its arrays lie as one row of groups of lanes, of which each block has `groups` side by side and
/// a thread each block's width further the next: the first ones are held in registers, others in shared memory, the rest streamed.
struct loop_walk {
  std::int64_t steps, done, every;  // of this launch; before it; each so many are recorded
  std::int64_t groups;              // of a block
  std::int32_t in_shared;           // of a thread
  quad* slots;                      // blocks' sums, twice, or null
};

/// Every array contiguous, as in `linear_arguments`.
template <int Operands>
struct loop_arguments : argument_header {
  static constexpr bool strided = false;
  loop_walk loop;
  argument operand[Operands];
  std::uint64_t history[Operands];  // of an output: where single values are recorded, or 0
};

/// `argument::extra` of a scalar passed by value that is the number of the step.
inline constexpr std::uint64_t counts_steps = 1;

/// Bytes of a group of lanes of all arrays that a loop carries.
constexpr int state_bytes(const pass_view& p, int states) {
  int bytes = 0;
  for (int i = 0; i < states; ++i)
    if (!p.is_result(i)) bytes += lanes_for(p) * size_of(p.type(i));
  return bytes;
}
/// Threads of the largest block, so that a long formula has registers enough.
constexpr int loop_block(const pass_view& p) { return p.elements.nodes <= 256 ? 512 : 256; }
/// Groups of lanes that a thread holds in registers. Each takes a copy of the formula's code.
constexpr int groups_held(const pass_view& p, int states) {
  const int bytes = state_bytes(p, states);
  return p.elements.nodes > 256 || bytes >= 96 ? 1 : bytes >= 48 ? 2 : 4;
}

/// Lanes of the arrays among a loop's variables, as they are in memory.
template <int I, class T, int Lanes> struct held_array { T lane[Lanes]; };
template <class Pass, int Lanes, class Numbers> struct held_arrays;
template <int I, class Pass> using held_element = memory_t<Pass::elements::output(target_word{Pass::target_words[I]}.output()).type()>;
template <int I, class Pass, int Lanes, bool Single> struct held_variable {};
template <int I, class Pass, int Lanes> struct held_variable<I, Pass, Lanes, false> : held_array<I, held_element<I, Pass>, Lanes> {};
template <class Pass, int Lanes, std::size_t... I>
struct held_arrays<Pass, Lanes, std::index_sequence<I...>> : held_variable<static_cast<int>(I), Pass, Lanes, Pass::is_result(static_cast<int>(I))>... {};
template <int I, class T, int Lanes> DSL_DETAIL_FN auto& lanes_of(held_array<I, T, Lanes>& h) { return h.lane; }
template <int I, class T, int Lanes> DSL_DETAIL_FN const auto& lanes_of(const held_array<I, T, Lanes>& h) { return h.lane; }

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
  static constexpr int group_bytes = state_bytes(Pass::view(), States);

  using base::base;

  /// No reductions: all steps of a thread's group of lanes.
  DSL_DETAIL_FN void run_elementwise(std::int64_t number) {
    group g;
    place(g, number);
    if (g.count <= 0) return;
    typename base::reader from{*this, g};
    eval::read(from);
    lane_results out;
    DSL_DETAIL_ROLLED
    for (std::int64_t k = 0;; ++k) {
      count_step(g, k);
      out = this->compute_read(g);
      record(out, k, targets{});
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
  };

  DSL_DETAIL_FN void begin(thread_state& t, std::int64_t block, int thread, int threads) const {
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g;
      if (place(g, block, thread, threads, r)) fetch(g, t.mine[r], states{});
    }
    DSL_DETAIL_ROLLED
    for (int s = 0; s < args.loop.in_shared; ++s) {
      group g;
      if (!place(g, block, thread, threads, in_registers + s)) continue;
      held h;
      fetch(g, h, states{});
      put(h, s, thread, threads, states{});
    }
  }

  /// A thread's share of a step: its sums.
  DSL_DETAIL_FN accumulators step(thread_state& t, const singles& now, std::int64_t k, std::int64_t block, int thread, int threads) {
    accumulators sums = folds::identities();
    const int on_chip = in_registers + args.loop.in_shared;
    group first;
    held coming;
    bool streams = place(first, block, thread, threads, on_chip);
    if (streams) fetch(first, coming, states{});
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g;
      if (place(g, block, thread, threads, r)) advance(g, t.mine[r], now, k, sums);
    }
    DSL_DETAIL_ROLLED
    for (int j = in_registers;; ++j) {
      group g;
      if (!place(g, block, thread, threads, j)) break;
      if (j < on_chip) {
        held h;
        take(h, j - in_registers, thread, threads, states{});
        advance(g, h, now, k, sums);
        put(h, j - in_registers, thread, threads, states{});
      } else {
        held h = coming;
        group next;
        if (place(next, block, thread, threads, j + 1)) fetch(next, coming, states{});
        advance(g, h, now, k, sums);
        store(g, h, states{});
      }
    }
    return sums;
  }

  DSL_DETAIL_FN void end(const thread_state& t, std::int64_t block, int thread, int threads) const {
    DSL_DETAIL_UNROLL
    for (int r = 0; r < in_registers; ++r) {
      group g;
      if (place(g, block, thread, threads, r)) store(g, t.mine[r], states{});
    }
    DSL_DETAIL_ROLLED
    for (int s = 0; s < args.loop.in_shared; ++s) {
      group g;
      if (!place(g, block, thread, threads, in_registers + s)) continue;
      held h;
      take(h, s, thread, threads, states{});
      store(g, h, states{});
    }
  }

  /// The scalars among the variables, from memory.
  DSL_DETAIL_FN singles first_singles() const {
    singles s{};
    read_singles(s, states{});
    return s;
  }
  /// What the folds of a step come to.
  DSL_DETAIL_FN singles finish(const accumulators& totals, const singles& now, std::int64_t k) const {
    totals_source from{*this, totals, now, k, {}};
    after::read(from);
    singles s = after::compute(from.in);
    round(s, targets{});
    return s;
  }
  DSL_DETAIL_FN static bool stops([[maybe_unused]] const singles& s) {
    if constexpr (Stop >= 0) return nth<target_word{Pass::target_words[Stop]}.output()>(s);
    else return false;
  }
  DSL_DETAIL_FN void record_singles(const singles& s, std::int64_t k) const {
    if ((args.loop.done + k + 1) % args.loop.every == 0) store_singles<true>(s, k, targets{});
  }
  DSL_DETAIL_FN void store_singles(const singles& s) const { store_singles<false>(s, 0, targets{}); }

 private:
  template <int I> static constexpr bool is_array = !Pass::is_result(I);
  template <int I> static constexpr int output = target_word{Pass::target_words[I]}.output();

  DSL_DETAIL_FN void place(group& g, std::int64_t number) const {
    g.first = number * lanes;
    g.count = args.elements - g.first < lanes ? static_cast<int>(args.elements - g.first) : lanes;
  }
  // A thread's group number j; whether there is one.
  DSL_DETAIL_FN bool place(group& g, std::int64_t block, int thread, int threads, int j) const {
    const std::int64_t in_block = static_cast<std::int64_t>(j) * threads + thread;
    if (in_block >= args.loop.groups) return false;
    place(g, block * args.loop.groups + in_block);
    return g.count > 0;
  }

  // One group, one step.
  DSL_DETAIL_FN void advance(group& g, held& h, const singles& now, std::int64_t k, accumulators& sums) {
    state_reader from{*this, g, h, now, k};
    eval::read(from);
    const lane_results out = this->compute_read(g);
    keep(out, h, states{});
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if (l < g.count) folds::add_element(sums, out.of[l]);
  }

  struct state_reader {
    const loop_body& body;
    group& g;
    const held& mine;
    const singles& now;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() const {
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
  DSL_DETAIL_FN void read_parameter(group& g, [[maybe_unused]] std::int64_t k) const {
    this->template read<Code, D, N, Head>(g);
    if constexpr (Code == op::value && D == dtype::int64) add_step<N, Head>(g, k);
  }
  template <int N, std::uint32_t Head>
  DSL_DETAIL_FN void add_step(group& g, std::int64_t k) const {
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
    DSL_DETAIL_FN void read() {
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

  // Between the state and memory.
  template <std::size_t... I> DSL_DETAIL_FN void fetch(const group& g, held& h, std::index_sequence<I...>) const { (fetch<static_cast<int>(I)>(g, h), ...); }
  template <int I>
  DSL_DETAIL_FN void fetch([[maybe_unused]] const group& g, [[maybe_unused]] held& h) const {
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
  template <std::size_t... I> DSL_DETAIL_FN void store(const group& g, const held& h, std::index_sequence<I...>) const { (store<static_cast<int>(I)>(g, h), ...); }
  template <int I>
  DSL_DETAIL_FN void store([[maybe_unused]] const group& g, [[maybe_unused]] const held& h) const {
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
  DSL_DETAIL_FN pack<T, lanes>* in_shared(int s, int thread, int threads) const {
    const int count = args.loop.in_shared * threads;
    return reinterpret_cast<pack<T, lanes>*>(memory.shared + static_cast<std::size_t>(bytes_before<I>()) * static_cast<std::size_t>(count)) + s * threads + thread;
  }
  template <std::size_t... I> DSL_DETAIL_FN void take(held& h, int s, int thread, int threads, std::index_sequence<I...>) const { (take<static_cast<int>(I)>(h, s, thread, threads), ...); }
  template <int I>
  DSL_DETAIL_FN void take([[maybe_unused]] held& h, int s, int thread, int threads) const {
    if constexpr (is_array<I>) {
      const auto all = memory.template load<pack<held_element<I, Pass>, lanes>>(in_shared<I, held_element<I, Pass>>(s, thread, threads));
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) lanes_of<I>(h)[l] = all.lane[l];
    }
  }
  template <std::size_t... I> DSL_DETAIL_FN void put(const held& h, int s, int thread, int threads, std::index_sequence<I...>) const { (put<static_cast<int>(I)>(h, s, thread, threads), ...); }
  template <int I>
  DSL_DETAIL_FN void put([[maybe_unused]] const held& h, int s, int thread, int threads) const {
    if constexpr (is_array<I>) {
      pack<held_element<I, Pass>, lanes> all;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) all.lane[l] = lanes_of<I>(h)[l];
      memory.store(in_shared<I, held_element<I, Pass>>(s, thread, threads), all);
    }
  }
  template <std::size_t... I> DSL_DETAIL_FN static void keep(const lane_results& out, held& h, std::index_sequence<I...>) { (keep<static_cast<int>(I)>(out, h), ...); }
  template <int I>
  DSL_DETAIL_FN static void keep([[maybe_unused]] const lane_results& out, [[maybe_unused]] held& h) {
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
    DSL_DETAIL_FN void read() const {
      if constexpr (N < States) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) input_of<Head>(g.in[l]) = static_cast<held_element<N, Pass>>(nth<output<N>>(out.of[l]));
      }
    }
  };
  DSL_DETAIL_FN void feed_back(const lane_results& out, group& g) const {
    feedback from{*this, out, g};
    eval::read(from);
  }
  struct step_counter {
    const loop_body& body;
    group& g;
    std::int64_t k;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() const {
      if constexpr (Code == op::value && D == dtype::int64 && N >= States) body.template add_step<N, Head>(g, k);
    }
  };
  DSL_DETAIL_FN void count_step(group& g, std::int64_t k) const {
    step_counter from{*this, g, k};
    eval::read(from);
  }
  template <std::size_t... I>
  DSL_DETAIL_FN void record(const lane_results& out, std::int64_t k, std::index_sequence<I...>) const {
    if (args.elements == 1 && (args.loop.done + k + 1) % args.loop.every == 0) (record<static_cast<int>(I)>(out, k), ...);
  }
  template <int I>
  DSL_DETAIL_FN void record(const lane_results& out, std::int64_t k) const {
    using T = held_element<I, Pass>;
    if (T* const to = reinterpret_cast<T*>(args.history[Inputs + I])) memory.store(to + row(k), static_cast<T>(nth<output<I>>(out.of[0])));
  }

  template <std::size_t... I> DSL_DETAIL_FN void read_singles(singles& s, std::index_sequence<I...>) const { (read_single<static_cast<int>(I)>(s), ...); }
  template <int I>
  DSL_DETAIL_FN void read_single([[maybe_unused]] singles& s) const {
    if constexpr (!is_array<I>) nth<output<I>>(s) = memory.template load<memory_t<Pass::results::output(output<I>).type()>>(reinterpret_cast<const void*>(args.operand[I].word));
  }
  // A variable is what its memory can hold.
  template <std::size_t... I> DSL_DETAIL_FN static void round(singles& s, std::index_sequence<I...>) { (round<static_cast<int>(I)>(s), ...); }
  template <int I>
  DSL_DETAIL_FN static void round([[maybe_unused]] singles& s) {
    if constexpr (!is_array<I>) nth<output<I>>(s) = static_cast<memory_t<Pass::results::output(output<I>).type()>>(nth<output<I>>(s));
  }
  DSL_DETAIL_FN std::int64_t row(std::int64_t k) const { return (args.loop.done + k) / args.loop.every; }
  template <bool History, std::size_t... I>
  DSL_DETAIL_FN void store_singles(const singles& s, std::int64_t k, std::index_sequence<I...>) const { (store_single<History, static_cast<int>(I)>(s, k), ...); }
  template <bool History, int I>
  DSL_DETAIL_FN void store_single([[maybe_unused]] const singles& s, [[maybe_unused]] std::int64_t k) const {
    if constexpr (!is_array<I>) {
      using T = memory_t<Pass::results::output(output<I>).type()>;
      T* const to = reinterpret_cast<T*>(History ? args.history[Inputs + I] : args.operand[Inputs + I].word);
      if (to != nullptr) memory.store(to + (History ? row(k) : 0), static_cast<T>(nth<output<I>>(s)));
    }
  }
};

}  // namespace dsl::detail

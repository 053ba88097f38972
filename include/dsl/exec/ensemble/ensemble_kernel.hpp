// The kernel of an ensemble: each thread runs the loop of one element after another.
#pragma once

#include <dsl/exec/ensemble/element_loop.hpp>
#include <dsl/exec/team/arguments.hpp>
#include <dsl/exec/team/cuda_team.hpp>
#include <dsl/exec/team/sim_team.hpp>

namespace dsl::detail {

inline constexpr int ensemble_block_threads = 128;
/// The most kinds of stored and read rows.
inline constexpr int ensemble_rows = 8;

/// Parameters after the operands, which are: the arrays of the given variables, the scalars, the
/// arrays of rows that are read, the arrays of the kept variables, and those of stored rows.
struct ensemble_parameters {
  unsigned* ticket;            // Chunks of elements that warps have taken.
  const double* table;         // See table_entry.
  std::int64_t table_entries;  // Its length.
  // Of the arrays of each kind of rows: those that are read, then those that are stored.
  std::int64_t rows[ensemble_rows];
  std::int32_t chunk;   // Elements that a warp takes at a time.
  std::int32_t refill;  // A warp takes new elements once so many of its lanes are idle.
};
template <int Operands> struct ensemble_arguments : argument_header {
  argument operand[Operands];
  ensemble_parameters ensemble;
};

/// One element's loop, in one thread.
template <class Loop, int Scalars, class Arguments, class Memory>
struct element_runner {
  static constexpr int first_scalar = Loop::given::count, first_read = first_scalar + Scalars,
                       first_kept = first_read + Loop::read::arrays,
                       first_stored = first_kept + Loop::kept::count;
  const Arguments& args;
  const Memory& memory;
  element_variables<Loop> v{};
  std::int64_t element = 0;

  DSL_DETAIL_KERNEL_FN bool is_running() const { return nth<Loop::running>(v) != 0; }
  DSL_DETAIL_KERNEL_FN void begin(std::int64_t at) {
    element = at;
    read_given(typename Loop::given{}, std::make_index_sequence<Loop::given::count>{});
    evaluate<typename Loop::start>();
    find_rows<typename Loop::start>();
  }
  DSL_DETAIL_KERNEL_FN void run_round() { run_phases(typename Loop::phases{}); }
  DSL_DETAIL_KERNEL_FN void end() {
    store_kept(typename Loop::kept{}, std::make_index_sequence<Loop::kept::count>{});
  }

 private:
  template <int... V, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void read_given(variable_list<V...>, std::index_sequence<I...>) {
    ((nth<V>(v) = static_cast<held_value_t<Loop::types::at[V]>>(
          memory.template load<memory_t<Loop::types::at[V]>>(array<V>(static_cast<int>(I)) +
                                                             element))),
     ...);
  }
  template <int... V, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_kept(variable_list<V...>, std::index_sequence<I...>) {
    (memory.store(array<V>(first_kept + static_cast<int>(I)) + element,
                  static_cast<memory_t<Loop::types::at[V]>>(nth<V>(v))),
     ...);
  }
  template <int V>
  DSL_DETAIL_KERNEL_FN auto array(int operand) const {
    return reinterpret_cast<memory_t<Loop::types::at[V]>*>(args.operand[operand].word);
  }

  template <class... Phases>
  DSL_DETAIL_KERNEL_FN void run_phases(tuple<Phases...>) {
    run_numbered<Phases...>(std::index_sequence_for<Phases...>{});
  }
  template <class... Phases, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void run_numbered(std::index_sequence<I...>) {
    (run<Phases, sum_of_first(I, Phases::stored_arrays...),
         sum_of_first(I, Phases::stored_kinds...)>(),
     ...);
  }
  template <class... Count>
  static constexpr int sum_of_first(std::size_t count, Count... counts) {
    const int all[] = {counts...};
    int n = 0;
    for (std::size_t i = 0; i < count; ++i) n += all[i];
    return n;
  }
  // First, Kind: the numbers of the phase's first array, and kind, of stored rows.
  template <class Phase, int First, int Kind>
  DSL_DETAIL_KERNEL_FN void run() {
    if constexpr (Phase::runs_while < 0) {
      run_once<Phase, First, Kind>();
    } else {
      DSL_DETAIL_ROLLED
      while (nth<Phase::runs_while>(v) != 0) run_once<Phase, First, Kind>();
    }
  }
  template <class Phase, int First, int Kind>
  DSL_DETAIL_KERNEL_FN void run_once() {
    evaluate<Phase>();
    store_kinds<First, Kind>(typename Phase::stored{});
    find_rows<Phase>();
  }
  template <int First, int Kind>
  DSL_DETAIL_KERNEL_FN void store_kinds(tuple<>) {}
  template <int First, int Kind, class Stored, class... Rest>
  DSL_DETAIL_KERNEL_FN void store_kinds(tuple<Stored, Rest...>) {
    store_rows<First, Kind>(Stored{});
    store_kinds<First + Stored::values::count, Kind + 1>(tuple<Rest...>{});
  }
  template <int First, int Kind, int Flag, int Row, int... V>
  DSL_DETAIL_KERNEL_FN void store_rows(stored_rows<Flag, Row, V...>) {
    const std::int64_t row = nth<Row>(v);
    if (nth<Flag>(v) != 0 && row < args.ensemble.rows[Loop::read::kinds + Kind])
      store_row<First>(row * args.elements + element, variable_list<V...>{},
                       std::make_index_sequence<sizeof...(V)>{});
  }
  template <int First, int... V, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_row(std::int64_t at, variable_list<V...>,
                                      std::index_sequence<I...>) {
    (memory.store(array<V>(first_stored + First + static_cast<int>(I)) + at,
                  static_cast<memory_t<Loop::types::at[V]>>(nth<V>(v))),
     ...);
  }

  DSL_DETAIL_KERNEL_FN double entry_of_table(std::int64_t row) const {
    return row >= 0 && row < args.ensemble.table_entries
               ? memory.template load<double>(args.ensemble.table + row)
               : math::quiet_nan<double>;
  }
  template <int V, int... Set>
  static constexpr bool sets(variable_list<Set...>) {
    return ((Set == V) || ...);
  }
  // Reads what the rows number that a phase set.
  template <class Phase>
  DSL_DETAIL_KERNEL_FN void find_rows() {
    find_entry<Phase>();
    read_kinds<Phase, 0, 0>(typename Loop::read{});
  }
  template <class Phase, int First, int Kind>
  DSL_DETAIL_KERNEL_FN void read_kinds(list_of_read_rows<>) {}
  template <class Phase, int First, int Kind, int Row, int... V, class... Rest>
  DSL_DETAIL_KERNEL_FN void read_kinds(list_of_read_rows<read_rows<Row, V...>, Rest...>) {
    if constexpr (sets<Row>(typename Phase::set{})) {
      const std::int64_t row = nth<Row>(v);
      if (row >= 0 && row < args.ensemble.rows[Kind])
        read_row<First>(row * args.elements + element, variable_list<V...>{},
                        std::make_index_sequence<sizeof...(V)>{});
    }
    read_kinds<Phase, First + static_cast<int>(sizeof...(V)), Kind + 1>(
        list_of_read_rows<Rest...>{});
  }
  template <int First, int... V, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void read_row(std::int64_t at, variable_list<V...>,
                                     std::index_sequence<I...>) {
    ((nth<V>(v) = static_cast<held_value_t<Loop::types::at[V]>>(
          memory.template load<memory_t<Loop::types::at[V]>>(
              array<V>(first_read + First + static_cast<int>(I)) + at))),
     ...);
  }
  template <class Phase>
  DSL_DETAIL_KERNEL_FN void find_entry() {
    using entry = typename Loop::entry;
    if constexpr (entry::row >= 0) {
      if constexpr (sets<entry::row>(typename Phase::set{})) {
        const std::int64_t row = nth<entry::row>(v);
        nth<entry::value>(v) = entry_of_table(row);
        nth<entry::following>(v) = entry_of_table(row + 1);
      }
    }
  }

  template <class Inputs>
  struct source {
    const element_runner& of;
    Inputs in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (N < Loop::variables) {
        input_of<Head>(in) = static_cast<value_t<D>>(nth<N>(of.v));
      } else {
        const argument& a = of.args.operand[first_scalar + N - Loop::variables];
        if constexpr (Code == op::load_scalar)
          input_of<Head>(in) =
              of.memory.template load<memory_t<D>>(reinterpret_cast<const memory_t<D>*>(a.word));
        else input_of<Head>(in) = from_literal<value_t<D>>(literal{a.word, a.descriptor});
      }
    }
  };
  template <class Phase>
  DSL_DETAIL_KERNEL_FN void evaluate() {
    using eval = evaluator<typename Phase::program>;
    source<typename eval::inputs> from{*this, {}};
    eval::read(from);
    if constexpr (Memory::calls_formula && eval::gathers)
      set(eval::compute_out_of_line(from.in, memory), typename Phase::set{});
    else if constexpr (Memory::calls_formula)
      set(eval::compute_out_of_line(from.in), typename Phase::set{});
    else set(eval::compute(from.in), typename Phase::set{});
  }
  template <class Results, int... V>
  DSL_DETAIL_KERNEL_FN void set(const Results& r, variable_list<V...> of) {
    set(r, of, std::make_index_sequence<sizeof...(V)>{});
  }
  template <class Results, int... V, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void set(const Results& r, variable_list<V...>, std::index_sequence<I...>) {
    ((nth<V>(v) = nth<static_cast<int>(I)>(r)), ...);
  }
};

/// The elements that a warp takes: chunks, one after another, as lanes become idle.
struct element_queue {
  std::int64_t next = 0, end = 0;
  bool is_empty = false;

  /// For a lane that is idle or not, an element, or -1. All lanes of the warp call it.
  template <class Memory, class Team>
  DSL_DETAIL_SHARED_KERNEL_FN std::int64_t take(typename Team::lane_mask idle,
                                                const ensemble_parameters& p, std::int64_t elements,
                                                const Memory&, const Team& team) {
    if (next == end) {
      unsigned ticket = 0;
      if (team.lane() == 0) ticket = team.next_ticket(p.ticket);
      ticket = team.from_lane(ticket, 0);
      next = static_cast<std::int64_t>(ticket) * p.chunk;
      end = next + p.chunk < elements ? next + p.chunk : elements;
      if (next >= elements) {
        is_empty = true;
        next = end = 0;
        return -1;
      }
    }
    const auto mine = typename Team::lane_mask{1} << team.lane();
    const std::int64_t at = next + count_bits(idle & (mine - 1));
    const bool gets = (idle & mine) != 0 && at < end;
    next = next + count_bits(idle) < end ? next + count_bits(idle) : end;
    return gets ? at : -1;
  }
};

template <class Loop, int Scalars, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_ensemble(const Arguments& args, Memory memory, Team team) {
  element_runner<Loop, Scalars, Arguments, Memory> mine{args, memory};
  element_queue queue;
  bool runs = false;
  DSL_DETAIL_ROLLED
  while (true) {
    const auto idle = team.ballot(!runs);
    if (!queue.is_empty && count_bits(idle) >= args.ensemble.refill) {
      const std::int64_t element = queue.take(idle, args.ensemble, args.elements, memory, team);
      if (element >= 0) {
        mine.begin(element);
        runs = mine.is_running();
        if (!runs) mine.end();
      }
    } else if (idle == ~typename Team::lane_mask{0}) {
      return;
    }
    if (!runs) continue;
    do {
      mine.run_round();
      runs = mine.is_running();
    } while (Loop::in_step && runs);
    if (!runs) mine.end();
  }
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

template <class Name, class Arguments, class Loop, int Scalars>
__global__ void __launch_bounds__(detail::ensemble_block_threads)
    ensemble(const __grid_constant__ Arguments args) {
  detail::run_ensemble<Loop, Scalars>(args, detail::device_memory{},
                                      detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

template <class Loop, int Scalars, class Arguments>
struct ensemble_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_ensemble<Loop, Scalars>(*static_cast<const Arguments*>(arguments), simulated_memory{&self},
                                simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::ensemble<Name, Arguments, Loop, Scalars>);
  }
#endif
};

}  // namespace dsl::detail

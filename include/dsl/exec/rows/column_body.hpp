// All phases of a chain on adjacent columns: each is read once and stays in shared memory.
#pragma once

#include <dsl/exec/rows/row_phases.hpp>
#include <dsl/exec/rows/row_team.hpp>

namespace dsl::detail {

/// The accumulators of a thread's columns, as those of one reduction.
template <class Reductions, int Lanes>
struct alignas(sizeof(typename Reductions::accumulators) * Lanes % 16 == 0
                   ? 16
                   : alignof(typename Reductions::accumulators)) column_accumulators {
  typename Reductions::accumulators of[Lanes];
};
template <int J, class Reductions, int Lanes> DSL_DETAIL_FN auto& nth_accumulator(
    column_accumulators<Reductions, Lanes>& a) {
  return nth_accumulator<J % Reductions::count>(a.of[J / Reductions::count]);
}
template <class Reductions, int Lanes>
struct reductions_of_columns {
  using accumulators = column_accumulators<Reductions, Lanes>;

  DSL_DETAIL_FN static accumulators identities() {
    accumulators a;
    for (int l = 0; l < Lanes; ++l) a.of[l] = Reductions::identities();
    return a;
  }
  DSL_DETAIL_FN static void add(accumulators& to, const accumulators& other) {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) Reductions::add(to.of[l], other.of[l]);
  }
  template <class Each>
  DSL_DETAIL_FN static void visit(Each&& each) {
    visit(each, std::make_integer_sequence<int, Lanes>{});
  }

 private:
  template <class Each, int... Lane>
  DSL_DETAIL_FN static void visit(Each& each, std::integer_sequence<int, Lane...>) {
    (visit_lane<Lane>(each), ...);
  }
  template <int Lane, class Each> DSL_DETAIL_FN static void visit_lane(Each& each) {
    Reductions::visit([&]<class Reduction, int J>() {
      each.template operator()<Reduction, Lane * Reductions::count + J>();
    });
  }
};

/// The work of one thread. It has a vector of adjacent columns, one for each lane, and walks down
/// every `row_threads`-th row of its block's part; its pointers advance by fixed steps.
template <class Chain, class Arguments, class Memory, class Team>
class column_body : row_phases<Chain, Arguments, Memory> {
  using base = row_phases<Chain, Arguments, Memory>;
  using typename base::operands, typename base::values, typename base::leaf_numbers,
      typename base::phase_numbers;
  template <int P> using phase = typename base::template phase<P>;
  template <int P> using pass_of = typename base::template pass_of<P>;
  template <int P> using target_numbers = typename base::template target_numbers<P>;
  using base::args_, base::s_, base::memory_, base::outer_index_;
  static constexpr int lanes = lanes_of_columns(lanes_of_chain<Chain>);
  friend base;

  template <int P, class Numbers> struct packs_of;
  template <int P, std::size_t... K>
  struct packs_of<P, std::index_sequence<K...>>
      : loaded_lanes<static_cast<int>(K), operands::loaded[K].type, lanes,
                     (operands::loaded[K].by >> P & 1) != 0>... {};
  template <int Leaf> using vector_of_leaf =
      pack<memory_t<base::template type_of_leaf<Leaf>>, lanes>;

 public:
  DSL_DETAIL_KERNEL_FN column_body(const Arguments& a, Memory memory, Team team)
      : base(a, memory), team_(team), threads_(s_, memory, team) {}

  DSL_DETAIL_KERNEL_FN void run() {
    DSL_DETAIL_ROLLED
    for (std::int64_t tile = threads_.group(); tile < s_.tiles; tile += s_.groups) {
      enter(static_cast<std::uint32_t>(tile));
      read_columns(leaf_numbers{});
      run_phases(phase_numbers{});
    }
  }

 private:
  template <class, int, class, class, class> friend struct row_element_source;

  DSL_DETAIL_KERNEL_FN void enter(std::uint32_t tile) {
    outer_index_ = s_.across.divide(tile);
    const int across = threads_.rows_a_group();
    const std::int64_t first =
        static_cast<std::int64_t>(tile - outer_index_ * s_.across.by) * s_.thread_groups +
        threads_.thread_group();
    column_ = (first * across + threads_.row_in_group()) * lanes;
    const int begin = threads_.part() * s_.part,
              length = s_.count - begin < s_.part ? s_.count - begin : s_.part,
              left = column_ < s_.rows ? length - threads_.thread_of_row() : 0;
    row_ = begin + threads_.thread_of_row();
    rows_ = left > 0 ? static_cast<int>(s_.of_step.divide(static_cast<std::uint32_t>(left - 1))) + 1
                     : 0;
    is_owner_ = column_ < s_.rows && threads_.thread_of_row() == 0 && threads_.part() == 0;
  }
  // The distance from an operand's start to the thread's first element.
  DSL_DETAIL_KERNEL_FN std::int64_t offset_of(int k) const {
    return base::offset_of_row(k, column_) + row_ * args_.strides[k][0];
  }
  template <int K> DSL_DETAIL_KERNEL_FN std::int64_t place_of_element(int row, int lane) const {
    return base::offset_of_row(K, column_ + lane) +
           (row_ + row * s_.row_threads) * args_.strides[K][0];
  }

  // ---- shared memory: a thread reads only what it has copied itself
  template <int Leaf> DSL_DETAIL_KERNEL_FN vector_of_leaf<Leaf>* place_of() const {
    return reinterpret_cast<vector_of_leaf<Leaf>*>(
               memory_.shared() + static_cast<std::uint32_t>(args_.operand[Leaf].descriptor)) +
           team_.thread();
  }
  // Distance between the vectors of two rows: 0 if all rows have the same.
  template <int Leaf> DSL_DETAIL_KERNEL_FN int step_of() const {
    return static_cast<int>(args_.operand[Leaf].descriptor >> 32);
  }

  template <std::size_t... K>
  DSL_DETAIL_KERNEL_FN void read_columns(std::index_sequence<K...>) const {
    (read_leaf<static_cast<int>(K)>(), ...);
    memory_.commit_copies();
    memory_.template wait_for_copies<0>();
  }
  template <int Leaf> DSL_DETAIL_KERNEL_FN void read_leaf() const {
    if constexpr (operands::loaded[static_cast<std::size_t>(Leaf)].is_loaded) {
      using vector = vector_of_leaf<Leaf>;
      using T = memory_t<base::template type_of_leaf<Leaf>>;
      if ((s_.distinct >> Leaf & 1) == 0) return;
      const T* from = reinterpret_cast<const T*>(args_.operand[Leaf].word) + offset_of(Leaf);
      const std::int64_t down = s_.row_threads * args_.strides[Leaf][0];
      vector* to = place_of<Leaf>();
      const int step = step_of<Leaf>(), count = down == 0 && rows_ > 1 ? 1 : rows_;
      if (args_.strides[Leaf][1] != 0) {
        DSL_DETAIL_UNROLL_BY_4
        for (int n = 0; n < count; ++n, from += down, to += step)
          memory_.copy_async(to, reinterpret_cast<const vector*>(from));
      } else {  // The same in all columns.
        DSL_DETAIL_ROLLED
        for (int n = 0; n < count; ++n, from += down, to += step) {
          DSL_DETAIL_UNROLL
          for (int l = 0; l < lanes; ++l) memory_.copy_async(&to->lane[l], from);
        }
      }
    }
  }

  // ---- phases
  template <std::size_t... P>
  DSL_DETAIL_KERNEL_FN void run_phases(std::index_sequence<P...>) {
    values known[lanes];
    (run_phase<static_cast<int>(P)>(known), ...);
  }
  template <int P>
  DSL_DETAIL_KERNEL_FN void run_phase(values (&known)[lanes]) {
    using reductions = reductions_of<typename pass_of<P>::reductions>;
    using of_columns = reductions_of_columns<reductions, lanes>;
    if constexpr (is_of_rows<phase<P>>) {
      if (!is_owner_) return;
      const packs_of<P, leaf_numbers> none{};
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        base::template store_row<P>(column_ + l,
                                    base::template compute<P>(*this, 0, none, known[l], l),
                                    target_numbers<P>{});
    } else if constexpr (reductions::count == 0) {
      typename of_columns::accumulators none;
      walk<P>(known, none, leaf_numbers{}, target_numbers<P>{});
    } else {
      auto sums = of_columns::identities();
      walk<P>(known, sums, leaf_numbers{}, target_numbers<P>{});
      sums = threads_.template combine<of_columns>(sums);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        base::template finish<P>(column_ + l, is_owner_, sums.of[l], known[l]);
    }
  }
  // Walks down the thread's rows, one after another.
  template <int P, class Sums, std::size_t... K, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void walk(const values (&known)[lanes], Sums& sums,
                                 std::index_sequence<K...>, std::index_sequence<I...>) {
    using reductions = reductions_of<typename pass_of<P>::reductions>;
    const unsigned char* from[sizeof...(K) + 1] = {
        reinterpret_cast<const unsigned char*>(first_read<P, static_cast<int>(K)>())...};
    unsigned char* to[sizeof...(I) + 1] = {
        reinterpret_cast<unsigned char*>(first_written<P, static_cast<int>(I)>())...};
    const std::int64_t step[sizeof...(I) + 1] = {step_written<P, static_cast<int>(I)>()...};
    DSL_DETAIL_ROLLED
    for (int row = 0; row < rows_; ++row) {
      packs_of<P, leaf_numbers> packs;
      (read<P, static_cast<int>(K)>(from[K], packs), ...);
      typename base::template element_results<P> of[lanes];
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        of[l] = base::template compute<P>(*this, row, packs, known[l], l);
      (write<P, static_cast<int>(I)>(to[I], step[I], of), ...);
      if constexpr (reductions::count > 0) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) reductions::add(sums.of[l], reductions::of_element(of[l]));
      }
    }
  }
  template <int P, int Leaf> static constexpr bool is_read =
      (operands::loaded[static_cast<std::size_t>(Leaf)].by >> P & 1) != 0;
  template <int P, int Leaf> DSL_DETAIL_KERNEL_FN auto* first_read() const {
    if constexpr (is_read<P, Leaf>) return place_of<Leaf>();
    else return static_cast<unsigned char*>(nullptr);
  }
  template <int P, int Leaf>
  DSL_DETAIL_KERNEL_FN void read([[maybe_unused]] const unsigned char*& from,
                                 [[maybe_unused]] packs_of<P, leaf_numbers>& to) const {
    if constexpr (is_read<P, Leaf>) {
      lanes_of_leaf<Leaf>(to) = memory_.template load<vector_of_leaf<Leaf>>(from);
      from += step_of<Leaf>() * static_cast<int>(sizeof(vector_of_leaf<Leaf>));
    }
  }
  template <int P, int I> static constexpr target_word target{pass_of<P>::target_words[I]};
  template <int P, int I> using element_of = memory_t<pass_of<P>::view().type(I)>;
  template <int P, int I> DSL_DETAIL_KERNEL_FN auto* first_written() const {
    constexpr int k = operands::target(P, I);
    if constexpr (target<P, I>.is_result()) return static_cast<unsigned char*>(nullptr);
    else return reinterpret_cast<element_of<P, I>*>(args_.operand[k].word) + offset_of(k);
  }
  template <int P, int I> DSL_DETAIL_KERNEL_FN std::int64_t step_written() const {
    return s_.row_threads * args_.strides[operands::target(P, I)][0] *
           static_cast<int>(sizeof(element_of<P, I>));
  }
  template <int P, int I, class Results>
  DSL_DETAIL_KERNEL_FN void write([[maybe_unused]] unsigned char*& to,
                                  [[maybe_unused]] std::int64_t step,
                                  [[maybe_unused]] const Results& of) const {
    if constexpr (!target<P, I>.is_result()) {
      using T = element_of<P, I>;
      pack<T, lanes> all;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        all.lane[l] = static_cast<T>(nth<target<P, I>.output()>(of[l]));
      memory_.store(reinterpret_cast<pack<T, lanes>*>(to), all);
      to += step;
    }
  }

  Team team_;
  row_team<false, exchanged_bytes(accumulator_bytes_of<Chain>, lanes), Memory, Team> threads_;
  std::int64_t column_ = 0;          // The thread's first column.
  std::int32_t row_ = 0, rows_ = 0;  // The thread's first row, and the number of its rows.
  bool is_owner_ = false;
};

}  // namespace dsl::detail

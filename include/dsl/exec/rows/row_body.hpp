// All phases of a chain on a thread's rows: each row is read once and stays on chip.
//
// A row in vectors may begin and end anywhere. Its whole aligned vectors are shared out among its
// threads; the elements before and after them, its ends, are one for each of the first threads.
#pragma once

#include <dsl/exec/rows/row_ends.hpp>
#include <dsl/exec/rows/row_stage.hpp>
#include <dsl/exec/rows/row_team.hpp>

namespace dsl::detail {

/// The work of one thread. If its share of a row is in registers, values that several phases
/// compute from an element are computed once.
template <class Chain, row_share Share, class Arguments, class Memory, class Team>
class row_body
    : row_ends<Chain, Share == row_share::staged ? 1 : lanes_of_chain<Chain>, Arguments, Memory> {
  static constexpr int lanes = Share == row_share::staged ? 1 : lanes_of_chain<Chain>;
  using ends = row_ends<Chain, lanes, Arguments, Memory>;
  using base = typename ends::base;
  using typename base::operands, typename base::values, typename base::leaf_numbers,
      typename base::operand_numbers, typename base::phase_numbers;
  template <int P> using phase = typename base::template phase<P>;
  template <int P> using pass_of = typename base::template pass_of<P>;
  template <int P> using target_numbers = typename base::template target_numbers<P>;
  template <int P, int Count, class Numbers> using packs_of =
      typename ends::template packs_of<P, Count, Numbers>;
  using base::args_, base::s_, base::memory_, base::outer_index_, ends::offset_;
  static constexpr int held_vectors =
      vectors_held(row_policy_of<Chain>(Memory::compute_capability), Share);
  static constexpr bool whole_vectors = Share <= row_share::two_vectors,
                        any_layout = Share == row_share::any_layout ||
                                     Share == row_share::any_layout_and_ends,
                        staged = Share == row_share::staged,
                        in_shared = !whole_vectors && !any_layout,
                        has_ends = Share != row_share::whole_vectors &&
                                   Share != row_share::any_layout &&
                                   Share != row_share::in_shared && !staged;
  friend base;

  // Leaves that several phases read stay in registers.
  static constexpr bool is_held(std::size_t k) {
    return !in_shared && operands::is_loaded_by_several(k);
  }
  template <class Numbers> struct held_lanes;
  template <std::size_t... K>
  struct held_lanes<std::index_sequence<K...>>
      : loaded_lanes<static_cast<int>(K), operands::loaded[K].type, lanes, is_held(K)>... {};

 public:
  DSL_DETAIL_KERNEL_FN row_body(const Arguments& a, Memory memory, Team team)
      : ends(a, memory), team_(team), threads_(s_, memory, team), stage_(a, memory, team) {}

  DSL_DETAIL_KERNEL_FN void run() {
    if constexpr (staged) {  // One tile for each block.
      run_stage(threads_.group());
    } else if constexpr (whole_vectors) {
      run_tile(threads_.group());
    } else {
      DSL_DETAIL_ROLLED
      for (std::int64_t tile = threads_.group(); tile < s_.tiles; tile += s_.groups)
        run_tile(static_cast<std::uint32_t>(tile));
    }
  }

 private:
  template <class, int, class, class, class> friend struct row_element_source;
  template <class, int, class, class, class> friend struct row_totals_source;

  DSL_DETAIL_KERNEL_FN void run_tile(std::uint32_t tile) {
    enter(tile);
    read_row();
    run_phases(phase_numbers{});
  }
  // All threads copy the block's rows to shared memory and back; in between each computes whole
  // rows.
  DSL_DETAIL_KERNEL_FN void run_stage(std::uint32_t tile) {
    outer_index_ = s_.across.divide(tile);
    const std::int64_t first =
        static_cast<std::int64_t>(tile - outer_index_ * s_.across.by) * s_.thread_groups;
    const int rows =
        s_.rows - first < s_.thread_groups ? static_cast<int>(s_.rows - first) : s_.thread_groups;
    const auto first_of = [&](int k) {
      y_ = first;
      return offset_of_row(k);
    };
    stage_.load_rows(rows, first_of, operand_numbers{});
    is_owner_ = true;
    DSL_DETAIL_ROLLED
    for (row_ = team_.thread(); row_ < rows; row_ += team_.threads()) {
      y_ = first + row_;
      find_offsets(operand_numbers{});
      run_phases(phase_numbers{});
    }
    team_.synchronize();
    stage_.store_rows(rows, first_of, operand_numbers{});
  }

  // ---- a thread's position
  DSL_DETAIL_KERNEL_FN void enter(std::uint32_t tile) {
    const int rows = threads_.rows_a_group();
    const std::uint32_t around = s_.across.divide(tile);
    std::int64_t y =
        static_cast<std::int64_t>(tile - around * s_.across.by) * (rows * s_.thread_groups) +
        threads_.thread_group() * rows + threads_.row_in_group();
    const bool is_row = y < s_.rows;
    is_owner_ = is_row && threads_.thread_of_row() == 0 && threads_.part() == 0;
    y_ = is_row ? y : s_.rows - 1;
    outer_index_ = around;
    find_offsets(operand_numbers{});
    int begin = threads_.part() * s_.part, end = s_.count, before = 0;
    if (has_ends && s_.aligned_by >= 0) {
      before = ends::elements_before_vectors(y_);
      end = ends::end_of_vectors(before);
      begin += before;
      // A row's ends are in its first block.
      const bool has_ends_of_row = is_row && threads_.part() == 0;
      ends::find_end(has_ends_of_row ? threads_.thread_of_row() : s_.count, before, end);
    }
    const int length = end - begin < s_.part ? end - begin : s_.part;
    first_ = threads_.thread_of_row() * s_.thread_step;
    left_ = is_row ? length - first_ : 0;
    if (has_ends && begin >= end) begin = before;  // A part without vectors.
    first_ = has_elements() ? begin + first_ : begin;
    if constexpr (any_layout) {
      const auto steps =
          left_ > 0 ? static_cast<int>(s_.of_step.divide(static_cast<std::uint32_t>(left_ - 1))) + 1
                    : 0;
      count_ = s_.in_vectors != 0 ? steps * lanes : steps;
    }
  }
  // Offsets of operands that are read or written element by element; those of results are computed
  // when they are stored.
  template <std::size_t... K>
  DSL_DETAIL_KERNEL_FN void find_offsets(std::index_sequence<K...>) {
    ((offset_[K] = operands::is_result(K) ? 0 : offset_of_row(static_cast<int>(K))), ...);
  }
  DSL_DETAIL_KERNEL_FN std::int64_t offset_of_row(int k) const {
    return base::offset_of_row(k, y_);
  }
  template <int K> DSL_DETAIL_KERNEL_FN std::int64_t row_stride() const {
    return args_.strides[K][0];
  }
  template <int K> DSL_DETAIL_KERNEL_FN std::int64_t place_of_element(int v, int lane) const {
    return offset_[K] + position(v, lane) * row_stride<K>();
  }
  // A thread without elements reads the first element of its part, of some row, and writes nothing.
  DSL_DETAIL_KERNEL_FN bool has_elements() const { return left_ > 0; }
  DSL_DETAIL_KERNEL_FN bool has_end() const { return has_ends && ends::has_end(); }
  DSL_DETAIL_KERNEL_FN int step_of(int v, int lane) const {
    return v * s_.vector_step + lane * s_.lane_step;
  }
  // Whether a lane of vector v exists, and its position in the row; for a missing lane that of the
  // thread's first element.
  DSL_DETAIL_KERNEL_FN bool exists(int v, int lane) const {
    if constexpr (staged) return true;
    else if constexpr (any_layout) return v * lanes + lane < count_;
    else return step_of(v, lane) < left_;
  }
  DSL_DETAIL_KERNEL_FN int position(int v, int lane) const {
    if constexpr (staged) return v;
    return first_ + (exists(v, lane) ? step_of(v, lane) : 0);
  }
  DSL_DETAIL_KERNEL_FN bool in_vectors() const { return whole_vectors || s_.in_vectors != 0; }
  // Whether a leaf is read in vectors where rows are.
  template <int Leaf> DSL_DETAIL_KERNEL_FN bool is_in_vectors() const {
    return (s_.vector_leaves >> Leaf & 1) != 0;
  }
  // ---- from memory to the chip
  template <int Leaf> static constexpr dtype type_of_leaf = base::template type_of_leaf<Leaf>;
  // An operand that is the same along the row has one vector.
  template <int Leaf> DSL_DETAIL_KERNEL_FN auto* shared_lanes(int v) const {
    using T = memory_t<type_of_leaf<Leaf>>;
    if constexpr (staged) return stage_.template place<Leaf, pack<T, lanes>>(row_, v);
    const argument& a = args_.operand[Leaf];
    return reinterpret_cast<pack<T, lanes>*>(memory_.shared() +
                                             static_cast<std::uint32_t>(a.descriptor)) +
           (v * static_cast<int>(a.descriptor >> 32) + team_.thread());
  }
  template <int Leaf> DSL_DETAIL_KERNEL_FN const memory_t<type_of_leaf<Leaf>>* row_of() const {
    return reinterpret_cast<const memory_t<type_of_leaf<Leaf>>*>(args_.operand[Leaf].word) +
           offset_[Leaf];
  }
  template <std::size_t... K>
  DSL_DETAIL_KERNEL_FN void copy(int v, std::index_sequence<K...>) const {
    (copy_leaf<static_cast<int>(K)>(v), ...);
  }
  template <int Leaf>
  DSL_DETAIL_KERNEL_FN void copy_leaf([[maybe_unused]] int v) const {
    if constexpr (operands::loaded[static_cast<std::size_t>(Leaf)].is_loaded) {
      using T = memory_t<type_of_leaf<Leaf>>;
      if ((row_stride<Leaf>() == 0 && v > 0) || (s_.distinct >> Leaf & 1) == 0) return;
      pack<T, lanes>* const to = shared_lanes<Leaf>(v);
      if (is_in_vectors<Leaf>()) {
        memory_.copy_async(
            to, reinterpret_cast<const pack<T, lanes>*>(row_of<Leaf>() + position(v, 0)));
      } else {
        const T* const first = row_of<Leaf>() + first_ * row_stride<Leaf>();
        const std::int64_t step = s_.lane_step * row_stride<Leaf>();
        const T* at = first + v * s_.vector_step * row_stride<Leaf>();
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l, at += step)
          memory_.copy_async(&to->lane[l], s_.whole != 0 || exists(v, l) ? at : first);
      }
    }
  }
  // How a vector is loaded to registers: whole; element by element; or element by element with the
  // first element in place of missing ones.
  enum class access { whole_vector, elements, existing_elements };
  template <int Leaf, access How> DSL_DETAIL_KERNEL_FN pack<memory_t<type_of_leaf<Leaf>>, lanes>
  load(int v) const {
    using T = memory_t<type_of_leaf<Leaf>>;
    const std::int64_t stride = row_stride<Leaf>();
    pack<T, lanes> all{};
    if constexpr (How == access::whole_vector) {
      const bool in_vectors =
          is_held(static_cast<std::size_t>(Leaf)) ? stride != 0 : is_in_vectors<Leaf>();
      if (in_vectors) return memory_.template load<pack<T, lanes>>(row_of<Leaf>() + position(v, 0));
      const T* at = row_of<Leaf>() + position(v, 0) * stride;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l, at += stride) all.lane[l] = memory_.template load<T>(at);
    } else {
      const T* const first = row_of<Leaf>() + first_ * stride;
      const T* at = first + v * s_.vector_step * stride;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l, at += s_.lane_step * stride)
        all.lane[l] = memory_.template load<T>(exists(v, l) ? at : first);
    }
    return all;
  }
  template <access How, std::size_t... K>
  DSL_DETAIL_KERNEL_FN void hold(std::index_sequence<K...>) {
    (hold_leaf<static_cast<int>(K), How>(), ...);
  }
  template <int Leaf, access How> DSL_DETAIL_KERNEL_FN void hold_leaf() {
    if constexpr (is_held(static_cast<std::size_t>(Leaf))) {
      if constexpr (How != access::whole_vector) {
        using T = memory_t<type_of_leaf<Leaf>>;
        const T *const first = row_of<Leaf>() + first_ * row_stride<Leaf>(), *at = first;
        const std::int64_t step = s_.lane_step * row_stride<Leaf>();
        DSL_DETAIL_UNROLL
        for (int e = 0; e < held_vectors * lanes; ++e, at += step)
          lanes_of_leaf<Leaf>(held_[e / lanes]).lane[e % lanes] =
              memory_.template load<T>(How == access::elements || e < count_ ? at : first);
      } else {
        DSL_DETAIL_UNROLL
        for (int v = 0; v < held_vectors; ++v) lanes_of_leaf<Leaf>(held_[v]) = load<Leaf, How>(v);
      }
    }
  }
  // Reads a thread's share of its row, which no other thread reads.
  DSL_DETAIL_KERNEL_FN void read_row() {
    if (has_end()) ends::hold_end(leaf_numbers{});
    if constexpr (whole_vectors) {
      hold<access::whole_vector>(leaf_numbers{});
    } else if constexpr (any_layout) {
      if (in_vectors()) hold<access::whole_vector>(leaf_numbers{});
      else if (count_ == held_vectors * lanes) hold<access::elements>(leaf_numbers{});
      else hold<access::existing_elements>(leaf_numbers{});
    } else {
      DSL_DETAIL_ROLLED
      for (int v = 0; v < s_.vectors; ++v) copy(v, leaf_numbers{});
      memory_.commit_copies();
      memory_.template wait_for_copies<0>();
    }
    // By then the other threads have read elements that this one writes in place.
    if (operands::first_writes_elements || s_.waits != 0) team_.synchronize();
  }

  template <std::size_t... P>
  DSL_DETAIL_KERNEL_FN void run_phases(std::index_sequence<P...>) {
    values all;
    (run_phase<static_cast<int>(P)>(all), ...);
  }
  template <int P>
  DSL_DETAIL_KERNEL_FN void run_phase(values& known) {
    using pass = pass_of<P>;
    using reductions = reductions_of<typename pass::reductions>;
    if constexpr (is_of_rows<phase<P>>) {
      const packs_of<P, 1, leaf_numbers> none{};
      const auto out = element<P>(0, none, known, 0);
      if (is_owner_) base::template store_row<P>(y_, out, target_numbers<P>{});
    } else {
      typename reductions::accumulators sums = reductions::identities();
      if constexpr (has_ends)
        if (has_end()) ends::template take_end<P>(known, sums);
      // Another thread may have written in place what a phase reads from memory. Without a branch,
      // values that several phases compute from an element are computed once.
      if (in_shared || !operands::loads_alone(P) || has_elements()) {
        if constexpr (!staged) begin_writing<P>(target_numbers<P>{});
        if constexpr (!in_shared) {
          DSL_DETAIL_UNROLL
          for (int v = 0; v < held_vectors; ++v) take_vector<P>(v, known, sums);
        } else {
          DSL_DETAIL_ROLLED
          for (int v = 0; v < s_.vectors; ++v) take_vector<P>(v, known, sums);
        }
      }
      if constexpr (reductions::count > 0) {
        if constexpr (staged) base::template finish<P>(y_, is_owner_, sums, known);
        else
          base::template finish<P>(y_, is_owner_, threads_.template combine<reductions>(sums),
                                   known);
      }
    }
  }
  template <int P> struct results_of_lanes {
    typename base::template element_results<P> of[lanes];
  };
  template <int P, class Sums>
  DSL_DETAIL_KERNEL_FN void take_vector(int v, const values& known, Sums& sums) {
    using pass = pass_of<P>;
    using reductions = reductions_of<typename pass::reductions>;
    packs_of<P, lanes, leaf_numbers> packs;
    read_packs<P>(v, packs, leaf_numbers{});
    results_of_lanes<P> out;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) out.of[l] = element<P>(v, packs, known, l);
    write_all<P>(v, out, target_numbers<P>{});
    if constexpr (reductions::count > 0) {
      if (whole_vectors ? exists(v, 0) : staged || (in_shared && s_.whole != 0)) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) reductions::add(sums, reductions::of_element(out.of[l]));
      } else if (!whole_vectors) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          if (exists(v, l)) reductions::add(sums, reductions::of_element(out.of[l]));
      }
    }
  }
  template <int P, std::size_t... K>
  DSL_DETAIL_KERNEL_FN void read_packs(int v, packs_of<P, lanes, leaf_numbers>& to,
                                       std::index_sequence<K...>) const {
    (read_pack<P, static_cast<int>(K)>(v, to), ...);
  }
  template <int P, int Leaf>
  DSL_DETAIL_KERNEL_FN void read_pack([[maybe_unused]] int v,
                                      [[maybe_unused]] packs_of<P, lanes, leaf_numbers>& to) const {
    if constexpr ((operands::loaded[static_cast<std::size_t>(Leaf)].by >> P & 1) != 0) {
      if constexpr (is_held(static_cast<std::size_t>(Leaf)))
        lanes_of_leaf<Leaf>(to) = lanes_of_leaf<Leaf>(held_[v]);
      else if constexpr (in_shared)
        lanes_of_leaf<Leaf>(to) =
            memory_.template load<pack<memory_t<type_of_leaf<Leaf>>, lanes>>(shared_lanes<Leaf>(v));
      else if (in_vectors()) lanes_of_leaf<Leaf>(to) = load<Leaf, access::whole_vector>(v);
      else if constexpr (any_layout)
        lanes_of_leaf<Leaf>(to) = load<Leaf, access::existing_elements>(v);
    }
  }
  template <int P, class Packs>
  DSL_DETAIL_KERNEL_FN auto element(int v, const Packs& packs, const values& known,
                                    int lane) const {
    return base::template compute<P>(*this, v, packs, known, lane);
  }

  // Elements are written from the first one on; addresses advance by fixed steps.
  template <int P, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void begin_writing(std::index_sequence<I...>) {
    ((offset_[operands::target(P, static_cast<int>(I))] +=
      first_ * row_stride<operands::target(P, static_cast<int>(I))>()),
     ...);
  }
  template <int P, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void write_all(int v, const results_of_lanes<P>& out,
                                      std::index_sequence<I...>) {
    (write<P, static_cast<int>(I)>(v, out), ...);
  }
  template <int P, int I>
  DSL_DETAIL_KERNEL_FN void write([[maybe_unused]] int v,
                                  [[maybe_unused]] const results_of_lanes<P>& out) {
    constexpr target_word t{pass_of<P>::target_words[I]};
    if constexpr (!t.is_result()) {
      constexpr int k = operands::target(P, I);
      using T = memory_t<pass_of<P>::elements::output(t.output()).type()>;
      if constexpr (staged) {
        memory_.store(stage_.template place<k, T>(row_, v),
                      static_cast<T>(nth<t.output()>(out.of[0])));
        return;
      }
      if (in_shared && !has_elements()) return;
      T* const to = reinterpret_cast<T*>(args_.operand[k].word) + offset_[k];
      if (in_vectors()) {
        pack<T, lanes> all;
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) all.lane[l] = static_cast<T>(nth<t.output()>(out.of[l]));
        if (exists(v, 0)) memory_.store(reinterpret_cast<pack<T, lanes>*>(to + step_of(v, 0)), all);
      } else {
        T* at = to;
        const std::int64_t step = s_.lane_step * row_stride<k>();
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l, at += step)
          if ((in_shared && s_.whole != 0) || exists(v, l))
            memory_.store(at, static_cast<T>(nth<t.output()>(out.of[l])));
        offset_[k] += lanes * step;
      }
    }
  }

  Team team_;
  row_team<whole_vectors, exchanged_bytes(accumulator_bytes_of<Chain>, 1), Memory, Team> threads_;
  row_stage<Chain, Arguments, Memory, Team> stage_;
  held_lanes<leaf_numbers> held_[in_shared ? 1 : held_vectors];
  std::int64_t y_ = 0;
  // The position of the thread's first element in the row, and the distance to the end of its part.
  std::int32_t first_ = 0, left_ = 0;
  std::int32_t count_ = 0;  // Number of its elements, for registers and any layout.
  bool is_owner_ = false;
  int row_ = 0;  // Staged: the thread's row among the block's.
};

}  // namespace dsl::detail

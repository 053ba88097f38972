// The ends of a row in vectors: its elements before the first and after the last whole aligned
// vector, one for each of the row's first threads.
#pragma once

#include <dsl/exec/rows/row_phases.hpp>

namespace dsl::detail {

/// Where a thread's row lies in its operands, and the thread's element of the row's ends, if it has
/// one. `Lanes`: the elements of a vector. Values of the end are read again in each phase, from the
/// L1 cache, unless an earlier phase may have overwritten them.
template <class Chain, int Lanes, class Arguments, class Memory>
class row_ends : protected row_phases<Chain, Arguments, Memory> {
 protected:
  using base = row_phases<Chain, Arguments, Memory>;
  using typename base::operands, typename base::values, typename base::leaf_numbers;
  template <int P> using pass_of = typename base::template pass_of<P>;
  template <int P> using target_numbers = typename base::template target_numbers<P>;
  using base::args_, base::s_, base::memory_;
  friend base;

  // `Count` lanes of the leaves that phase P reads.
  template <int P, int Count, class Numbers> struct packs_of;
  template <int P, int Count, std::size_t... K>
  struct packs_of<P, Count, std::index_sequence<K...>>
      : loaded_lanes<static_cast<int>(K), operands::loaded[K].type, Count,
                     (operands::loaded[K].by >> P & 1) != 0>... {};

  DSL_DETAIL_KERNEL_FN row_ends(const Arguments& a, Memory memory) : base(a, memory) {}

  /// The elements of row y before its first aligned vector, and the position of the first element
  /// after its last one.
  DSL_DETAIL_KERNEL_FN int elements_before_vectors(std::int64_t y) const {
    const std::int64_t lane = s_.first_lane + base::offset_of_row(s_.aligned_by, y);
    return static_cast<int>(-lane & (Lanes - 1));
  }
  DSL_DETAIL_KERNEL_FN int end_of_vectors(int before) const {
    return before + ((s_.count - before) & -Lanes);
  }
  /// Chooses the element of a row's thread number `thread`.
  DSL_DETAIL_KERNEL_FN void find_end(int thread, int before, int after) {
    const int position = thread < before ? thread : after + thread - before;
    end_ = position < s_.count ? position : -1;
  }
  DSL_DETAIL_KERNEL_FN bool has_end() const { return end_ >= 0; }
  template <std::size_t... K> DSL_DETAIL_KERNEL_FN void hold_end(std::index_sequence<K...>) {
    (hold_end_of<static_cast<int>(K)>(), ...);
  }
  /// Runs phase P on the element, before `offset_` of targets advances.
  template <int P, class Sums>
  DSL_DETAIL_KERNEL_FN void take_end(const values& known, Sums& sums) const {
    using reductions = reductions_of<typename pass_of<P>::reductions>;
    packs_of<P, 1, leaf_numbers> packs;
    read_end<P>(packs, leaf_numbers{});
    const auto out = base::template compute<P>(*this, 0, packs, known, 0);
    write_end<P>(out, target_numbers<P>{});
    if constexpr (reductions::count > 0) reductions::add(sums, reductions::of_element(out));
  }

  // The offsets of the row's first element in the operands that are read or written by elements.
  std::int64_t offset_[operands::count];

 private:
  template <class, int, class, class, class> friend struct row_element_source;

  static constexpr bool is_held(std::size_t k) {
    return operands::is_loaded_by_several(k) && operands::writes_before_last;
  }
  template <class Numbers> struct held_leaves;
  template <std::size_t... K>
  struct held_leaves<std::index_sequence<K...>>
      : loaded_lanes<static_cast<int>(K), operands::loaded[K].type, 1, is_held(K)>... {};

  template <int K> DSL_DETAIL_KERNEL_FN std::int64_t place_of_element(int, int) const {
    return offset_[K] + end_ * base::template row_stride<K>();
  }
  template <int Leaf> DSL_DETAIL_KERNEL_FN auto load_end() const {
    using T = memory_t<base::template type_of_leaf<Leaf>>;
    return memory_.template load<T>(reinterpret_cast<const T*>(args_.operand[Leaf].word) +
                                    place_of_element<Leaf>(0, 0));
  }
  template <int Leaf> DSL_DETAIL_KERNEL_FN void hold_end_of() {
    if constexpr (is_held(static_cast<std::size_t>(Leaf)))
      lanes_of_leaf<Leaf>(held_).lane[0] = load_end<Leaf>();
  }
  template <int P, std::size_t... K>
  DSL_DETAIL_KERNEL_FN void read_end(packs_of<P, 1, leaf_numbers>& to,
                                     std::index_sequence<K...>) const {
    (read_end_of<P, static_cast<int>(K)>(to), ...);
  }
  template <int P, int Leaf>
  DSL_DETAIL_KERNEL_FN void read_end_of([[maybe_unused]] packs_of<P, 1, leaf_numbers>& to) const {
    constexpr auto k = static_cast<std::size_t>(Leaf);
    if constexpr ((operands::loaded[k].by >> P & 1) != 0) {
      if constexpr (is_held(k)) lanes_of_leaf<Leaf>(to) = lanes_of_leaf<Leaf>(held_);
      else lanes_of_leaf<Leaf>(to).lane[0] = load_end<Leaf>();
    }
  }
  template <int P, class Out, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void write_end(const Out& out, std::index_sequence<I...>) const {
    (write_end_of<P, static_cast<int>(I)>(out), ...);
  }
  template <int P, int I, class Out>
  DSL_DETAIL_KERNEL_FN void write_end_of([[maybe_unused]] const Out& out) const {
    constexpr target_word t{pass_of<P>::target_words[I]};
    if constexpr (!t.is_result()) {
      constexpr int k = operands::target(P, I);
      using T = memory_t<pass_of<P>::elements::output(t.output()).type()>;
      memory_.store(reinterpret_cast<T*>(args_.operand[k].word) + place_of_element<k>(0, 0),
                    static_cast<T>(nth<t.output()>(out)));
    }
  }

  held_leaves<leaf_numbers> held_;
  std::int32_t end_ = -1;  // The position of the element in the row; -1 if there is none.
};

}  // namespace dsl::detail

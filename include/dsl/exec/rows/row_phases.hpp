// The parts of the row kernels that do not depend on how a thread reads its rows: where operands
// are, what a phase computes of an element, and what it leaves for the row.
#pragma once

#include <dsl/exec/rows/row_operands.hpp>
#include <dsl/exec/rows/row_policy.hpp>
#include <dsl/exec/rows/row_sources.hpp>

namespace dsl::detail {

/// The part of a kernel's body that knows the chain's phases, but not which elements a thread has.
template <class Chain, class Arguments, class Memory>
class row_phases {
 protected:
  using operands = chain_operands<Chain>;
  static constexpr int phases = operands::phases;
  using leaf_numbers = std::make_index_sequence<static_cast<std::size_t>(operands::leaves)>;
  using operand_numbers = std::make_index_sequence<operands::count>;
  using phase_numbers = std::make_index_sequence<static_cast<std::size_t>(phases)>;
  using values = values_of_chain<Chain, phase_numbers>;
  template <int P> using phase = typename operands::template phase<P>;
  template <int P> using pass_of = typename phase<P>::pass;
  template <int P> using target_numbers = std::make_index_sequence<pass_of<P>::targets>;
  template <int P> using element_results =
      typename evaluator<typename pass_of<P>::elements>::results;

  template <class, int, class, class, class> friend struct row_element_source;
  template <class, int, class, class, class> friend struct row_totals_source;

  DSL_DETAIL_KERNEL_FN row_phases(const Arguments& a, Memory memory)
      : args_(a), s_(a.rows_of), memory_(memory) {}

  template <int Leaf> static constexpr dtype type_of_leaf =
      operands::loaded[static_cast<std::size_t>(Leaf)].type;
  template <int K> DSL_DETAIL_KERNEL_FN std::int64_t row_stride() const {
    return args_.strides[K][0];
  }
  /// The offset of a row's first element in operand k; y is the row's number along the innermost
  /// kept dimension.
  DSL_DETAIL_KERNEL_FN std::int64_t offset_of_row(int k, std::int64_t y) const {
    std::int64_t offset = y * args_.strides[k][1];
    std::uint32_t rest = outer_index_;
    DSL_DETAIL_ROLLED
    for (int d = 0; d < s_.outer_rank; ++d) {
      const std::uint32_t next = s_.outer[d].divide(rest);
      offset += static_cast<std::int64_t>(rest - next * s_.outer[d].by) * args_.strides[k][d + 2];
      rest = next;
    }
    return offset;
  }
  template <op Code, dtype D, int K>
  DSL_DETAIL_KERNEL_FN value_t<D> scalar() const {
    const argument& a = args_.operand[K];
    if constexpr (Code == op::load_scalar)
      return memory_.template load<memory_t<D>>(reinterpret_cast<const memory_t<D>*>(a.word));
    else return from_literal<value_t<D>>(literal{a.word, a.descriptor});
  }

  /// The values that phase P computes for a lane of the thread's vector v.
  /// `body.place_of_element<K>(v, lane)` is the lane's distance from the start of operand K.
  template <int P, class Body, class Packs>
  DSL_DETAIL_KERNEL_FN static element_results<P> compute(const Body& body, int v,
                                                         const Packs& packs, const values& known,
                                                         int lane) {
    using eval = evaluator<typename pass_of<P>::elements>;
    row_element_source<Body, P, Packs, values, typename eval::inputs> from{body,  v,    packs,
                                                                           known, lane, {}};
    eval::read(from);
    if constexpr (Memory::calls_formula && eval::gathers)
      return eval::compute_out_of_line(from.in, body.memory_);
    else if constexpr (Memory::calls_formula ||
                       pass_of<P>::elements::nodes > row_policy_of<Chain>(0).inlined_nodes)
      return eval::compute_out_of_line(from.in);
    else return eval::compute(from.in);
  }

  // ---- values that a phase leaves for row y
  template <int P, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_row(std::int64_t y, const element_results<P>& out,
                                      std::index_sequence<I...>) const {
    (store_one<P, static_cast<int>(I)>(y, out), ...);
  }
  template <int P, int I>
  DSL_DETAIL_KERNEL_FN void store_one(std::int64_t y, const element_results<P>& out) const {
    constexpr target_word t{pass_of<P>::target_words[I]};
    constexpr int k = operands::target(P, I);
    using T = memory_t<pass_of<P>::elements::output(t.output()).type()>;
    memory_.store(reinterpret_cast<T*>(args_.operand[k].word) + offset_of_row(k, y),
                  static_cast<T>(nth<t.output()>(out)));
  }
  /// Computes and stores the results from the accumulators of all the row's elements.
  template <int P, class Totals>
  DSL_DETAIL_KERNEL_FN void finish(std::int64_t y, bool is_owner, const Totals& totals,
                                   values& known) const {
    using after = evaluator<typename pass_of<P>::results>;
    row_totals_source<row_phases, P, Totals, values, typename after::inputs> from{
        *this, totals, known, {}};
    after::read(from);
    store_results<P>(y, is_owner, after::compute(from.in), known, target_numbers<P>{});
  }
  template <int P, class Results, std::size_t... I>
  DSL_DETAIL_KERNEL_FN void store_results(std::int64_t y, bool is_owner, const Results& results,
                                          values& known, std::index_sequence<I...>) const {
    (store_result<P, static_cast<int>(I)>(y, is_owner, results, known), ...);
  }
  template <int P, int I, class Results>
  DSL_DETAIL_KERNEL_FN void store_result(std::int64_t y, bool is_owner, const Results& results,
                                         values& known) const {
    constexpr target_word t{pass_of<P>::target_words[I]};
    if constexpr (t.is_result()) {
      constexpr int k = operands::target(P, I);
      auto& value = value_of_row<k>(known);
      using T = std::remove_reference_t<decltype(value)>;
      value = static_cast<T>(nth<t.output()>(results));
      T* const to = reinterpret_cast<T*>(args_.operand[k].word);
      if (is_owner && to != nullptr) memory_.store(to + offset_of_row(k, y), value);
    }
  }

  const Arguments& args_;
  const row_schedule& s_;
  Memory memory_;
  // Index along the other kept dimensions.
  std::uint32_t outer_index_ = 0;
};

}  // namespace dsl::detail

// What the kernel of rows is compiled and planned with.
#pragma once

#include <dsl/exec/plan/policy.hpp>
#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// Where a thread has its share of a row while phases are computed.
enum class row_share : std::uint8_t {
  whole_vectors,  ///< in registers; all of the row is in one block, and is read and written in
                  ///< vectors
  one_vector,     ///< the same, where a thread's share is one vector
  two_vectors,    ///< or two
  any_layout,     ///< in registers
  in_shared,      ///< in shared memory
  staged,  ///< in shared memory, where all threads of a block bring its rows, of few elements; a
           ///< thread has whole rows
};
/// Of rows that are not whole in one block's registers in vectors.
constexpr row_share share_of_other_rows(const row_policy& p) {
  return p.vectors_of_others > 0 ? row_share::any_layout : row_share::in_shared;
}
/// Vectors that a thread has in registers.
constexpr int vectors_held(const row_policy& p, row_share share) {
  switch (share) {
    case row_share::whole_vectors: return p.vectors_held;
    case row_share::one_vector: return 1;
    case row_share::two_vectors: return 2;
    case row_share::any_layout: return p.vectors_of_others;
    default: return 0;
  }
}
/// Blocks of the largest size that a multiprocessor is to hold.
constexpr int blocks_held(const row_policy& p, row_share share) {
  return share == row_share::any_layout ? p.blocks_of_others : p.blocks;
}

/// A phase without reductions that reads nothing but what earlier ones leave: its elements are the
/// rows.
template <class Phase>
constexpr bool computes_rows() {
  const program_view p = Phase::pass::elements::view();
  bool all = Phase::pass::reductions::count == 0;
  for (int i = 0, nodes = p.nodes; i < nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    all = all && code != op::index && code != op::address && !is_placed(code);
    if (code == op::load) all = all && !Phase::input[p.payloads[i]].is_leaf();
  }
  return all;
}
template <class Phase> inline constexpr bool is_of_rows = computes_rows<Phase>();

/// As a formula's: what all phases read of leaves and write for each element.
template <class... Phase>
constexpr formula_traits traits_of_chain(std::type_identity<pass_chain<Phase...>>) {
  formula_traits f = traits_without_arrays();
  std::uint64_t read = 0;
  const auto look = [&](const pass_view& p, const phase_input* input, bool of_rows) {
    f.nodes += p.elements.nodes;
    for (int i = 0; i < p.elements.nodes; ++i) {
      const head h{p.elements.heads[i]};
      if (h.code() != op::load || !input[p.elements.payloads[i]].is_leaf()) continue;
      const std::uint64_t bit = std::uint64_t{1} << input[p.elements.payloads[i]].number();
      add_array(f, size_of(h.type()));
      if ((read & bit) == 0) f.read_bytes += size_of(h.type());
      read |= bit;
    }
    for (int i = 0; i < p.target_count && !of_rows; ++i) {
      if (p.is_result(i)) continue;
      add_array(f, size_of(p.type(i)));
      f.writes_arrays = true;
    }
  };
  (look(Phase::pass::view(), Phase::input, is_of_rows<Phase>), ...);
  if (f.widest < f.narrowest) f.narrowest = f.widest = 4;  // no array at all
  return f;
}

template <class Chain> struct first_phase;
template <class Phase, class... Others> struct first_phase<pass_chain<Phase, Others...>> {
  using pass = typename Phase::pass;
};

template <class Chain>
constexpr row_policy row_policy_of(int compute_capability) {
  return policy_of<typename first_phase<Chain>::pass>::rows(
      traits_of_chain(std::type_identity<Chain>{}), compute_capability);
}
// The same for every compute capability, as a map's.
template <class Chain> inline constexpr int lanes_of_chain = row_policy_of<Chain>(0).lanes;
/// Of the kernel of columns: each lane is a column, whose values a thread has in registers.
constexpr int lanes_of_columns(int lanes) { return lanes < 4 ? lanes : 4; }

}  // namespace dsl::detail

// Compile-time and launch numbers of the row kernels.
#pragma once

#include <dsl/exec/plan/policy.hpp>
#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// Where a thread keeps its share of a row between phases.
enum class row_share : std::uint8_t {
  /// In registers; the whole row is in one block, is read and written in vectors, and has no other
  /// elements.
  whole_vectors,
  vectors_and_ends,     ///< The same, if rows begin or end between vectors.
  one_vector,           ///< The same, with ends or without, if a thread's share is one vector.
  two_vectors,          ///< The same, if it is two vectors.
  any_layout,           ///< In registers.
  any_layout_and_ends,  ///< The same, if rows in vectors begin or end between vectors.
  in_shared,            ///< In shared memory.
  in_shared_and_ends,   ///< The same, if rows in vectors begin or end between vectors.
  /// In shared memory, for short rows: all threads of a block load and store its rows together, and
  /// a thread computes whole rows.
  staged,
};
/// The share of rows that do not fit in one block's registers in vectors.
constexpr row_share share_of_other_rows(const row_policy& p) {
  return p.vectors_of_others > 0 ? row_share::any_layout : row_share::in_shared;
}
constexpr row_share share_of_rows_with_ends(const row_policy& p) {
  return p.vectors_of_others > 0 ? row_share::any_layout_and_ends : row_share::in_shared_and_ends;
}
/// Vectors that a thread has in registers.
constexpr int vectors_held(const row_policy& p, row_share share) {
  switch (share) {
    case row_share::whole_vectors:
    case row_share::vectors_and_ends: return p.vectors_held;
    case row_share::one_vector: return 1;
    case row_share::two_vectors: return 2;
    case row_share::any_layout:
    case row_share::any_layout_and_ends: return p.vectors_of_others;
    default: return 0;
  }
}
/// Blocks of the largest size that should fit on a multiprocessor.
constexpr int blocks_held(const row_policy& p, row_share share) {
  return share == row_share::any_layout || share == row_share::any_layout_and_ends
             ? p.blocks_of_others
             : p.blocks;
}

/// Whether a phase has no reductions and reads only values that earlier phases leave: its elements
/// are then the rows.
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

/// The traits of a chain: of everything that all phases read of leaves and write for each element.
/// `read_bytes` counts the leaves that several phases read, which stay on chip between them.
template <class... Phase>
constexpr formula_traits traits_of_chain(std::type_identity<pass_chain<Phase...>>) {
  formula_traits f = traits_without_arrays();
  std::uint64_t read = 0, reused = 0;
  const auto look = [&](const pass_view& p, const phase_input* input, bool of_rows) {
    f.nodes += p.elements.nodes;
    const std::uint64_t before = read;
    const int reduced = reduced_bytes_of(p);
    f.reduced_bytes = reduced > f.reduced_bytes ? reduced : f.reduced_bytes;
    for (int i = 0; i < p.elements.nodes; ++i) {
      const head h{p.elements.heads[i]};
      if (h.code() != op::load || !input[p.elements.payloads[i]].is_leaf()) continue;
      const std::uint64_t bit = std::uint64_t{1} << input[p.elements.payloads[i]].number();
      add_array(f, size_of(h.type()));
      if ((before & bit) != 0 && (reused & bit) == 0)
        f.read_bytes += size_of(h.type()), reused |= bit;
      read |= bit;
    }
    for (int i = 0; i < p.target_count && !of_rows; ++i) {
      if (p.is_result(i)) continue;
      add_array(f, size_of(p.type(i)));
      f.writes_arrays = true;
    }
  };
  (look(Phase::pass::view(), Phase::input, is_of_rows<Phase>), ...);
  if (f.widest < f.narrowest) f.narrowest = f.widest = 4;  // There are no arrays.
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
// The same for every compute capability, as in map_policy.
template <class Chain> inline constexpr int lanes_of_chain = row_policy_of<Chain>(0).lanes;
/// Lanes of the kernel of columns: each is a column whose values a thread has in registers.
constexpr int lanes_of_columns(int lanes) { return lanes < 4 ? lanes : 4; }

}  // namespace dsl::detail

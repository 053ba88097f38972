// Steps of laying out an index space, for those that need another order of its dimensions.
#pragma once

#include <dsl/exec/plan/operand.hpp>

#include "mem/back_end.hpp"

#include "mem/mapping.hpp"

namespace dsl::detail {

/// What laying out an index space asks of kernels. The base of executors (exec/run/executor.hpp)
/// and of nothing else.
class layout_services : public kernel_services {
 public:
  static const layout_services& of(device where) {
    return static_cast<const layout_services&>(back_end::of(where).kernels());
  }

  /// Orders the dimensions of a space with reductions, of operands of which the first are inputs.
  virtual void order_reduced(geometry& g, const operand* operands, int inputs, int count,
                             const pass_view& pass) const = 0;

 protected:
  ~layout_services() = default;
};

/// How many pieces of a length cover n.
inline std::int64_t pieces(std::int64_t n, std::int64_t length) {
  return (n + length - 1) / length;
}

inline bool has_elements(const operand& o) { return o.kind <= operand_kind::index; }

/// Whether an operand is an address that is the same for all elements of one line: what they gather
/// from.
inline bool is_one_address(const geometry& g, const operand& o, int k) {
  return o.kind == operand_kind::address && g.rank == 1 && g.layouts[k].strides[0] == 0;
}

/// Along which axes of the shape an expression reads neighbours.
void find_moved_axes(geometry& g, const operand* operands, int inputs, const pass_view& pass);

/// An operand's strides along the dimensions of the shape: 0 where it is broadcast.
operand_layout layout_of(const geometry& g, const operand& o);

/// Takes `rank` dimensions of the shape, in that order, and merges neighbours that every operand
/// takes as one, but for those `unmerged` (a bit for each) and those along which neighbours are
/// read. Gives the places to which the dimensions in the order went.
std::array<int, max_rank> merge_dimensions(geometry& g, int count, const int (&order)[max_rank],
                                           int rank, std::uint32_t unmerged = 0);

/// Moves a dimension inwards, to another place.
void move_dimension(geometry& g, int count, int from, int to);

/// Orders the dimensions of reductions that keep some for blocks of threads: one that is kept and
/// one that is reduced are the two last, of the reduced ones the longest, of the kept ones the
/// last.
void order_for_blocks(geometry& g, int count);
/// Where each array varies along one of the two last dimensions at most, and enough of them are
/// pairs: marks the space, with the one that is reduced last.
void order_pairs(geometry& g, const operand* operands, int inputs, int count);
/// As `order_for_blocks` for loops over rows: the reduced dimensions stand behind the kept ones,
/// but for a kept one that is the last. Elements that are combined follow each other, or rows of
/// them do.
void order_for_rows(geometry& g, int count);

/// Whether vectors of `lanes` elements of an operand lie along the last dimension, each aligned.
bool is_wide(const geometry& g, const operand& o, const operand_layout& w, int lanes);

/// Whether two operands in memory have an element in common. Where a search of some thousand steps
/// does not tell, false.
bool share_elements(const operand& a, const operand& b);

/// Whether two pieces of memory are one, or overlap, as foreign ones may.
bool share_memory(const buffer* a, const buffer* b);

}  // namespace dsl::detail

// Steps of laying out an index space, shared by the executors that order its dimensions in their
// own way.
#pragma once

#include <algorithm>
#include <bit>

#include <dsl/exec/plan/operand.hpp>

#include "mem/back_end.hpp"
#include "mem/mapping.hpp"

namespace dsl::detail {

struct kernel_choice;

/// The part of an executor that laying out needs. Only executors derive from it
/// (exec/run/executor.hpp).
class layout_services : public kernel_services {
 public:
  static const layout_services& of(device where) {
    return static_cast<const layout_services&>(back_end::of(where).kernels());
  }

  /// Orders the dimensions of an index space with reductions. The first `inputs` operands are
  /// inputs.
  virtual void order_reduced(geometry& g, const operand* operands, int inputs, int count,
                             const pass_view& pass) const = 0;
  /// Whether a pass with these kernels has one for operands that form one contiguous dimension.
  virtual bool has_linear_path(const kernel_choice& /*kernels*/) const { return true; }
  /// Whether passes take rows that begin anywhere in whole vectors (`row_leads`).
  virtual bool takes_leads() const { return false; }

 protected:
  ~layout_services() = default;
};

/// The number of pieces of `length` that cover n: n / length, rounded up.
inline std::int64_t pieces(std::int64_t n, std::int64_t length) {
  return (n + length - 1) / length;
}

/// The smallest power of two from n on, or `most`, a power of two, if that is smaller.
inline int power_of_two_from(std::int64_t n, int most = 1 << 30) {
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 1, most))));
}

/// At least one thread, in whole warps.
inline int whole_warps(std::int64_t threads, int warp_size) {
  return static_cast<int>(pieces(std::max<std::int64_t>(threads, 1), warp_size) * warp_size);
}

/// Whether a reduction keeps a dimension.
inline bool is_kept(const geometry& g, int d) { return (g.kept >> d & 1) != 0; }
/// Columns of a transposed tile in shared memory: with leads, a vector before its own ones. A warp
/// reads two rows, every fourth word of each; two more columns keep these apart where groups of the
/// second row begin an element earlier than those of the first.
inline int columns_in_shared(const geometry& g, int width) {
  const bool meet = g.leads.lanes == 4 && g.rank > 1 && g.leads.steps[g.rank - 2] == 3;
  return width + g.leads.lanes + (meet ? 2 : 0);
}
/// The length of a row with the most elements by which leads may lengthen it.
inline std::int64_t row_with_lead(const geometry& g) {
  return g.extents[g.rank - 1] + std::max(0, g.leads.lanes - 1);
}

/// Whether all arrays are accessed in whole vectors.
inline bool are_in_vectors(const operand* operands, const geometry& g, int count) {
  for (int k = 0; k < count; ++k)
    if (operands[k].kind == operand_kind::array && g.layouts[k].how != access::wide) return false;
  return true;
}

inline bool has_elements(const operand& o) { return o.kind <= operand_kind::index; }

/// Whether an operand is an address that all elements of a linear index space share: the base of a
/// gather.
inline bool is_one_address(const geometry& g, const operand& o, int k) {
  return o.kind == operand_kind::address && g.rank == 1 && g.layouts[k].strides[0] == 0;
}

/// Sets `g.moved` (shape axes along which an expression reads neighbours) and `g.beside`.
void find_moved_axes(geometry& g, const operand* operands, int inputs, const pass_view& pass);

/// An operand's strides along the dimensions of the shape; 0 where it is broadcast.
operand_layout layout_of(const geometry& g, const operand& o);

/// Takes `rank` dimensions of the shape in the given order and merges adjacent ones where the
/// strides of every operand allow it. Dimensions in `unmerged` (a bit each) and those along which
/// neighbours are read stay separate. Returns the new place of each dimension of the order.
std::array<int, max_rank> merge_dimensions(geometry& g, int count, const int (&order)[max_rank],
                                           int rank, std::uint32_t unmerged = 0);

/// Moves dimension `from` inwards to place `to`; those in between move out by one.
void move_dimension(geometry& g, int count, int from, int to);

/// Orders the dimensions of a reduction with kept dimensions for blocks of threads. The two last
/// become a kept and a reduced one: the last kept one, and the longest reduced one.
void order_for_blocks(geometry& g, int count);
/// Sets `g.pairs` where each array varies along at most one of the two last dimensions, and both
/// are long enough to pay. The reduced dimension is then the last one.
void order_pairs(geometry& g, const operand* operands, int inputs, int count);
/// As `order_for_blocks`, for loops over rows: reduced dimensions come after the kept ones, except
/// after a kept one that is the last. Elements that are combined are then consecutive, or
/// consecutive rows are combined.
void order_for_rows(geometry& g, int count);

/// Whether each vector of `lanes` elements of an operand is contiguous along the last dimension and
/// aligned.
bool is_wide(const geometry& g, const operand& o, const operand_layout& w, int lanes);

/// Whether two operands in memory certainly have an element in common. False if the search, of some
/// thousand steps, does not decide.
bool share_elements(const operand& a, const operand& b);

/// Whether two pieces of memory are the same or overlap, as memory from outside the library may.
bool share_memory(const buffer* a, const buffer* b);

}  // namespace dsl::detail

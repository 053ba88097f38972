// Steps of laying out an index space, for those that need another order of its dimensions.
#pragma once

#include <dsl/exec/operand.hpp>

namespace dsl::detail {

inline bool has_elements(const operand& o) { return o.kind <= operand_kind::index; }

/// Whether a dimension and the one inside it are walked as one: the outer stride is where the inner walk ends.
inline bool walks_on(std::int64_t outer_stride, std::int64_t stride, std::int64_t extent) {
  std::int64_t end = 0;
  return !__builtin_mul_overflow(stride, extent, &end) && outer_stride == end;
}

/// An operand's strides along the dimensions of the shape: 0 where it is broadcast.
walk walk_of(const geometry& g, const operand& o);

/// Takes `rank` dimensions of the shape, in that order, and merges neighbours that every operand walks as one, but for those `apart`
/// (a bit for each) and those along which neighbours are read. Gives the places to which the dimensions in the order went.
std::array<int, max_rank> merge_dimensions(geometry& g, int count, const int (&order)[max_rank], int rank, std::uint32_t apart = 0);

/// Moves a dimension inwards, to another place.
void move_dimension(geometry& g, int count, int from, int to);

/// Whether vectors of `lanes` elements of an operand lie along the last dimension, each aligned.
bool is_wide(const geometry& g, const operand& o, const walk& w, int lanes);

/// Whether two operands in memory have an element in common. Where a search of some thousand steps does not tell, false.
bool share_elements(const operand& a, const operand& b);

}  // namespace dsl::detail

#include "exec/stencil/patches.hpp"

#include <algorithm>
#include <cstdlib>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

// One wrap, clamp or reflection finds any near neighbour beyond an end of a longer axis.
constexpr std::int64_t least_extent = 12;

bool is_near_axis(const geometry& g, const operand& o, int axis) {
  return axis < g.rank && dimension_of_axis(g, o, axis) == g.rank - 1 - axis &&
         g.extents[g.rank - 1 - axis] >= least_extent;
}

namespace {

// Whether the 32-bit indices and offsets of `patch_place` suffice.
bool fits_32_bits(const geometry& g, const operand* operands, int count) {
  constexpr std::int64_t longest = 1 << 30, furthest = std::int64_t{1} << 31;
  for (int d = std::max(0, g.rank - 3); d < g.rank; ++d)
    if (g.extents[d] >= longest) return false;
  for (int k = 0; k < count; ++k)
    for (int d = g.rank - 2; d < g.rank; ++d)
      if (std::abs(g.layouts[k].strides[d]) * size_of(operands[k].type) >= furthest) return false;
  return true;
}

}  // namespace

bool can_read_displaced(const geometry& g, const operand* operands, int count,
                        const pass_traits& pass) {
  if (!pass.kernels.displaced || g.kept != 0 || g.elements == 0 || g.shape_rank > 3 ||
      g.elements >= std::int64_t{1} << 31)
    return false;
  for (int d = 0; d < g.shape_rank; ++d)
    if ((g.moved >> (g.shape_rank - 1 - d) & 1) != 0 && g.shape[d] < least_extent) return false;
  std::int64_t strides[max_rank];
  set_row_major(strides, g.shape, g.shape_rank);
  return std::all_of(operands, operands + count, [&](const operand& o) {
    if (!has_elements(o)) return true;
    if (o.kind != operand_kind::array || o.rank != g.shape_rank) return false;
    for (int d = 0; d < o.rank; ++d)
      if (o.extents[d] != g.shape[d] || (o.extents[d] > 1 && o.strides[d] != strides[d]))
        return false;
    return true;
  });
}

displaced_space space_of_displaced(const geometry& g) {
  const auto extent = [&g](int axis) {
    return axis < g.shape_rank ? g.shape[g.shape_rank - 1 - axis] : 1;
  };
  displaced_space space{{}, divisor::of(extent(0)), divisor::of(extent(1))};
  for (int axis = 0; axis < 3; ++axis)
    space.extents[axis] = static_cast<std::int32_t>(extent(axis));
  return space;
}

void plan_patches(tile_plan& t, const geometry& g, const operand* operands, int count,
                  const pass_traits& pass) {
  const patch_needs& needs = pass.patches;
  if (!pass.kernels.patches || g.kept != 0 || g.rank < 2 || g.elements == 0) return;
  constexpr int axes = 3;
  for (int k = 0; k < needs.slots; ++k)
    for (int axis = 0; axis < axes; ++axis)
      if ((needs.of[k].axes >> axis & 1) != 0 && !is_near_axis(g, operands[needs.of[k].slot], axis))
        return;
  if (!fits_32_bits(g, operands, count)) return;
  t.patch_rows = needs.rows;
  t.planes = needs.planes;
}

}  // namespace dsl::detail

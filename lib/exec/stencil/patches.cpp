#include "exec/stencil/patches.hpp"

#include <algorithm>
#include <cstdlib>

namespace dsl::detail {

bool is_near_axis(const geometry& g, const operand& o, int axis) {
  constexpr std::int64_t least_extent = 12;
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

#include "exec/patches.hpp"

namespace dsl::detail {

bool is_near_axis(const geometry& g, const operand& o, int axis) {
  constexpr std::int64_t least_extent = 12;
  return axis < g.rank && dimension_of_axis(g, o, axis) == g.rank - 1 - axis && g.extents[g.rank - 1 - axis] >= least_extent;
}

void plan_patches(tile_plan& t, const geometry& g, const operand* operands, const pass_traits& pass) {
  const patch_needs& needs = pass.patches;
  if (needs.rows == 0 || g.kept != 0 || g.rank < 2 || g.elements == 0) return;
  constexpr int axes = 3;
  for (int k = 0; k < needs.slots; ++k)
    for (int axis = 0; axis < axes; ++axis)
      if ((needs.of[k].axes >> axis & 1) != 0 && !is_near_axis(g, operands[needs.of[k].slot], axis)) return;
  t.patch_rows = needs.rows;
  t.planes = needs.planes;
}

}  // namespace dsl::detail

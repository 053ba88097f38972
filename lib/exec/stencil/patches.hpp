// Decides which neighbours a kernel reads by patches.
#pragma once

#include <dsl/exec/plan/plan.hpp>

namespace dsl::detail {

/// Whether an operand's axis, counted from the right, is the dimension of the same number, and long
/// enough that one wrap, clamp or reflection finds a neighbour beyond its end.
bool is_near_axis(const geometry& g, const operand& o, int axis);

/// Fills in the fields of a plan about patches (`tile_plan::patch_rows` and those after it) if the
/// pass has a kernel by patches and the operands' layout suits it.
void plan_patches(tile_plan& t, const geometry& g, const operand* operands, int count,
                  const pass_traits& pass);

}  // namespace dsl::detail

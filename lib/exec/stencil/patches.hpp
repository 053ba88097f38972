// Which neighbours a kernel reads by patches.
#pragma once

#include <dsl/exec/plan/plan.hpp>

namespace dsl::detail {

/// Whether an axis of an operand, counted from the right, is the dimension with the same number,
/// and so long that a neighbour beyond an end is found by one step.
bool is_near_axis(const geometry& g, const operand& o, int axis);

/// Fills in what a plan says of patches (`tile_plan::patch_rows` and what follows), where the
/// kernel has them and the operands lie as they need it.
void plan_patches(tile_plan& t, const geometry& g, const operand* operands, int count,
                  const pass_traits& pass);

}  // namespace dsl::detail

// Which neighbours a kernel reads by patches.
#pragma once

#include <dsl/exec/plan.hpp>

namespace dsl::detail {

/// Fills in what a plan says of patches (`tile_plan::patch_rows` and what follows), where the kernel has them and the operands
/// lie as they need it.
void plan_patches(tile_plan& t, const geometry& g, const operand* operands, const pass_traits& pass, const map_policy& policy);

}  // namespace dsl::detail

// Decides which neighbours a kernel reads by patches.
#pragma once

#include <dsl/exec/plan/plan.hpp>
#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// Whether an operand's axis, counted from the right, is the dimension of the same number, and long
/// enough that one wrap, clamp or reflection finds a neighbour beyond its end.
bool is_near_axis(const geometry& g, const operand& o, int axis);

/// Fills in the fields of a plan about patches (`tile_plan::patch_rows` and those after it) if the
/// pass has a kernel by patches and the operands' layout suits it.
void plan_patches(tile_plan& t, const geometry& g, const operand* operands, int count,
                  const pass_traits& pass);

/// Whether a pass's kernel for displaced reads can run on these operands: all arrays are contiguous
/// and have the same shape.
bool can_read_displaced(const geometry& g, const operand* operands, int count,
                        const pass_traits& pass);
/// The index space for that kernel.
displaced_space space_of_displaced(const geometry& g);

}  // namespace dsl::detail

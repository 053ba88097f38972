#include "exec/patches.hpp"

#include <dsl/exec/patch.hpp>

#include <algorithm>

namespace dsl::detail {

namespace {

// Whether an operand's axes are the dimensions that the kernel takes them for.
bool suits_patches(const geometry& g, const operand& o, const near_place& place) {
  bool suits = true;
  for (int axis = 0; axis < near_place::axes; ++axis)
    if (place.before[axis] + place.after[axis] > 0) suits = suits && dimension_of_axis(g, o, axis) == g.rank - 1 - axis;
  return suits;
}

}  // namespace

void plan_patches(tile_plan& t, const geometry& g, const operand* operands, const pass_traits& pass, const map_policy& policy) {
  const program_view p = pass.view.elements;
  const int rows = patch_rows(p, policy.patch_rows);
  if (rows == 0 || g.kept != 0 || g.rank < 2 || g.extents[g.rank - 2] < rows) return;
  tile_plan found = t;
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    const near_place place = near_place_of(p, i);
    if (!place.is_near || (code == op::load && !window_of(p, static_cast<int>(p.payloads[i]), pass.lanes, rows).any())) continue;
    const auto k = operand_read(p, i);
    if (!suits_patches(g, operands[k], place)) return;
    for (int axis = 0; axis < near_place::axes; ++axis) {
      const int whole = axis == 0 ? pass.lanes : 1;
      found.before[axis] = std::max(found.before[axis], (place.before[axis] + whole - 1) / whole * whole);
      found.after[axis] = std::max(found.after[axis], (place.after[axis] + whole - 1) / whole * whole);
    }
  }
  found.patch_rows = rows;
  if (found.before[2] + found.after[2] > 0)
    found.planes = static_cast<int>(std::min<std::int64_t>(policy.patch_planes, g.extents[g.rank - 3]));
  t = found;
}

}  // namespace dsl::detail

// The operands of a pass's kernel, and where a thread's lanes of them are.
#pragma once

#include <dsl/exec/access/operand_access.hpp>
#include <dsl/exec/access/tile_lanes.hpp>
#include <dsl/exec/reduce/reduction.hpp>
#include <dsl/exec/stencil/patch_place.hpp>

namespace dsl::detail {

template <class Pass, int Inputs, class Arguments>
struct place_of_pass {
  using type = tile_place<Arguments, Inputs + Pass::targets, (Pass::view().neighbours.nodes > 0),
                          (reductions_of<typename Pass::reductions>::count > 0)>;
};
template <class Pass, int Inputs, int Operands>
struct place_of_pass<Pass, Inputs, patched_arguments<Operands>> {
  using type = patch_place<patched_arguments<Operands>, Inputs + Pass::targets>;
};
template <class Pass, int Inputs, class Arguments, class Memory>
using operands_of_pass =
    operand_access<typename place_of_pass<Pass, Inputs, Arguments>::type, Memory>;
template <class Pass, int Inputs, class Arguments, class Memory, int Lanes>
using lanes_in_pass =
    tile_lanes<operands_of_pass<Pass, Inputs, Arguments, Memory>, Lanes,
               takes_halos<Arguments> ? halo_tiles::lane_step : 1,
               may_read_beyond_rows(
                   Pass::view(),
                   static_cast<int>(
                       sizeof(typename reductions_of<typename Pass::reductions>::accumulators)))>;

}  // namespace dsl::detail

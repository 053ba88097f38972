// Divides the blocks of a launch among the members of a mesh.
#pragma once

#include <optional>
#include <vector>

#include <dsl/exec/plan/operand.hpp>

#include "mem/back_end.hpp"

namespace dsl::detail {

struct kernel_launch;

/// Members of a mesh at most, since sets of members are a bit each.
inline constexpr int max_members = 64;

struct grid_shares {
  // For each member, the number after its last block; it starts where the member before ends.
  std::vector<std::int64_t> ends;
  // No member uses memory that another may use.
  bool is_local;
};

/// Each member gets the blocks whose results lie in its memory, as far as blocks are in the order
/// of memory.
///
/// Two kinds of launches are local. If all memory of a launch belongs to one member, it gets all
/// blocks. A map of whole arrays in the order of their elements is cut at places that depend only
/// on the number of elements, so that no member ever uses elements that another one has used in
/// such a map. The parts of the arrays in memory end at granules, so they may differ from these
/// places by one granule.
grid_shares shares_of(const kernel_launch& k, const back_end& mesh);

/// The member of a mesh that runs all of a launch because it has all memory of the largest operand;
/// none if the members share the launch.
std::optional<int> sole_member(const back_end& mesh, const operand* operands, int count);

/// How many members of a mesh run a launch: one or all. 0 if the device is no mesh.
int members_for(device where, const operand* operands, int count);

/// Properties of what runs a launch: of a device, or of one member or all of a mesh.
const device_properties& properties_for(device where, const operand* operands, int count);

}  // namespace dsl::detail

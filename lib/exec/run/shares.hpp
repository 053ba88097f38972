// What of a launch each member of a mesh does.
#pragma once

#include <optional>
#include <vector>

#include <dsl/exec/plan/operand.hpp>

#include "mem/back_end.hpp"

namespace dsl::detail {

struct kernel_launch;

/// Of a mesh: there is a bit for each.
inline constexpr int max_members = 64;

struct grid_shares {
  std::vector<std::int64_t> ends;  // a member has the blocks from the end of the one before on
  bool is_local;                   // no member touches what others may
};

/// Each member has the blocks whose results lie with it, as far as they are in the order of memory.
///
/// Local are launches of two kinds. Where all memory of a launch lies with one member, that one has
/// all blocks. A map of whole arrays in the order of their elements is cut at elements that depend
/// on their number alone, so that no member ever touches what another one's share of such a map
/// was; the parts of the arrays in memory, which end at granules, may differ from that by one.
grid_shares shares_of(const kernel_launch& k, const back_end& mesh);

/// The member of a mesh that does all of a launch, since it has all memory of the operand that is
/// largest; none if they share it.
std::optional<int> sole_member(const back_end& mesh, const operand* operands, int count);

/// How many members of a mesh do a launch: one or all. 0 for a device that is no mesh.
int members_for(device where, const operand* operands, int count);

/// Properties of what runs a launch: a device, or of a mesh all members or one.
const device_properties& properties_for(device where, const operand* operands, int count);

}  // namespace dsl::detail

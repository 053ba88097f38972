// Meshes, several devices of a kind as one: their names and numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mem/back_end.hpp"

namespace dsl::detail {

/// A mesh's devices, as listed in its name after the kind: "0-3", "0,2", "0-1,4", or "all" for the
/// first `count`. None if it is not a list.
std::optional<std::vector<int>> parse_members(std::string_view list, int count);
/// The shortest list of these devices.
std::string spell_members(std::span<const int> members);

/// The number of the mesh of these devices; the same devices always give the same mesh. None if the
/// kind forms no meshes. Throws device_error if no number is left.
std::optional<int> mesh_of(back_end& kind, std::span<const int> members);
/// Adds a mesh without a name and returns its number. It must live until the program ends. Throws
/// as `mesh_of`.
int add_mesh(back_end& made);

/// All meshes that exist so far.
std::vector<device> known_meshes();

}  // namespace dsl::detail

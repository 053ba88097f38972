// Several devices of a kind as one: names and numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mem/back_end.hpp"

namespace dsl::detail {

/// A mesh's devices, as its name lists them behind the kind: "0-3", "0,2", "0-1,4", and "all" for
/// the first `count`. None if it is no list.
std::optional<std::vector<int>> parse_members(std::string_view list, int count);
/// The shortest list of them.
std::string spell_members(std::span<const int> members);

/// The number of the mesh of these devices, which are the same mesh each time. None where the kind
/// forms no meshes. Throws device_error where no number is left.
std::optional<int> mesh_of(back_end& kind, std::span<const int> members);
/// The number of a mesh that no name stands for. It must live until the program ends. Throws as
/// `mesh_of`.
int add_mesh(back_end& made);

/// All meshes that there are by now.
std::vector<device> known_meshes();

}  // namespace dsl::detail

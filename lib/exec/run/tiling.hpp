// How tiles cover a strided index space.
#pragma once

#include <dsl/exec/team/arguments.hpp>

#include "exec/run/parameters.hpp"

namespace dsl::detail {

/// A tile of so many threads, each with `lanes` elements side by side: rows of threads as long as
/// the innermost dimension needs.
tiling tile_of(const geometry& g, int threads, int lanes);

/// Fills in how tiles of that width and height cover the space. Gives how many there are.
std::int64_t cover(tiling& t, const geometry& g);

}  // namespace dsl::detail

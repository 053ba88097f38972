// Tiles that cover a strided index space.
#pragma once

#include <dsl/exec/team/arguments.hpp>

#include "exec/run/parameters.hpp"

namespace dsl::detail {

/// A tile for `threads` threads, each with `lanes` adjacent elements. Rows of threads are as long
/// as the innermost dimension needs.
tiling tile_of(const geometry& g, int threads, int lanes);

/// Computes how tiles of the given width and height cover the space. Returns their number.
std::int64_t cover(tiling& t, const geometry& g);

}  // namespace dsl::detail

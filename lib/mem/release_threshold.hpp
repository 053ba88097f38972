// The release threshold of memory pools.
#pragma once

#include <cstddef>

namespace dsl::detail {

/// DSL_RELEASE_THRESHOLD in bytes, SIZE_MAX without it. Throws device_error if it is not a number
/// of bytes, optionally followed by K, M or G.
std::size_t release_threshold_from_environment();

}  // namespace dsl::detail

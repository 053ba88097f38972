// Writing to positions, as back ends see it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsl::detail {

/// As `run_scatter`. An element has 1, 2, 4, 8 or 16 bytes.
struct scatter_task {
  std::int64_t count;
  const std::int64_t* positions;
  const void* values;
  void* target;
  std::int64_t elements, stride;  // the target's
  std::size_t bytes;
};

}  // namespace dsl::detail

// Chains of passes over rows as one kernel.
#pragma once

#include "exec/rows/rows.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// How work-groups take rows: `across` rows side by side, `parts` work-items for each. On a GPU a
/// work-item keeps its part of a row, `vectors` times `lanes` adjacent elements of each array, from
/// the first phase that reads the array to the last; where it does not, `vectors` is 0.
struct row_groups {
  std::int64_t group, parts, across, count;
  int lanes = 1, vectors = 0;
};
row_groups groups_of(const row_chain& rows, const abilities& can);

/// All phases as one kernel, as `print_pass`; its launch and its key.
kernel_text print(const row_chain& rows, const abilities& can);
kernel_launches launches_of(const row_chain& rows, const abilities& can);
std::uint64_t text_key(const row_chain& rows, const abilities& can);

}  // namespace dsl::detail::opencl

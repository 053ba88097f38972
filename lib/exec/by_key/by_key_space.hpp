// The index space of a reduction by key.
#pragma once

#include <dsl/exec/by_key/by_key.hpp>

#include "exec/scan/scan.hpp"

namespace dsl::detail {

/// Lays out a reduction by key and checks its targets. Throws as `run_by_key`, before anything
/// runs.
void lay_out_by_key(scan_space& s, const by_key_code& code, const operand* operands,
                    const by_key_request& request);

}  // namespace dsl::detail

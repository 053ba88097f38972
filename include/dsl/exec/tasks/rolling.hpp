// Runs rolling reductions: those of every window of adjacent elements.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

enum class rolling_function : std::uint8_t { sum, mean, min, max, var, std };

/// Whether a device has a rolling reduction of elements of this dtype and windows of this length.
bool has_rolling(device where, dtype type, rolling_function function, std::int64_t window);

/// Queues the reduction of every window of `window` adjacent elements in each row on the current
/// stream. `elements` has rows along its last axis and `results` has window - 1 fewer of them; both
/// are contiguous, and they do not overlap. `ddof` is that of var and std. Throws memory_error,
/// device_error or cuda_error.
void run_rolling(rolling_function function, const operand& elements, std::int64_t window,
                 std::int64_t ddof, const operand& results);

/// `explain`'s line for windows along an axis of the elements. `across`: another axis of the
/// windows is reduced than that of their elements.
text describe_rolling(rolling_function function, std::int64_t window, int axis,
                      const operand& elements, bool across);

}  // namespace dsl::detail

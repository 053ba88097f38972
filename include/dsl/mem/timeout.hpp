// Timeouts.
#pragma once

namespace dsl::detail {

/// DSL_TIMEOUT in seconds, or `otherwise` if it is not set. Throws device_error if it is not a
/// number of seconds.
double seconds_to_wait(double otherwise = 10);
/// The timeout for other processes, which may do other work before they arrive.
inline double seconds_to_wait_for_processes() { return seconds_to_wait(600); }

}  // namespace dsl::detail

// How long to wait for what may never come.
#pragma once

namespace dsl::detail {

/// DSL_TIMEOUT, or where it is not set another number of seconds. Throws device_error where it is no number of seconds.
double seconds_to_wait(double otherwise = 10);

}  // namespace dsl::detail

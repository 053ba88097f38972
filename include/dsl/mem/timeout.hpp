// How long to wait for what may never come.
#pragma once

namespace dsl::detail {

/// DSL_TIMEOUT, or where it is not set another number of seconds. Throws device_error where it is
/// no number of seconds.
double seconds_to_wait(double otherwise = 10);
/// The same of other processes, which may well do other work in between.
inline double seconds_to_wait_for_processes() { return seconds_to_wait(600); }

}  // namespace dsl::detail

// Checks of times, tolerances and limits of steps.
#pragma once

#include <dsl/ode/integrate.hpp>

namespace dsl::ode::detail {

/// Throws value_error, in the name of a function, unless a value is possible.
void require(const char* function, bool possible, const char* name, double value,
             const char* wanted);
/// Throws value_error for impossible tolerances and limits.
void require_limits(const char* function, const tolerance& wanted);

}  // namespace dsl::ode::detail

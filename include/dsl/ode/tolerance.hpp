// The accuracy that an integration is to have, and how it ended.
#pragma once

#include <cstdint>

#include <dsl/ir/bits.hpp>

namespace dsl::ode {

/// The accuracy and the steps of `integrate`: SciPy's rtol, atol, first_step and max_step, and a
/// maximum number of steps.
struct tolerance {
  double relative = 1e-3, absolute = 1e-6;  ///< one of them may be 0
  double first_step = 0;                    ///< magnitude; 0: chosen by `integrate`
  double largest_step = dsl::detail::math::infinity<double>;  ///< magnitude
  std::int64_t most_steps = 100'000;                          ///< at most this many; 0: none
};

/// How an integration ended: it reached its end, no step was small enough for the tolerance, or the
/// maximum number of steps was taken.
enum class outcome : std::uint8_t { reached, step_too_small, too_many_steps, event };

}  // namespace dsl::ode

#include <algorithm>

#include <dsl/lang/iterate_gradient.hpp>

#include "mem/text.hpp"

namespace dsl::detail {

std::int64_t checkpoint_after(std::int64_t steps, std::int64_t free) {
  // beta(s, r) = (s + r)! / (s! r!): the most steps that s states reverse with each step run at
  // most r times (Griewank and Walther, 2000). The first part must leave for the second no more
  // steps than one state less reverses, and keep no more than the first can.
  const auto most = [steps](std::int64_t s, std::int64_t r) {
    double n = 1;
    for (std::int64_t k = 1; k <= s && n < 2.0 * static_cast<double>(steps); ++k)
      n *= static_cast<double>(r + k) / static_cast<double>(k);
    return static_cast<std::int64_t>(std::min(n + 0.5, 2.0 * static_cast<double>(steps) + 1));
  };
  std::int64_t repetitions = 1;
  while (most(free, repetitions) < steps) ++repetitions;
  const std::int64_t first = std::min(most(free, repetitions - 1), steps - 1);
  const std::int64_t least = steps - most(free - 1, repetitions);
  return std::clamp<std::int64_t>(std::max(first, least), 1, steps - 1);
}

std::int64_t states_that_fit(std::int64_t bytes, std::int64_t limit, device where) {
  const std::int64_t room =
      limit > 0 ? limit : static_cast<std::int64_t>(memory_usage_of(where).free / 2);
  return std::max<std::int64_t>(2, room / std::max<std::int64_t>(1, bytes));
}

void require_steps(std::int64_t steps) {
  if (steps < 0) raise<shape_error>("iterate_gradient: " + std::to_string(steps) + " steps");
}

}  // namespace dsl::detail

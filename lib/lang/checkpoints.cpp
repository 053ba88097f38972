#include <algorithm>

#include <dsl/lang/iterate_gradient.hpp>

#include "exec/plan/layout.hpp"
#include "mem/back_end.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

// (s + r)! / (s! r!): the most steps that s states reverse with each step run at most r times. No
// more than twice `most`, beyond which it does not matter.
std::int64_t reversible_steps(std::int64_t s, std::int64_t r, std::int64_t most) {
  const double enough = 2.0 * static_cast<double>(most);
  double n = 1;
  for (std::int64_t k = 1; k <= std::min(s, r) && n < enough; ++k)
    n *= static_cast<double>(std::max(s, r) + k) / static_cast<double>(k);
  return static_cast<std::int64_t>(std::min(n, enough) + 0.5);
}

}  // namespace

std::int64_t checkpoint_after(std::int64_t steps, std::int64_t free) {
  std::int64_t runs = 1;
  while (reversible_steps(free, runs, steps) < steps) ++runs;
  // The fewest steps are run if the part before the state is reversed with one run less, and the
  // part after it needs all runs (or could do with one less, just so).
  const std::int64_t before = reversible_steps(free, runs - 1, steps),
                     after = runs > 1 ? reversible_steps(free - 1, runs - 1, steps) : 1;
  return std::clamp<std::int64_t>(std::min(before, steps - after), 1, steps - 1);
}

std::int64_t states_that_fit(std::int64_t bytes, std::int64_t limit, device where) {
  const std::int64_t room =
      limit > 0 ? limit : static_cast<std::int64_t>(memory_usage_of(where).free / 2);
  return std::max<std::int64_t>(2, room / std::max<std::int64_t>(1, bytes));
}

bool is_mesh(device where) { return back_end::is_mesh(where); }

void require_steps(std::int64_t steps) {
  if (steps < 0) raise<shape_error>("iterate_gradient: " + std::to_string(steps) + " steps");
}

void require_parameter_shape(int number, const operand& parameter, const operand* variables,
                             int count) {
  const operand* const end = variables + count;
  const operand* const like =
      std::find_if(variables, end, [](const operand& v) { return v.rank > 0; });
  if (parameter.rank == 0 || like == end) return;
  if (parameter.rank == like->rank &&
      std::equal(parameter.extents, parameter.extents + parameter.rank, like->extents))
    return;
  raise<shape_error>("iterate_gradient: parameter number " + std::to_string(number) + " of shape " +
                     spell_shape(parameter.extents, parameter.rank) +
                     ": an array among the parameters has the shape of the loop's variables, " +
                     spell_shape(like->extents, like->rank));
}

void require_apart(int number, const operand* leaves, int leaf_count, const operand* variables,
                   int count) {
  for (int i = 0; i < leaf_count; ++i)
    for (int k = 0; k < count; ++k)
      if (may_share_elements(leaves[i], variables[k]))
        raise<value_error>("iterate_gradient: parameter number " + std::to_string(number) +
                           " reads variable number " + std::to_string(k) +
                           ", which the steps change: give its value, dsl::eval(...)");
}

}  // namespace dsl::detail

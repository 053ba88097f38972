// Accumulators of reductions as variables in OpenCL C.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <dsl/ir/literal.hpp>
#include <dsl/ir/pass.hpp>

#include "opencl/abilities.hpp"

namespace dsl::detail::opencl {

/// A value of an accumulator.
struct accumulated {
  int reduction, value;  // The number of the reduction, and of the value in its accumulator.
  dtype type;
  literal identity;
  int output;  // The elements' output.
  std::string name(const char* prefix = "sum") const {
    return prefix + std::to_string(reduction) + "_" + std::to_string(value);
  }
  std::string local() const { return name("local"); }
  int bytes() const { return size_of(computed_in(type)); }
};
/// Those of the reductions whose bit is set.
std::vector<accumulated> accumulators_of(const pass_view& p, std::uint32_t reductions = ~0u);
std::int64_t bytes_of(const std::vector<accumulated>& all);

/// Calls of the functions of `print_rule`, which combine accumulators with the values that `value`
/// spells.
std::string combine_text(const std::vector<accumulated>& all, const std::string& indent,
                         const std::function<std::string(const accumulated&)>& value,
                         const char* prefix = "sum");
/// The declarations of accumulators, which are their identities.
std::string identities_text(const std::vector<accumulated>& all, const std::string& indent,
                            const char* prefix = "sum");

/// Work-items of a group, a power of two, whose accumulators fit into local memory.
std::int64_t group_size(const std::vector<accumulated>& all, const abilities& can);
/// The declarations of a group's accumulators in local memory.
std::string local_text(const std::vector<accumulated>& all, std::int64_t group);
/// The work-items that share a result combine their accumulators in local memory: about as many of
/// them as the square root of their number combine as many values each, and then one, or all,
/// combine these. Work-item `item` has number `part` among the `parts` of its result, a power of
/// two, and `apart` is the distance between two adjacent ones. The total is known to part 0 or to
/// all. All work-items of the group run this. The first barrier also orders what they have read in
/// device memory before the results, which may overwrite it.
enum class total_for : std::uint8_t { first, all };
std::string combine_group_text(const std::vector<accumulated>& all, total_for known);

}  // namespace dsl::detail::opencl

// The programs of a reduction, made at run time, and their results for elements that are combined
// in a given order. The compilers make kernels of the same programs.
#pragma once

#include "reference.hpp"

#include <memory>

#include <dsl/ir/pass.hpp>

namespace reduction {

/// The order in which a reduction's elements are combined.
enum class order {
  one_after_another,  // each into the accumulator
  backwards,          // the last one first
  in_lanes,   // as the host: every fourth element into a lane that begins with nothing, then the
              // lanes by halves
  by_halves,  // as a warp: each with the one half as many further, where there is none with nothing
};
inline constexpr order all_orders[] = {order::one_after_another, order::backwards, order::in_lanes,
                                       order::by_halves};

/// The programs of a reduction of operand 0, or of operands 0 and 1, where 1 is 0 reversed.
class programs {
 public:
  /// The reduction is the graph's only output.
  explicit programs(const dsl::detail::graph& g);

  /// The result of reducing all elements, or along some axes.
  outcome of(const operand& x, const axes& a, order how) const;

 private:
  struct code;
  std::shared_ptr<const code> code_;
};

}  // namespace reduction

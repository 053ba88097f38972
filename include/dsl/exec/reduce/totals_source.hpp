// The inputs of a formula of a pass's totals.
#pragma once

#include <dsl/exec/reduce/reduction.hpp>

namespace dsl::detail {

/// Reads the formula of a pass's results: its totals, their number of elements, and scalars. `Body`
/// is a kernel_body, `In` the formula's inputs.
template <class Body, class In>
struct totals_source {
  const Body& body;
  const typename Body::accumulators& totals;
  In in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    if constexpr (Code == op::reduced)
      input_of<Head>(in) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
    else if constexpr (Code == op::count) input_of<Head>(in) = body.args.reduction.count;
    else input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
  }
};

}  // namespace dsl::detail

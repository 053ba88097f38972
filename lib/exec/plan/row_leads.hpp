// Rows that begin anywhere, accessed in whole aligned vectors.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Finds the leads of an index space's rows: those with which most bytes are accessed in vectors.
/// Sets `g.leads`, and makes the access of the arrays with these leads `wide` and that of all
/// others `elements`. Nothing changes where the rows of the most bytes begin with vectors, or where
/// rows are short.
void find_leads(geometry& g, const operand* operands, int inputs, int count, int lanes,
                const pass_view& pass);

}  // namespace dsl::detail

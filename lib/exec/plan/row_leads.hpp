// Rows that begin anywhere, accessed in whole aligned vectors.
#pragma once

#include <dsl/exec/plan/plan.hpp>

namespace dsl::detail {

/// Finds the leads of an index space's rows: those with which most bytes are accessed in vectors.
/// Sets `g.leads`, and makes the access of the arrays with these leads `wide` and that of all
/// others `elements`. Nothing changes where the rows of the most bytes begin with vectors, or where
/// rows are short.
void find_leads(geometry& g, const operand* operands, int inputs, int count,
                const pass_traits& pass);

/// Threads side by side: `columns`, or where rows have leads fewer, so that the rows of threads of
/// a block are a multiple of the lanes.
int columns_with_leads(const geometry& g, int columns, int lanes, int block);

}  // namespace dsl::detail

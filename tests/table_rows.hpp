// The rows of the op table, as a list.
#pragma once

#include <dsl/ir/op.hpp>

inline constexpr dsl::op all_rows[] = {
#define DSL_OPERATOR(name, ...) dsl::op::name,
#define DSL_FUNCTION(name, ...) dsl::op::name,
#include <dsl/ir/ops.inc>
};

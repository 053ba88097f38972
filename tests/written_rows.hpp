// The op table's rows as a user writes them: by a function's name or an operator.
#pragma once

#include <dsl/dsl.hpp>

#include "table_rows.hpp"

/// written_row<op::add>::of(a, b) is a + b, written_row<op::exp>::of(a) is dsl::exp(a).
template <dsl::op Code> struct written_row;

#define DSL_FUNCTION(name, ...)                                            \
  template <> struct written_row<dsl::op::name> {                          \
    static constexpr auto of(const auto&... x) { return dsl::name(x...); } \
  };
#define DSL_OPERATOR(name, token, numpy, arity, ...)                                          \
  template <> struct written_row<dsl::op::name> {                                             \
    static constexpr auto of(WRITTEN_##arity##_PARAMETERS) { return WRITTEN_##arity(token); } \
  };
#define WRITTEN_1_PARAMETERS const auto& a
#define WRITTEN_2_PARAMETERS const auto &a, const auto &b
#define WRITTEN_1(token) token a
#define WRITTEN_2(token) a token b
#include <dsl/ir/ops.inc>
#undef WRITTEN_1_PARAMETERS
#undef WRITTEN_2_PARAMETERS
#undef WRITTEN_1
#undef WRITTEN_2

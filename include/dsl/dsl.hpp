// Everything in one header: formulas on arrays as fused kernels.
#pragma once

// Included bottom-up, so that the include traces in compilers' error messages stay short.
// clang-format off
#include <dsl/ir/config.hpp>
#include <dsl/ir/dtype.hpp>
#include <dsl/ir/promotion.hpp>
#include <dsl/ir/symbol.hpp>
#include <dsl/mem/misused.hpp>
#include <dsl/mem/array.hpp>
#include <dsl/lang/operands.hpp>
#include <dsl/lang/std_names.hpp>
#include <dsl/lang/expression.hpp>
#include <dsl/lang/callable.hpp>
#include <dsl/lang/functions.hpp>
#include <dsl/lang/assignable.hpp>
#include <dsl/lang/assigned.hpp>
#include <dsl/lang/assign.hpp>
#include <dsl/lang/shape.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/vectorize.hpp>
#include <dsl/lang/shift.hpp>
#include <dsl/lang/reduce.hpp>
#include <dsl/lang/reduce_accumulators.hpp>
#include <dsl/lang/iterate.hpp>
#include <dsl/lang/derivative.hpp>
#include <dsl/lang/gradient.hpp>
// clang-format on

#include <dsl/lang/apply_along_axis.hpp>
#include <dsl/lang/derivative.hpp>
#include <dsl/lang/explain.hpp>
#include <dsl/lang/fast_math.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/generate.hpp>
#include <dsl/lang/gradient.hpp>
#include <dsl/lang/iterate.hpp>
#include <dsl/lang/iterate_gradient.hpp>
#include <dsl/lang/iterate_statements.hpp>
#include <dsl/lang/random_key.hpp>
#include <dsl/lang/reduce.hpp>
#include <dsl/lang/reduce_accumulators.hpp>
#include <dsl/lang/shape.hpp>
#include <dsl/lang/shift.hpp>
#include <dsl/lang/vectorize.hpp>
#include <dsl/mem/checkpoint.hpp>
#include <dsl/mem/npy.hpp>
#include <dsl/mem/npz.hpp>
#include <dsl/mem/print.hpp>
#include <dsl/version.hpp>

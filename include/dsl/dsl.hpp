// Everything: formulas on arrays as fused kernels.
#pragma once

#include <dsl/lang/assign.hpp>
#include <dsl/lang/fast_math.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/generate.hpp>
#include <dsl/lang/iterate.hpp>
#include <dsl/lang/reduce.hpp>
#include <dsl/lang/shape.hpp>
#include <dsl/lang/vectorize.hpp>
#include <dsl/mem/checkpoint.hpp>
#include <dsl/mem/npy.hpp>
#include <dsl/mem/print.hpp>

// Reductions by key, selections and sorting. Not part of dsl.hpp, because they bring their own
// kernels.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/scatter.hpp>
#include <dsl/lang/select.hpp>
#include <dsl/lang/sort.hpp>
#include <dsl/lang/tied_by_key.hpp>
#include <dsl/lang/topk.hpp>

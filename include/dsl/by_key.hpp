// Reductions by key, selections and sorting beside everything else: not in dsl.hpp, for they bring
// kernels of their own.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/scatter.hpp>
#include <dsl/lang/select.hpp>
#include <dsl/lang/sort.hpp>
#include <dsl/lang/tied_by_key.hpp>

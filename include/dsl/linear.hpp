// Linear algebra: products of matrices, systems of equations, decompositions. A component of its
// own, dsl::linear, which links cuBLAS and cuSOLVER, and OpenBLAS and LAPACKE.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/linear/decompositions.hpp>
#include <dsl/linear/matmul.hpp>
#include <dsl/linear/norms.hpp>
#include <dsl/linear/one_call.hpp>
#include <dsl/linear/solve.hpp>
#include <dsl/linear/systems_in_formulas.hpp>

// Sparse matrices and their products. Not part of dsl.hpp.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/sparse/csr.hpp>
#include <dsl/sparse/matmul.hpp>

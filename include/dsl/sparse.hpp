// Sparse matrices and their products. Not part of dsl.hpp.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/sparse.hpp>
#include <dsl/lang/sparse_product.hpp>

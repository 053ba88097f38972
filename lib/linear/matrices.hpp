// Matrices in memory as the routines of BLAS know them.
#pragma once

#include <cstdint>
#include <functional>

#include <dsl/exec/plan/operand.hpp>

#include "mem/buffer.hpp"

namespace dsl::detail {

/// A factor of a product of row-major matrices: rows of `step` elements, or, transposed, columns.
struct matrix {
  const char* at = nullptr;
  std::int64_t rows = 0, columns = 0, step = 1;
  bool transposed = false;
};

/// c = a b for `count` products, whose matrices lie at a constant distance of each other, in
/// elements. `c` is contiguous.
struct products {
  dtype type;
  matrix a, b;
  void* c;
  std::int64_t count, next_a, next_b, next_c;
};

/// The last two dimensions of an operand; of one of rank 1 a matrix of one row or one column.
matrix matrix_of(const operand& o, bool vector_is_column);

/// Whether each row's elements follow each other, and the rows do not overlap.
bool is_row_major(const operand& o);

// On the host's cores. Done when they return.
void multiply_on_host(const products& p);
// On a GPU's stream, which do not wait. Defined if there is a CUDA toolkit with these libraries.
void multiply_on_gpu(const products& p, const stream& on);

}  // namespace dsl::detail

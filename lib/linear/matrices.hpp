// Matrices in memory as the routines of BLAS know them.
#pragma once

#include <complex>
#include <cstdint>

#include <dsl/exec/plan/operand.hpp>

#include "mem/buffer.hpp"

namespace dsl::detail {

/// A factor of a product: its rows, `step` elements apart, follow each other; if it is transposed,
/// its columns. The conjugates of its elements are read if it is also conjugated.
struct matrix {
  const char* at = nullptr;
  std::int64_t rows = 0, columns = 0, step = 1;
  bool transposed = false, conjugated = false;
};

/// c = times a b + plus c for `count` products, whose matrices lie at a constant distance of each
/// other, in elements. The rows of `c` are `step_c` elements apart.
struct products {
  dtype type;
  std::complex<double> times, plus;
  matrix a, b;
  void* c;
  std::int64_t step_c, count, next_a, next_b, next_c;
};

// On the host's cores. Done when they return.
void multiply_on_host(const products& p);
// On a GPU's stream, which do not wait. Defined if there is a CUDA toolkit with these libraries.
void multiply_on_gpu(const products& p, const stream& on);

}  // namespace dsl::detail

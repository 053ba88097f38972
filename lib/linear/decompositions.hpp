// Decompositions in memory as LAPACK's routines know them: column-major, the transposes of ours.
#pragma once

#include <dsl/exec/plan/operand.hpp>

#include "mem/buffer.hpp"

namespace dsl::detail {

/// `count` matrices, one after another.
struct cholesky_call {
  dtype type;
  std::int64_t size, count;
  void* a;  // Becomes the factor; what lies above its diagonal is set to 0.
};
struct eigh_call {
  dtype type;
  std::int64_t size, count;
  void* values;
  void* vectors;
};
/// Of `rows` and at least as many `columns`. Without `u` and `vh` the singular values alone.
struct svd_call {
  dtype type;
  std::int64_t rows, columns, count;
  void *a, *u, *s, *vh;
  bool has_vectors() const { return u != nullptr; }
};

/// Results of matrices that LAPACK refuses, because they have NaN or it does not converge, are NaN.
void decompose_on_host(const cholesky_call& c);
void decompose_on_host(const eigh_call& c);
void decompose_on_host(const svd_call& c);
void decompose_on_gpu(const cholesky_call& c, const stream& on);
void decompose_on_gpu(const eigh_call& c, const stream& on);
void decompose_on_gpu(const svd_call& c, const stream& on);

}  // namespace dsl::detail

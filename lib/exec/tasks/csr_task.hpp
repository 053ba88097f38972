// Products with sparse matrices: a task for a back end.
#pragma once

#include <cstdint>

#include <dsl/exec/tasks/csr_product.hpp>

namespace dsl::detail {

/// y = matrix x, as `run_csr_product`.
struct csr_task {
  dtype type;
  std::int64_t count;          // Entries.
  std::int64_t rows, columns;  // Of y.
  const void* values;
  const std::int32_t *column_of, *offsets;
  // x: the distances of its rows and columns, and the elements from its first to its last, counted
  // with those between.
  const void* x;
  std::int64_t row_step, column_step, x_elements;
  void* y;
  // Threads that share a row: powers of two for entries and, next to each other, for columns.
  std::int32_t log2_lanes, log2_columns;
  bool is_streamed;      // A warp reads the entries of its rows together.
  std::int32_t longest;  // Longer rows are taken in parts.
  std::int32_t long_rows, part_count;
  const std::int32_t* parts;
  void* partials;  // Of each part, a row of y.
};

/// Multiplies in the host's memory on all cores. Done when it returns.
void run_in_memory(const csr_task& task);

/// Calls use(zero of the value type) for the task's dtype.
template <class Use>
void with_csr_type(dtype type, const Use& use) {
  switch (type) {
    case dtype::float32: return use(value_t<dtype::float32>{});
    case dtype::float64: return use(value_t<dtype::float64>{});
    case dtype::complex64: return use(value_t<dtype::complex64>{});
    default: return use(value_t<dtype::complex128>{});
  }
}

}  // namespace dsl::detail

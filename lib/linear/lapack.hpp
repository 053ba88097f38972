// LAPACKE, and its calls for batches of matrices.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>

// LAPACKE then takes the complex numbers of C++.
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>
#include <tbb/parallel_for.h>

#include "mem/text.hpp"

namespace dsl::detail {

/// Calls run(k), which returns LAPACK's status, for each matrix of a batch: large ones, for which
/// LAPACK uses all cores, one after another; small ones share the cores. Lack of memory throws
/// memory_error; any other status tells of a matrix that is singular, has NaN or the like.
template <class Run>
void for_all_matrices(std::int64_t count, std::int64_t size, const Run& run) {
  std::atomic<bool> no_memory{false};
  const auto checked = [&](std::int64_t k) {
    if (run(k) <= LAPACK_WORK_MEMORY_ERROR) no_memory = true;
  };
  constexpr std::int64_t large = 128;
  if (size > large)
    for (std::int64_t k = 0; k < count; ++k) checked(k);
  else tbb::parallel_for(std::int64_t{0}, count, checked);
  if (no_memory) raise<memory_error>("linear algebra: LAPACK has no memory to work in");
}

}  // namespace dsl::detail

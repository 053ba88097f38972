// Checks calls of cuSPARSE and of cuBLAS.
#pragma once

#include <cublas_v2.h>
#include <cusparse.h>

#include <stdexcept>

#include "check.cuh"

namespace bench {

inline void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}
inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

}  // namespace bench

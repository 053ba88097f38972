// In place of gpu.cpp where there is no CUDA toolkit: there is no GPU to call this for.
#include "fft/transform.hpp"

namespace dsl::detail {

std::unique_ptr<gpu_transform> transform_for_gpu(const transform_task&, const stream&) {
  return {};
}

}  // namespace dsl::detail

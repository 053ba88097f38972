// In place of gpu.cpp where there is no CUDA toolkit: there is no GPU to call this for.
#include "fft/transform.hpp"

namespace dsl::detail {

void transform_on_gpu(const transform_task&, const stream&) {}

}  // namespace dsl::detail

#include "cuda/csr_product.hpp"

#include <dsl/exec/team/cuda_team.hpp>

#include "exec/tasks/csr_kernel.hpp"

namespace dsl::kernels {

// With elements of 16 bytes a thread would have 70 registers, so that three blocks were resident in
// place of four. 0: as the compiler chooses.
template <class T, detail::csr_step Step>
__global__ __launch_bounds__(detail::csr_block, sizeof(T) == 16 ? 4 : 0) void csr_product(
    const __grid_constant__ detail::csr_arguments arguments) {
  detail::run_csr<T, Step>(arguments, detail::device_memory{},
                           detail::team_of_launch(arguments.range));
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

cudaError_t launch_csr(const csr_task& task, cudaStream_t stream) {
  for_each_csr_step(task, [&](csr_step step, std::int64_t blocks) {
    const auto grid = static_cast<unsigned>(blocks);
    const csr_arguments arguments{{0, grid}, task};
    with_csr_type(task.type, [&](auto zero) {
      using T = decltype(zero);
      if (step == csr_step::rows)
        kernels::csr_product<T, csr_step::rows><<<grid, csr_block, 0, stream>>>(arguments);
      else if (step == csr_step::streamed_rows)
        kernels::csr_product<T, csr_step::streamed_rows><<<grid, csr_block, 0, stream>>>(arguments);
      else kernels::csr_product<T, csr_step::totals><<<grid, csr_block, 0, stream>>>(arguments);
    });
  });
  return cudaGetLastError();
}

}  // namespace dsl::detail::cuda

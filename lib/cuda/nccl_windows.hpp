// Memory that kernels of several processes can access, by NCCL's symmetric windows.
#pragma once

#include <nccl.h>

namespace dsl::detail::cuda {

/// Number of a communicator's processes that can access this process's windows, including itself.
/// All processes must call it.
ncclResult_t count_reached(ncclComm_t comm, int* count);

/// Queues a kernel that writes the address of each process's window, as kernels on this GPU see it.
cudaError_t find_windows(ncclWindow_t window, int processes, void** addresses, cudaStream_t stream);

}  // namespace dsl::detail::cuda

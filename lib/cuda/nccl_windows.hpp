// Memory that kernels of several processes reach, by NCCL's symmetric windows.
#pragma once

#include <nccl.h>

namespace dsl::detail::cuda {

/// How many of a communicator's processes reach the windows of this one, itself among them. Called
/// by all.
ncclResult_t count_reached(ncclComm_t comm, int* count);

/// Queues a kernel that writes where a window of each of the processes is, for kernels on this GPU.
cudaError_t find_windows(ncclWindow_t window, int processes, void** addresses, cudaStream_t stream);

}  // namespace dsl::detail::cuda

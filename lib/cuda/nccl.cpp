// Processes with a GPU each, joined by NCCL.
#include <nccl.h>

#include <algorithm>
#include <string>
#include <vector>

#include <dsl/mem/processes.hpp>

#include "cuda/calls.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

void check(ncclResult_t status, const char* what, ncclComm_t comm = nullptr) {
  if (status == ncclSuccess) return;
  const char* const more = ncclGetLastError(comm);
  raise<cuda_error>(std::string("NCCL failed in ") + what + ": " + ncclGetErrorString(status) +
                    (more != nullptr && *more != '\0' ? std::string(" (") + more + ")" : ""));
}

class nccl_group final : public gpu_group {
 public:
  nccl_group(process_group& processes, device own) : rank_(processes.rank()), size_(processes.size()) {
    struct greeting {
      ncclResult_t status = ncclSuccess;
      ncclUniqueId id{};
    };
    std::vector<greeting> all(static_cast<std::size_t>(size_));
    if (rank_ == 0) all[0].status = ncclGetUniqueId(&all[0].id);
    processes.all_gather(all.data(), std::vector<std::size_t>(all.size(), sizeof(greeting)).data());
    check(all[0].status, "ncclGetUniqueId in the first process");
    const cuda::current_device on(own.index);
    check(ncclCommInitRank(&comm_, size_, all[0].id, rank_), "ncclCommInitRank");
  }

  void all_gather(void* all, const std::size_t* bytes, void* stream) override {
    auto* at = static_cast<unsigned char*>(all);
    const cudaStream_t on = cuda::native(stream);
    if (std::all_of(bytes, bytes + size_, [&](std::size_t n) { return n == bytes[0]; })) {
      const std::size_t before = static_cast<std::size_t>(rank_) * bytes[0];
      return check(ncclAllGather(at + before, at, bytes[0], ncclUint8, comm_, on), "ncclAllGather", comm_);
    }
    check(ncclGroupStart(), "ncclGroupStart");
    ncclResult_t failed = ncclSuccess;
    for (int p = 0; p < size_; at += bytes[p++])
      if (bytes[p] > 0 && failed == ncclSuccess) failed = ncclBroadcast(at, at, bytes[p], ncclUint8, p, comm_, on);
    const ncclResult_t ended = ncclGroupEnd();
    check(failed != ncclSuccess ? failed : ended, "ncclBroadcast", comm_);
  }

 private:
  const int rank_, size_;
  ncclComm_t comm_ = nullptr;  // until the program ends, as the mesh
};

}  // namespace

std::unique_ptr<gpu_group> join_gpus(process_group& processes, device own) {
  return std::make_unique<nccl_group>(processes, own);
}

}  // namespace dsl::detail

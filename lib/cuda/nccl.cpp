// Processes with one GPU each, connected by NCCL.
#include <nccl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <dsl/mem/processes.hpp>

#include "cuda/calls.hpp"
#include "cuda/nccl_windows.hpp"
#include "cuda/recorded_graph.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

void check(ncclResult_t status, const char* what, ncclComm_t comm = nullptr) {
  if (status == ncclSuccess) return;
  const char* const more = ncclGetLastError(comm);
  raise<cuda_error>(std::string("NCCL failed in ") + what + ": " + ncclGetErrorString(status) +
                    (more != nullptr && *more != '\0' ? std::string(" (") + more + ")" : ""));
}

class nccl_group final : public gpu_group, private cuda::process_waits {
 public:
  nccl_group(process_group& processes, device own)
      : processes_(processes), gpu_(own.index), rank_(processes.rank()), size_(processes.size()) {
    struct greeting {
      ncclResult_t status = ncclSuccess;
      ncclUniqueId id{};
    };
    std::vector<greeting> all(static_cast<std::size_t>(size_));
    if (rank_ == 0) all[0].status = ncclGetUniqueId(&all[0].id);
    processes.all_gather(all.data(), std::vector<std::size_t>(all.size(), sizeof(greeting)).data());
    check(all[0].status, "ncclGetUniqueId in the first process");
    const cuda::current_device on(gpu_);
    check(ncclCommInitRank(&comm_, size_, all[0].id, rank_), "ncclCommInitRank");
    begin(gpu_);
  }

  void all_gather(void* all, const std::size_t* bytes, void* stream) override {
    if (std::all_of(bytes, bytes + size_, [&](std::size_t n) { return n == bytes[0]; }))
      return queue("ncclAllGather", stream, [&](auto& failed, cudaStream_t on) {
        auto* const at = static_cast<unsigned char*>(all);
        failed = ncclAllGather(at + static_cast<std::size_t>(rank_) * bytes[0], at, bytes[0],
                               ncclUint8, comm_, on);
      });
    queue("ncclBroadcast", stream, [&](auto& failed, cudaStream_t on) {
      auto* at = static_cast<unsigned char*>(all);
      for (int p = 0; p < size_; at += bytes[p++])
        if (bytes[p] > 0 && failed == ncclSuccess)
          failed = ncclBroadcast(at, at, bytes[p], ncclUint8, p, comm_, on);
    });
  }

  void broadcast(const std::vector<piece>& pieces, void* stream) override {
    queue("ncclBroadcast", stream, [&](auto& failed, cudaStream_t on) {
      for (const piece& p : pieces)
        if (failed == ncclSuccess)
          failed = ncclBroadcast(p.at, p.at, p.bytes, ncclUint8, 0, comm_, on);
    });
  }
  void exchange(const std::vector<process_message>& sent,
                const std::vector<process_message>& received, void* stream) override {
    queue("ncclSend or ncclRecv", stream, [&](auto& failed, cudaStream_t on) {
      for (const process_message& m : sent)
        if (failed == ncclSuccess)
          failed = ncclSend(m.at, m.bytes, ncclUint8, m.process, comm_, on);
      for (const process_message& m : received)
        if (failed == ncclSuccess)
          failed = ncclRecv(m.at, m.bytes, ncclUint8, m.process, comm_, on);
    });
  }

  std::uint64_t* timeout_flag() const override { return process_waits::timeout_flag(); }
  shared_memory share(std::size_t bytes) override {
    const cuda::current_device on(gpu_);
    int reached = 0;
    void* memory = nullptr;
    const bool reaches_all =
        cuda::count_reached(comm_, &reached) == ncclSuccess && reached == size_;
    if (!all_have(reaches_all && ncclMemAlloc(&memory, bytes) == ncclSuccess)) return {};
    DSL_CHECK(cudaMemset(memory, 0, bytes));
    ncclWindow_t window = nullptr;
    const bool is_window = ncclCommWindowRegister(comm_, memory, bytes, &window,
                                                  NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess;
    if (!all_have(is_window && window != nullptr)) return {};
    const std::vector<unsigned char*> at = windows(window);
    shared_memory made{at[0], size_ > 1 ? at[1] - at[0] : 0};
    bool is_even = true;
    for (int p = 0; p < size_; ++p)
      is_even = is_even && at[static_cast<std::size_t>(p)] == made.first + p * made.step;
    return all_have(is_even) ? made : shared_memory{};
  }

 private:
  // After the abort the remaining processes meet: each of them gets an error that names the missing
  // ones.
  void give_up() override {
    ncclCommAbort(std::exchange(comm_, nullptr));
    all_have(true);
  }
  std::string why_lost() override {
    ncclResult_t status = ncclSuccess;
    if (comm_ == nullptr || ncclCommGetAsyncError(comm_, &status) != ncclSuccess) return {};
    return status == ncclSuccess || status == ncclInProgress ? "" : ncclGetErrorString(status);
  }

  // All that `call(failed, stream)` queues becomes one kernel; in a graph if kernels are recorded.
  template <class Call>
  void queue(const char* what, void* stream, const Call& call) {
    const auto together = [&](cudaStream_t on) {
      check(ncclGroupStart(), "ncclGroupStart");
      ncclResult_t failed = ncclSuccess;
      call(failed, on);
      const ncclResult_t ended = ncclGroupEnd();
      check(failed != ncclSuccess ? failed : ended, what, comm_);
    };
    const cudaStream_t on = cuda::native(stream);
    if (cuda::recorded_graph* const graph = cuda::recorded_graph::current())
      graph->add(together, *this);
    else process_waits::queue(on, 1, [&] { together(on); });
  }
  // Whether all processes have reached this point without failing.
  bool all_have(bool own) {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(size_));
    all[static_cast<std::size_t>(rank_)] = own ? 1 : 0;
    processes_.all_gather(all.data(), std::vector<std::size_t>(all.size(), 1).data());
    return std::find(all.begin(), all.end(), 0) == all.end();
  }
  // Waits for the GPU.
  std::vector<unsigned char*> windows(ncclWindow_t window) const {
    std::vector<unsigned char*> found(static_cast<std::size_t>(size_));
    const std::size_t bytes = found.size() * sizeof(void*);
    void* table = nullptr;
    DSL_CHECK(cudaMalloc(&table, bytes));
    const cudaError_t wrote =
        cuda::find_windows(window, size_, static_cast<void**>(table), nullptr);
    const cudaError_t read = cudaMemcpy(found.data(), table, bytes, cudaMemcpyDeviceToHost);
    cudaFree(table);
    cuda::check(wrote != cudaSuccess ? wrote : read, "finding the windows of other processes");
    return found;
  }

  process_group& processes_;
  const int gpu_;
  const int rank_, size_;
  ncclComm_t comm_ = nullptr;  // lives until the program ends, like the mesh
};

}  // namespace

std::unique_ptr<gpu_group> join_gpus(process_group& processes, device own) {
  return std::make_unique<nccl_group>(processes, own);
}

}  // namespace dsl::detail

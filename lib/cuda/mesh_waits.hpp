// Waits for blocks of other GPUs that were given up.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "cuda/launch.hpp"

namespace dsl::detail::cuda {

/// The last kernels of a mesh whose blocks may wait for those of other GPUs, and what these say where they gave up.
class mesh_waits {
 public:
  explicit mesh_waits(std::vector<int> gpus) : gpus_(std::move(gpus)) {}
  mesh_waits(const mesh_waits&) = delete;

  /// How a kernel's blocks wait, each member's up to the block in `ends`. The same for all members.
  block_range waits_of(const kernel_launch& k, const std::vector<std::int64_t>& ends);
  /// After a wait for the members. Throws cuda_error if a kernel gave up.
  void check();

 private:
  struct waiting_kernel {
    queued_kernel kernel;
    bool is_loop;
    std::int64_t first_step;
    std::vector<std::int64_t> ends;
  };
  static constexpr std::size_t most = 256;

  const std::vector<int> gpus_;
  std::mutex mutex_;                // of what follows
  std::uint64_t* words_ = nullptr;  // of page-locked memory, one a kernel
  std::array<waiting_kernel, most> kernels_{};
  std::size_t next_ = 0;
};

}  // namespace dsl::detail::cuda

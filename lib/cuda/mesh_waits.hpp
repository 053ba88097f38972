// Timeouts of blocks that wait for blocks of other GPUs.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/launch.hpp"
#include "cuda/mesh_stream.hpp"

namespace dsl::detail::cuda {

/// The last kernels of a mesh whose blocks may wait for blocks of other GPUs, and the reports of
/// blocks that gave up.
class mesh_waits {
 public:
  explicit mesh_waits(std::vector<int> gpus) : gpus_(std::move(gpus)) {}
  mesh_waits(const mesh_waits&) = delete;

  /// The wait parameters of the next kernel that is queued; `ends` has the end of each member's
  /// blocks. The same for all members.
  block_range waits_of(const kernel_launch& k, const std::vector<std::int64_t>& ends,
                       mesh_stream& on);
  /// Called after a wait for the members. Throws cuda_error if a kernel gave up.
  void check();

  /// Returns the GPUs whose work is still waited for.
  using working = std::function<std::vector<int>()>;
  /// Wait for a stream, for all streams, or until `at_work` returns no GPU, if such kernels are
  /// queued; otherwise return at once. Throw cuda_error if a kernel gave up and GPUs are still busy
  /// after another timeout.
  void wait_for(mesh_stream& stream);
  void wait_for_all();
  void wait_until_none(const working& at_work);
  /// Called before a stream ends.
  void forget(mesh_stream& ends) noexcept;

 private:
  // State of a kernel: no timeout known; it gave up, which was reported while GPUs were still busy;
  // it gave up and all GPUs have ended.
  enum class end : std::uint8_t { unknown, reported, over };
  struct waiting_kernel {
    queued_kernel kernel;
    bool is_loop;
    std::int64_t first_step;
    std::vector<std::int64_t> ends;
    end known = end::unknown;
  };
  static constexpr std::size_t most = 256;

  void poll(const working& at_work);
  bool has_given_up(std::size_t i) const;
  [[noreturn]] void raise_given_up(std::size_t i, const std::vector<int>& at_work) const;

  const std::vector<int> gpus_;
  std::mutex mutex_;                // guards the members below
  std::uint64_t* words_ = nullptr;  // in page-locked memory, one for each kernel
  std::array<waiting_kernel, most> kernels_{};
  std::size_t next_ = 0;
  // Streams that such kernels were queued on, and that have not been waited for since.
  std::set<mesh_stream*> streams_;
};

}  // namespace dsl::detail::cuda

// Waits for blocks of other GPUs that were given up.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/launch.hpp"
#include "cuda/mesh_stream.hpp"

namespace dsl::detail::cuda {

/// The last kernels of a mesh whose blocks may wait for those of other GPUs, and what these say
/// where they gave up.
class mesh_waits {
 public:
  explicit mesh_waits(std::vector<int> gpus) : gpus_(std::move(gpus)) {}
  mesh_waits(const mesh_waits&) = delete;

  /// How the blocks of a kernel wait that is queued next, each member's up to the block in `ends`.
  /// The same for all members.
  block_range waits_of(const kernel_launch& k, const std::vector<std::int64_t>& ends,
                       mesh_stream& on);
  /// After a wait for the members. Throws cuda_error if a kernel gave up.
  void check();

  /// Which GPUs still work at what is waited for.
  using working = std::function<std::vector<int>()>;
  /// Waits for a stream, for all streams, or until none is left of those that are `at_work`, where
  /// such kernels are queued; else returns at once. Throws cuda_error where one gave up, and GPUs
  /// still work as long again after that.
  void wait_for(mesh_stream& stream);
  void wait_for_all();
  void wait_until_none(const working& at_work);
  /// Before a stream ends.
  void forget(mesh_stream& ends) noexcept;

 private:
  // What is known of a kernel: nothing, that it gave up and GPUs went on working, or that it gave
  // up and all have ended.
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
  std::mutex mutex_;                // of what follows
  std::uint64_t* words_ = nullptr;  // of page-locked memory, one a kernel
  std::array<waiting_kernel, most> kernels_{};
  std::size_t next_ = 0;
  std::set<mesh_stream*>
      streams_;  // that were given such kernels, and have not been waited for since
};

}  // namespace dsl::detail::cuda

// Timeouts of waits for other processes' GPUs.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace dsl::detail::cuda {

/// Work of a GPU that waits for GPUs of other processes, which may never come. The host calls this
/// before it waits for a GPU. It throws device_error if work that has begun does not end within
/// DSL_TIMEOUT seconds (600 if unset), and on every call after that.
class process_waits {
 public:
  process_waits() = default;
  process_waits(const process_waits&) = delete;

  /// Queues work that waits for other processes in each of `steps` steps, one after another, with
  /// the GPU as the current one. If the stream is captured, it is unknown when the work runs, so it
  /// is not watched.
  void queue(cudaStream_t stream, std::int64_t steps, const std::function<void()>& call);
  /// The word in which blocks of a kernel report that their wait for blocks of other processes
  /// timed out; nonzero then.
  std::uint64_t* timeout_flag() const { return loops_; }

  /// Whether any such work can exist.
  static bool exist() { return last_begun.load(std::memory_order_acquire) != nullptr; }
  /// Called before a wait: returns when no such work is left, or when `is_done` is true.
  static void wait(const std::function<bool()>& is_done);
  /// Called after a wait.
  static void require_all();

 protected:
  ~process_waits() = default;
  /// Registers this object, whose work runs on the GPU, with all waits. It must live until the
  /// program ends.
  void begin(int gpu);

 private:
  /// Aborts the work that the GPU waits for. Throws if it is known which process did not come.
  virtual void give_up() = 0;
  /// The reason if other processes are certainly lost; otherwise empty.
  virtual std::string why_lost() = 0;

  template <class Call> static void each(const Call& call);
  bool is_over() const { return *marks_ == issued_; }
  void wait_here(const std::function<bool()>& is_done);
  void require_others();
  [[noreturn]] void lose();
  void mark(cudaStream_t stream) const;

  static constexpr std::uint32_t most = 1024;
  static std::atomic<process_waits*> last_begun;
  process_waits* begun_before_ = nullptr;
  int gpu_ = 0;
  // In page-locked memory: the GPU's progress, odd while it is inside such work; and the reports of
  // kernels' blocks.
  const volatile std::uint32_t* marks_ = nullptr;
  std::uint64_t* loops_ = nullptr;
  std::atomic<std::uint32_t> issued_ = 0;
  std::atomic<std::int64_t> steps_[most] = {};  // steps of the work with mark 2 k + 1
  std::atomic<bool> are_lost_ = false;
  std::mutex mutex_;  // guards the member below
  std::string lost_;
};

}  // namespace dsl::detail::cuda

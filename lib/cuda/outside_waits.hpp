// Waits for what other processes do on their GPUs.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace dsl::detail::cuda {

/// What a GPU does together with those of other processes, which may never come. The host asks here
/// before it waits for a GPU: it throws device_error where what has begun does not end within
/// DSL_TIMEOUT seconds, 600 without it, and always from then on.
class outside_waits {
 public:
  outside_waits() = default;
  outside_waits(const outside_waits&) = delete;

  /// Queues what waits for other processes, in so many steps one after another, with the GPU as the
  /// current one. In a stream that is captured it is not known when.
  void queue(cudaStream_t stream, std::int64_t steps, const std::function<void()>& call);
  /// Where blocks of a kernel say that they have waited in vain for those of other processes, if it
  /// is not 0.
  std::uint64_t* given_up() const { return loops_; }

  /// Whether there is anyone to wait for.
  static bool are_there() { return last_begun.load(std::memory_order_acquire) != nullptr; }
  /// Before a wait: returns when none of this is left, or when `is_done`.
  static void wait(const std::function<bool()>& is_done);
  /// Behind a wait.
  static void require_all();

 protected:
  ~outside_waits() = default;
  /// What waits is this GPU's. All waits know it from then on: it must live until the program ends.
  void begin(int gpu);

 private:
  /// Ends what the GPU waits for, and throws where it is known who did not come.
  virtual void give_up() = 0;
  /// Why others are lost for certain; empty where they need not be.
  virtual std::string why_lost() = 0;

  template <class Call> static void each(const Call& call);
  bool is_over() const { return *marks_ == issued_; }
  void wait_here(const std::function<bool()>& is_done);
  void require_others();
  [[noreturn]] void lose();
  void mark(cudaStream_t stream) const;

  static constexpr std::uint32_t most = 1024;
  static std::atomic<outside_waits*> last_begun;
  outside_waits* begun_before_ = nullptr;
  int gpu_ = 0;
  // Of page-locked memory: how far the GPU is, an odd number within what waits; and what blocks of
  // kernels say.
  const volatile std::uint32_t* marks_ = nullptr;
  std::uint64_t* loops_ = nullptr;
  std::atomic<std::uint32_t> issued_ = 0;
  std::atomic<std::int64_t> steps_[most] = {};  // of what has the mark 2 k + 1
  std::atomic<bool> are_lost_ = false;
  std::mutex mutex_;  // of what follows
  std::string lost_;
};

}  // namespace dsl::detail::cuda

// Fibers: stacks that a host thread can leave and re-enter.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <boost/context/fiber.hpp>

// AddressSanitizer must be told of each switch of stacks.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define DSL_SWITCHES_TO(kept, stack, bytes) __sanitizer_start_switch_fiber(&(kept), stack, bytes)
#define DSL_LEAVES_FOR_GOOD(stack, bytes) __sanitizer_start_switch_fiber(nullptr, stack, bytes)
#define DSL_HAS_SWITCHED(kept, stack, bytes) \
  __sanitizer_finish_switch_fiber(kept, &(stack), &(bytes))
#else
#define DSL_SWITCHES_TO(kept, stack, bytes) static_cast<void>(kept)
#define DSL_LEAVES_FOR_GOOD(stack, bytes) static_cast<void>(0)
#define DSL_HAS_SWITCHED(kept, stack, bytes) static_cast<void>(kept)
#endif

namespace dsl::detail {

class fiber_pool;

/// A stack and its saved point of execution.
class fiber {
 public:
  /// The function of a fiber; returns the fiber to continue with.
  using job = fiber& (*)(void* argument, fiber& self);

  /// The stack that is already running.
  explicit fiber(fiber_pool& pool) : pool_(pool) {}
  fiber(const fiber&) = delete;

  /// Switches from this fiber, which must be the running one, to the other. Returns when a fiber
  /// switches back.
  void go_to(fiber& other);
  /// Prefetches the data that the processor needs to continue this fiber.
  void prefetch() const {
    for (int line = -2; line < 3; ++line)
      __builtin_prefetch(static_cast<const char*>(left_at_) + 64 * line);
  }

 private:
  friend class fiber_pool;
  void create();
  void left_another(boost::context::fiber&& other);

  fiber_pool& pool_;
  boost::context::fiber saved_;
  job job_ = nullptr;
  void* argument_ = nullptr;
  const void* left_at_ = nullptr;  // on its stack
  const void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
};

/// The fibers of a host thread.
class fiber_pool {
 public:
  static fiber_pool& of_this_thread();
  fiber_pool() = default;
  fiber_pool(const fiber_pool&) = delete;
  ~fiber_pool();
  /// An idle fiber. It runs the job when it is switched to, and then becomes idle again.
  fiber& take(fiber::job job, void* argument);

 private:
  friend class fiber;
  std::vector<std::unique_ptr<fiber>> all_;
  std::vector<fiber*> idle_;
  fiber* left_ = nullptr;
};

// Inlined: each return after a switch of stacks is a mispredicted branch.
inline void fiber::left_another(boost::context::fiber&& other) {
  pool_.left_->saved_ = std::move(other);
}

inline void fiber::go_to(fiber& other) {
  pool_.left_ = this;
  left_at_ = __builtin_frame_address(0);
  void* kept = nullptr;
  DSL_SWITCHES_TO(kept, other.stack_, other.stack_bytes_);
  boost::context::fiber back = std::move(other.saved_).resume();
  DSL_HAS_SWITCHED(kept, pool_.left_->stack_, pool_.left_->stack_bytes_);
  left_another(std::move(back));
}

}  // namespace dsl::detail

// Stacks that a thread of the host leaves and enters again.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/context/fiber.hpp>

namespace dsl::detail {

class fiber_pool;

/// A stack, and how far what runs on it has come.
class fiber {
 public:
  /// What a fiber does; returns where to go next.
  using job = fiber& (*)(void* argument, fiber& self);

  /// The stack that runs already.
  explicit fiber(fiber_pool& pool) : pool_(pool) {}
  fiber(const fiber&) = delete;

  /// Leaves this fiber, which must be the one that runs, and goes on in the other. Returns when another goes to this one.
  void go_to(fiber& other);

 private:
  friend class fiber_pool;
  void create();
  void left_another(boost::context::fiber&& other);

  fiber_pool& pool_;
  boost::context::fiber saved_;
  job job_ = nullptr;
  void* argument_ = nullptr;
  const void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
};

/// The fibers of a thread of the host.
class fiber_pool {
 public:
  static fiber_pool& of_this_thread();
  /// An idle fiber, which does the job when it is gone to, and then is idle again.
  fiber& take(fiber::job job, void* argument);

 private:
  friend class fiber;
  std::vector<std::unique_ptr<fiber>> all_;
  std::vector<fiber*> idle_;
  fiber* left_ = nullptr;
};

}  // namespace dsl::detail

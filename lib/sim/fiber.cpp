#include "sim/fiber.hpp"

#include <utility>

#include <boost/context/protected_fixedsize_stack.hpp>

namespace dsl::detail {

namespace {

// Address space: pages that are not touched take no memory. A formula compiled without optimisation
// may need 100 kB.
constexpr std::size_t stack_bytes = 512 << 10;

}  // namespace

fiber_pool& fiber_pool::of_this_thread() {
  thread_local fiber_pool pool;
  return pool;
}

// Fibers end by returning: unwinding them would take an exception on each stack.
fiber_pool::~fiber_pool() {
  fiber own(*this);
  for (const std::unique_ptr<fiber>& each : all_) {
    each->job_ = nullptr;
    own.go_to(*each);
  }
}

fiber& fiber_pool::take(fiber::job job, void* argument) {
  if (idle_.empty()) {
    idle_.reserve(all_.size() + 1);  // so that adding an idle fiber cannot throw
    idle_.push_back(all_.emplace_back(std::make_unique<fiber>(*this)).get());
    idle_.back()->create();
  }
  fiber& taken = *idle_.back();
  idle_.pop_back();
  taken.job_ = job;
  taken.argument_ = argument;
  return taken;
}

void fiber::create() {
  boost::context::protected_fixedsize_stack memory(stack_bytes);
  boost::context::stack_context stack = memory.allocate();
  stack_ = static_cast<const char*>(stack.sp) - stack.size;
  stack_bytes_ = stack.size;
  const std::size_t shift = pool_.all_.size() * 320 % 4096;
  saved_ = boost::context::fiber(
      std::allocator_arg,
      boost::context::preallocated(static_cast<char*>(stack.sp) - shift, stack.size - shift, stack),
      memory, [this](boost::context::fiber&& other) {
        void* none = nullptr;
        DSL_HAS_SWITCHED(none, pool_.left_->stack_, pool_.left_->stack_bytes_);
        left_another(std::move(other));
        while (job_ != nullptr) {
          fiber& next = job_(argument_, *this);
          pool_.idle_.push_back(this);
          go_to(next);
        }
        fiber& last = *std::exchange(pool_.left_, this);
        DSL_LEAVES_FOR_GOOD(last.stack_, last.stack_bytes_);
        return std::move(last.saved_);
      });
}

}  // namespace dsl::detail

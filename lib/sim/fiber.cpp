#include "sim/fiber.hpp"

#include <utility>

#include <boost/context/protected_fixedsize_stack.hpp>

// AddressSanitizer has to be told of each change of stacks.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define DSL_SWITCHES_TO(kept, stack, bytes) __sanitizer_start_switch_fiber(&(kept), stack, bytes)
#define DSL_HAS_SWITCHED(kept, stack, bytes) __sanitizer_finish_switch_fiber(kept, &(stack), &(bytes))
#else
#define DSL_SWITCHES_TO(kept, stack, bytes) static_cast<void>(kept)
#define DSL_HAS_SWITCHED(kept, stack, bytes) static_cast<void>(kept)
#endif

namespace dsl::detail {

namespace {

// Of address space: what is not touched takes no memory. A formula compiled without optimisation may take 100 kB.
constexpr std::size_t stack_bytes = 512 << 10;

}  // namespace

fiber_pool& fiber_pool::of_this_thread() {
  thread_local fiber_pool pool;
  return pool;
}

fiber& fiber_pool::take(fiber::job job, void* argument) {
  if (idle_.empty()) {
    idle_.reserve(all_.size() + 1);  // so that none is lost where a fiber becomes idle
    idle_.push_back(all_.emplace_back(std::make_unique<fiber>(*this)).get());
    idle_.back()->create();
  }
  fiber& taken = *idle_.back();
  idle_.pop_back();
  taken.job_ = job, taken.argument_ = argument;
  return taken;
}

void fiber::create() {
  boost::context::protected_fixedsize_stack memory(stack_bytes);
  boost::context::stack_context stack = memory.allocate();
  stack_ = static_cast<const char*>(stack.sp) - stack.size, stack_bytes_ = stack.size;
  const std::size_t shift = pool_.all_.size() * 320 % 4096;
  saved_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(static_cast<char*>(stack.sp) - shift, stack.size - shift, stack), memory, [this](boost::context::fiber&& other) {
    void* none = nullptr;
    DSL_HAS_SWITCHED(none, pool_.left_->stack_, pool_.left_->stack_bytes_);
    left_another(std::move(other));
    for (;;) {
      fiber& next = job_(argument_, *this);
      pool_.idle_.push_back(this);
      go_to(next);
    }
    return boost::context::fiber();
  });
}

void fiber::left_another(boost::context::fiber&& other) { pool_.left_->saved_ = std::move(other); }

void fiber::go_to(fiber& other) {
  pool_.left_ = this;
  void* kept = nullptr;
  DSL_SWITCHES_TO(kept, other.stack_, other.stack_bytes_);
  boost::context::fiber back = std::move(other.saved_).resume();
  DSL_HAS_SWITCHED(kept, pool_.left_->stack_, pool_.left_->stack_bytes_);
  left_another(std::move(back));
}

}  // namespace dsl::detail

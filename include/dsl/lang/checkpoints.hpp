// The steps before which a loop's state is kept while the loop is run backwards.
#pragma once

#include <cstdint>

namespace dsl {

/// Option of `iterate_gradient`: the most bytes of device memory that kept states may take. At
/// least two states are kept.
struct memory_limit {
  explicit memory_limit(std::int64_t n) : bytes(n) {}
  std::int64_t bytes;
};

namespace detail {

/// The number of steps after which to keep the next state, when `steps` steps are to be reversed
/// from a state that is kept and there is room for `free` more, at least 1.
std::int64_t checkpoint_after(std::int64_t steps, std::int64_t free);

/// Reverses a loop of `steps` steps from its first state, in place number 0 of `places` places for
/// states. Every step is run again at most a few times: if not all states have room, from the last
/// one that was kept (binomial checkpoints: Griewank and Walther, Algorithm 799: revolve, 2000).
///  advance(from, to, first, steps): runs `steps` steps, the first of number `first`, from the
///  state
///    at place `from`, and keeps the state after them at place `to`
///  adjoin(at, first, steps): from the state at place `at` runs `steps` steps, but the last, keeps
///    the states before them at the places from there on, and runs their adjoint, the last one
///    first
template <class Advance, class Adjoin>
void reverse_steps(std::int64_t steps, std::int64_t places, const Advance& advance,
                   const Adjoin& adjoin, std::int64_t first = 0, std::int64_t at = 0) {
  const std::int64_t free = places - at - 1;
  if (steps <= free + 1) return adjoin(at, first, steps);
  const std::int64_t before = checkpoint_after(steps, free);
  advance(at, at + 1, first, before);
  reverse_steps(steps - before, places, advance, adjoin, first + before, at + 1);
  reverse_steps(before, places, advance, adjoin, first, at);
}

}  // namespace detail
}  // namespace dsl

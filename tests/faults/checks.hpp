// The required outcome of a piece of work, whether or not a call in it fails.
#pragma once

#include <dsl/dsl.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include "pause.hpp"
#include "work.hpp"

namespace faults {

using integer = std::int64_t;
using numbers = std::vector<integer>;

// Which operations make a result. Without kernels only results of transfers exist.
enum class made_by { kernels, transfers };
inline void want(bool right, const char* what, made_by by = made_by::kernels) {
  if (!right && (by == made_by::transfers || !is_emulated())) throw wrong_result(what);
}

template <class Of> numbers numbers_of(integer count, const Of& of) {
  numbers all;
  for (integer i = 0; i < count; ++i) all.push_back(of(i));
  return all;
}

// A target's elements; empty if it has no memory.
template <int Rank> numbers held_by(const dsl::array<integer, Rank>& x) { return x.copy_to_host(); }
inline numbers held_by(const dsl::scalar<integer>& x) { return {x.value()}; }

// Runs a statement that sets a target to `after`. If it fails, the target is unchanged or complete.
template <class Target, class Statement>
void changes(const char* what, Target& target, const numbers& after, const Statement& statement,
             made_by by = made_by::kernels) {
  std::optional<numbers> before;
  {
    const pause unseen;
    before = held_by(target);
  }
  try {
    statement();
  } catch (const dsl::error&) {
    const pause unseen;
    const numbers now = held_by(target);
    want(now == *before || now == after, what, by);
    throw;
  }
  want(held_by(target) == after, what, by);
}

inline constexpr integer n = 3000;
inline const numbers counted = numbers_of(n, [](integer i) { return i % 1000; });

}  // namespace faults

// Pieces of work, one of each kind, each repeatable.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace faults {

/// A wrong result, or a target that a failed statement changed.
class wrong_result : public std::runtime_error { using runtime_error::runtime_error; };

struct work {
  const char* name;
  void (*run)();  // throws dsl::error if a call fails, and wrong_result
};
const std::vector<work>& all_work();
/// Pieces that only one back end has, a subset.
std::vector<work> own_work();
/// A small piece, for a process that does nothing else.
const work& first_work();

}  // namespace faults

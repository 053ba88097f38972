// Pieces of work, one of each kind, each of which may be done again and again.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace faults {

/// A result that is not what it is to be, or a target that a failed statement has changed.
class wrong_result : public std::runtime_error { using runtime_error::runtime_error; };

struct work {
  const char* name;
  void (*run)();  // throws dsl::error where a call fails, and wrong_result
};
const std::vector<work>& all_work();
std::vector<work> loop_work();  // a part of it
/// A little, for a process that does nothing else.
const work& first_work();

}  // namespace faults

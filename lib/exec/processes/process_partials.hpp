// Partial results of several processes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exec/processes/processes.hpp"

namespace dsl::detail {

/// The properties that partial results of several processes must have in common to be combined.
struct partials_form {
  std::int64_t groups, bytes, block, tile[4], threads, distance;
  std::int64_t count;  // Number of partial results; may differ between processes.

  bool fits(const partials_form& other) const {
    return groups == other.groups && bytes == other.bytes && block == other.block &&
           std::equal(tile, tile + 4, other.tile) && threads == other.threads &&
           distance == other.distance;
  }
};

/// Remembers the forms of passes that processes have exchanged.
class known_forms {
 public:
  explicit known_forms(const process_mesh& mesh) : mesh_(mesh) {}

  /// The forms of all processes, in their order. All processes must call this; they wait for each
  /// other if the pass is new.
  const std::vector<partials_form>& of(const bound_pass& pass, const partials_form& own);

 private:
  struct known {
    std::vector<std::int64_t> pass;
    std::vector<partials_form> forms;
  };
  static constexpr std::size_t most = 32;

  const process_mesh& mesh_;
  std::vector<known> known_;
  std::size_t next_ = 0;  // The oldest entry.
};

}  // namespace dsl::detail

// Partial results of several processes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exec/processes/processes.hpp"

namespace dsl::detail {

/// What partial results of several processes must have in common to come together.
struct partials_form {
  std::int64_t groups, bytes, block, tile[4], threads, distance;
  std::int64_t count;  // which may differ

  bool fits(const partials_form& other) const {
    return groups == other.groups && bytes == other.bytes && block == other.block &&
           std::equal(tile, tile + 4, other.tile) && threads == other.threads &&
           distance == other.distance;
  }
};

/// The forms that processes have told each other of passes over their rows.
class known_forms {
 public:
  explicit known_forms(const process_mesh& mesh) : mesh_(mesh) {}

  /// Of all processes, in their order. Asked by all of them, which meet where such a pass is new.
  const std::vector<partials_form>& of(const prepared& pass, const partials_form& own);

 private:
  struct known {
    std::vector<std::int64_t> pass;
    std::vector<partials_form> forms;
  };
  static constexpr std::size_t most = 32;

  const process_mesh& mesh_;
  std::vector<known> known_;
  std::size_t next_ = 0;  // the oldest one
};

}  // namespace dsl::detail

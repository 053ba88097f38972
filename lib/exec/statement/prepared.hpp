// A statement's passes, ready to be queued.
#pragma once

#include <memory>
#include <vector>

#include "exec/rows/rows.hpp"
#include "exec/run/copy.hpp"

namespace dsl::detail {

/// The work that passes become, in order, and the copies that follow: chains whose rows stay on
/// chip, and all other passes. Refers to the passes.
class prepared_statement {
 public:
  /// Redirects targets to temporaries, as `bound_pass::redirect_targets`, and plans the chains.
  prepared_statement(bound_pass* passes, int count, const std::vector<late_copy>& later);
  void queue() const;
  /// Whether a single chain does it all.
  bool is_one_chain() const { return copies_.empty() && all_.size() == 1 && chains_.size() == 1; }
  const work& only() const { return *all_[0]; }
  row_chain& chain() const { return *chains_[0]; }

 private:
  std::vector<late_copy> copies_;
  std::vector<std::unique_ptr<row_chain>> chains_;
  std::vector<const work*> all_;
};

}  // namespace dsl::detail

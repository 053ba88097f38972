#include "exec/scan/ordered_work.hpp"

#include <string>

#include "exec/explain/explain.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

void ordered_work::require_one_device() const {
  for (int k = 0; k < targets_; ++k) {
    const device on = target(k).memory->where, where = ordered_.space.where;
    if (on != where)
      raise<device_error>("a target on another device than its operands, " +
                          std::string(on.name()) + " and " + std::string(where.name()) + ", in " +
                          spell_pass(*pass_, operands()));
  }
}

void ordered_work::assign() {
  if (is_empty()) return;
  std::vector<late_copy> copies;
  for (int k = 0; k < targets_; ++k) {
    if (!must_redirect(k)) continue;
    copies.push_back(redirect(operands_[static_cast<std::size_t>(inputs_ + k)]));
    if (keeps_elements()) copy_elements(copies.back().to, copies.back().from);
  }
  if (!copies.empty()) lay_out();
  if (run_notes::wanted()) run_notes::note({code_}, [this] { return explain(); });
  const work* const all[] = {this};
  queue_all(all, 1, copies);
}

}  // namespace dsl::detail

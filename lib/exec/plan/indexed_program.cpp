#include "exec/plan/indexed_program.hpp"

namespace dsl::detail {

indexed_program::indexed_program(const program_view& p) : p_(p) {
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    std::vector<int>& of_dtype = places_[static_cast<int>(h.type())];
    of_dtype.resize(static_cast<std::size_t>(h.slot()) + 1, -1);
    of_dtype.back() = i;
  }
}

int indexed_program::node_of(reference r) const {
  if (static_cast<int>(r.type()) >= dtype_count) return -1;  // no_reference
  const std::vector<int>& of_dtype = places_[static_cast<int>(r.type())];
  const auto slot = static_cast<std::size_t>(r.slot());
  return slot < of_dtype.size() ? of_dtype[slot] : -1;
}

}  // namespace dsl::detail

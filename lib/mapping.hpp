// Walks over a mapping on the host.
#pragma once

#include <dsl/mem/mapping.hpp>

namespace dsl::detail {

template <class Visit>
void for_each_place_from(const mapping& m, int axis, std::int64_t place, const Visit& visit) {
  if (axis == m.rank) return visit(place);
  for (std::int64_t i = 0; i < m.extents[axis]; ++i) for_each_place_from(m, axis + 1, place + i * m.strides[axis], visit);
}
/// Calls visit(place) for each element in row-major order.
template <class Visit>
void for_each_place(const mapping& m, const Visit& visit) { for_each_place_from(m, 0, m.offset, visit); }

}  // namespace dsl::detail

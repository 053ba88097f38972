#include "exec/run/divided.hpp"

#include <utility>
#include <vector>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

int outermost_axis(const operand& o) {
  int d = 0;
  while (d + 1 < o.rank && o.extents[d] == 1) ++d;
  return d;
}
index_range rows_along(const operand& o, int axis, int process) {
  const std::int64_t stride =
      o.rank == 0 || o.extents[axis] == 1 ? 0 : o.strides[axis] * bytes_of_element(o);
  return o.memory->part->rows_of(process, first_byte(o), stride, o.rank == 0 ? 1 : o.extents[axis]);
}

buffer_ref memory_like(const operand& target) {
  const std::int64_t size = size_of(target.type),
                     bytes = element_count(target.extents, target.rank, size) * size;
  const device where = target.memory->where;
  if (!is_divided(target) || bytes == 0)
    return buffer_ref::allocate_briefly(static_cast<std::size_t>(bytes), where);
  const process_mesh& mesh = target.memory->part->mesh();
  const int axis = outermost_axis(target);
  if (target.strides[axis] < 0 && target.extents[axis] > 1)
    return mesh.allocate_rows(target.extents, target.rank, static_cast<std::size_t>(size), where);
  std::vector<std::int64_t> ends;
  const std::int64_t row = target.rank > 0 ? bytes / target.extents[axis] : bytes;
  for (int p = 0; p < mesh.size(); ++p)
    ends.push_back((ends.empty() ? 0 : ends.back()) + rows_along(target, axis, p).count() * row);
  return mesh.allocate_parts(std::move(ends), where);
}

}  // namespace dsl::detail

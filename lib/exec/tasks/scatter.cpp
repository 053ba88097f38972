#include <dsl/exec/tasks/scatter.hpp>

#include <cstring>
#include <string>

#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/buffer.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

void require_positions(const operand& target) {
  if (target.memory == nullptr)
    raise<memory_error>("values for positions of an array without memory");
  require_one_process(target.memory->where, "writing to positions");
}

void run_scatter(const operand& positions, const operand& values, const operand& target) {
  const device where = positions.memory->where;
  if (target.memory->where != where)
    raise<device_error>("positions on " + std::string(where.name()) + " for a target on " +
                        std::string(target.memory->where.name()));
  if (positions.extents[0] == 0) return;
  const stream on = stream::current(where);
  use(positions.memory, on, false);
  use(values.memory, on, false);
  use(target.memory, on, true);
  executor::of(where).run(
      library_task{scatter_task{
          positions.extents[0], reinterpret_cast<const std::int64_t*>(positions.word[0]),
          reinterpret_cast<const void*>(values.word[0]), reinterpret_cast<void*>(target.word[0]),
          target.extents[0], target.strides[0], static_cast<std::size_t>(size_of(target.type))}},
      on);
}

void run_in_memory(const scatter_task& task) {
  const auto* from = static_cast<const unsigned char*>(task.values);
  for (std::int64_t i = 0; i < task.count; ++i, from += task.bytes) {
    const std::int64_t position = task.positions[i];
    if (position >= 0 && position < task.elements)
      std::memcpy(static_cast<unsigned char*>(task.target) +
                      position * task.stride * static_cast<std::int64_t>(task.bytes),
                  from, task.bytes);
  }
}

}  // namespace dsl::detail

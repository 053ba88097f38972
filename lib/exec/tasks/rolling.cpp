#include <dsl/exec/tasks/rolling.hpp>

#include <algorithm>
#include <string>

#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "exec/tasks/rolling_kernel.hpp"
#include "mem/buffer.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

// The elements between a block's windows are read by two blocks. Few of them are if a block has
// many more elements than a window, and several blocks share a multiprocessor if it has few.
rolling_plan plan_rolling(const rolling_task& task, std::size_t shared_per_block) {
  constexpr int usual_elements = 2048;
  constexpr std::int64_t windows_a_block = 16;
  int items = 0, most_threads = 0;
  std::size_t thread_bytes = 0;
  with_rolling_function(task, [&](auto function) {
    using V = typename decltype(function)::value;
    items = rolling_items<V>;
    most_threads = rolling_threads<V>;
    thread_bytes = rolling_bytes_a_thread<decltype(function)>;
  });
  constexpr int fewest_threads = 64;
  const auto elements_of = [items](int threads) { return std::int64_t{threads} * items; };
  int threads = usual_elements / items;
  while (threads < most_threads && elements_of(threads) < windows_a_block * task.window)
    threads *= 2;
  // Some memory is the kernel's own.
  const std::size_t room = shared_per_block - 1024;
  while (threads >= fewest_threads && static_cast<std::size_t>(threads) * thread_bytes > room)
    threads /= 2;
  rolling_plan plan{};
  if (threads < fewest_threads || elements_of(threads) < 2 * task.window) return plan;
  // Blocks begin at multiples of 32 elements, as their aligned accesses do.
  plan.threads = threads;
  plan.tile = (elements_of(threads) - task.window + 1) / 32 * 32;
  plan.blocks = (task.count - task.window + plan.tile) / plan.tile;
  plan.shared_bytes = static_cast<std::size_t>(threads) * thread_bytes;
  return plan;
}

bool has_rolling(device where, dtype type, rolling_function function, std::int64_t window) {
  rolling_task task{};
  task.function = function;
  task.type = type;
  task.count = task.length = task.window = window;
  return kind_of(type) != kind::complex && executor::of(where).takes(library_task{task}, where);
}

void run_rolling(rolling_function function, const operand& elements, std::int64_t window,
                 std::int64_t ddof, const operand& results) {
  const device where = elements.memory->where;
  require_one_process(where, "a rolling reduction");
  rolling_task task{};
  task.function = function;
  task.type = elements.type;
  task.result = results.type;
  task.count = element_count(elements.extents, elements.rank, 1);
  task.length = elements.extents[elements.rank - 1];
  task.window = window;
  task.ddof = ddof;
  task.elements = reinterpret_cast<const void*>(elements.word[0]);
  task.results = reinterpret_cast<void*>(results.word[0]);
  if (task.count == 0) return;
  const stream on = stream::current(where);
  use(elements.memory, on, false);
  use(results.memory, on, true);
  executor::of(where).run(library_task{task}, on);
}

text describe_rolling(rolling_function function, std::int64_t window, int axis,
                      const operand& elements, bool across) {
  constexpr const char* names[] = {"sum", "mean", "min", "max", "var", "std"};
  return text((std::string(names[static_cast<int>(function)]) +
               (across ? " across" : " of each of") + " the windows of " + std::to_string(window) +
               " elements along axis " + std::to_string(axis) + " of " +
               spell_shape(elements.extents, elements.rank))
                  .c_str());
}

}  // namespace dsl::detail

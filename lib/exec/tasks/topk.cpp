#include <dsl/exec/tasks/topk.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include <tbb/parallel_for.h>

#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "exec/tasks/reach_kernel.hpp"
#include "mem/buffer.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

topk_plan plan_topk(device where, std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n)
    raise<shape_error>("the " + std::to_string(k) + " largest of " + std::to_string(n) +
                       " elements");
  constexpr std::int64_t few = 1 << 15;  // A sort of these takes no longer.
  topk_plan plan{};
  if (k == 0 || n < few || n >= std::int64_t{1} << 32 ||
      !executor::of(where).takes(library_task{reach_task{}}, where))
    return plan;
  // A sort takes little longer for four times as many elements, so that fewer reach the bound.
  const double wanted = static_cast<double>(k),
               sampled = 4 * std::sqrt(wanted * static_cast<double>(n));
  plan.stride =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(n) / sampled));
  // How many of the first m elements are in the sample is a sum of independent draws, m / stride in
  // the mean. It is less than k with this probability if m / stride is that much larger.
  plan.capacity = static_cast<std::int64_t>(wanted + 8 * std::sqrt(wanted) + 40) * plan.stride;
  if (plan.capacity <= n / 4) plan.sampled = n / plan.stride;
  return plan;
}

void run_reach(const operand& elements, const operand& bound, const operand& last,
               const operand& found, const operand& count) {
  const device where = elements.memory->where;
  require_one_process(where, "finding the largest elements");
  const stream on = stream::current(where);
  for (const operand* from : {&elements, &bound, &last}) use(from->memory, on, false);
  for (const operand* to : {&found, &count}) use(to->memory, on, true);
  executor::of(where).run(
      library_task{reach_task{elements.type, ordered_key::of_type(elements.type),
                              elements.extents[0], reinterpret_cast<const void*>(elements.word[0]),
                              reinterpret_cast<const void*>(bound.word[0]),
                              reinterpret_cast<const std::int64_t*>(last.word[0]),
                              reinterpret_cast<std::uint64_t*>(found.word[0]), found.extents[0],
                              reinterpret_cast<unsigned*>(count.word[0])}},
      on);
}

reach_plan plan_reach(const reach_task& task, std::size_t) {
  constexpr std::int64_t tile = reach_plan::threads * reach_plan::items;
  return {(task.count + tile - 1) / tile};
}

void run_in_memory(const reach_task& task) {
  with_bits(task, [&](auto of, auto) {
    using Bits = decltype(of);
    const auto key_of = [&](const void* from, std::int64_t i) {
      return task.keys.to_key(std::uint64_t{static_cast<const Bits*>(from)[i]}, true);
    };
    const std::uint64_t bound = key_of(task.bound, 0);
    const std::int64_t last = *task.last;
    const std::atomic_ref<unsigned> reached(*task.reached);
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, task.count, 1 << 14),
                      [&](const tbb::blocked_range<std::int64_t>& some) {
                        for (std::int64_t i = some.begin(); i != some.end(); ++i) {
                          const std::uint64_t key = key_of(task.elements, i);
                          if (key < bound || (key == bound && i > last)) continue;
                          const unsigned place = reached.fetch_add(1, std::memory_order_relaxed);
                          if (place < task.capacity)
                            task.found[place] = reached_element<Bits>(key, i);
                        }
                      });
  });
}

}  // namespace dsl::detail

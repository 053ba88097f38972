#include <dsl/exec/tasks/convolve.hpp>

#include <algorithm>
#include <string>

#include <tbb/parallel_for.h>

#include "exec/run/executor.hpp"
#include "exec/tasks/convolve_kernel.hpp"
#include "exec/tasks/levels.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/buffer.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

convolve_plan plan_convolution(const convolve_task& task, std::size_t shared_per_block) {
  convolve_plan plan{256, 512, 0, 0};
  const std::size_t value_bytes =
      with_convolved_type(task.type, [](auto value) { return sizeof value; });
  const auto bytes_of = [&](int threads, int taps) {
    const int elements = threads * convolve_items + taps;
    return value_bytes * static_cast<std::size_t>(elements + elements / convolve_items + taps);
  };
  while (bytes_of(plan.threads, plan.taps) > shared_per_block && plan.threads > 32) {
    plan.threads /= 2;
    plan.taps /= 2;
  }
  const std::int64_t own = plan.threads * convolve_items;
  plan.blocks = (task.count + own - 1) / own;
  plan.shared_bytes = bytes_of(plan.threads, plan.taps);
  return plan;
}

void require_convolution(device where, dtype type, std::int64_t elements, std::int64_t taps) {
  require_one_process(where, "a convolution");
  if (elements == 0 || taps == 0)
    raise<shape_error>("a convolution of " + std::to_string(elements) + " and " +
                       std::to_string(taps) + " elements: each operand has at least one");
  if (!executor::of(where).takes(
          library_task{convolve_task{type, elements, taps, 0, 0, {}, {}, {}}}, where))
    raise<device_error>(
        std::string(where.name()) +
        ": convolutions do not run on OpenCL devices yet; run them on host or cuda");
}

void run_convolution(const operand& elements, const operand& taps, std::int64_t first,
                     const operand& result) {
  const device where = elements.memory->where;
  if (taps.memory->where != where)
    raise<device_error>("a convolution of elements on " + std::string(where.name()) +
                        " with taps on " + std::string(taps.memory->where.name()));
  const auto address = [](const operand& o) { return reinterpret_cast<void*>(o.word[0]); };
  const convolve_task task{elements.type, elements.extents[0], taps.extents[0],
                           first,         result.extents[0],   address(elements),
                           address(taps), address(result)};
  if (task.count == 0) return;
  const stream on = stream::current(where);
  use(elements.memory, on, false);
  use(taps.memory, on, false);
  use(result.memory, on, true);
  executor::of(where).run(library_task{task}, on);
}

text describe_convolution(std::int64_t elements, std::int64_t taps) {
  return text(
      ("convolve of " + std::to_string(elements) + " and " + std::to_string(taps) + " elements")
          .c_str());
}

namespace {

/// Results from `begin` on, so many in registers while all taps are added.
template <class V>
struct convolve_each {
  DSL_DETAIL_FN static void run(const convolve_task* task, const V* elements, const V* taps,
                                std::int64_t begin, V* sum, std::int64_t count) {
    constexpr std::int64_t together = 32;
    const std::int64_t n = task->elements_count, m = task->taps_count;
    for (std::int64_t i = 0; i < count;) {
      // The first result's last element.
      const std::int64_t last = task->first + begin + i;
      const bool whole = last - (m - 1) >= 0 && last + together <= n && i + together <= count;
      if (whole) {
        V of[together]{};
        for (std::int64_t j = 0; j < m; ++j)
          for (std::int64_t u = 0; u < together; ++u)
            of[u] = of[u] + taps[j] * elements[last + u - j];
        for (std::int64_t u = 0; u < together; ++u) sum[i + u] = of[u];
        i += together;
      } else {
        V of{};
        for (std::int64_t j = last < n ? 0 : last - n + 1; j < m && j <= last; ++j)
          of = of + taps[j] * elements[last - j];
        sum[i++] = of;
      }
    }
  }
};

template <class V>
std::vector<V> values_of(const void* from, dtype type, std::int64_t begin, std::int64_t end) {
  std::vector<V> values(static_cast<std::size_t>(end - begin));
  with_memory_type<V>(type, [&](auto element) {
    using T = decltype(element);
    for (std::int64_t i = begin; i < end; ++i)
      values[static_cast<std::size_t>(i - begin)] = widened<V>(static_cast<const T*>(from)[i]);
  });
  return values;
}

}  // namespace

void run_in_memory(const convolve_task& task) {
  constexpr std::int64_t part = 4096;
  with_convolved_type(task.type, [&](auto value) {
    using V = decltype(value);
    const std::vector<V> taps = values_of<V>(task.taps, task.type, 0, task.taps_count);
    tbb::parallel_for(std::int64_t{0}, (task.count + part - 1) / part, [&](std::int64_t number) {
      const std::int64_t begin = number * part, some = std::min(part, task.count - begin),
                         low =
                             std::max<std::int64_t>(0, task.first + begin - (task.taps_count - 1)),
                         high = std::min(task.elements_count, task.first + begin + some);
      const std::vector<V> elements = values_of<V>(task.elements, task.type, low, high);
      std::vector<V> sums(static_cast<std::size_t>(some));
      convolve_task here = task;
      here.first -= low;
      here.elements_count = high - low;
      levels<convolve_each<V>>::run(static_cast<const convolve_task*>(&here), elements.data(),
                                    taps.data(), begin, sums.data(), some);
      with_memory_type<V>(task.type, [&](auto element) {
        using T = decltype(element);
        for (std::int64_t i = 0; i < some; ++i)
          static_cast<T*>(task.result)[begin + i] = rounded<T>(sums[static_cast<std::size_t>(i)]);
      });
    });
  });
}

}  // namespace dsl::detail

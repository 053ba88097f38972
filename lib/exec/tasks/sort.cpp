#include <dsl/exec/tasks/sort.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "exec/tasks/ordered_key.hpp"
#include "mem/buffer.hpp"
#include "mem/profiling.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

void run_sort(const operand& elements, const operand* sorted, const operand* order) {
  const std::int64_t n = elements.extents[0];
  if (n >= std::int64_t{1} << 32)
    raise<shape_error>("a sort of " + std::to_string(n) + " elements: fewer than 2^32 are sorted");
  const device where = elements.memory->where;
  require_one_process(where, "sorting");
  if (n == 0) return;
  const stream on = stream::current(where);
  use(elements.memory, on, false);
  for (const operand* to : {sorted, order})
    if (to != nullptr) use(to->memory, on, true);
  const auto address = [](const operand* o) {
    return o != nullptr ? reinterpret_cast<void*>(o->word[0]) : nullptr;
  };
  executor::of(where).run(
      library_task{sort_task{elements.type, n, address(&elements), address(sorted),
                             static_cast<std::int64_t*>(address(order))}},
      on);
}

void throw_no_quantile() {
  raise<shape_error>("a median or a percentile of no elements, which has no value");
}
void require_percentage(double p) {
  if (!(p >= 0 && p <= 100))
    raise<value_error>("a percentile of " + spell_number(p) + ", which is not from 0 to 100");
}

namespace {

// `Key`: an unsigned integer of 32 bits if elements fit in it, else of 64.
template <class Key>
void sort_as(const sort_task& task) {
  const ordered_key keys = ordered_key::of_type(task.type);
  const auto n = static_cast<std::size_t>(task.count);
  const auto for_all = [n](const auto& use) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, 1 << 14),
                      [&](const tbb::blocked_range<std::size_t>& some) {
                        for (std::size_t i = some.begin(); i != some.end(); ++i)
                          use(i, static_cast<std::int64_t>(i));
                      });
  };
  if (task.order == nullptr) {
    std::vector<Key> all(n);
    for_all([&](std::size_t i, std::int64_t at) {
      all[i] = static_cast<Key>(keys.to_key(keys.load(task.elements, at), false));
    });
    tbb::parallel_sort(all.begin(), all.end());
    for_all(
        [&](std::size_t i, std::int64_t at) { keys.store(task.sorted, at, keys.to_bits(all[i])); });
    return;
  }
  // parallel_sort does not keep the order of equal elements, so positions decide between them.
  struct place {
    Key key;
    std::uint32_t at;
    bool operator<(const place& other) const {
      return key != other.key ? key < other.key : at < other.at;
    }
  };
  std::vector<place> all(n);
  for_all([&](std::size_t i, std::int64_t at) {
    all[i] = {static_cast<Key>(keys.to_key(keys.load(task.elements, at), true)),
              static_cast<std::uint32_t>(i)};
  });
  tbb::parallel_sort(all.begin(), all.end());
  for_all([&](std::size_t i, std::int64_t at) {
    if (task.sorted != nullptr) keys.store(task.sorted, at, keys.load(task.elements, all[i].at));
    task.order[at] = all[i].at;
  });
}

}  // namespace

void run_in_memory(const sort_task& task) {
  if (size_of(task.type) <= 4) sort_as<std::uint32_t>(task);
  else sort_as<std::uint64_t>(task);
}

void run_in_memory(const pair_sort_task& task) {
  struct place {
    std::uint32_t key, at;
    bool operator<(const place& other) const {
      return key != other.key ? key < other.key : at < other.at;
    }
  };
  std::vector<place> all(static_cast<std::size_t>(task.count));
  const std::uint32_t mask = (std::uint32_t{2} << (task.last_bit - task.first_bit - 1)) - 1;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {task.keys[i] >> task.first_bit & mask, static_cast<std::uint32_t>(i)};
  tbb::parallel_sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    task.sorted_keys[i] = task.keys[all[i].at];
    if (task.values != nullptr) task.sorted_values[i] = task.values[all[i].at];
  }
}

void require_place(std::int64_t k, std::int64_t n) {
  if (k < 0 || k >= n)
    raise<shape_error>("element " + std::to_string(k) + " of a partition of " + std::to_string(n) +
                       " elements");
}

}  // namespace dsl::detail

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "host/columns.hpp"
#include "host/host.hpp"
#include "host/threads.hpp"

namespace dsl::detail {

namespace {

// Number of chunks of elements, each of which has its own table. A table should get several times
// as many elements as it has groups. With one table there is nothing to run in parallel, so two
// small tables are used for fewer elements too. At most 2^24 elements per chunk, because a float
// cannot count further one by one.
std::int64_t chunk_count(std::int64_t elements, std::int64_t groups, std::int64_t table_bytes) {
  constexpr std::int64_t least_elements = 1 << 15, most_elements = 1 << 24, enough_chunks = 64,
                         small_table = 2 << 20;
  const bool fill_two =
      elements >= 2 * std::max(least_elements, groups) && table_bytes <= small_table;
  return std::max({std::min(elements / std::max(least_elements, 4 * groups), enough_chunks),
                   pieces(elements, most_elements), std::int64_t{fill_two ? 2 : 1}});
}

constexpr double nanoseconds_of_key = 2, nanoseconds_of_group = 1;

}  // namespace

std::int64_t tables_by_key(const by_key_work& w) {
  const std::int64_t groups = w.request().groups;
  return chunk_count(w.space().elements, groups, groups * w.code().accumulator_bytes);
}

void reduce_by_key_on_host(const by_key_work& w) {
  const by_key_code& code = w.code();
  const by_key_host_code& compiled = *code.host;
  const operand *const operands = w.operands(), *const targets = operands + code.inputs;
  const geometry& g = w.space();
  const std::int64_t elements = g.elements, groups = w.request().groups, chunks = w.plan().tables;
  const std::int64_t chunk = pieces(pieces(elements, chunks), host_block) * host_block;
  const auto group_bytes = static_cast<std::size_t>(code.accumulator_bytes),
             groups_bytes = (group_bytes * static_cast<std::size_t>(groups) + 63) / 64 * 64,
             table_bytes = groups_bytes + (static_cast<std::size_t>(code.all_bytes) + 63) / 64 * 64;
  const host_memory tables = allocate_host_memory(table_bytes * static_cast<std::size_t>(chunks));
  const auto table = [&](std::int64_t number) {
    return tables.get() + table_bytes * static_cast<std::size_t>(number);
  };
  const auto of_all = [&](std::int64_t number) { return table(number) + groups_bytes; };

  const double of_chunks =
      (nanoseconds_of_key + compiled.nanoseconds) * static_cast<double>(elements) +
      nanoseconds_of_group * static_cast<double>(groups * chunks);
  on_threads(chunks, of_chunks, [&](std::int64_t begin, std::int64_t end) {
    input_columns inputs(operands, code.inputs, g, code.view);
    const host_memory values = allocate_columns(static_cast<std::size_t>(code.values));
    void* computed[max_operands];
    const void* columns[max_operands];
    int count_computed = 0;
    for (int k = 0; k < code.values; ++k)
      if (compiled.columns[k] == computed_column)
        columns[k] = computed[count_computed++] =
            values.get() + column_bytes * static_cast<std::size_t>(k);
    for (std::int64_t c = begin; c != end; ++c) {
      compiled.of_groups.clear(table(c), groups);
      if (code.all_bytes > 0) compiled.of_all.clear(of_all(c), 1);
      const std::int64_t last = std::min(elements, (c + 1) * chunk);
      for (std::int64_t first = c * chunk; first < last; first += host_block) {
        const int count = static_cast<int>(std::min<std::int64_t>(host_block, last - first));
        inputs.read(first, count);
        for (int k = 0; k < code.values; ++k)
          if (compiled.columns[k] >= 0) columns[k] = inputs.at()[compiled.columns[k]];
        if (count_computed > 0)
          loop_of_level(compiled.elements)(padded_block(count), 1, 0, inputs.at(), computed,
                                           nullptr);
        compiled.of_groups.add(columns, count, table(c), groups);
        if (code.all_bytes > 0) compiled.of_all.add(columns, count, of_all(c), 1);
      }
    }
  });

  // From here on only the values among the inputs are read.
  const input_columns inputs(operands, code.inputs, g, code.view);
  void* to[max_operands];
  std::int64_t step[max_operands];
  for (int k = 0; k < code.targets; ++k) {
    to[k] = reinterpret_cast<void*>(targets[k].word[0]);
    step[k] = k < code.groups ? targets[k].strides[0] : 0;
  }
  constexpr std::int64_t together = 1024;  // groups
  on_threads(
      pieces(groups, together), nanoseconds_of_group * static_cast<double>(groups * (chunks + 1)),
      [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t first = begin * together,
                           count = std::min(groups, end * together) - first;
        const auto at = [&](std::int64_t c) {
          return table(c) + group_bytes * static_cast<std::size_t>(first);
        };
        for (std::int64_t c = 1; c < chunks; ++c) compiled.of_groups.join(at(0), at(c), count);
        void* first_of[max_operands];
        for (int k = 0; k < code.groups; ++k)
          first_of[k] = static_cast<unsigned char*>(to[k]) +
                        first * step[k] * static_cast<std::int64_t>(size_of(targets[k].type));
        compiled.of_groups.finish(at(0), count, inputs.at(), first_of, step);
      });
  if (code.all_bytes == 0) return;
  for (std::int64_t c = 1; c < chunks; ++c) compiled.of_all.join(of_all(0), of_all(c), 1);
  compiled.of_all.finish(of_all(0), 1, inputs.at(), to + code.groups, step + code.groups);
}

}  // namespace dsl::detail

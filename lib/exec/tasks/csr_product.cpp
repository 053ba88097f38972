#include <dsl/exec/tasks/csr_product.hpp>

#include <algorithm>
#include <string>

#include <tbb/parallel_for.h>

#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/buffer.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

parts_of_rows find_long_rows(const std::int32_t* offsets, std::int64_t rows) {
  parts_of_rows found;
  const std::int32_t longest = longest_csr_row(rows, offsets[rows]);
  std::vector<std::int32_t> first_parts;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int32_t length = offsets[row + 1] - offsets[row];
    if (length <= longest) continue;
    found.table.push_back(static_cast<std::int32_t>(row));
    first_parts.push_back(found.parts);
    found.parts += (length - 1) / entries_of_part + 1;
  }
  found.rows = static_cast<std::int32_t>(found.table.size());
  first_parts.push_back(found.parts);
  found.table.insert(found.table.end(), first_parts.begin(), first_parts.end());
  return found;
}

void run_csr_product(const csr_operands& matrix, const operand& x, const operand& y) {
  const device where = y.memory->where;
  for (const operand* of : {&matrix.values, &x})
    if (of->memory != nullptr && of->memory->where != where)
      raise<device_error>("a product with a sparse matrix of operands on " +
                          std::string(where.name()) + " and on " +
                          std::string(of->memory->where.name()));
  require_one_process(where, "a product with a sparse matrix");
  const auto at = [](const operand& o) { return reinterpret_cast<void*>(o.word[0]); };
  csr_task task{};
  task.type = y.type;
  task.count = matrix.values.extents[0];
  task.rows = y.extents[0];
  task.columns = y.rank == 2 ? y.extents[1] : 1;
  if (task.rows == 0 || task.columns == 0) return;
  task.values = at(matrix.values);
  task.column_of = static_cast<const std::int32_t*>(at(matrix.columns));
  task.offsets = static_cast<const std::int32_t*>(at(matrix.offsets));
  task.x = at(x);
  task.row_step = x.strides[0];
  task.column_step = x.rank == 2 ? x.strides[1] : 0;
  task.x_elements = x.extents[0] == 0 ? 0
                                      : 1 + (x.extents[0] - 1) * task.row_step +
                                            (task.columns - 1) * task.column_step;
  task.y = at(y);
  while (task.log2_columns < 5 && 1 << task.log2_columns < task.columns) ++task.log2_columns;
  task.is_streamed = is_streamed_csr(task.rows, task.count, task.columns);
  task.log2_lanes = task.is_streamed ? log2_lanes_of_streamed_csr(task.rows, task.count)
                                     : std::min(log2_lanes_of_csr(task.rows, task.count),
                                                5 - int{task.log2_columns});
  task.longest = longest_csr_row(task.rows, task.count);
  task.long_rows = matrix.long_rows;
  task.part_count = matrix.part_count;

  const stream on = stream::current(where);
  for (const operand* of : {&matrix.values, &matrix.columns, &matrix.offsets, &x})
    if (of->memory != nullptr) use(of->memory, on, false);
  use(y.memory, on, true);
  buffer_ref partials;
  if (task.long_rows > 0) {
    use(matrix.parts.memory, on, false);
    task.parts = static_cast<const std::int32_t*>(at(matrix.parts));
    partials = buffer_ref::allocate_briefly(
        static_cast<std::size_t>(task.part_count * task.columns * size_of(task.type)), where);
    task.partials = partials.data();
  }
  executor::of(where).run(library_task{task}, on);
}

namespace {

template <class T>
void multiply(const csr_task& t, std::int64_t first_row, std::int64_t end_row) {
  const auto* const values = static_cast<const T*>(t.values);
  const auto* const x = static_cast<const T*>(t.x);
  T* y = static_cast<T*>(t.y) + first_row * t.columns;
  for (std::int64_t row = first_row; row < end_row; ++row, y += t.columns) {
    std::fill_n(y, t.columns, T{});
    for (std::int32_t k = t.offsets[row]; k < t.offsets[row + 1]; ++k) {
      const T* const from = x + t.column_of[k] * t.row_step;
      for (std::int64_t j = 0; j < t.columns; ++j)
        y[j] = y[j] + values[k] * from[j * t.column_step];
    }
  }
}

}  // namespace

void run_in_memory(const csr_task& t) {
  // Rows whose entries, and they themselves, come to about as much work.
  constexpr std::int64_t grain = 1 << 14;
  const std::int64_t work = (t.count + t.rows) * t.columns, tasks = 1 + work / grain;
  const auto row_at = [&](std::int64_t share) {
    if (share == tasks) return t.rows;
    std::int64_t low = 0, high = t.rows;
    while (low < high) {
      const std::int64_t row = low + (high - low) / 2;
      if ((t.offsets[row] + row) * t.columns / grain < share) low = row + 1;
      else high = row;
    }
    return low;
  };
  with_csr_type(t.type, [&](auto zero) {
    tbb::parallel_for(std::int64_t{0}, tasks, [&](std::int64_t share) {
      multiply<decltype(zero)>(t, row_at(share), row_at(share + 1));
    });
  });
}

namespace {
constexpr std::int64_t most_of_csr = 0x7fffffff;
std::string csr_of(std::int64_t rows, std::int64_t columns) {
  return "a sparse matrix of " + std::to_string(rows) + " x " + std::to_string(columns);
}
}  // namespace

text describe_csr_product(std::int64_t rows, std::int64_t width, std::int64_t entries,
                          const operand& x) {
  const std::int64_t some = std::max<std::int64_t>(rows, 1);
  const int log2 = is_streamed_csr(some, entries, x.rank == 2 ? x.extents[1] : 1)
                       ? log2_lanes_of_streamed_csr(some, entries)
                       : log2_lanes_of_csr(some, entries);
  return text(("matmul of " + csr_of(rows, width) + " with " + std::to_string(entries) +
               " entries and of " + spell_shape(x.extents, x.rank) +
               ", threads of a row: " + std::to_string(1 << log2))
                  .c_str());
}
void throw_bad_offsets(std::int64_t rows, std::int64_t entries) {
  raise<value_error>("offsets of a sparse matrix of " + std::to_string(rows) + " rows and " +
                     std::to_string(entries) +
                     " entries, which do not rise from 0 to the number of entries");
}
void throw_bad_column(std::int64_t least, std::int64_t greatest, std::int64_t columns) {
  raise<index_error>("columns from " + std::to_string(least) + " to " + std::to_string(greatest) +
                     " in a sparse matrix of " + std::to_string(columns) + " columns");
}
void throw_bad_row(std::int64_t least, std::int64_t greatest, std::int64_t rows) {
  raise<index_error>("rows from " + std::to_string(least) + " to " + std::to_string(greatest) +
                     " in a sparse matrix of " + std::to_string(rows) + " rows");
}
void require_csr_sizes(std::int64_t rows, std::int64_t columns, std::int64_t entries) {
  if (rows < 0 || columns < 0)
    raise<shape_error>(csr_of(rows, columns) + ": no extent is negative");
  if (rows >= most_of_csr || columns > most_of_csr || entries > most_of_csr)
    raise<shape_error>(csr_of(rows, columns) + " with " + std::to_string(entries) +
                       " entries: there are at most 2^31 - 1 of each");
}
void require_csr_arrays(std::int64_t rows, std::int64_t values, std::int64_t columns,
                        std::int64_t offsets) {
  if (values != columns || offsets != rows + 1)
    raise<shape_error>("a sparse matrix of " + std::to_string(rows) + " rows made of " +
                       std::to_string(values) + " values, " + std::to_string(columns) +
                       " columns and " + std::to_string(offsets) +
                       " offsets: it has a column for each value, and an offset for each row and "
                       "one more");
}
void require_coo(std::int64_t rows, std::int64_t width, std::int64_t row_of, std::int64_t column_of,
                 std::int64_t values) {
  if (row_of != values || column_of != values)
    raise<shape_error>(csr_of(rows, width) + " made of " + std::to_string(row_of) + " rows, " +
                       std::to_string(column_of) + " columns and " + std::to_string(values) +
                       " values: each entry has one of each");
}
void require_csr_factor(std::int64_t columns, std::int64_t rows_of_x) {
  if (columns != rows_of_x)
    raise<shape_error>("a product of a sparse matrix of " + std::to_string(columns) +
                       " columns with an operand of " + std::to_string(rows_of_x) + " rows");
}

}  // namespace dsl::detail

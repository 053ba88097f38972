// Products of a sparse matrix, whose rows are compressed, with vectors and matrices in memory.
#pragma once

#include <vector>

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// The threads that share a row of `entries` / `rows` entries: a power of two up to 32. Each has
/// about `entries_ahead` entries, which it reads together.
inline constexpr int entries_ahead = 4;
constexpr int log2_lanes_of_csr(std::int64_t rows, std::int64_t entries) {
  int log2 = 0;
  while (log2 < 5 && (std::int64_t{entries_ahead} << log2) * rows < entries) ++log2;
  return log2;
}
/// Whether a warp reads the entries of several rows together, of a product with `columns` columns.
/// Then half as many threads share a row, and a warp's rows have at most 256 entries in the mean.
constexpr bool is_streamed_csr(std::int64_t rows, std::int64_t entries, std::int64_t columns) {
  return columns == 1 && log2_lanes_of_csr(rows, entries) < 5;
}
constexpr int log2_lanes_of_streamed_csr(std::int64_t rows, std::int64_t entries) {
  const int log2 = log2_lanes_of_csr(rows, entries);
  return log2 > 0 ? log2 - 1 : 0;
}
/// The length of a row beyond which blocks of threads share it, `entries_of_part` a block. Of all
/// rows at most a sixteenth are so long.
inline constexpr int entries_of_part = 4096;
constexpr std::int32_t longest_csr_row(std::int64_t rows, std::int64_t entries) {
  return 64 << log2_lanes_of_csr(rows, entries);
}

/// The parts of long rows: their count, and in `table` the numbers of these rows, then each one's
/// first part, then the number of all parts.
struct parts_of_rows {
  std::vector<std::int32_t> table;
  std::int32_t rows = 0, parts = 0;
};
parts_of_rows find_long_rows(const std::int32_t* offsets, std::int64_t rows);

/// A matrix as operands, all contiguous and of rank 1: the entries, their columns (int32), the
/// first entry of each row and the number of entries (int32), and the table of `parts_of_rows`,
/// without memory if no row is long.
struct csr_operands {
  operand values, columns, offsets, parts;
  std::int32_t long_rows, part_count;
};

/// Queues y = matrix x on the current stream. x and y are of the matrix's dtype; y is contiguous,
/// and x has positive strides and as many axes, one or two. The result is the same from run to run.
/// Throws device_error, memory_error or cuda_error.
void run_csr_product(const csr_operands& matrix, const operand& x, const operand& y);

text describe_csr_product(std::int64_t rows, std::int64_t width, std::int64_t entries,
                          const operand& x);

// Errors of a matrix's three arrays.
[[noreturn]] void throw_bad_offsets(std::int64_t rows, std::int64_t entries);
[[noreturn]] void throw_bad_column(std::int64_t least, std::int64_t greatest, std::int64_t columns);
[[noreturn]] void throw_bad_row(std::int64_t least, std::int64_t greatest, std::int64_t rows);
/// Throws shape_error for an extent that is negative or above 2^31 - 1, or as many entries.
void require_csr_sizes(std::int64_t rows, std::int64_t columns, std::int64_t entries);
/// Throws shape_error unless a matrix's arrays have the lengths that they need.
void require_csr_arrays(std::int64_t rows, std::int64_t values, std::int64_t columns,
                        std::int64_t offsets);
/// Throws shape_error unless the three arrays of entries at any places have one length.
void require_coo(std::int64_t rows, std::int64_t width, std::int64_t row_of, std::int64_t column_of,
                 std::int64_t values);
/// Throws shape_error unless x has `columns` rows.
void require_csr_factor(std::int64_t columns, std::int64_t rows_of_x);

}  // namespace dsl::detail

// The parameters of a scan's kernels.
#pragma once

#include <dsl/exec/team/arguments.hpp>
#include <dsl/ir/literal.hpp>

namespace dsl::detail {

/// Parameters in addition to the operands.
struct scan_parameters {
  // Elements of a row; all elements if there is one row.
  std::int64_t row;
  literal init;  // Combined with a row's first element, if there is one.
  std::int32_t has_init, exclusive;
  unsigned* ticket;  // Rows: the number of blocks that have started.
  void* tiles;       // Rows: a cell (`tagged`) for the total of each tile.
  void* groups;      // Rows: a cell for the total of each 32 tiles.
  void* prefixes;    // Rows: a cell for the prefix of each 32 groups.
  // Columns: the total of each chunk of a column, later the prefix before it.
  void* totals;
  std::int64_t columns;  // Number of columns.
  std::int64_t chunks;   // Chunks of a column.
  std::int64_t across;   // Adjacent columns.
  // Columns: whether this launch writes the scan; earlier ones write the chunks' totals.
  std::int32_t last_pass;
  // Rows on a mesh: the member's first tile, and the totals of the members before it, back to the
  // beginning of its first row, one cell each.
  std::uint32_t first_tile = 0;
  const void* carries = nullptr;
  std::uint32_t carry_count = 0;
  // The preceding launch on a mesh: the number of the member's tiles, else 0; the next member's
  // cell for their total; and the distance to each later member's cell, and their number.
  std::uint32_t total_tiles = 0;
  void* total_to = nullptr;
  std::int64_t copy_bytes = 0;
  std::int32_t later_members = 0;
};

template <class Arguments> struct scan_arguments : without_leads<Arguments> {
  scan_parameters scan;
};

/// Parameters of the kernel that turns chunks' totals into prefixes.
struct scan_totals_arguments {
  block_range range;
  scan_parameters scan;
};

/// Threads of a block; tiles of a group, and groups of a group of groups.
inline constexpr int scan_block_threads = 256, scan_groups = 32;

}  // namespace dsl::detail

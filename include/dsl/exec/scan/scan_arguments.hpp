// What a launch of a scan's kernels tells every thread.
#pragma once

#include <dsl/exec/team/arguments.hpp>
#include <dsl/ir/literal.hpp>

namespace dsl::detail {

/// What a scan's kernels are told beside the operands.
struct scan_parameters {
  std::int64_t row;  // elements in a row; all of them where the rows are one
  literal init;      // goes before a row's first element, if there is one
  std::int32_t has_init, exclusive;
  unsigned* ticket;  // of rows: how many blocks have begun
  void* tiles;       // of rows: a cell (`tagged`) for the total of each tile,
  void* groups;      //   of each 32 tiles,
  void* prefixes;    //   and for what comes before each 32 groups
  void* totals;      // of columns: what each chunk of a column comes to, then what comes before it
  std::int64_t columns;  // how many there are
  std::int64_t chunks;   // that a column is cut into
  std::int64_t across;   // neighbouring columns
  std::int32_t
      last_pass;  // of columns: whether the scan is written; before that the chunks' totals are
  // Of rows, on a mesh: the member's first tile, and what so many members before it come to where
  // its first row began, a cell each.
  std::uint32_t first_tile = 0;
  const void* carries = nullptr;
  std::uint32_t carry_count = 0;
  // Of the launch before: how many tiles the member takes, else 0; where it tells the next member
  // what they come to, and from there to the next one's, of so many.
  std::uint32_t total_tiles = 0;
  void* total_to = nullptr;
  std::int64_t copy_bytes = 0;
  std::int32_t later_members = 0;
};

template <class Arguments> struct scan_arguments : Arguments { scan_parameters scan; };

/// Of the kernel that makes of chunks' totals what comes before them.
struct scan_totals_arguments {
  block_range range;
  scan_parameters scan;
};

/// Threads of a block, and how many tiles make a group, and groups a group of groups.
inline constexpr int scan_block_threads = 256, scan_groups = 32;

}  // namespace dsl::detail

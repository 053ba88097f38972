// The parameters of a kernel.
#pragma once

#include <cstddef>

#include <dsl/exec/plan/plan.hpp>
#include <dsl/exec/team/block_range.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

/// An operand in a kernel's parameters, by kind: word; descriptor.
/// - array: address; a `reach`, or a `neighbour_word` if the pass reads its neighbours.
/// - neighbour: address; a `neighbour_word`.
/// - step: unused; a `neighbour_word`.
/// - address: address; an element's size in bytes.
/// - index: first position; 0.
/// - value, device_scalar: the operand's two words (the bits, or an address).
/// - result: address; a second address to write to, or 0.
struct argument { std::uint64_t word, descriptor; };

/// How an array's elements are reached, in `argument::descriptor`: one by one, in whole aligned
/// vectors, or, from `in_tile` on, in the block's shared memory: the tile's first element is at
/// offset descriptor - in_tile.
enum reach : std::uint64_t { by_elements, in_vectors, in_tile };

/// An `argument::descriptor` where neighbours are read: the `reach`, or an address's element size;
/// a step to a neighbour; and a bit for each axis along which the operand has one element. Axes are
/// counted from the right.
struct neighbour_word {
  std::uint64_t word;
  static constexpr int distance_bits = 46;
  static constexpr neighbour_word make(std::uint64_t how, const path_step& step,
                                       std::uint32_t single) {
    return {how | static_cast<std::uint64_t>(step.beyond) << 5 |
            static_cast<std::uint64_t>(step.axis) << 7 | static_cast<std::uint64_t>(single) << 10 |
            static_cast<std::uint64_t>(step.distance) << 18};
  }
  DSL_DETAIL_FN std::uint64_t how() const { return word & 0x1f; }
  DSL_DETAIL_FN boundary beyond() const { return static_cast<boundary>(word >> 5 & 3); }
  DSL_DETAIL_FN int axis() const { return static_cast<int>(word >> 7 & 7); }
  DSL_DETAIL_FN bool is_single(int axis) const { return (word >> (10 + axis) & 1) != 0; }
  DSL_DETAIL_FN std::int64_t distance() const { return static_cast<std::int64_t>(word) >> 18; }
};

/// Which dimension of a tile a reduction keeps, which decides how threads share the work. rows:
/// each row of threads reduces along the innermost dimension and makes one result; columns: each
/// column of threads makes one result for each of its lanes; none: all threads make one result.
enum class kept_along : std::int32_t { none, rows, columns };

/// Threads that share one result: 2^log2_threads of them, 2^log2_distance apart. The block size is
/// a power of two as well.
struct sharing {
  std::int32_t log2_distance, log2_threads;
  DSL_DETAIL_FN int distance() const { return 1 << log2_distance; }
  DSL_DETAIL_FN int threads_a_result() const { return 1 << log2_threads; }
  DSL_DETAIL_FN int span() const { return 1 << (log2_distance + log2_threads); }
  DSL_DETAIL_FN int owners(int block) const { return block >> log2_threads; }
  /// The result that a thread holds after its threads have combined theirs, or -1.
  DSL_DETAIL_FN int owned_by(int thread, int block, int warp_size) const {
    if (span() > warp_size) return thread < owners(block) ? thread : -1;
    const int first = thread & (span() - 1);
    return first < distance() ? (thread >> (log2_distance + log2_threads) << log2_distance) + first
                              : -1;
  }
};

/// Threads of the block that combines the partial results of an earlier launch.
inline constexpr int finish_threads = 1024;

/// The part of a reduction that a launch does. whole: each group's one block makes its results;
/// by_last_block: a group's blocks leave partial results, and the last block combines them;
/// to_partials: they leave partial results for another launch; of_partials: that launch, with one
/// block a group and no tiles.
enum class reduction_steps : std::int32_t { whole, by_last_block, to_partials, of_partials };

/// Maximum number of groups with tickets.
inline constexpr std::uint32_t max_tickets = 1 << 14;

/// How a kernel reduces. Blocks work in groups of `splits`: a group makes the results of the kept
/// elements of one tile, and its blocks take turns at the tiles that are reduced to them.
struct reduction_schedule {
  // Elements of each result.
  std::int64_t count;
  // Blocks of a group; results for which a thread has accumulators.
  std::int32_t splits, results_a_thread;
  sharing threads;
  kept_along kept;
  void* partials;  // The groups' partial results, or null.
  // by_last_block: for each group, the number of blocks that have left partial results.
  unsigned* tickets;
  const bool* stop;                // In a loop: whether it has ended; else null.
  std::int32_t partial_count = 0;  // Partial results of each group.
  reduction_steps steps = reduction_steps::whole;
  // The tiles that a group's blocks take in turn: all of them; on a mesh, each member's blocks take
  // consecutive tiles, which are in its memory. `first_tile` is where the grid's first block would
  // begin.
  std::int64_t first_tile = 0, end_tile = 0;
  std::int32_t blocks_in_turn = 1;
  // Number of groups if the grid has the first block of each group, then the second of each, and so
  // on; 0: all blocks of a group, then those of the next.
  std::uint32_t by_splits = 0;
  // On a mesh whose members' blocks first take tickets of their own: the distance between two
  // members' tickets; else 0. The number of members that have blocks of each group.
  std::uint32_t ticket_step = 0, members = 1;

  /// A member's own tickets for a group; they follow the mesh's.
  DSL_DETAIL_FN member_tickets of_member(int member, std::uint32_t group) const {
    return {tickets + max_tickets + static_cast<std::size_t>(member) * ticket_step + group,
            ticket_step > 0 ? static_cast<std::uint32_t>(blocks_in_turn) : 0, members};
  }

  /// Restricts the launch to `blocks` of a group's blocks, from number `first` on, which take
  /// consecutive tiles.
  void take_neighbours(std::int64_t tiles, std::int64_t first, std::int64_t blocks) {
    const std::int64_t begin = tiles * first / splits;
    first_tile = begin - first;
    end_tile = tiles * (first + blocks) / splits;
    blocks_in_turn = static_cast<std::int32_t>(blocks);
  }
};

/// The beginning of a kernel's parameters, laid out so that the launcher can fill them without
/// knowing the kernel: this header; for the strided kernel a `tiling`; an `argument` for each
/// operand; for the strided kernel max_rank strides for each operand.
struct argument_header {
  block_range range;             // Filled in at launch.
  std::int64_t elements, tiles;  // In a kernel that reduces: of one group.
  reduction_schedule reduction;
  std::int16_t phase = 0;  // In a chain's kernel: the phase to run.
  // In a pass: whether some arrays have one element for all lanes, and all others are in vectors.
  std::int16_t has_singles = 0;
  std::int32_t in_vectors = 0;  // Whether all arrays are read and written in whole aligned vectors.
};

// A derived struct's first member would lie in padding at the end.
static_assert(sizeof(argument_header) ==
              offsetof(argument_header, in_vectors) + sizeof(std::int32_t));

/// Division of numbers below 2^31 by a multiplication: with s = ceil(log2 d) and m = ceil(2^(31 +
/// s) / d), n / d = n m / 2^(31 + s) (Granlund and Montgomery, Division by invariant integers using
/// multiplication, 1994).
struct divisor {
  std::uint32_t by, multiplier, shift;
  static divisor of(std::int64_t d) {
    std::uint32_t s = 0;
    while ((std::int64_t{1} << s) < d) ++s;
    const std::uint64_t power = std::uint64_t{1} << (31 + s), by = static_cast<std::uint64_t>(d);
    return {static_cast<std::uint32_t>(d), static_cast<std::uint32_t>((power + by - 1) / by),
            31 + s};
  }
  DSL_DETAIL_FN std::uint32_t divide(std::uint32_t n) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) * multiplier >> shift);
  }
};

/// How a kernel takes rows with leads (`row_leads`): by how many elements it moves a row's groups.
/// All zero where every row begins with a vector.
struct tile_leads {
  // `longest`: the elements by which a tile may be longer, lanes - 1; 0 if columns are kept.
  std::int32_t lanes, longest;
  // 1: groups begin behind the lead, which the group behind the last one gets. -1: they begin with
  // the vector that has the row's first element.
  std::int32_t direction;
  // The elements beyond a row's ends that a group may read: of another row, or between rows. They
  // are dropped. 0: groups are cut there.
  std::int32_t beyond;
  // Modulo the lanes: the elements by which groups are moved in the first row; and from a row to
  // the next, and along the dimensions beyond the second. Tiles are a multiple of the lanes high,
  // so that groups are moved alike in all rows of a thread.
  std::uint32_t first, step, outer[max_rank - 2];
};

/// How tiles cover a strided index space. Dimension 0 is the innermost one, 1 the second.
struct tiling {
  static constexpr int no_dimension = 0xf;
  std::int64_t extents[2];
  // Threads a row (log2), rows of threads, dimensions beyond the second.
  std::int32_t log2_columns, rows, outer_rank;
  std::int32_t shared_bytes, width, height;  // Bytes of shared memory; the tile's size in elements.
  // Columns of a tile in shared memory: more than its own where rows have leads.
  std::int32_t shared_columns;
  // In a kernel that reduces: whether threads walk along the rows of a tile rather than down it.
  std::int32_t along_rows;
  // In a kernel that reduces: the distance from a thread's group to its next one, in elements along
  // the row or in rows.
  std::int32_t group_distance;
  // In a kernel that reduces: whether a thread has the same lanes in each of its rows, because each
  // row of threads takes one row at a time. Arrays then have adjacent elements along rows, or one
  // element for a row; if rows are as long as a vector, some are not read in vectors.
  std::int32_t has_alike_rows;
  // Whether the rows are pairs: some inputs vary along a row only, and are the same in all rows.
  std::int32_t pairs;
  // These inputs, a bit for each.
  std::uint64_t in_rows;
  std::uint32_t kept;  // In a kernel that reduces: a bit for each kept dimension.
  // The dimension of each axis, 4 bits each, counted from the right; `no_dimension`: extent 1.
  std::uint32_t dimension_of_axis;
  divisor across, down, in_column, outer[max_rank - 2];
  // With patches: the tile's extent along the third dimension, and the extent of that dimension.
  std::int32_t planes;
  std::int64_t third;
  tile_leads leads;

  /// The extent of a dimension, counted from the innermost; 1 for dimension -1.
  DSL_DETAIL_FN std::int64_t extent(int dimension) const {
    if (dimension == 2 && planes > 1) return third;
    return dimension < 0   ? 1
           : dimension < 2 ? extents[dimension]
                           : static_cast<std::int64_t>(outer[dimension - 2].by);
  }
};

/// All arrays contiguous: an element's number is its position in every array.
template <int Operands>
struct linear_arguments : argument_header {
  static constexpr bool strided = false;
  argument operand[Operands];
};

/// Whether a kernel walks over its tiles in patches.
template <class Arguments> inline constexpr bool takes_patches = false;

/// Arrays of any layout: up to eight dimensions, innermost first.
template <int Operands>
struct strided_arguments : argument_header {
  static constexpr bool strided = true;
  tiling tiles_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

/// Whether a kernel takes rows with leads.
template <class Arguments> inline constexpr bool takes_leads = false;
template <int Operands> inline constexpr bool takes_leads<strided_arguments<Operands>> = true;
/// The same arguments for a kernel that does not.
template <class Arguments> struct without_leads : Arguments {};

/// The same with neighbours read in patches.
template <int Operands> struct patched_arguments : strided_arguments<Operands> {};
template <int Operands> inline constexpr bool takes_patches<patched_arguments<Operands>> = true;

/// The extents of a contiguous index space, innermost first, for kernels that read displaced
/// elements.
struct displaced_space {
  std::int32_t extents[3];
  divisor columns, rows;  // Division by the first and by the second extent.
};
/// As `linear_arguments`, for a pass that reads elements at fixed displacements.
template <int Operands>
struct displaced_arguments : argument_header {
  static constexpr bool strided = false;
  displaced_space space_of;
  argument operand[Operands];
};
template <class Arguments> inline constexpr bool takes_displaced = false;
template <int Operands> inline constexpr bool takes_displaced<displaced_arguments<Operands>> = true;

/// An array whose tile and halo a block copies to shared memory, along the three innermost
/// dimensions.
struct halo_tile {
  static constexpr int axes = 3;
  std::uint64_t word;          // The address of the first element.
  std::int64_t extents[axes];  // In elements.
  // Distance between elements, rows and planes.
  std::uint32_t element_bytes, row_bytes, plane_bytes;
  std::int32_t first[axes];  // Offset of the tile with its halo from the block's tile, in elements.
  std::int32_t operand;      // The operand whose strides apply along the other dimensions.
  divisor columns;           // Pieces of a row that are copied.
  // Bytes before and after a row's first element that pieces may touch at most.
  std::int32_t before, behind;
  std::int32_t rows, planes;  // Rows that are copied, and planes for each of the block's.
  std::uint32_t offset;       // Offset in shared memory, in bytes.
  // Bytes of an element; whether a piece is 16 bytes rather than one element.
  std::int32_t size, in_vectors;
  boundary beyond[axes];
};

/// The arrays that a block copies with their halos. As `strided_arguments`, for neighbours whose
/// displacement is known only at run time.
struct halo_tiles {
  static constexpr int most = 6;
  // Elements from a thread's lane to its next one, so that threads side by side write side by side.
  static constexpr int lane_step = 32;
  halo_tile tile[most];
  std::int32_t count;
  // Elements by which the first tile of a row begins before the row, so that all tiles are written
  // aligned.
  std::int32_t before;
  // Distance between rows and between planes in shared memory, in bytes.
  std::uint32_t pitch, plane;
};
template <int Operands>
struct haloed_arguments : strided_arguments<Operands> {
  halo_tiles halos;
  // In shared memory, in bytes: the offset of an array's element at the corner of the block's tile,
  // and the distance of a step.
  std::uint32_t place[Operands];
  std::int32_t beside[Operands];
};
template <class Arguments> inline constexpr bool takes_halos = false;
template <int Operands> inline constexpr bool takes_halos<haloed_arguments<Operands>> = true;

}  // namespace dsl::detail

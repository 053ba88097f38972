// A kernel's parameters: what a launch tells every thread.
#pragma once

#include <dsl/exec/plan/plan.hpp>
#include <dsl/exec/team/block_range.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

/// An operand in a kernel's parameters. array: address and how it is reached (`reach`); neighbour:
/// address and a `neighbour_word`, as of each array of which neighbours are read; step: that;
/// address: address and an element's bytes; index: first position; value: bits; device_scalar:
/// address; result: address and a second one to write to, or 0.
struct argument { std::uint64_t word, descriptor; };

/// An array's `argument::descriptor`: element by element, in whole aligned vectors, or, from
/// `in_tile` on, in the block's shared memory at an offset of descriptor - in_tile.
enum reach : std::uint64_t { by_elements, in_vectors, in_tile };

/// An `argument::descriptor` where neighbours are read: how elements are reached, or an address's
/// element size; a step to a neighbour; and a bit for each axis along which the operand has one
/// element. Axes are counted from the right.
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

/// What threads share out when they reduce: which dimension of a tile is kept. rows: each row of
/// threads makes one of the results, along the innermost dimension; columns: each column does, one
/// for each of its lanes; none: all threads make one result.
enum class kept_along : std::int32_t { none, rows, columns };

/// Threads that share one result: 2^log2_threads of them, 2^log2_distance apart. The number of
/// threads in a block is a power of two as well.
struct sharing {
  std::int32_t log2_distance, log2_threads;
  DSL_DETAIL_FN int distance() const { return 1 << log2_distance; }
  DSL_DETAIL_FN int threads_a_result() const { return 1 << log2_threads; }
  DSL_DETAIL_FN int span() const { return 1 << (log2_distance + log2_threads); }
  DSL_DETAIL_FN int owners(int block) const { return block >> log2_threads; }
  /// Which result a thread has after theirs have been combined, or -1.
  DSL_DETAIL_FN int owned_by(int thread, int block) const {
    if (span() > 32) return thread < owners(block) ? thread : -1;
    const int first = thread & (span() - 1);
    return first < distance() ? (thread >> (log2_distance + log2_threads) << log2_distance) + first
                              : -1;
  }
};

/// Threads of the block that makes results of what an earlier launch has left.
inline constexpr int finish_threads = 1024;

/// What a launch that reduces does. whole: a group's one block makes its results; by_last_block: a
/// group's blocks leave partial results, and the last one makes results of them; to_partials: they
/// leave them for another launch; of_partials: that launch, which has one block a group and no
/// tiles.
enum class reduction_steps : std::int32_t { whole, by_last_block, to_partials, of_partials };

/// How many groups' blocks take tickets at most.
inline constexpr std::uint32_t max_tickets = 1 << 14;

/// How a kernel reduces. Its blocks work in groups of `splits`; a group makes the results of one
/// tile's kept elements, and its blocks take its tiles in turn.
struct reduction_schedule {
  std::int64_t count;                     // elements of each result
  std::int32_t splits, results_a_thread;  // results_a_thread: for which a thread has sums
  sharing threads;
  kept_along kept;
  void* partials;     // the groups' partial results, or null
  unsigned* tickets;  // by_last_block: for each group, how many blocks have left theirs
  const bool* stop;   // of a loop: whether it has ended; or null
  std::int32_t partial_count = 0;  // partial results of each group
  reduction_steps steps = reduction_steps::whole;
  // Which tiles a group's blocks take in turn: all of them; on a mesh each member's take
  // neighbouring ones, which lie with it. The first one is where the grid's first block would
  // begin.
  std::int64_t first_tile = 0, end_tile = 0;
  std::int32_t takers = 1;
  std::uint32_t by_splits = 0;  // groups, where the grid has the first block of each, then the
                                // second of each; 0: group by group
  // On a mesh whose members' blocks take tickets of their own first: from a member's tickets to the
  // next one's; else 0. How many members have blocks of each group.
  std::uint32_t ticket_step = 0, members = 1;

  /// Behind the tickets of all.
  DSL_DETAIL_FN member_tickets of_member(int member, std::uint32_t group) const {
    return {tickets + max_tickets + static_cast<std::size_t>(member) * ticket_step + group,
            ticket_step > 0 ? static_cast<std::uint32_t>(takers) : 0, members};
  }

  /// Of so many of a group's blocks, from number `first` on.
  void take_neighbours(std::int64_t tiles, std::int64_t first, std::int64_t blocks) {
    const std::int64_t begin = tiles * first / splits;
    first_tile = begin - first;
    end_tile = tiles * (first + blocks) / splits;
    takers = static_cast<std::int32_t>(blocks);
  }
};

/// A kernel's parameters, laid out so that the launcher can fill them without knowing the kernel:
/// this, for the strided kernel a `tiling`, an `argument` for each operand, and for the strided
/// kernel max_rank strides for each operand.
struct argument_header {
  block_range range;             // filled in where the kernel is launched
  std::int64_t elements, tiles;  // where the kernel reduces: of a group
  reduction_schedule reduction;
  int phase = 0;                // of a chain's kernel: which it runs
  std::int32_t in_vectors = 0;  // whether all arrays are read and written in whole aligned vectors
};

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

/// How tiles cover a strided index space: along its innermost dimension (0), its second (1) and the
/// others.
struct tiling {
  static constexpr int no_dimension = 0xf;
  std::int64_t extents[2];
  std::int32_t log2_columns, rows,
      outer_rank;  // threads a row, rows of threads, dimensions beyond the second
  std::int32_t shared_bytes, width, height;  // in shared memory; a tile, in elements
  std::int32_t
      along_rows;  // where the kernel reduces: its threads go along the rows of a tile, not down
  std::int32_t pairs;     // its rows are pairs: what varies along them is the same in all of them,
  std::uint64_t in_rows;  // these inputs, a bit for each
  std::uint32_t kept;     // where the kernel reduces: a bit for each dimension that is kept
  std::uint32_t dimension_of_axis;  // 4 bits for each axis, counted from the right; `no_dimension`:
                                    // of extent 1
  divisor across, down, in_column, outer[max_rank - 2];
  // Where neighbours are read by patches: the tile's extent along the third dimension, and that
  // dimension's own.
  std::int32_t planes;
  std::int64_t third;

  /// Along a dimension, counted from the innermost; -1: one along which there is one element.
  DSL_DETAIL_FN std::int64_t extent(int dimension) const {
    if (dimension == 2 && planes > 1) return third;
    return dimension < 0   ? 1
           : dimension < 2 ? extents[dimension]
                           : static_cast<std::int64_t>(outer[dimension - 2].by);
  }
};

/// Every array contiguous: an element's number is its place.
template <int Operands>
struct linear_arguments : argument_header {
  static constexpr bool strided = false;
  argument operand[Operands];
};

/// Whether a kernel takes its tiles by patches.
template <class Arguments> inline constexpr bool takes_patches = false;

/// Anything else: up to eight dimensions, innermost first.
template <int Operands>
struct strided_arguments : argument_header {
  static constexpr bool strided = true;
  tiling tiles_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

/// The same where neighbours are read by patches.
template <int Operands> struct patched_arguments : strided_arguments<Operands> {};
template <int Operands> inline constexpr bool takes_patches<patched_arguments<Operands>> = true;

/// An array of which a block brings a tile into shared memory, with what lies around it: along the
/// three innermost dimensions.
struct halo_tile {
  static constexpr int axes = 3;
  std::uint64_t word;          // the address of its first element
  std::int64_t extents[axes];  // in elements
  std::uint32_t element_bytes, row_bytes,
      plane_bytes;           // from element to element, from row to row, from plane to plane
  std::int32_t first[axes];  // where what is brought begins, beside the block's tile
  std::int32_t operand;      // one in this array, which leads along the other dimensions
  divisor columns;           // of what is brought: pieces of a row
  std::int32_t before,
      behind;                 // of a row's first element: from where to where pieces reach at most
  std::int32_t rows, planes;  // of what is brought; planes for one of the block's
  std::uint32_t offset;       // where it begins in shared memory, in bytes
  std::int32_t size,
      in_vectors;  // of an element, in bytes; whether pieces are 16 bytes, or one element
  boundary beyond[axes];
};

/// As `strided_arguments`, for neighbours at places that are known when the kernel runs.
struct halo_tiles {
  static constexpr int most = 6;
  halo_tile tile[most];
  std::int32_t count;
  std::int32_t before;  // elements of the first tile of a row that do not exist, so that all tiles
                        // are written aligned
  std::uint32_t pitch, plane;  // in shared memory, in bytes: from row to row, from plane to plane
};
template <int Operands>
struct haloed_arguments : strided_arguments<Operands> {
  halo_tiles halos;
  // In shared memory, in bytes: where an array's element at the corner of the block's tile lies,
  // and how far a step leads.
  std::uint32_t place[Operands];
  std::int32_t beside[Operands];
};
template <class Arguments> inline constexpr bool takes_halos = false;
template <int Operands> inline constexpr bool takes_halos<haloed_arguments<Operands>> = true;

}  // namespace dsl::detail

// How a kernel is launched: values that can be printed and, in part, fixed for a call.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/exec/plan/patch_needs.hpp>
#include <dsl/exec/plan/policy.hpp>
#include <dsl/ir/cost.hpp>
#include <dsl/mem/counted_ref.hpp>

namespace dsl {

/// What a user may fix for a call; 0 leaves it to the plan. What a kernel cannot keep to is a
/// device_error. The host has neither.
struct launch {
  int block = 0;  ///< threads a block
  int grid = 0;   ///< blocks at most: kernels that reduce and loops on chip do with fewer than the
                  ///< elements would fill
};

/// How a loop runs. The plan chooses, unless a call of `iterate` names one.
enum class strategy : std::uint8_t {
  automatic,
  launches,     ///< a kernel a step
  graph,        ///< the same kernels, many steps in one CUDA graph
  elementwise,  ///< no reductions: a thread runs all steps of its elements, which it keeps in
                ///< registers
  one_block,    ///< the arrays on chip, in registers and shared memory, of one block
  cooperative,  ///< the arrays on chip, of all blocks, which wait for each other's sums each step
  streamed,     ///< the same for what finds room there; the rest comes and goes each step
  tiled,  ///< neighbours are read: a tile of the arrays on chip, of each block, which waits for
          ///< those around it each step
};

/// What the plans of all kernels say.
struct plan {
  device where{backend::host};
  const char* path = "";  ///< how the index space is covered: "linear", "strided", "transposing",
                          ///< "halos"; of a loop, its strategy
  std::int64_t elements = 0;  ///< in the index space
  int lanes = 1;              ///< elements that a thread takes at a time
  int block = 0;              ///< threads a block; on the host, elements a block
  std::int64_t grid = 0;      ///< blocks
  int shared_bytes = 0;       ///< shared memory a block, in bytes
  int registers = 0;  ///< 32-bit registers a thread, as compiled; 0 where there is no kernel
  int blocks_per_multiprocessor = 0;  ///< that fit on one at once
  cost per_element{};                 ///< operations, and bytes read and written
  int devices = 0;                    ///< of a mesh, how many share the blocks; 0: it is none

  /// One line: device, path, grid, block, lanes, registers, flops and bytes.
  text describe() const;
};

/// Tiles of an index space that is not one line: the piece of its two innermost dimensions that a
/// block takes at a time.
struct tile_plan {
  int columns = 0;  ///< threads along the innermost dimension; 0 where the index space is one line
  int rows = 0;     ///< threads along the second dimension
  int width = 0;    ///< elements along the innermost dimension, or of the line
  int height = 0;   ///< elements along the second dimension
  int shared_bytes = 0;    ///< shared memory for transposed operands, or for a row that all rows of
                           ///< the tile share, in bytes
  std::int64_t count = 0;  ///< tiles; where there are reductions, of each group of results
  int patch_rows = 0;      ///< neighbours are kept in registers, a thread's for so many rows of its
                           ///< elements; 0: read one by one
  int planes = 1;          ///< elements along the third dimension, there
  int halos = 0;  ///< arrays that are read beside elements, of which a block brings its tile and
                  ///< what lies around it
};

/// An elementwise kernel's.
struct map_plan : plan {
  tile_plan tile;
  map_policy policy;

  /// As `plan`'s, with the tiles and the policy.
  text describe() const;
};

namespace detail {

struct found_halos;
void add_owner(found_halos& found) noexcept;
void drop_owner(found_halos& found) noexcept;

}  // namespace detail

/// A kernel's that reduces, beside what it may store for each element.
struct reduction_plan : plan {
  tile_plan tile;
  detail::counted_ref<detail::found_halos> halos;  ///< the arrays that `tile.halos` counts
  reduction_policy policy;
  std::int64_t groups = 1;       ///< of results, each made by `splits` blocks
  int splits = 1;                ///< blocks that leave partial results for one group
  int threads_a_result = 1;      ///< of a block
  int distance = 1;              ///< how far these threads are apart
  int results_a_thread = 1;      ///< that a thread shares in
  bool in_two_launches = false;  ///< the second makes results of what the first one's blocks leave;
                                 ///< else the last block does

  /// As `plan`'s, with the tiles, the blocks and threads of a result, and the policy.
  text describe() const;
};

/// The kernels that keep rows.
enum class row_kernel : std::uint8_t {
  any,      ///< of any rows
  whole,    ///< of rows that are whole in one block's registers in vectors
  columns,  ///< of rows across memory that lie side by side, in vectors
};

/// Of a kernel that keeps rows, what is reduced together, on the chip from the first reduction to
/// the last element.
struct row_plan : plan {
  row_policy policy;
  row_kernel kernel = row_kernel::any;
  std::int64_t rows = 0;      ///< in the index space
  std::int64_t row = 0;       ///< elements of one
  int rows_a_block = 1;       ///< at a time
  int rows_side_by_side = 1;  ///< of these; not 1 where rows lie across memory
  int threads_a_row = 1;      ///< of a block
  int blocks_a_row = 1;       ///< that exchange what they have reduced
  bool in_cluster =
      false;  ///< these blocks: they write it to each other's shared memory; else to global memory
  int vectors = 0;            ///< of a row, in lanes, that a thread has
  bool in_registers = false;  ///< where these are; else in shared memory
  bool staged = false;  ///< there, where all threads of a block bring its rows, of few elements,
                        ///< and take them back
  bool in_vectors = false;  ///< of consecutive elements; else element by element

  /// As `plan`'s, with the threads and vectors of a row, and the policy.
  text describe() const;
};

/// A loop's.
struct loop_plan : plan {
  strategy loop = strategy::automatic;
  loop_policy policy;
  std::int64_t block_vectors =
      0;                ///< of the state, in lanes, that a block keeps; of these a thread has
  int held = 0;         ///< in registers,
  int in_shared = 0;    ///< in shared memory,
  int streamed = 0;     ///< and in memory, from where they come and go each step;
  int l2_resident = 0;  ///< of eight of which so many are to stay in the L2 cache
  std::int64_t tiles[3] =
      {};  ///< along each dimension, the innermost first, a block each; 0 where there are none
  std::int64_t tile_in_memory = 0;  ///< elements of the largest one that are not in shared memory

  /// As `plan`'s, with what stays on chip, and the policy.
  text describe() const;
};

/// A scan's.
struct scan_plan : plan {
  scan_policy policy;
  bool along_columns = false;  ///< threads walk down columns; else blocks take tiles of rows
  std::int64_t tiles = 0;      ///< of the index space
  std::int64_t chunks = 1;     ///< of a column, each scanned by threads of its own

  /// As `plan`'s, with the tiles or chunks, and the policy.
  text describe() const;
};

/// A reduction by key's.
struct by_key_plan : plan {
  std::int64_t groups = 0;   ///< in all
  std::int64_t span = 0;     ///< groups of a table
  int tables = 0;            ///< tables of a block; on the host, of all chunks of elements
  int turns = 1;             ///< warps that take turns at one table; 1: each has its own
  int log2_copies = 0;       ///< of the copies of an entry, which a warp's lanes share out
  int tags = 0;              ///< of a table: lanes leave them where they might meet at one entry
  std::int64_t buckets = 0;  ///< by which elements are sorted before; 0: there are none
  std::int64_t log2_bucket = 0;  ///< of the groups of a bucket

  /// Launches that read all elements, each for the groups of one table.
  std::int64_t launches() const {
    return buckets > 0 || span == 0 ? 1 : (groups + span - 1) / span;
  }
};

namespace detail {

template <class Stream>
concept character_stream = requires(Stream& s) { s.put('c'); };

}  // namespace detail

template <detail::character_stream Stream, std::derived_from<plan> Plan>
Stream& operator<<(Stream& stream, const Plan& p) {
  stream << p.describe().c_str();
  return stream;
}

namespace detail {

/// Throws device_error where a call fixed fewer blocks than a kernel's `grid`, or less than none.
void require_grid(const launch& fixed, std::int64_t grid, const pass_view& pass);

/// Which kernels a pass has beside the one for any layout. What is compiled, and what a plan may
/// choose, is read here alone.
struct kernel_choice {
  bool linear = false;   ///< for contiguous arrays
  bool patches = false;  ///< for neighbours, in registers; in the place of the linear one
  bool finish = false;   ///< joins partial results in a second launch
  bool halos = false;    ///< for neighbours, in shared memory
};

/// What a pass needs of a plan.
struct pass_traits {
  pass_view view;
  int lanes;              // elements that a thread takes at a time
  int accumulator_bytes;  // of all reductions' values
  int state_bytes;        // of the values of the reduction that has the most
  patch_needs patches;
  kernel_choice kernels{};
};

/// Whether a second launch pays that combines the blocks' partial results, of so many bytes each:
/// beside stores, where blocks should not stay, and where one block has soon read all of them.
constexpr bool may_finish_apart(const pass_view& pass, std::size_t accumulator_bytes) {
  return pass.reductions > 0 && traits_of(pass).writes_arrays && accumulator_bytes <= 16;
}

/// What the driver says of a compiled kernel; zeros for the simulator.
struct kernel_attributes {
  int registers, max_block, blocks_per_multiprocessor, static_shared, largest_cluster;
};

/// How a pass reads beside its elements, on which it depends which kernel runs: by patches, by
/// tiles with halos, or one by one. A plan of which nothing else is filled in.
reduction_plan plan_neighbours(const geometry& g, const operand* all, int input_count,
                               const pass_traits& pass);

/// Grid and block for a kernel. One that reduces gets as many blocks as fit on the device at once
/// and walks on from there, so that its partial results are few. Of a pass that does not reduce,
/// the plan is its map_plan (`as_map`). Throws device_error where a fixed block is larger than the
/// kernel allows. `found` is what plan_neighbours found.
reduction_plan make_plan(reduction_plan found, const geometry& g, const operand* all,
                         int input_count, const pass_traits& pass, const reduction_policy& policy,
                         const kernel_attributes& attributes, const launch& fixed);

/// Of a pass that does not reduce.
map_plan as_map(const reduction_plan& p);

/// A tile in shared memory, `size` bytes an element: a row starts one bank further than the row
/// before, so that reading and writing a column takes every bank once.
constexpr int tile_pitch(int columns, int size) { return columns * size + (size < 4 ? 4 : size); }
constexpr int tile_bytes(int columns, int rows, int size) {
  return (tile_pitch(columns, size) * rows + 15) / 16 * 16;
}

inline constexpr int host_block = 256;  // elements; a multiple of every vector width

}  // namespace detail
}  // namespace dsl

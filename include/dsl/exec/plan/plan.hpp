// Launch plans: values that can be printed and, in part, fixed for a call.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/exec/plan/patch_needs.hpp>
#include <dsl/exec/plan/policy.hpp>
#include <dsl/ir/cost.hpp>
#include <dsl/mem/counted_ref.hpp>

namespace dsl {

/// Launch numbers that a user may fix for a call; 0 leaves them to the plan. Throws device_error if
/// the kernel cannot use them. The host has neither.
struct launch {
  int block = 0;  ///< Threads a block.
  /// Maximum number of blocks. Kernels that reduce and loops on chip need fewer than the elements
  /// would fill.
  int grid = 0;
};

/// How a loop runs. The plan chooses, unless a call of `iterate` names one.
enum class strategy : std::uint8_t {
  automatic,
  launches,  ///< A kernel a step.
  graph,     ///< The same kernels, many steps in one CUDA graph.
  /// No reductions: a thread runs all steps of its elements, which stay in registers.
  elementwise,
  one_block,    ///< One block, with the arrays in its registers and shared memory.
  cooperative,  ///< All blocks, with the arrays on chip; they exchange partial results each step.
  /// The same for the elements that fit on chip; the others are read and written each step.
  streamed,
  /// Neighbours are read: each block keeps a tile of the arrays on chip, and waits for the blocks
  /// of the adjacent tiles each step.
  tiled,
};

/// The part common to the plans of all kernels.
struct plan {
  device where{backend::host};
  /// How the index space is covered: "linear", "strided", "transposing", "halos"; in a loop, its
  /// strategy.
  const char* path = "";
  std::int64_t elements = 0;  ///< In the index space.
  int lanes = 1;              ///< Elements that a thread takes side by side.
  int block = 0;              ///< Threads a block; on the host, elements a block.
  std::int64_t grid = 0;      ///< Blocks.
  int shared_bytes = 0;       ///< Shared memory a block, in bytes.
  int registers = 0;          ///< 32-bit registers a thread, as compiled; 0 if there is no kernel.
  int blocks_per_multiprocessor = 0;  ///< Blocks that fit on a multiprocessor at once.
  cost per_element{};                 ///< Operations, and bytes read and written.
  int devices = 0;                    ///< GPUs of a mesh that share the blocks; 0: not a mesh.

  /// One line: device, path, grid, block, lanes, registers, flops and bytes.
  text describe() const;
};

/// Tiles of an index space that is not one line: a block takes a rectangle of its two innermost
/// dimensions at a time.
struct tile_plan {
  int columns = 0;  ///< Threads along the innermost dimension; 0 if the index space is one line.
  int rows = 0;     ///< Threads along the second dimension.
  int width = 0;    ///< Elements along the innermost dimension, or of the line.
  int height = 0;   ///< Elements along the second dimension.
  /// Bytes of shared memory for transposed operands, or for a row that all rows of the tile share.
  int shared_bytes = 0;
  std::int64_t count = 0;  ///< Tiles; in a reduction, of each group of results.
  /// Rows of a thread's patch, whose neighbours are kept in registers; 0: neighbours are read one
  /// by one.
  int patch_rows = 0;
  int planes = 1;          ///< With patches: elements along the third dimension.
  bool displaced = false;  ///< Displaced reads: a thread an element, in one line.
  int halos = 0;           ///< Arrays whose tile and halo a block copies to shared memory.
};

/// The plan of an elementwise kernel.
struct map_plan : plan {
  tile_plan tile;
  map_policy policy;

  /// As `plan::describe`, with the tiles and the policy.
  text describe() const;
};

namespace detail {

struct found_halos;
void add_owner(found_halos& found) noexcept;
void drop_owner(found_halos& found) noexcept;

}  // namespace detail

/// The plan of a kernel that reduces, and may also store elements.
struct reduction_plan : plan {
  tile_plan tile;
  detail::counted_ref<detail::found_halos> halos;  ///< The arrays that `tile.halos` counts.
  reduction_policy policy;
  std::int64_t groups = 1;        ///< Groups of results, each made by `splits` blocks.
  int splits = 1;                 ///< Blocks that leave partial results for one group.
  int threads_a_result = 1;       ///< Threads of a block that share a result.
  int distance = 1;               ///< Distance between these threads.
  int results_a_thread = 1;       ///< Results in which a thread takes part.
  std::size_t partial_bytes = 0;  ///< Bytes of a block's partial result for one group.
  /// A second launch combines the partial results; else the last block does.
  bool in_two_launches = false;

  /// As `plan::describe`, with the tiles, the blocks and threads of a result, and the policy.
  text describe() const;
};

/// The kernels that keep rows on chip.
enum class row_kernel : std::uint8_t {
  any,        ///< Rows of any layout.
  with_ends,  ///< Rows in vectors that begin or end between vectors.
  whole,      ///< Rows of vectors that fit in one block's registers.
  columns,    ///< Rows that are columns in memory: adjacent ones, in vectors.
};

/// The plan of a kernel that keeps rows on chip: the elements that are reduced together stay there
/// from the first reduction to the last element.
struct row_plan : plan {
  row_policy policy;
  row_kernel kernel = row_kernel::any;
  std::int64_t rows = 0;      ///< In the index space.
  std::int64_t row = 0;       ///< Elements of a row.
  int rows_a_block = 1;       ///< Rows that a block takes at a time.
  int rows_side_by_side = 1;  ///< Adjacent rows among these; not 1 if rows are columns in memory.
  int threads_a_row = 1;      ///< Threads of a block for one row.
  int blocks_a_row = 1;       ///< Blocks that share a row and exchange partial results.
  /// Whether these blocks form a cluster and write partial results to each other's shared memory;
  /// else to global memory.
  bool in_cluster = false;
  int vectors = 0;            ///< Vectors of `lanes` elements of a row that a thread has.
  bool in_registers = false;  ///< Whether these are in registers; else in shared memory.
  /// In shared memory: all threads of a block load and store its rows together, since rows are
  /// short.
  bool staged = false;
  /// Whether a vector is consecutive elements; else elements are read one by one.
  bool in_vectors = false;

  /// As `plan::describe`, with the threads and vectors of a row, and the policy.
  text describe() const;
};

/// The plan of a loop.
struct loop_plan : plan {
  strategy loop = strategy::automatic;
  loop_policy policy;
  /// Vectors of `lanes` elements of the state that a block keeps.
  std::int64_t block_vectors = 0;
  int held = 0;         ///< Vectors that a thread has in registers.
  int in_shared = 0;    ///< Vectors that a thread has in shared memory.
  int streamed = 0;     ///< Vectors that a thread reads and writes in memory each step.
  int l2_resident = 0;  ///< Of eight of these, the number that should stay in the L2 cache.
  /// The whole state is on chip, together with the elements that later phases reuse.
  bool on_chip = false;
  int reused_bytes = 0;  ///< Bytes of these for each element of the state.
  /// Tiles along each dimension, innermost first, one block each; 0 without tiles.
  std::int64_t tiles[3] = {};
  std::int64_t tile_in_memory = 0;  ///< Elements of the largest tile that are not in shared memory.

  /// As `plan::describe`, with the number of vectors on chip, and the policy.
  text describe() const;
};

/// The plan of a scan.
struct scan_plan : plan {
  scan_policy policy;
  /// Whether threads walk down columns; else blocks take tiles of rows.
  bool along_columns = false;
  std::int64_t tiles = 0;   ///< Tiles of the index space.
  std::int64_t chunks = 1;  ///< Chunks of a column, each scanned by its own threads.

  /// As `plan::describe`, with the tiles or chunks, and the policy.
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

/// Throws device_error if a call fixed fewer blocks than a kernel's `grid`, or a negative number.
void require_grid(const launch& fixed, std::int64_t grid, const pass_view& pass);

/// The kernels that a pass has besides the one for any layout. Both the compiled kernels and the
/// plan's choice come from here.
struct kernel_choice {
  bool linear = false;     ///< For contiguous arrays.
  bool patches = false;    ///< For neighbours in registers; replaces the linear one.
  bool displaced = false;  ///< For displaced reads; replaces both.
  bool finish = false;     ///< Combines partial results in a second launch.
  bool halos = false;      ///< For neighbours in shared memory.
};

/// The properties of a pass that a plan depends on.
struct pass_traits {
  pass_view view;
  int lanes;              // Elements that a thread takes side by side.
  int accumulator_bytes;  // Accumulators of all reductions together.
  int state_bytes;        // The largest accumulator of one reduction.
  patch_needs patches;
  kernel_choice kernels{};
};

/// Whether a second launch may combine the blocks' partial results, of `accumulator_bytes` each. It
/// pays if the pass also stores elements, where blocks should not stay resident, and if partial
/// results are so small that one block reads all of them quickly.
constexpr bool may_finish_apart(const pass_view& pass, std::size_t accumulator_bytes) {
  return pass.reductions > 0 && traits_of(pass).writes_arrays && accumulator_bytes <= 16;
}

/// Whether a pass that reduces down columns may read what lies beyond a row's ends and drop what it
/// computes there (plan/row_leads.hpp): it calls no functor and writes no array. Wide accumulators
/// would take more registers in the whole kernel.
constexpr bool may_read_beyond_rows(const pass_view& pass, int accumulator_bytes) {
  for (int i = 0; i < pass.elements.nodes; ++i)
    if (head{pass.elements.heads[i]}.code() == op::call) return false;
  return pass.reductions > 0 && !pass.reduces_beside_arrays() && accumulator_bytes <= 8;
}

/// Attributes of a compiled kernel, from the driver; zeros in the simulator.
struct kernel_attributes {
  int registers, max_block, blocks_per_multiprocessor, static_shared, largest_cluster;
};

/// Chooses patches, halos or per-element neighbour reads, which decides the kernel. Returns a plan
/// with only that filled in.
reduction_plan plan_neighbours(const geometry& g, const operand* all, int input_count,
                               const pass_traits& pass);

/// Grid and block of a kernel. A kernel that reduces gets as many blocks as fit on the device at
/// once, each of which takes several tiles, so that there are few partial results. Without
/// reductions, the plan is the pass's map_plan (`as_map`). `found` is the result of
/// plan_neighbours. Throws device_error if a fixed block is larger than the kernel allows.
reduction_plan make_plan(reduction_plan found, const geometry& g, const operand* all,
                         int input_count, const pass_traits& pass, const reduction_policy& policy,
                         const kernel_attributes& attributes, const launch& fixed);

/// The plan of a pass without reductions.
map_plan as_map(const reduction_plan& p);

/// A tile in shared memory of elements of `size` bytes: each row starts one bank after the previous
/// row, so that accesses to a column have no bank conflicts.
constexpr int tile_pitch(int columns, int size) { return columns * size + (size < 4 ? 4 : size); }
constexpr int tile_bytes(int columns, int rows, int size) {
  return (tile_pitch(columns, size) * rows + 15) / 16 * 16;
}

// Elements; a multiple of every vector width.
inline constexpr int host_block = 256;

}  // namespace detail
}  // namespace dsl

// How a kernel is launched: a value that can be printed and, field by field, overridden.
#pragma once

#include <dsl/exec/operand.hpp>
#include <dsl/ir/cost.hpp>

namespace dsl {

/// What a user may fix for a call; 0 leaves it to the plan. What a kernel cannot keep to is a device_error. The host has neither.
struct launch {
  int block = 0;  ///< threads a block
  int grid = 0;   ///< blocks at most: kernels that reduce and loops on chip do with fewer than the elements would fill
};

/// How a loop runs. The plan chooses, unless a call of `iterate` names one.
enum class strategy : std::uint8_t {
  automatic,
  launches,     ///< a kernel a step
  graph,        ///< the same kernels, many steps in one CUDA graph
  elementwise,  ///< no reductions: a thread runs all steps of its elements, which it keeps in registers
  one_block,    ///< the arrays on chip, in registers and shared memory, of one block
  cooperative,  ///< the arrays on chip, of all blocks, which wait for each other's sums each step
  streamed,     ///< the same for what finds room there; the rest comes and goes each step
};

/// How an expression or a loop runs.
struct plan {
  device where{backend::host};
  const char* path = "";      ///< "linear"; "strided"; "transposing", through tiles in shared memory
  std::int64_t elements = 0;
  int lanes = 1;              ///< elements a thread takes at a time
  int block = 0;              ///< threads a block; on the host, elements a block
  int columns = 0, rows = 0;  ///< unless linear: threads along the innermost dimension and along the second
  int width = 0, height = 0;  ///< unless linear: a tile in elements, the piece of the index space that a block takes at a time
  int tile_bytes = 0;         ///< of shared memory, for tiles of transposed operands
  int shared_bytes = 0;       ///< shared memory a block
  std::int64_t tiles = 0;     ///< where there are reductions, for each group of results
  std::int64_t groups = 1;    ///< of results, each made by `splits` blocks
  int splits = 1;
  int parts = 1, distance = 1;  ///< threads that make one result, and how far they are apart
  int slots = 1;              ///< results that a thread has a part of
  std::int64_t grid = 0;      ///< blocks
  int registers = 0;          ///< a thread, as compiled; 0 where there is no kernel
  int blocks_per_multiprocessor = 0;
  strategy loop = strategy::automatic;  ///< of a loop: how its steps run; then, of a block:
  std::int64_t block_groups = 0;        ///< groups of lanes
  int held = 0, in_shared = 0, streamed = 0;  ///< of these, a thread's in registers, in shared memory, and the others, of which
  int near = 0;                         ///< so many of eight are to stay in the L2 cache
  cost per_element{};

  /// One line: device, path, grid, block, lanes, registers, flops and bytes.
  text describe() const;
};

template <class Stream>
  requires requires(Stream& s) { s.put('c'); }
Stream& operator<<(Stream& stream, const plan& p) {
  stream << p.describe().c_str();
  return stream;
}

namespace detail {

/// Throws device_error where a call fixed fewer blocks than a kernel's `grid`, or less than none.
void require_grid(const launch& fixed, std::int64_t grid, const pass_view& pass);

/// What a pass needs of a plan.
struct pass_traits {
  pass_view view;
  int lanes;              // elements a thread takes at a time
  int ahead[2];           // how often it does before it computes with the first, in the linear and the strided kernel
  int accumulator_bytes;  // all folds' values
  int state_bytes;        // of the fold that has the most
};

/// What the driver says of a compiled kernel; zeros for the simulator.
struct kernel_attributes { int registers, max_block, blocks_per_multiprocessor, static_shared; };

/// What a loop's kernel needs of a plan.
struct loop_traits {
  int held;         // groups of lanes that a thread keeps in registers
  int ahead;        // that are on their way where some are streamed
  int group_bytes;  // of one, in all arrays that are carried
  int most_threads;
};

/// Grid and block for a kernel. One that reduces gets as many blocks as fit on the device at once and walks on from there, so that
/// its partial results are few. Throws device_error where a fixed block is larger than the kernel allows.
plan make_plan(const geometry& g, const operand* inputs, int input_count, const pass_traits& pass, const kernel_attributes& attributes,
               const launch& fixed);

/// A tile in shared memory, `size` bytes an element: a row starts one bank further than the row before, so that reading and writing
/// a column takes every bank once.
constexpr int tile_pitch(int columns, int size) { return columns * size + (size < 4 ? 4 : size); }
constexpr int tile_bytes(int columns, int rows, int size) { return (tile_pitch(columns, size) * rows + 15) / 16 * 16; }

inline constexpr int default_block = 256;
inline constexpr int host_block = 256;  // elements; a multiple of every vector width

/// Elements a thread takes at a time: 16 bytes of the narrowest array, but no more than 32 bytes of the widest.
constexpr int lanes_for(const pass_view& p) {
  int narrowest = 16, widest = 1;
  const auto take = [&](int size) {
    narrowest = size < narrowest ? size : narrowest;
    widest = size > widest ? size : widest;
  };
  for (int i = 0; i < p.elements.nodes; ++i)
    if (const head h{p.elements.heads[i]}; h.code() == op::load || h.code() == op::neighbour) take(size_of(h.type()));
  for (int i = 0; i < p.target_count; ++i)
    if (!p.is_result(i)) take(size_of(p.type(i)));
  const int by_narrowest = 16 / narrowest, by_widest = 32 / widest;
  return by_narrowest < by_widest ? by_narrowest : by_widest;
}

}  // namespace detail
}  // namespace dsl

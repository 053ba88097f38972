// Tuning numbers of kernels. Those marked "compiled" are compiled into the kernels; the others are
// read when a launch is planned.
//
// A policy is chosen for a formula, by its dtypes and the compute capability that it is compiled
// for. A named formula may have another one: `struct rk4_step { struct policy : dsl::default_policy
// { ... }; };` and `dsl::vectorize<rk4_step>(f)`.
#pragma once

#include <dsl/ir/pass.hpp>

namespace dsl {

/// The properties of a formula by which a policy is chosen.
struct formula_traits {
  int nodes = 0;       ///< Operations, constants and operands.
  int narrowest = 0;   ///< Bytes of an element of the narrowest array that is read or written.
  int widest = 0;      ///< The same of the widest.
  int read_bytes = 0;  ///< Bytes of one element of every array that is read in place.
  bool writes_arrays = false;  ///< Writes arrays, not only results of reductions.
  /// Reads neighbours, at displacements known at compile time or not.
  bool reads_beside = false;
  bool draws = false;     ///< Draws random numbers.
  int carried_bytes = 0;  ///< In a loop: bytes of one element of every array that the loop carries.
  int reduced_bytes = 0;  ///< Bytes of a thread's accumulators; in a chain, of its largest phase.
};

/// Policy of kernels that write a value for each element.
struct map_policy {
  /// Compiled: elements that a thread takes side by side, of all operands; a power of two.
  int lanes = 1;
  /// Compiled: a formula of more nodes becomes a function that is called. Twice as many if it reads
  /// elements at computed positions, because a call waits for them, lane after lane.
  int inlined_nodes = 256;
  /// Compiled: vectors of `lanes` elements that a thread takes one after another, if arrays are
  /// contiguous.
  int vectors = 1;
  /// Compiled: contiguous arrays have their own kernel, apart from the one for any layout.
  bool has_linear = true;
  int block = 256;  ///< Threads a block.
  /// The same if there are too few elements to occupy all multiprocessors.
  int least_block = 64;
  /// Rows of a tile for each thread, if the index space is not one line.
  int rows_a_thread = 4;
  int patch_rows = 8;          ///< Compiled: maximum rows of a patch, where neighbours are read.
  int patch_planes = 4;        ///< Compiled: the same along a third dimension.
  int patch_block = 128;       ///< Compiled: maximum threads a block of kernels with patches.
  int patch_blocks = 4;        ///< Compiled: such blocks that should fit on a multiprocessor.
  int halo_rows = 8;           ///< With halos: rows of a tile for each thread.
  int halo_planes = 4;         ///< With halos: extent of a tile along a third dimension.
  int halo_memory = 64 << 10;  ///< With halos: maximum bytes of shared memory a block.
  /// Maximum bytes of shared memory a block for tiles of transposed operands.
  int tile_memory = 48 << 10;
};

/// Policy of kernels that reduce.
struct reduction_policy : map_policy {
  /// Compiled: vectors of `lanes` elements that are loaded before the first one is used.
  int vectors_ahead = 1;
  int strided_vectors_ahead = 1;  ///< Compiled: the same if the index space is not one line.
  int occupancy = 100;            ///< Percent of a multiprocessor's threads that blocks may occupy.
  /// A second launch combines partial results if at least this many bytes a multiprocessor are read
  /// and written.
  int finish_apart_from = 512 << 10;
  int tiles_a_block = 2;  ///< Tiles of a block whose partial results a second launch combines.
};

/// Policy of loops that run in one kernel.
struct loop_policy {
  int block = 512;  ///< Compiled: maximum threads a block.
  /// Compiled: vectors of `lanes` elements in a thread's registers. Each one needs another copy of
  /// the formula's code.
  int vectors_held = 4;
  /// Compiled: rows of a block that are being loaded while another one is computed.
  int rows_ahead = 2;
  /// Compiled: rows whose values are combined before they are added to a thread's accumulator.
  int rows_joined = 16;
  int elementwise_block = 256;  ///< Threads a block, if there are no reductions.
  int resident_percent = 40;    ///< Percent of the L2 cache for streamed elements.
  /// Operations a step up to which one block is faster than blocks that exchange partial results.
  double one_block = 2.5e5;
  /// Number of steps from which a CUDA graph saves more time than its creation takes.
  int graph_from = 512;
  int graph_steps = 64;  ///< Steps in one graph.
};

/// Policy of scans. A block has 256 threads.
struct scan_policy {
  int lanes = 1;   ///< Compiled: as `map_policy::lanes`.
  int rounds = 8;  ///< Compiled: vectors of a tile for each thread; a power of two.
  /// Compiled: vectors that are loaded before the first one is used.
  int vectors_ahead = 4;
  /// Compiled: blocks that should fit on a multiprocessor, for rows in memory order.
  int blocks = 6;
  int strided_blocks = 4;  ///< Compiled: the same for other rows.
  /// Compiled: nanoseconds before a block polls for the total of the elements before its tile.
  unsigned pause = 600;
  int column_blocks = 2;  ///< Compiled: blocks that should fit on a multiprocessor, for columns.
  int rows_ahead = 4;     ///< Compiled: rows of a column that are loaded at the same time.
  /// Compiled: rows that are combined one after another before they are combined with the rows
  /// before them.
  int column_run = 64;
  int totals_run = 16;        ///< Compiled: the same for chunks' totals.
  int totals_ahead = 8;       ///< Compiled: totals that are loaded at the same time.
  int column_threads = 1024;  ///< Threads a multiprocessor for which columns are cut into chunks.
  int least_chunk = 16;       ///< Rows.
};

/// Policy of kernels that keep rows on chip while all reductions of a formula, and everything
/// computed from their results, are evaluated.
struct row_policy {
  /// Compiled: elements that a thread takes side by side, of all operands; a power of two.
  int lanes = 1;
  /// Compiled: a formula of more nodes becomes a function that is called.
  int inlined_nodes = 256;
  int block = 512;  ///< Compiled: maximum threads a block.
  int blocks = 3;   ///< Compiled: such blocks that should fit on a multiprocessor.
  /// Compiled: for rows in vectors: maximum vectors of `lanes` elements of a thread, if the whole
  /// row is in a block's registers.
  int vectors_held = 4;
  /// Compiled: the same for rows without vectors; 0: these are in shared memory.
  int vectors_of_others = 8;
  /// Compiled: as `blocks`, where rows without vectors are in registers.
  int blocks_of_others = 2;
  /// Vectors of `lanes` elements of a row in shared memory for each thread, if the row is long
  /// enough.
  int vectors = 8;
  /// Threads a block for short rows, and for rows that several blocks share.
  int usual_block = 256;
  /// Minimum elements of a column for each thread, if rows are not adjacent in memory.
  int elements_across = 16;
  /// Maximum elements of a row that one thread has alone, if the row has no vectors.
  int staged_elements = 32;
  int staged_memory = 36 << 10;  ///< Bytes of shared memory a block for such rows.
  /// Bytes of shared memory of a block for its part of a row; three such blocks fit.
  int row_memory = 74 << 10;
};

/// The policies measured as best on compute capability 9.0 (docs/lab.md), used for all
/// others as well.
struct default_policy {
  /// Lanes make 16 bytes of the widest array: with more, a warp's accesses would leave gaps.
  /// Neighbours of patches of bytes are kept in registers by 8 elements. The same for every compute
  /// capability, since operands are laid out before a device's kernel is chosen. Random numbers
  /// without arrays take eight, two blocks of random bits under one key.
  static constexpr int lanes(const formula_traits& f) {
    if (f.draws && f.widest < f.narrowest) return f.nodes <= 64 ? 8 : 4;
    // By the widest: smaller if there are no arrays.
    const int by_narrowest = 16 / f.narrowest, by_widest = 16 / f.widest;
    const int whole = by_narrowest < by_widest ? by_narrowest : by_widest;
    return f.reads_beside && whole > 8 ? 8 : whole;
  }
  static constexpr map_policy map(const formula_traits& f, int /*compute_capability*/) {
    map_policy p;
    p.lanes = lanes(f);
    // Blocks of long computations finish more evenly if they are small.
    if (f.nodes > 32) p.block = 128;
    if (f.draws && f.read_bytes == 0)
      // The keys of Philox's rounds are then made once for all vectors.
      p.vectors = 8;
    return p;
  }
  /// Loading vectors ahead keeps many bytes in flight. With stores, and in long formulas, it costs
  /// more registers than it gains; stores in a reduction are faster with half of the threads.
  static constexpr reduction_policy reduction(const formula_traits& f, int compute_capability) {
    reduction_policy p{map(f, compute_capability)};
    p.block = map_policy{}.block;
    if (f.writes_arrays) p.occupancy = 50;
    if (f.writes_arrays || f.nodes > 64) return p;
    if (f.draws && f.read_bytes == 0) return p;
    const int bytes = f.read_bytes * p.lanes;
    p.strided_vectors_ahead = bytes <= 16 ? 4 : bytes <= 48 ? 2 : 1;
    p.vectors_ahead = bytes <= 16 && f.nodes <= 16 ? 8 : p.strided_vectors_ahead;
    return p;
  }
  /// A long formula gets the registers it needs, and one vector in registers, so that its code is
  /// not repeated: `ode::integrate` takes the same time with one, in half of the code. 64 bytes a
  /// thread being loaded cover the memory's latency.
  static constexpr loop_policy loop(const formula_traits& f, int /*compute_capability*/) {
    loop_policy p;
    const int bytes = f.carried_bytes * lanes(f);
    p.block = f.nodes <= 256 ? 512 : 256;
    p.vectors_held = f.nodes > 128 || bytes > 64 ? 1 : bytes > 32 ? 2 : 4;
    p.rows_ahead = bytes <= 16 ? 4 : bytes <= 24 ? 3 : 2;
    return p;
  }
  static constexpr row_policy rows(const formula_traits& f, int /*compute_capability*/) {
    row_policy p;
    p.lanes = lanes(f);
    const int bytes = f.read_bytes * p.lanes;
    p.vectors_held = f.nodes > 64 || bytes > 48 ? 1 : bytes > 16 ? 2 : 4;
    // Combining narrower elements, one by one, takes instructions, and formulas of wider ones take
    // more registers.
    p.vectors_of_others =
        f.nodes > 64 || f.narrowest != 4 || f.widest != 4 ? 0 : 2 * p.vectors_held;
    if (f.nodes > 64) p.blocks = 2;
    // The accumulators of several variances fill registers as a long formula does.
    if (f.nodes > 256 || f.reduced_bytes > 64) p.blocks = 1;
    return p;
  }
  /// 8 vectors a thread, or 32 elements. If few vectors are in registers, shared memory leaves room
  /// for many blocks.
  static constexpr scan_policy scan(const formula_traits& f, int /*compute_capability*/) {
    scan_policy p;
    p.lanes = lanes(f);
    p.rounds = p.lanes > 4 ? 32 / p.lanes : 8;
    const int bytes = f.read_bytes * p.lanes;
    p.vectors_ahead = bytes <= 16 ? 4 : bytes <= 32 ? 2 : 1;
    p.blocks = f.nodes <= 16 ? 6 : f.nodes <= 64 ? 4 : 2;
    p.strided_blocks = p.blocks < 4 ? p.blocks : 4;
    return p;
  }
};

namespace detail {

/// The traits of a formula before its arrays are added.
constexpr formula_traits traits_without_arrays() {
  formula_traits f;
  f.narrowest = 16;
  f.widest = 1;
  return f;
}
constexpr void add_array(formula_traits& f, int size) {
  f.narrowest = size < f.narrowest ? size : f.narrowest;
  f.widest = size > f.widest ? size : f.widest;
}

/// Bytes of the accumulators of a pass's reductions.
constexpr int reduced_bytes_of(const pass_view& p) {
  int bytes = 0;
  for (int j = 0; j < p.reductions; ++j)
    for (int k = 0; k < p.rules[j].output_count; ++k) bytes += size_of(p.rules[j].output(k).type());
  return bytes;
}

/// `carried`: in a loop, the number of targets that are its variables.
constexpr formula_traits traits_of(const pass_view& p, int carried = 0) {
  formula_traits f = traits_without_arrays();
  f.nodes = p.elements.nodes;
  f.reduced_bytes = reduced_bytes_of(p);
  f.draws = draws_bits(p.elements);
  for (int i = 0; i < p.elements.nodes; ++i) {
    const head h{p.elements.heads[i]};
    if (h.code() == op::load || h.code() == op::neighbour) add_array(f, size_of(h.type()));
    if (h.code() == op::load) f.read_bytes += size_of(h.type());
    if (h.code() == op::neighbour) f.reads_beside = true;
  }
  for (int i = 0; i < p.target_count; ++i) {
    if (p.is_result(i)) continue;
    add_array(f, size_of(p.type(i)));
    f.writes_arrays = true;
    if (i < carried) f.carried_bytes += size_of(p.type(i));
  }
  return f;
}

/// The compute capability that a file's kernels are tuned for, 90 for 9.0: the lowest that the file
/// is compiled for, since the program that plans launches must know what was compiled. 0 in a file
/// that nvcc does not compile, and in the simulator.
constexpr int lowest_capability() {
  int lowest = 0;
  for (const int architecture : {DSL_DETAIL_ARCHITECTURE_NUMBERS})
    lowest = lowest == 0 || architecture / 10 < lowest ? architecture / 10 : lowest;
  return lowest;
}

/// The policies of a name or of a pass.
template <class T> struct policy_chosen_by { using type = default_policy; };
template <class T>
  requires requires { typename T::policy; }
struct policy_chosen_by<T> {
  using type = typename T::policy;
};
template <class T> using policy_of = typename policy_chosen_by<T>::type;

/// A pass with another policy.
template <class Pass, class Policy> struct tuned : Pass { using policy = Policy; };
template <class Pass, class Name>
using tuned_by_name = std::conditional_t<std::is_same_v<policy_of<Name>, default_policy>, Pass,
                                         tuned<Pass, policy_of<Name>>>;

template <class Pass> inline constexpr int lanes_of_scan =
    policy_of<Pass>::scan(traits_of(Pass::view()), 0).lanes;
template <class Pass> inline constexpr int lanes_of_pass =
    policy_of<Pass>::map(traits_of(Pass::view()), 0).lanes;

/// The policy of a pass; without reductions, its map_policy.
template <class Pass>
constexpr reduction_policy pass_policy(int compute_capability) {
  constexpr pass_view pass = Pass::view();
  if constexpr (pass.reductions > 0)
    return policy_of<Pass>::reduction(traits_of(pass), compute_capability);
  else return reduction_policy{policy_of<Pass>::map(traits_of(pass), compute_capability)};
}
template <class Pass>
constexpr loop_policy loop_policy_of(int states, int compute_capability) {
  return policy_of<Pass>::loop(traits_of(Pass::view(), states), compute_capability);
}
/// A warp takes as many elements in fewer rounds if it has more than 32 threads.
template <class Pass>
constexpr scan_policy scan_policy_of(int compute_capability, int warp_size) {
  scan_policy p = policy_of<Pass>::scan(traits_of(Pass::view()), compute_capability);
  if (warp_size > 32 && p.rounds > 1) p.rounds = p.rounds * 32 / warp_size;
  return p;
}

}  // namespace detail
}  // namespace dsl

// What kernels are tuned by: numbers that are compiled into them, and numbers that a launch is
// planned with.
//
// A policy is chosen for a formula, by its dtypes and the compute capability that it is compiled
// for. Whoever names a formula may choose another one: `struct rk4_step { struct policy :
// dsl::default_policy { ... }; };` and `dsl::vectorize<rk4_step>(f)`.
#pragma once

#include <dsl/ir/pass.hpp>

namespace dsl {

/// What a policy is chosen by.
struct formula_traits {
  int nodes = 0;       ///< operations, constants and operands
  int narrowest = 0;   ///< bytes of an element of the narrowest array that is read or written
  int widest = 0;      ///< the same of the widest
  int read_bytes = 0;  ///< of one element, of all arrays that are read in place
  bool writes_arrays = false;  ///< as opposed to results of reductions alone
  bool reads_beside =
      false;  ///< neighbours of elements, at distances that are known while compiling or not
  bool draws = false;     ///< random numbers
  int carried_bytes = 0;  ///< of one element, of all arrays that a loop carries
};

/// Of kernels that write a value for each element.
struct map_policy {
  int lanes =
      1;  ///< compiled: elements that a thread takes at a time, of all operands; a power of two
  int inlined_nodes = 256;  ///< compiled: a formula of more nodes is compiled once, and called
  int vectors = 1;  ///< compiled: lanes times so many elements of contiguous arrays that a thread
                    ///< takes, one by one
  bool has_linear =
      true;  ///< compiled: contiguous arrays have a kernel of their own, not the one of any layout
  int block = 256;  ///< threads a block
  int least_block =
      64;  ///< the same where there are too few elements to occupy all multiprocessors
  int rows_a_thread = 4;       ///< of a tile, where the index space is not one line
  int patch_rows = 8;          ///< compiled: rows of a patch, at most, where neighbours are read
  int patch_planes = 4;        ///< compiled: the same along a third dimension
  int patch_block = 128;       ///< compiled: threads a block there, at most
  int patch_blocks = 4;        ///< compiled: such blocks that a multiprocessor is to hold
  int halo_rows = 8;           ///< rows a thread, where a block brings what lies around its tile
  int halo_planes = 4;         ///< of a tile there, along a third dimension
  int halo_memory = 64 << 10;  ///< bytes of a block's shared memory there, at most
  int tile_memory =
      48 << 10;  ///< bytes of a block's shared memory, at most, for tiles of transposed operands
};

/// Of kernels that reduce.
struct reduction_policy : map_policy {
  int vectors_ahead = 1;  ///< compiled: lanes times so many elements are read before the first of
                          ///< them is computed with
  int strided_vectors_ahead = 1;  ///< the same where the index space is not one line
  int occupancy = 100;            ///< percent of the threads that a multiprocessor holds
  int finish_apart_from =
      512
      << 10;  ///< bytes a multiprocessor, read and written: beside so many a second launch finishes
  int tiles_a_block = 2;  ///< tiles of a block whose sums a second launch finishes
};

/// Of loops that run in one kernel.
struct loop_policy {
  int block = 512;       ///< compiled: threads a block, at most
  int vectors_held = 4;  ///< compiled: lanes times so many elements are in a thread's registers;
                         ///< each takes a copy of the formula's code
  int rows_ahead = 2;    ///< compiled: rows of a block that are on their way from memory while
                         ///< another is computed with
  int rows_joined =
      16;  ///< compiled: rows whose sums are joined before they are added to a thread's
  int elementwise_block = 256;  ///< threads a block, where there are no reductions
  int resident_percent = 40;    ///< of the L2 cache, for what is streamed
  double one_block = 2.5e5;     ///< operations a step, up to which one block alone is faster than
                                ///< blocks that exchange sums
  int graph_from = 512;  ///< steps from which on a CUDA graph is made in less time than it saves
  int graph_steps = 64;  ///< steps in one graph
};

/// Of scans. A block has 256 threads.
struct scan_policy {
  int lanes = 1;   ///< compiled: as a map's
  int rounds = 8;  ///< compiled: vectors that a thread takes of a tile; a power of two
  int vectors_ahead =
      4;  ///< compiled: vectors that are read before the first of them is computed with
  int blocks =
      6;  ///< compiled: blocks that a multiprocessor is to hold, along rows in memory order
  int strided_blocks = 4;  ///< the same along other rows
  unsigned pause =
      600;  ///< compiled: nanoseconds before a block looks for what comes before its tile
  int column_blocks = 2;  ///< the same along columns
  int rows_ahead = 4;     ///< compiled: rows of a column whose loads are on their way together
  int column_run = 64;    ///< compiled: rows that are combined one after another before they join
                          ///< what comes before them
  int totals_run = 16;    ///< compiled: the same of chunks' totals
  int totals_ahead = 8;   ///< compiled: totals whose loads are on their way together
  int column_threads = 1024;  ///< a multiprocessor, that columns are cut into chunks for
  int least_chunk = 16;       ///< rows
};

/// Of kernels that keep rows on the chip while all reductions of a formula, and what is computed
/// with their values, are evaluated.
struct row_policy {
  int lanes =
      1;  ///< compiled: elements that a thread takes at a time, of all operands; a power of two
  int inlined_nodes = 256;  ///< compiled: a formula of more nodes is compiled once, and called
  int block = 512;          ///< compiled: threads a block, at most
  int blocks = 3;           ///< compiled: such blocks that a multiprocessor is to hold
  int vectors_held = 4;     ///< compiled: lanes times so many elements of rows that go in vectors,
                            ///< whole, to a block's registers
  int vectors_of_others = 8;  ///< compiled: the same of other rows; 0: those are in shared memory
  int blocks_of_others = 2;   ///< compiled: as `blocks`, where these are in registers
  int vectors = 8;  ///< lanes times so many elements of a row in shared memory are a thread's,
                    ///< where the row is long enough
  int usual_block = 256;  ///< threads a block of short rows, and of rows that several blocks share
  int elements_across = 16;  ///< elements of a column that are a thread's, at least, where rows do
                             ///< not lie side by side
  int staged_elements =
      32;  ///< elements of a row, at most, that a thread has alone, where it does not go in vectors
  int staged_memory = 36 << 10;  ///< bytes of a block's shared memory for such rows
  int row_memory = 74 << 10;     ///< bytes of shared memory that a block has for its part of a row;
                                 ///< three such blocks fit
};

/// The policies that were measured best on compute capability 9.0 (docs/performance.md), which
/// stand for the others.
struct default_policy {
  /// 16 bytes of the widest array: of more, each of a warp's accesses would leave gaps. What lies
  /// around patches of bytes is kept in registers by 8 elements. The same for every compute
  /// capability, since operands are laid out for it before a device's kernel is chosen. Random
  /// numbers beside no arrays take eight, two blocks of random bits under one key.
  static constexpr int lanes(const formula_traits& f) {
    if (f.draws && f.widest < f.narrowest) return f.nodes <= 64 ? 8 : 4;
    const int by_narrowest = 16 / f.narrowest,
              by_widest = 16 / f.widest;  // less, where there are no arrays
    const int whole = by_narrowest < by_widest ? by_narrowest : by_widest;
    return f.reads_beside && whole > 8 ? 8 : whole;
  }
  static constexpr map_policy map(const formula_traits& f, int /*compute_capability*/) {
    map_policy p;
    p.lanes = lanes(f);
    if (f.nodes > 32) p.block = 128;  // what computes long ends more evenly
    if (f.draws && f.read_bytes == 0)
      p.vectors = 8;  // the keys of Philox's rounds are made once for all
    return p;
  }
  /// Vectors are read ahead, so that many bytes are on their way. Beside stores, and for long
  /// formulas, it takes more registers than it gains; what is written beside a reduction comes out
  /// faster with half of the threads.
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
  /// A long formula gets the registers that it takes, and is not copied for several vectors in
  /// registers: with one `ode::integrate` takes the same time, in half of the code. Rows on their
  /// way cover the memory's latency with 64 bytes a thread.
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
    // Narrower elements, one by one, take instructions to be put together, and formulas of wider
    // ones take more registers.
    p.vectors_of_others =
        f.nodes > 64 || f.narrowest != 4 || f.widest != 4 ? 0 : 2 * p.vectors_held;
    if (f.nodes > 64) p.blocks = 2;
    if (f.nodes > 256) p.blocks = 1;
    return p;
  }
  /// 8 vectors a thread, or 32 elements. What waits in shared memory leaves room for many blocks,
  /// if few vectors are in registers.
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

/// A formula's before its arrays are added, of so many bytes an element.
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

/// `carried`: of a loop, how many of the targets are its variables.
constexpr formula_traits traits_of(const pass_view& p, int carried = 0) {
  formula_traits f = traits_without_arrays();
  f.nodes = p.elements.nodes;
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

/// The compute capability that a file's kernels are tuned for, 90 for 9.0: the lowest of those that
/// it is compiled for, since the program that plans launches must know what was compiled. 0 in a
/// file that nvcc does not compile, and in the simulator.
constexpr int lowest_capability() {
  int lowest = 0;
  for (const int architecture : {DSL_DETAIL_ARCHITECTURE_NUMBERS})
    lowest = lowest == 0 || architecture / 10 < lowest ? architecture / 10 : lowest;
  return lowest;
}

/// What chooses the policies of a name, or of a pass.
template <class T> struct policy_chosen_by { using type = default_policy; };
template <class T>
  requires requires { typename T::policy; }
struct policy_chosen_by<T> {
  using type = typename T::policy;
};
template <class T> using policy_of = typename policy_chosen_by<T>::type;

/// A pass whose kernels go by another policy.
template <class Pass, class Policy> struct tuned : Pass { using policy = Policy; };
template <class Pass, class Name>
using tuned_by_name = std::conditional_t<std::is_same_v<policy_of<Name>, default_policy>, Pass,
                                         tuned<Pass, policy_of<Name>>>;

template <class Pass> inline constexpr int lanes_of_scan =
    policy_of<Pass>::scan(traits_of(Pass::view()), 0).lanes;
template <class Pass> inline constexpr int lanes_of_pass =
    policy_of<Pass>::map(traits_of(Pass::view()), 0).lanes;

/// Of a pass that does not reduce, its map_policy.
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
template <class Pass>
constexpr scan_policy scan_policy_of(int compute_capability) {
  return policy_of<Pass>::scan(traits_of(Pass::view()), compute_capability);
}

}  // namespace detail
}  // namespace dsl

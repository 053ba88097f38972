// What an expression's leaves and outputs are at run time, before any kernel is chosen.
#pragma once

#include <dsl/ir/neighbour.hpp>
#include <dsl/ir/pass.hpp>
#include <dsl/mem/view.hpp>

namespace dsl {

namespace detail {

/// array: elements in memory. neighbour: an array's, some places away. address: where they lie.
/// index: positions, computed. position: those among the elements that are reduced together. value:
/// a scalar by value. step: to a neighbour of what other operands give, no value. device_scalar: a
/// scalar in device memory. result: where a reduction goes.
enum class operand_kind : std::uint8_t {
  array,
  neighbour,
  address,
  index,
  position,
  value,
  step,
  device_scalar,
  result
};

struct operand;
/// A value that a pass of a statement leaves for later ones: which output it is, of which pass on
/// which operands, along which of its axes (a bit for each that is reduced), and the leaves of the
/// whole statement.
struct value_source {
  const pass_view* pass;
  const operand* operands;
  int output;
  std::uint32_t reduced;
  int rank;
  const operand* leaves;
  int leaf_count;
};

struct operand {
  operand_kind kind{};
  dtype type{};
  int rank = 0;
  std::uint64_t word[2] = {};  // in memory: the address; index: the first position; value: the bits
  buffer* memory = nullptr;
  std::int64_t extents[max_rank] = {}, strides[max_rank] = {};  // in elements
  int size = 0;                                                 // address: an element's bytes
  bool out_of_date = false;      // the array has other memory since the formula was made
  bool counts_steps = false;     // value: the number of a loop's step
  bool of_same_struct = false;   // as the operand before it
  const char* member = nullptr;  // of a struct: its name
  // neighbour, step: element i is element i - distance along an axis, which is counted from the
  // right
  std::int64_t distance = 0;
  int axis = 0;
  boundary beyond{};
  std::uint32_t reduced = 0;   // result: a bit for each axis of the index space that is reduced; of
                               // those the extents are 1, the strides 0
  bool discarded = false;      // result: it is not stored, and has no memory
  int number = -1;             // target of a statement of several passes: which one
  bool needs_elements = true;  // result: no elements are an error, where they are to the pass
  const value_source* source =
      nullptr;  // what the statement's later passes read as soon as it is there
};

/// Makes an operand of a view: an array, or of rank 0 a scalar in device memory.
void set_array(operand& o, dtype type, int rank, const buffer_ref& owner, const void* data,
               const std::int64_t* extents, const std::int64_t* strides);
/// Makes an operand of the numbers first + i * strides[0] + ...
void set_index(operand& o, int rank, std::int64_t first, const std::int64_t* extents,
               const std::int64_t* strides);

/// A distance along n elements that means the same, less than after which they repeat.
constexpr std::int64_t least_distance(boundary beyond, std::int64_t distance, std::int64_t n) {
  if (beyond == boundary::wrap) return n > 0 ? distance % n : 0;
  if (beyond == boundary::reflect) return n > 1 ? distance % (2 * (n - 1)) : 0;
  return distance < -n ? -n : distance > n ? n : distance;
}

/// Where among n elements the one at position i is found; -1: it is zero.
DSL_DETAIL_FN constexpr std::int64_t inside(boundary beyond, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  if (beyond == boundary::zero) return -1;
  if (beyond == boundary::clamp || n == 1) return i < 0 ? 0 : n - 1;
  const std::int64_t period = beyond == boundary::wrap ? n : 2 * (n - 1);
  if (i < 0) i += period;
  else if (i >= period) i -= period;
  if (i < 0 || i >= period) {  // further than one period
    i %= period;
    if (i < 0) i += period;
  }
  return i < n ? i : period - i;
}

/// How a thread reaches an operand's elements. elements: one by one. wide: whole aligned vectors.
/// tiled: contiguous along the second dimension, not the first, so a block brings a tile of it into
/// shared memory. row: of pairs, the same in all rows of a tile, so a block brings one into shared
/// memory.
enum class access : std::uint8_t { elements, wide, tiled, row };

/// Strides along the index space's dimensions, outermost first; 0 where the operand is broadcast.
struct operand_layout {
  std::int64_t strides[max_rank];
  access how;
};

// What an expression reads, with the operand that counts the elements of a reduction; and beside it
// what it writes.
inline constexpr int max_inputs = 64,
                     max_operands = max_inputs + static_cast<int>(max_program_outputs);

/// One index space for all operands of an expression: broadcast, in the order in which the outputs
/// lie in memory, dimensions of extent 1 dropped, and neighbours merged where every operand's
/// memory allows it.
struct geometry {
  device where{backend::host};
  int rank = 0;         // 1 where everything is contiguous; 0 and elements == 1 for scalars
  bool linear = false;  // every array is contiguous along the one dimension left
  bool pairs = false;   // what is reduced are pairs: each array varies along one of the two last
                        // dimensions at most
  std::int64_t elements = 0;
  std::int64_t extents[max_rank] = {};
  std::uint32_t kept = 0;    // where there are reductions: a bit for each dimension that they keep
  std::int64_t results = 1;  // how many values they give, and
  std::int64_t count = 0;    // of how many elements each
  int shape_rank = 0;        // before reordering, dropping and merging
  std::int64_t shape[max_rank] = {};
  std::uint64_t beside =
      0;  // a bit for each operand of which other elements than their own are read
  std::uint32_t moved = 0;  // a bit for each axis of the shape along which neighbours are read,
                            // counted from the right
  int dimension[max_rank] = {};          // of an axis counted from the right; -1: its extent is 1
  operand_layout layouts[max_operands];  // the operands' own, and no further, are set
};

/// The first operand's device that is in memory, else the current one.
device home_of_operands(const operand* all, int count);
/// The operands' device: the current one where none is in memory. Throws device_error where they
/// differ.
device common_device(const operand* all, int count, const pass_view& pass);

/// Checks devices and shapes, and lays the index space out, in place: it is large, and this is on
/// the way to every launch. `inputs` come before `outputs` in `operands`. `lanes` is how many
/// elements a thread takes at a time. Throws shape_error and device_error, before anything has been
/// written.
void lay_out(geometry& space, const operand* operands, int inputs, int outputs, int lanes,
             const pass_view& pass);

/// What operands broadcast to, of however many. Throws shape_error.
void broadcast_shape(std::int64_t (&shape)[max_rank], int& rank, const operand* operands, int count,
                     const pass_view& pass);

/// The dimension that an axis of an operand has, counted from the right: -1 where the operand has
/// one element along it.
inline int dimension_of_axis(const geometry& g, const operand& o, int axis) {
  return axis >= o.rank || o.extents[o.rank - 1 - axis] == 1 ? -1 : g.dimension[axis];
}

/// Whether two operands are one in every way: the same elements or the same number, read alike.
bool is_one_operand(const operand& a, const operand& b);

/// Whether two operands in memory read the same array: the same elements, for a neighbour's those
/// that it moves among.
bool is_same_operand(const operand& a, const operand& b);
/// The first operand that reads the same array as operand k: the same elements, for a neighbour's
/// those that it moves among. Equal views are one operand to what counts and prints.
int first_of_array(const operand* operands, int k);

/// Throws overflow_error where an operand is an integer by value outside the range.
void require_range(const operand& o, integer_range range);

/// Whether an output is written while elements are still read.
bool is_written_by_elements(const operand& o);

/// Whether two operands in memory may have an element in common: true as well where a search of
/// some thousand steps does not tell. Of an address any element of its memory counts.
bool may_share_elements(const operand& a, const operand& b);

/// Whether an output overlaps an input, or another output, other than element by element in place.
bool overlaps(const operand* operands, int inputs, int outputs, const geometry& g);

/// Orders the stream behind other streams' work on the operands.
void use_operands(const operand* operands, int inputs, int outputs, const stream& on);

}  // namespace detail
}  // namespace dsl

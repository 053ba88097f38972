// An expression's leaves and outputs at run time, before a kernel is chosen.
#pragma once

#include <dsl/ir/neighbour.hpp>
#include <dsl/ir/pass.hpp>
#include <dsl/mem/view.hpp>

namespace dsl {

namespace detail {

/// The kinds of operands.
///
/// - array: elements in memory.
/// - neighbour: an array's elements, displaced.
/// - address: addresses of an array's elements, computed.
/// - index: computed positions.
/// - position: the position among the elements that are reduced together.
/// - value: a scalar by value.
/// - step: the displacement to a neighbour of a value that other operands give; it has no value.
/// - device_scalar: a scalar in device memory.
/// - result: the target of a reduction.
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
/// The origin of a value that one pass of a statement leaves for later ones, for messages: the pass
/// and its operands, the output's number, the axes of the pass that are reduced (a bit for each),
/// the leaves of the whole statement, and what is done to the value before it is read.
struct value_source {
  const pass_view* pass;
  const operand* operands;
  int output;
  std::uint32_t reduced;
  int rank;
  const operand* leaves;
  int leaf_count;
  const char* function = nullptr;  // Applied to the whole value: "fft"; or null.
};

struct operand {
  operand_kind kind{};
  dtype type{};
  int rank = 0;
  // In memory: the address; index: the first position; value: the bits.
  std::uint64_t word[2] = {};
  buffer* memory = nullptr;
  std::int64_t extents[max_rank] = {}, strides[max_rank] = {};  // In elements.
  int size = 0;                                                 // address: an element's bytes.
  bool is_position = false;  // index: positions among the elements that are reduced together.
  // The array has had its memory replaced since the formula was made.
  bool out_of_date = false;
  bool counts_steps = false;  // value: the number of a loop's step.
  // array: not 0 if each step of a loop has elements of its own: the distance in bytes from those
  // of a step to those of the next one. Those of step 0 begin at word[1].
  std::int64_t step_bytes = 0;
  bool of_same_struct = false;   // Belongs to the same struct as the operand before it.
  const char* member = nullptr;  // Name of a struct's member.
  // neighbour, step: element i is element i - distance along an axis, which is counted from the
  // right.
  std::int64_t distance = 0;
  int axis = 0;
  boundary beyond{};
  // result: a bit for each reduced axis of the index space. Along these its extents are 1, its
  // strides 0.
  std::uint32_t reduced = 0;
  bool discarded = false;  // result: not stored, and without memory.
  int number = -1;         // Target of a statement of several passes: its number.
  // result: reducing no elements is an error, if it is one for the pass.
  bool needs_elements = true;
  // Not null if this is a value that a pass leaves for the statement's later passes: its origin.
  const value_source* source = nullptr;
};

/// Gives an operand that differs from step to step its value or its address in a step.
void count_step(operand& o, std::int64_t number);

/// A C++ scalar among operands that has another value now.
struct changed_scalar { operand was, is; };
/// Gives each operand that is a C++ scalar with a changed scalar's old value its new one.
void replace_scalars(operand* all, int count, const changed_scalar* changed, int changes);

/// Makes an operand from a view: an array, or for rank 0 a scalar in device memory.
void set_array(operand& o, dtype type, int rank, const buffer_ref& owner, const void* data,
               const std::int64_t* extents, const std::int64_t* strides);
/// Makes an operand of the shape and on the device of values that are computed from operands `of`
/// before anything reads them. It has no address.
void set_shape_of_values(operand& o, dtype type, int rank, const std::int64_t* extents,
                         const operand* of, int count);
/// Makes an operand of the numbers first + i * strides[0] + ...
void set_index(operand& o, int rank, std::int64_t first, const std::int64_t* extents,
               const std::int64_t* strides);

/// An equivalent displacement along n elements, smaller than the distance after which displacements
/// repeat.
constexpr std::int64_t least_distance(boundary beyond, std::int64_t distance, std::int64_t n) {
  if (beyond == boundary::wrap) return n > 0 ? distance % n : 0;
  if (beyond == boundary::reflect) return n > 1 ? distance % (2 * (n - 1)) : 0;
  return distance < -n ? -n : distance > n ? n : distance;
}

/// The position at which element i of n is found beyond the ends; -1: it is zero.
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

/// How a thread reaches an operand's elements. elements: one by one. wide: whole aligned vectors,
/// which begin behind a row's lead (`row_leads`).
/// tiled: contiguous along the second dimension rather than the first, so a block copies a tile of
/// it to shared memory. row: in a pass over pairs, the same in all rows of a tile, so a block
/// copies one row to shared memory.
enum class access : std::uint8_t { elements, wide, tiled, row };

/// Strides along the index space's dimensions, outermost first; 0 where the operand is broadcast.
struct operand_layout {
  std::int64_t strides[max_rank];
  access how;
};

// An expression's inputs, including the operand that numbers the elements of a reduction; and with
// its outputs.
inline constexpr int max_inputs = 64,
                     max_operands = max_inputs + static_cast<int>(max_program_outputs);

/// How the rows of an index space begin, seen from whole aligned vectors. A row's *lead* is the
/// number of its elements before the first vector; it is the same in all operands whose access is
/// `wide`.
struct row_leads {
  int lanes = 0;  // Elements of a vector, a power of two; 0: all rows begin with a vector.
  // Modulo `lanes`: the lead of the first row, and its increase from one position to the next along
  // each dimension, outermost first.
  std::uint32_t first = 0, steps[max_rank] = {};
};

/// One index space for all operands of an expression: broadcast, ordered as the outputs are in
/// memory, without dimensions of extent 1, and with adjacent dimensions merged where every
/// operand's memory allows it.
struct geometry {
  device where{backend::host};
  int rank = 0;         // 1 if everything is contiguous; 0 and elements == 1 for scalars.
  bool linear = false;  // Every array is contiguous along the one remaining dimension.
  // A reduction over pairs: each array varies along at most one of the two last dimensions.
  bool pairs = false;
  std::int64_t elements = 0;
  std::int64_t extents[max_rank] = {};
  std::uint32_t kept = 0;    // In a reduction: a bit for each kept dimension.
  std::int64_t results = 1;  // Number of results.
  std::int64_t count = 0;    // Elements reduced to each result.
  int shape_rank = 0;        // Before reordering, dropping and merging.
  std::int64_t shape[max_rank] = {};
  // A bit for each operand whose neighbours are read.
  std::uint64_t beside = 0;
  // A bit for each axis of the shape along which neighbours are read, counted from the right.
  std::uint32_t moved = 0;
  // The dimension of an axis, counted from the right; -1: its extent is 1.
  int dimension[max_rank] = {};
  row_leads leads;                       // Only in passes of kernels that take them.
  operand_layout layouts[max_operands];  // Only those of existing operands are set.
};

/// The device of the first operand that is in memory, else the current one.
device home_of_operands(const operand* all, int count);
/// The device of the operands: the current one if none is in memory. Throws device_error if they
/// differ.
device common_device(const operand* all, int count, const pass_view& pass);
/// Throws as `common_device` for the operands of what describe(what) names.
void require_one_device(const operand* all, int count, text (*describe)(const void*),
                        const void* what);

/// Checks devices and shapes, and lays out the index space, in place, because it is large and this
/// precedes every launch. `operands` has `inputs`, then `outputs`; `lanes` is the number of
/// elements that a thread takes side by side. Throws shape_error and device_error, before anything
/// is written.
void lay_out(geometry& space, const operand* operands, int inputs, int outputs, int lanes,
             const pass_view& pass);

/// The shape that any number of operands broadcast to. Throws shape_error.
void broadcast_shape(std::int64_t (&shape)[max_rank], int& rank, const operand* operands, int count,
                     const pass_view& pass);

/// The dimension of an operand's axis, counted from the right: -1 if the operand has one element
/// along it.
inline int dimension_of_axis(const geometry& g, const operand& o, int axis) {
  return axis >= o.rank || o.extents[o.rank - 1 - axis] == 1 ? -1 : g.dimension[axis];
}

/// Whether two operands are equal in every way: the same elements or the same number, read alike.
bool is_one_operand(const operand& a, const operand& b);

/// Whether two operands in memory read the same array: the same elements; for neighbours, the
/// elements among which they are displaced.
bool is_same_operand(const operand& a, const operand& b);
/// The first operand that reads the same array as operand k, as `is_same_operand` says. Costs and
/// texts count equal views as one operand.
int first_of_array(const operand* operands, int k);

/// Throws overflow_error if an operand is an integer by value outside the range.
void require_range(const operand& o, integer_range range);

/// Whether an output is written while elements are still being read.
bool is_written_by_elements(const operand& o);

/// Whether two operands in memory may share an element; also true if a search of some thousand
/// steps does not decide. For an address, any element of its memory counts.
bool may_share_elements(const operand& a, const operand& b);

/// Whether a target's memory is apart from the operands'.
bool is_apart(const operand& target, const operand* operands, int count);
/// Whether a target is contiguous in row-major order, and its memory apart from the operands'.
bool is_packed_and_apart(const operand& target, const operand* operands, int count);

/// Whether an output overlaps an input, or another output, other than element by element in place.
bool overlaps(const operand* operands, int inputs, int outputs, const geometry& g);

/// Makes the stream wait for other streams' work on the operands.
void use_operands(const operand* operands, int inputs, int outputs, const stream& on);

}  // namespace detail
}  // namespace dsl

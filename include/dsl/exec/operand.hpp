// What an expression's leaves and outputs are at run time, before any kernel is chosen.
#pragma once

#include <dsl/ir/program.hpp>
#include <dsl/mem/view.hpp>

namespace dsl::detail {

/// array: elements in memory. index: positions, computed. value: a scalar by value. fetched: a scalar in device memory.
/// result: where a reduction goes.
enum class operand_kind : std::uint8_t { array, index, value, fetched, result };

struct operand {
  operand_kind kind{};
  dtype type{};
  int rank = 0;
  std::uint64_t word[2] = {};  // array, fetched, result: the address; index: the first position; value: the bits
  buffer* memory = nullptr;
  std::int64_t extents[max_rank] = {}, strides[max_rank] = {};  // in elements
};

/// How a thread reaches an operand's elements. elements: one by one. wide: whole aligned vectors. tiled: contiguous along the
/// second dimension, not the first, so a block brings a tile of it into shared memory.
enum class access : std::uint8_t { elements, wide, tiled };

/// Strides along the dimensions that a kernel walks, outermost first; 0 where the operand is broadcast.
struct walk {
  std::int64_t strides[max_rank];
  access how;
};

inline constexpr int max_operands = 32;

/// One index space for all operands of an expression: broadcast, in the order in which the outputs lie in memory, dimensions of
/// extent 1 dropped, and neighbours merged where every operand's memory allows it.
struct geometry {
  device where{backend::host};
  int rank = 0;                  // 1 where everything is contiguous; 0 and elements == 1 for scalars
  bool linear = false;           // every array is contiguous along the one dimension left
  std::int64_t elements = 0;
  std::int64_t extents[max_rank] = {};
  int shape_rank = 0;            // before reordering, dropping and merging
  std::int64_t shape[max_rank] = {};
  walk walks[max_operands];      // the operands' own, and no further, are set
};

/// Checks devices and shapes, and lays the index space out, in place: it is large, and this is on the way to every launch. `inputs`
/// come before `outputs` in `operands`. `lanes` is how many elements a thread takes at a time. Throws shape_error and device_error,
/// before anything has been written.
void lay_out(geometry& space, const operand* operands, int inputs, int outputs, int lanes, const program_view& program);

/// Whether an output overlaps an input, or another output, other than element by element in place.
bool overlaps(const operand* operands, int inputs, int outputs, const geometry& g);

/// Orders the stream behind other streams' work on the operands.
void use_operands(const operand* operands, int inputs, int outputs, const stream& on);

}  // namespace dsl::detail

// The memory layout of the operands of a chain over rows, and the shared memory that rows need.
#pragma once

#include "exec/rows/rows.hpp"

namespace dsl::detail {

/// Whether an operand differs between the elements of a row (its stride along rows is not 0).
bool varies_in_row(const row_chain& rows, int k);

/// The first leaf that is the same array as leaf k; both use the same place.
int same_as(const row_chain& rows, int k);

/// Bytes of shared memory for one vector of a thread: of one leaf, or of all leaves that vary along
/// rows (`varies`), or of all that do not.
int bytes_of_vector(const row_chain& rows, const row_plan& p, int leaf);
int bytes_of_vectors(const row_chain& rows, const row_plan& p, bool varies);

/// How rows are read and written in aligned vectors of a chain's lanes. Rows may begin and end
/// between vectors; their elements before the first and after the last whole vector are their ends.
/// All arrays must begin each row at the same lane. Only one that is the same for several rows, and
/// that one phase loads, may be read element by element.
struct row_vectors {
  bool found = false;        ///< Whether there are such vectors.
  std::uint64_t leaves = 0;  ///< A bit for each leaf that is read in vectors.
  int ends = 0;              ///< The largest number of elements of ends.
  /// Where there are ends: the array whose addresses tell the lane at which a row begins, and the
  /// lane of its first element. Otherwise -1.
  int aligned_by = -1, first_lane = 0;
};
row_vectors vectors_of_rows(const row_chain& rows);

/// The most elements of a row that are in vectors; all of them if there are no ends.
std::int64_t length_in_vectors(const row_chain& rows, const row_vectors& aligned);

/// Whether rows lie across memory in groups of `lanes` adjacent rows, and every operand that varies
/// across rows is read and written in whole vectors of them.
bool columns_are_in_vectors(const row_chain& rows, int lanes);

/// Rows that a thread's vector covers, and elements of each row in it.
int rows_of_vector(const row_plan& p);
int elements_of_vector(const row_plan& p);

/// Bytes of shared memory through which the warps of a block exchange accumulators, in two copies.
int bytes_of_sums(const row_plan& p, int accumulator_bytes);

/// For staged rows: the distance between rows of an operand in shared memory, in elements, and the
/// bytes a row needs (0 if the operand is not staged). Threads that take one row each should read
/// from different banks, so rows of whole vectors are padded by one element.
int staged_pitch(const row_chain& rows, int k);
int staged_bytes(const row_chain& rows, int k);
int staged_bytes(const row_chain& rows, int k, int count);

/// The elements, in whole vectors, that each block has of a row of `count` elements.
std::int64_t part_of_block(std::int64_t count, const row_plan& p);

/// Bytes of global memory for two exchanges between the blocks that share rows.
std::size_t bytes_of_cells(const row_plan& p, int accumulator_bytes);

/// Bytes of shared memory for two exchanges between the blocks of a cluster, with two inboxes.
int bytes_of_cluster(const row_plan& p, int accumulator_bytes);

}  // namespace dsl::detail

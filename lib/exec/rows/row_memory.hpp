// How the operands of a chain over rows lie in memory, and what rows take of a block's shared
// memory.
#pragma once

#include "exec/rows/rows.hpp"

namespace dsl::detail {

/// Whether an operand has an element of its own for each one of a row.
bool varies_along_row(const row_chain& rows, int k);

/// The first leaf that is kept and is the same array as leaf k: both have one place.
int kept_as(const row_chain& rows, int k);

/// Bytes of shared memory for one vector of a thread: of a leaf, and of the leaves that vary along
/// rows, or of those that do not.
int bytes_of_vector(const row_chain& rows, const row_plan& p, int leaf);
int bytes_of_vectors(const row_chain& rows, const row_plan& p, bool varies);

/// Whether all that varies along rows is read and written in whole vectors.
bool goes_in_vectors(const row_chain& rows);

/// Whether rows lie across memory side by side, so many at a time, and all that varies across them
/// does, in whole vectors.
bool lie_side_by_side(const row_chain& rows, int lanes);

/// Rows that a thread has beside each other, and elements of a row that its vector has.
int rows_of_vector(const row_plan& p);
int elements_of_vector(const row_plan& p);

/// Shared memory for what warps tell each other, twice.
int bytes_of_sums(const row_plan& p, int accumulator_bytes);

/// Of rows that all threads bring: how far in elements of an operand a row lies from the next one,
/// and how many bytes it takes, 0 of what is not brought. Threads with a row each are to find their
/// elements in different banks: whole vectors are one element apart.
int staged_pitch(const row_chain& rows, int k);
int staged_bytes(const row_chain& rows, int k);
int staged_bytes(const row_chain& rows, int k, int count);

/// Elements of a row of so many that one of its blocks has: whole vectors.
std::int64_t part_of_block(std::int64_t count, const row_plan& p);

/// Memory for two exchanges between the blocks of rows.
std::size_t bytes_of_cells(const row_plan& p, int accumulator_bytes);

/// Shared memory for two exchanges between the blocks of a cluster, and for two inboxes.
int bytes_of_cluster(const row_plan& p, int accumulator_bytes);

}  // namespace dsl::detail

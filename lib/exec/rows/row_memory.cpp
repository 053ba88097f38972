#include "exec/rows/row_memory.hpp"

#include <algorithm>

#include <dsl/exec/rows/row_policy.hpp>
#include <dsl/exec/team/tagged.hpp>
#include <dsl/exec/team/team.hpp>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

bool varies_in_row(const row_chain& rows, int k) {
  return rows.space().layouts[k].strides[rows.space().rank - 1] != 0;
}

int same_as(const row_chain& rows, int k) {
  for (int first = 0; first < k; ++first)
    if (rows.code().vector_bytes[first] > 0 &&
        is_same_operand(rows.operands()[first], rows.operands()[k]))
      return first;
  return k;
}

int bytes_of_vector(const row_chain& rows, const row_plan& p, int leaf) {
  return rows.code().vector_bytes[leaf] / rows.code().lanes * p.lanes;
}

int bytes_of_vectors(const row_chain& rows, const row_plan& p, bool varies) {
  int bytes = 0;
  for (int k = 0; k < rows.leaves(); ++k)
    if (varies_in_row(rows, k) == varies && same_as(rows, k) == k)
      bytes += bytes_of_vector(rows, p, k);
  return bytes;
}

row_vectors vectors_of_rows(const row_chain& rows) {
  const geometry& g = rows.space();
  const int lanes = rows.code().lanes, along = g.rank - 1;
  const auto lane_of = [lanes](std::int64_t elements) {
    return static_cast<int>(elements & (lanes - 1));
  };
  const auto first_lane = [&](int k) {
    const operand& o = rows.operands()[k];
    return lane_of(static_cast<std::int64_t>(o.word[0]) / size_of(o.type));
  };
  const auto has_vectors = [&](int k) {
    return rows.operands()[k].kind == operand_kind::array && varies_in_row(rows, k);
  };
  const auto is_of_all_rows = [&](int k) {
    for (int d = 0; d < along; ++d)
      if (g.extents[d] > 1 && g.layouts[k].strides[d] == 0) return false;
    return true;
  };
  int by = -1;  // An array of all rows; if there is none, one of some.
  for (int k = 0; k < rows.operand_count(); ++k)
    if (has_vectors(k) && (by < 0 || (is_of_all_rows(k) && !is_of_all_rows(by)))) by = k;
  row_vectors made;
  made.found = true;
  if (by < 0 && g.count % lanes != 0) return {};
  if (by < 0) return made;
  bool begin_alike = first_lane(by) == 0;
  for (int d = 0; d < along; ++d)
    begin_alike = begin_alike && lane_of(g.layouts[by].strides[d]) == 0;
  made.ends = begin_alike ? lane_of(g.count) : 2 * (lanes - 1);
  // Every row has a whole vector, which threads without one of their own read.
  if (made.ends > 0 && g.count < 2 * lanes - 1) return {};
  if (made.ends > 0) {
    made.aligned_by = by;
    made.first_lane = first_lane(by);
  }
  const auto is_aligned = [&](int k) {
    const std::int64_t *const own = g.layouts[k].strides, *const other = g.layouts[by].strides;
    bool all =
        own[along] == 1 && first_lane(k) == first_lane(by) &&
        rows.operands()[k].word[0] % static_cast<std::uint64_t>(size_of(rows.operands()[k].type)) ==
            0;
    for (int d = 0; d < along; ++d) all = all && lane_of(own[d]) == lane_of(other[d]);
    return all;
  };
  for (int k = 0; k < rows.operand_count(); ++k) {
    if (!has_vectors(k)) continue;
    const bool is_leaf = k < rows.leaves();
    if (is_aligned(k)) made.leaves |= is_leaf ? std::uint64_t{1} << k : 0;
    else if (!is_leaf || (rows.code().loaded_by_several >> k & 1) != 0 || is_of_all_rows(k))
      return {};
  }
  return made;
}

std::int64_t length_in_vectors(const row_chain& rows, const row_vectors& aligned) {
  const std::int64_t count = rows.space().count, lanes = rows.code().lanes;
  return aligned.ends > 0 ? count / lanes * lanes : count;
}

bool columns_are_in_vectors(const row_chain& rows, int lanes) {
  const geometry& g = rows.space();
  const int row_parallel = g.rank - 2;
  if (rows.lies_along_rows() || g.extents[row_parallel] % lanes != 0) return false;
  for (int k = 0; k < rows.operand_count(); ++k) {
    const operand& o = rows.operands()[k];
    const bool is_leaf = k < rows.leaves();
    if (is_leaf ? rows.code().vector_bytes[k] == 0 : o.kind == operand_kind::result) continue;
    const std::int64_t* const strides = g.layouts[k].strides;
    if (is_leaf && strides[row_parallel] == 0) continue;
    const std::int64_t vector = std::int64_t{size_of(o.type)} * lanes;
    if (o.kind != operand_kind::array || strides[row_parallel] != 1 ||
        o.word[0] % static_cast<std::uint64_t>(vector) != 0)
      return false;
    for (int d = 0; d < g.rank; ++d)
      if (d != row_parallel && strides[d] * size_of(o.type) % vector != 0) return false;
  }
  return true;
}

int rows_of_vector(const row_plan& p) { return p.kernel == row_kernel::columns ? p.lanes : 1; }

int elements_of_vector(const row_plan& p) { return p.kernel == row_kernel::columns ? 1 : p.lanes; }

int bytes_of_sums(const row_plan& p, int accumulator_bytes) {
  const int group_threads = p.threads_a_row * p.rows_side_by_side;
  const int warp = properties(p.where).warp_size;
  const int bytes = group_threads <= warp ? 0
                                          : 2 * (p.block / warp) * p.rows_side_by_side *
                                                rows_of_vector(p) * accumulator_bytes;
  return (bytes + 15) / 16 * 16;
}

int staged_pitch(const row_chain& rows, int k) {
  const auto count = static_cast<int>(rows.space().count);
  return !varies_in_row(rows, k) ? 1 : count % rows.code().lanes == 0 ? count + 1 : count;
}

int staged_bytes(const row_chain& rows, int k) {
  const bool is_leaf = k < rows.leaves();
  const operand& o = rows.operands()[k];
  if (is_leaf ? rows.code().vector_bytes[k] == 0 || same_as(rows, k) != k
              : o.kind == operand_kind::result)
    return 0;
  return staged_pitch(rows, k) * size_of(o.type);
}

int staged_bytes(const row_chain& rows, int k, int count) {
  return (staged_bytes(rows, k) * count + 15) / 16 * 16;
}

std::int64_t part_of_block(std::int64_t count, const row_plan& p) {
  return pieces(pieces(count, p.blocks_a_row), elements_of_vector(p)) * elements_of_vector(p);
}

std::size_t bytes_of_cells(const row_plan& p, int accumulator_bytes) {
  return 2 * static_cast<std::size_t>(p.grid) * static_cast<std::size_t>(p.rows_side_by_side) *
         tagged_bytes(
             static_cast<std::size_t>(exchanged_bytes(accumulator_bytes, rows_of_vector(p))));
}

int bytes_of_cluster(const row_plan& p, int accumulator_bytes) {
  if (!p.in_cluster) return 0;
  const int bytes = 2 * p.blocks_a_row * p.rows_side_by_side *
                    exchanged_bytes(accumulator_bytes, rows_of_vector(p));
  return 2 * static_cast<int>(sizeof(cluster_inbox)) + (bytes + 15) / 16 * 16;
}

}  // namespace dsl::detail

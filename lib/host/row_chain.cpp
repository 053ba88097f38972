// Chains of passes on the host: all phases of some rows while these rows are in a core's cache.
#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/rows/rows.hpp"
#include "host/block_runner.hpp"
#include "host/threads.hpp"

namespace dsl::detail {

namespace {

// Bytes of a core's cache that the rows of a piece may fill.
constexpr std::int64_t cache = 256 << 10;

// The outermost kept axis, and the number of its positions in a piece.
struct row_pieces {
  int axis = -1;
  std::int64_t length = 0, count = 0;

  explicit row_pieces(const row_chain& rows) {
    const geometry& g = rows.space();
    const operand* const begin = rows.operands() + rows.leaves();
    const operand* const result =
        std::find_if(begin, rows.operands() + rows.operand_count(),
                     [](const operand& o) { return o.kind == operand_kind::result && o.rank > 0; });
    if (result == rows.operands() + rows.operand_count()) return;  // everything is one row
    for (axis = 0;
         axis < g.shape_rank && (g.shape[axis] == 1 || (result->reduced >> axis & 1) != 0);)
      ++axis;
    std::int64_t bytes = 0;
    for (int k = 0; k < rows.operand_count(); ++k)
      if (rows.operands()[k].kind == operand_kind::array)
        bytes += g.elements * size_of(rows.operands()[k].type);
    // Pieces of columns would be short pieces of rows far apart, which take longer than to read the
    // matrix once for each phase, in caches and in memory (docs/lab.md).
    if (axis == g.shape_rank || bytes < 4 * cache || !rows.lies_along_rows()) return;
    length = std::clamp<std::int64_t>(cache * g.shape[axis] / bytes, 1, g.shape[axis]);
    if (length * bytes / g.shape[axis] <= 8 * cache) count = pieces(g.shape[axis], length);
  }
};

// Restricts an operand to some positions along an axis of the rows' space; it may have fewer
// dimensions.
void take(operand& o, int from_last, std::int64_t begin, std::int64_t count) {
  const int d = o.rank - 1 - from_last;
  if (d < 0 || o.extents[d] == 1) return;
  const std::int64_t moved = begin * o.strides[d];
  o.extents[d] = count;
  switch (o.kind) {
    case operand_kind::array:
    case operand_kind::result:
      o.word[0] += static_cast<std::uint64_t>(moved * size_of(o.type));
      break;
    case operand_kind::address: o.word[0] += static_cast<std::uint64_t>(moved * o.size); break;
    case operand_kind::index: o.word[0] += static_cast<std::uint64_t>(moved); break;
    default: break;
  }
}

}  // namespace

std::int64_t pieces_of_rows_on_host(const row_chain& rows) { return row_pieces(rows).count; }

void run_rows_on_host(const row_chain& rows) {
  const row_pieces cut(rows);
  const geometry& g = rows.space();
  double nanoseconds = 0;
  for (int p = 0; p < rows.count(); ++p) {
    const bound_pass& phase = rows.phases()[p];
    nanoseconds += static_cast<double>(phase.space().elements) *
                   nanoseconds_of_element({phase.code(), *phase.code().host, phase.operands(),
                                           phase.space(), nullptr});
  }
  on_threads(cut.count, nanoseconds, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece) {
      const std::int64_t begin = piece * cut.length,
                         count = std::min(cut.length, g.shape[cut.axis] - begin);
      for (int p = 0; p < rows.count(); ++p) {
        const bound_pass& phase = rows.phases()[p];
        std::vector<operand> operands(
            phase.operands(), phase.operands() + phase.code().inputs + phase.code().outputs());
        // A phase with one element per row has either the kept axes only, or also the reduced axes,
        // with extent 1.
        int from_last = g.shape_rank - 1 - cut.axis;
        if (phase.space().shape_rank < g.shape_rank)
          for (int d = cut.axis + 1; d < g.shape_rank; ++d)
            from_last -= (rows.reduced() >> d & 1) != 0 ? 1 : 0;
        for (operand& o : operands) take(o, from_last, begin, count);
        const bound_pass some(phase.code(), operands.data(), {});
        run_on_host({phase.code(), *phase.code().host, some.operands(), some.space(), nullptr});
      }
    }
  });
}

}  // namespace dsl::detail

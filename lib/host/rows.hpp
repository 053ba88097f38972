// Rows of elements in an index space, and functions that move them.
#pragma once

#include <algorithm>

#include "host/strided.hpp"

namespace dsl::detail {

/// `rows` rows of `count` elements each. On the strided side, rows are `row_step` and elements
/// `step` elements apart; on the other side all elements are contiguous.
struct run_of_rows { std::int64_t rows, row_step, count, step; };
using move_function = void (*)(void* to, const void* from, const run_of_rows&);

inline const unsigned char* address(const operand& o) {
  return reinterpret_cast<const unsigned char*>(o.word[0]);
}

/// A function that packs elements of `size` bytes that are `step` elements apart.
move_function packer(std::size_t size, std::int64_t step);

/// Calls each(done, at, offset, run) for `count` elements from a place on. A run has as many whole
/// rows of the innermost dimension as there are along the second one, or a part of one row. `at` is
/// the place of its first element, `offset` that element's offset.
template <class Each>
void for_rows(const geometry& g, const operand_layout& w, const block_place& place,
              std::int64_t count, bool row_by_row, const Each& each) {
  const int last = g.rank - 1;
  const std::int64_t inner = last >= 0 ? g.extents[last] : 1,
                     step = last >= 0 ? w.strides[last] : 0;
  std::int64_t at[max_rank] = {}, offset = 0;
  for (int d = 0; d < last; ++d) {
    at[d] = place.at()[d];
    offset += at[d] * w.strides[d];
  }
  std::int64_t& x = at[std::max(last, 0)];
  x = place.at()[std::max(last, 0)];
  for (std::int64_t done = 0; done < count;) {
    std::int64_t rows = 1, run = std::min(inner - x, count - done);
    if (x == 0 && run == inner && last > 0 && !row_by_row)
      rows = std::min((count - done) / inner, g.extents[last - 1] - at[last - 1]);
    each(done, at, offset + x * step,
         run_of_rows{rows, last > 0 ? w.strides[last - 1] : 0, run, step});
    done += rows * run;
    x = 0;
    if (done >= count || last == 0) continue;
    at[last - 1] += rows;
    offset += rows * w.strides[last - 1];
    for (int d = last - 1; d > 0 && at[d] == g.extents[d]; --d) {
      offset += w.strides[d - 1] - at[d] * w.strides[d];
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

}  // namespace dsl::detail

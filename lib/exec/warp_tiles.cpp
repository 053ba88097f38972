#include "exec/warp_tiles.hpp"

#include <algorithm>
#include <string>

#include "exec/layout.hpp"
#include "exec/text.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

warp_tiling tile_by_warps(const geometry& g, int lanes, const pass_view& pass, const operand* operands) {
  constexpr int threads = 32;
  warp_tiling made{};
  if (g.linear || g.elements == 0) {
    made.count = pieces(g.elements, std::int64_t{threads} * lanes);
    return made;
  }
  tiling& t = made.tiles;
  t.extents[0] = g.extents[g.rank - 1];
  t.extents[1] = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  while ((1 << t.log2_columns) < threads && (std::int64_t{lanes} << t.log2_columns) < t.extents[0]) ++t.log2_columns;
  t.rows = t.height = threads >> t.log2_columns;
  t.width = lanes << t.log2_columns;
  t.outer_rank = std::max(0, g.rank - 2);
  t.across = divisor::of(pieces(t.extents[0], t.width));
  t.down = divisor::of(pieces(t.extents[1], t.height));
  t.in_column = divisor::of(1);
  t.dimension_of_axis = dimensions_of_axes(g);
  made.count = static_cast<std::int64_t>(t.across.by) * t.down.by;
  for (int d = 0; d < t.outer_rank; ++d) {
    const std::int64_t extent = g.extents[g.rank - 3 - d];
    t.outer[d] = divisor::of(extent);
    made.count *= extent;
  }
  if (made.count > 0x7fffffff)
    raise<shape_error>(std::to_string(g.elements) +
                       " elements are more tiles than a kernel counts: " + spell_pass(pass, operands));
  return made;
}

kernel_parameters warp_tile_parameters(const warp_tiling& t, const geometry& g, const operand* operands, int inputs,
                                       const pass_view& pass, const argument* outputs, int output_count) {
  argument_header header{};
  header.elements = g.elements;
  header.tiles = t.count;
  header.in_vectors = are_in_vectors(operands, g, inputs) ? 1 : 0;
  kernel_parameters given(header);
  if (!g.linear) given.put(t.tiles);
  for (int k = 0; k < inputs; ++k) given.put(argument{operands[k].word[0], descriptor_of(operands, k, g, pass)});
  for (int k = 0; k < output_count; ++k) given.put(outputs[k]);
  if (!g.linear) {
    given.put_strides(g, inputs);
    for (int k = 0; k < output_count * max_rank; ++k) given.put(std::int64_t{0});
  }
  return given;
}

}  // namespace dsl::detail

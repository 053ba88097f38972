#include "exec/by_key/warp_tiles.hpp"

#include <algorithm>
#include <string>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/tiling.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

warp_tiling tile_by_warps(const geometry& g, int lanes, const pass_view& pass,
                          const operand* operands) {
  const int threads = properties(g.where).warp_size;
  warp_tiling made{};
  if (g.linear || g.elements == 0) {
    made.count = pieces(g.elements, std::int64_t{threads} * lanes);
    return made;
  }
  made.tiles = tile_of(g, threads, lanes);
  made.count = cover(made.tiles, g);
  if (made.count > 0x7fffffff)
    raise<shape_error>(
        std::to_string(g.elements) +
        " elements are more tiles than a kernel counts: " + spell_pass(pass, operands));
  return made;
}

kernel_parameters warp_tile_parameters(const warp_tiling& t, const geometry& g,
                                       const operand* operands, int inputs, const pass_view& pass,
                                       const argument* outputs, int output_count) {
  argument_header header{};
  header.elements = g.elements;
  header.tiles = t.count;
  header.in_vectors = are_in_vectors(operands, g, inputs) ? 1 : 0;
  kernel_parameters given(header);
  if (!g.linear) given.put(t.tiles);
  for (int k = 0; k < inputs; ++k)
    given.put(argument{operands[k].word[0], descriptor_of(operands, k, g, pass)});
  for (int k = 0; k < output_count; ++k) given.put(outputs[k]);
  if (!g.linear) {
    given.put_strides(g, inputs);
    for (int k = 0; k < output_count * max_rank; ++k) given.put(std::int64_t{0});
  }
  return given;
}

}  // namespace dsl::detail

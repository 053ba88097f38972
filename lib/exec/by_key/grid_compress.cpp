// Selections on a grid of blocks of threads.
#include <algorithm>

#include <string>

#include "exec/by_key/selection_work.hpp"
#include "exec/by_key/warp_tiles.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/grid_executor.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

dsl::plan selection_work::plan_for(const grid_executor& devices) const {
  const compress_code& code = code_;
  const operand* const operands = this->operands();
  const geometry& g = space();
  const compress_kernels& kernels =
      compiled_for(g.where, devices.compiled(code.kernels), nullptr, code.view, operands);
  dsl::plan p;
  p.where = g.where;
  p.path = "selection";
  p.elements = g.elements;
  p.lanes = code.lanes;
  p.block = scan_block_threads;
  p.grid = std::max<std::int64_t>(
      1, pieces(tile_by_warps(g, code.lanes, code.view, operands).count,
                p.block / properties(g.where).warp_size * code.tiles_a_warp));
  if (p.grid > 0x7fffffff)
    raise<shape_error>(std::to_string(g.elements) +
                       " elements need more blocks than a grid has: a selection of " +
                       spell_pass(code.view, operands));
  p.registers =
      devices
          .attributes({kernels.kernel[g.linear ? 0 : 1], kernels.architectures, nullptr, code.view},
                      p.block, g.where.index)
          .registers;
  return p;
}

void selection_work::run_on(const grid_executor& devices, const stream& on) const {
  const compress_code& code = code_;
  const operand* const operands = this->operands();
  const geometry& g = space();
  const dsl::plan& of = plan();
  const compress_kernels& kernels = *devices.compiled(code.kernels);
  const int values = code.view.target_count - 1;
  const operand* const targets = operands + code.inputs;
  const warp_tiling tiles = tile_by_warps(g, code.lanes, code.view, operands);

  compress_parameters p{};
  const std::size_t cell = tagged_bytes(sizeof(std::int64_t));
  const auto of_tiles = static_cast<std::size_t>(of.grid), groups = of_tiles / scan_groups + 1,
             prefixes = groups / scan_groups + 2;
  const std::size_t bytes = 16 + cell * (of_tiles + groups + prefixes);
  // Returns to the pool after the kernel, in the order of the stream.
  const buffer_ref scratch = buffer_ref::allocate_briefly(bytes, g.where);
  auto* const at = static_cast<unsigned char*>(scratch.data());
  p.scan.ticket = reinterpret_cast<unsigned*>(at);
  p.scan.tiles = at + 16;
  p.scan.groups = at + 16 + cell * of_tiles;
  p.scan.prefixes = at + 16 + cell * (of_tiles + groups);
  stream_state& s = stream_state::of(on);
  s.on.set_zero(at, bytes, s.index, s.native);

  p.count = reinterpret_cast<std::int64_t*>(targets[values].word[0]);
  p.capacity = targets[0].extents[0];
  argument outputs[max_program_outputs]{};
  for (int k = 0; k < values; ++k) {
    outputs[k + 1] = {targets[k].word[0], static_cast<std::uint64_t>(targets[k].strides[0])};
    p.capacity = std::min(p.capacity, targets[k].extents[0]);
  }
  kernel_parameters given =
      warp_tile_parameters(tiles, g, operands, code.inputs, code.view, outputs, values + 1);
  given.put(p);
  const memory_range other{at, bytes, false};
  kernel_launch k{{kernels.kernel[g.linear ? 0 : 1], kernels.architectures, nullptr, code.view},
                  of.grid,
                  of.block,
                  0,
                  given.range(),
                  operands,
                  code.inputs,
                  values + 1,
                  g.elements,
                  false,
                  &other,
                  1};
  k.looks_back = true;
  devices.launch_kernel(k, on);
}

}  // namespace dsl::detail

#include <dsl/exec/plan.hpp>

#include <algorithm>
#include <cstdio>

#include "text.hpp"

namespace dsl {

text plan::describe() const {
  char line[320];
  int n = std::snprintf(line, sizeof line, "%s, %s, %lld elements", where.name().c_str(), path, static_cast<long long>(elements));
  const auto add = [&](const char* format, auto... values) {
    n += std::snprintf(line + n, sizeof line - static_cast<std::size_t>(n), format, values...);
  };
  if (where.kind == backend::host) {
    add(", blocks of %d on %d threads", block, properties(where).multiprocessors);
  } else {
    add(", grid %lld x block %d, %d lanes a thread", static_cast<long long>(grid), block, lanes);
    if (registers > 0) add(", %d registers, %d blocks an SM", registers, blocks_per_multiprocessor);
  }
  add(", %d flops and %d + %d bytes an element", per_element.flops, per_element.load_bytes, per_element.store_bytes);
  return text(line);
}

namespace detail {

plan make_plan(const geometry& g, int lanes, bool reduces, const kernel_attributes& attributes, const launch& fixed, const program_view& program) {
  plan p;
  p.where = g.where, p.path = g.linear ? "linear" : "strided";
  p.elements = g.elements, p.lanes = lanes;
  if (g.where.kind == backend::host) {
    p.block = host_block;
    p.grid = (g.elements + host_block - 1) / host_block;
    return p;
  }
  const device_properties& device = properties(g.where);
  const int most = attributes.max_block > 0 ? attributes.max_block : 1024;
  if (fixed.block != 0 && (fixed.block < 0 || fixed.block % 32 != 0 || fixed.block > most))
    raise<device_error>("a block of " + std::to_string(fixed.block) + " threads was asked for; this kernel takes multiples of 32 up to " +
                        std::to_string(most) + ": " + spell_program(program));
  p.block = fixed.block != 0 ? fixed.block : default_block;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = attributes.blocks_per_multiprocessor > 0 ? attributes.blocks_per_multiprocessor
                                                                         : device.threads_per_multiprocessor / p.block;

  const std::int64_t inner = g.extents[g.rank - 1], rows = inner > 0 ? g.elements / inner : 0;
  p.groups = (inner + lanes - 1) / lanes * rows;
  const auto blocks = [&] { return (p.groups + p.block - 1) / p.block; };
  // A small job is spread over more multiprocessors by smaller blocks.
  while (fixed.block == 0 && p.block > 64 && blocks() < device.multiprocessors) p.block /= 2;
  p.grid = blocks();
  if (reduces) {
    const std::int64_t resident = static_cast<std::int64_t>(device.multiprocessors) * p.blocks_per_multiprocessor;
    p.grid = std::max<std::int64_t>(1, std::min(p.grid, fixed.grid > 0 ? fixed.grid : resident));
  }
  if (p.grid > 0x7fffffff) raise<shape_error>(std::to_string(g.elements) + " elements need more blocks than a grid has: " + spell_program(program));
  return p;
}

}  // namespace detail
}  // namespace dsl

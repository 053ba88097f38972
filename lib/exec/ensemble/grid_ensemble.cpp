// Loops of single elements on a grid of blocks of threads.
#include <algorithm>

#include "exec/ensemble/ensemble_work.hpp"
#include "exec/plan/layout.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

const entry_points<1>& kernels_of(const grid_executor& devices, const ensemble_work& w) {
  const work_record of = w.record();
  return compiled_for(of.space.where, devices.compiled(w.code().kernels), nullptr, of.pass,
                      of.operands);
}

// Elements that a warp takes at a time: two for each lane, or one, so that all warps end together.
constexpr std::int64_t chunk_of_warp(std::int64_t elements, std::int64_t threads, int warp_size) {
  return elements < threads * 16 ? warp_size : 2 * warp_size;
}

}  // namespace

dsl::plan ensemble_work::plan_for(const grid_executor& devices) const {
  const entry_points<1>& kernels = kernels_of(devices, *this);
  const kernel_attributes known = devices.attributes(
      {kernels.kernel[0], kernels.architectures, nullptr, code_.main_phase().pass},
      ensemble_block_threads, space_.where.index);
  dsl::plan p;
  p.where = space_.where;
  p.path = "ensemble";
  p.elements = space_.elements;
  p.block = ensemble_block_threads;
  p.registers = known.registers;
  p.blocks_per_multiprocessor = std::max(1, known.blocks_per_multiprocessor);
  p.grid = std::min<std::int64_t>(pieces(p.elements, p.block),
                                  std::int64_t{p.blocks_per_multiprocessor} *
                                      std::max(1, properties(space_.where).multiprocessors));
  return p;
}

void ensemble_work::run_on(const grid_executor& devices, const stream& on) const {
  const dsl::plan& p = plan();
  const entry_points<1>& kernels = kernels_of(devices, *this);
  argument_header header{};
  header.elements = p.elements;
  kernel_parameters given(header);
  const int count = code_.operands();
  for (int k = 0; k < count; ++k)
    given.put(argument{operands_[static_cast<std::size_t>(k)].word[0],
                       operands_[static_cast<std::size_t>(k)].word[1]});
  constexpr std::size_t bytes = 16;
  // Returns to the pool after the kernel, in the order of the stream.
  const buffer_ref ticket = buffer_ref::allocate_briefly(bytes, p.where);
  stream_state& s = stream_state::of(on);
  s.on.set_zero(ticket.data(), bytes, s.index, s.native);
  const std::int64_t chunk =
      chunk_of_warp(p.elements, p.grid * p.block, properties(p.where).warp_size);
  ensemble_parameters parameters{static_cast<unsigned*>(ticket.data()),
                                 request_.entries(),
                                 request_.entry_count(),
                                 {},
                                 static_cast<std::int32_t>(chunk),
                                 8};
  std::copy(std::begin(request_.rows), std::end(request_.rows), parameters.rows);
  given.put(parameters);
  const memory_range others[] = {
      {ticket.data(), bytes, false},
      {request_.entries(), static_cast<std::size_t>(request_.entry_count()) * sizeof(double),
       false}};
  kernel_launch k{{kernels.kernel[0], kernels.architectures, nullptr, code_.main_phase().pass},
                  p.grid,
                  p.block,
                  0,
                  given.range(),
                  operands_.data(),
                  code_.inputs(),
                  code_.kept_count + code_.stored(),
                  p.elements,
                  false,
                  others,
                  request_.has_table ? 2 : 1};
  k.own_operands = described_.data();
  devices.launch_kernel(k, on);
}

}  // namespace dsl::detail

// The cost model: bytes at the bandwidth measured for arrays of that size, operations at measured
// rates.
#include <algorithm>
#include <cmath>

#include "exec/explain/explain.hpp"

namespace dsl::detail {

namespace {

// Memory access and arithmetic overlap, but not perfectly if both take equally long. The fourth
// root of the sum of fourth powers then gives a fifth more than each alone.
double overlapped(double a, double b) { return std::sqrt(std::hypot(a * a, b * b)); }

}  // namespace

prediction predict(const kernel_demand& work, device where) {
  prediction p;
  if (work.calls_functors) {
    p.why_none = "what functors take is not known";
    return p;
  }
  const calibration* const c = calibration_of(where);
  if (c == nullptr) {
    p.why_none = "times of " + std::string(where.name()) + " say nothing of a device's";
    return p;
  }
  p.launch = c->launch + work.values * c->allocation;
  const double bytes = work.read_bytes + work.written_bytes;
  const double floor = c->read.least();
  // The curves were measured with repeated calls on arrays of a given size, so they include hits in
  // the cache. Data written in place is moved twice.
  if (work.footprint > 0) {
    const double times = bytes / work.footprint, written = work.written_bytes / bytes;
    const double of_reads = c->read(work.footprint) - floor,
                 of_copies = c->copied(work.footprint) - floor;
    p.memory =
        times * std::max(0.0, of_reads + (of_copies - of_reads) * 2 * written) * work.waiting;
  }
  if (c->partial_writes > 0)
    p.memory +=
        work.partly_written * std::max(0.0, 1 / c->partial_writes - 1 / c->copied.bandwidth());
  if (c->cache > 0)
    p.memory =
        overlapped(p.memory, work.cached_bytes > 0 ? (bytes + work.cached_bytes) / c->cache : 0);
  for (std::size_t u = 0; u < unit_count; ++u)
    p.arithmetic += c->rate[u] > 0 ? work.amounts[u] / c->rate[u] : 0;
  const double waits = work.round_trips * c->round_trip;
  const double busy = overlapped(p.memory, p.arithmetic) + waits;
  p.seconds = std::max(p.launch, floor + busy);
  p.binds = p.launch >= p.seconds ? "the launch"
            : waits > std::max(p.memory, p.arithmetic)
                ? "the last block, which combines the others' results"
            : p.arithmetic > p.memory ? "arithmetic"
                                      : "memory";
  return p;
}

double loop_overhead_seconds(device where) {
  const calibration* const c = calibration_of(where);
  return c == nullptr ? 0 : c->launch + c->wait;
}

prediction predict_step(const kernel_demand& work, const loop_plan& plan) {
  kernel_demand step = work;
  if (plan.loop < strategy::elementwise) return predict(step, plan.where);
  // Data on chip is not loaded from memory, and a thread finds its elements only once.
  const bool by_tiles = plan.loop == strategy::tiled;
  const double all =
      by_tiles ? static_cast<double>(plan.elements) : plan.held + plan.in_shared + plan.streamed;
  const double comes_and_goes =
      by_tiles ? static_cast<double>(plan.tile_in_memory) * static_cast<double>(plan.grid)
               : plan.streamed;
  const double streamed = plan.loop == strategy::elementwise || all <= 0 ? 0 : comes_and_goes / all;
  step.read_bytes *= streamed;
  step.written_bytes *= streamed;
  step[unit::integer] = std::max(0.0, step[unit::integer] - (1 - streamed) * step.overhead);
  step.round_trips = 0;
  prediction p = predict(step, plan.where);
  if (std::isnan(p.seconds)) return p;
  if (streamed == 0) p.memory = 0;
  // Blocks exchange sums or halos once a step. Measured on an H200: 1.1 us for the sums of all
  // blocks, 0.4 us within one block, 2.5 us for halos.
  const double exchange = plan.loop == strategy::elementwise ? 0
                          : by_tiles                         ? 2.5e-6
                          : plan.loop == strategy::one_block ? 0.4e-6
                                                             : 1.1e-6;
  const double busy = overlapped(p.memory, p.arithmetic);
  p.launch = 0;
  p.seconds = busy + exchange;
  p.binds = exchange > busy ? (by_tiles ? "the exchange of halos" : "the exchange of sums")
            : p.arithmetic > p.memory ? "arithmetic"
                                      : "memory";
  return p;
}

}  // namespace dsl::detail

// The cost model: the work of a kernel, and the time that a device needs for it.
#pragma once

#include <array>
#include <string>

#include <dsl/exec/run/run.hpp>

#include "exec/run/calibration.hpp"

namespace dsl::detail {

struct kernel_demand {
  std::int64_t elements = 0;
  // Bytes read from and written to memory, each byte counted once.
  double read_bytes = 0, written_bytes = 0;
  // Bytes of all arrays.
  double footprint = 0;
  // Bytes of sectors that are only partly written.
  double partly_written = 0;
  // Bytes that other operands of a stencil have already read.
  double cached_bytes = 0;
  // Factor by which the blocks of a scan take longer because they wait for each other.
  double waiting = 1;
  // Successive accesses to memory by the last block of a reduction.
  double round_trips = 0;
  // Number of values for which memory is allocated.
  double values = 0;
  // Slots, also included in `amounts`, that threads need to find their elements.
  double overhead = 0;
  double flops = 0;
  // Operations of each unit.
  std::array<double, unit_count> amounts{};
  bool calls_functors = false;

  double& operator[](unit u) { return amounts[static_cast<std::size_t>(u)]; }
};

/// The work of a kernel with a known plan. `columns` threads take a row of a tile (0: no tiles),
/// and `threads_a_result` threads share a result.
kernel_demand demand_of(const pass_view& pass, const operand* operands, int inputs, int outputs,
                        const geometry& g, const plan& p, int columns = 0,
                        int threads_a_result = 1);

/// Adds the work of a program's operations on `elements` elements. A thread takes `lanes` of them
/// at a time.
void add_program(kernel_demand& w, const program_view& view, double elements, int lanes = 1);

struct prediction {
  double seconds = __builtin_nan("");
  // Seconds of each alone.
  double memory = 0, arithmetic = 0, launch = 0;
  const char* binds = "";
  std::string why_none;
};

prediction predict(const kernel_demand& work, device where);
/// Predicts a step of a loop.
prediction predict_step(const kernel_demand& work, const loop_plan& plan);
/// Seconds of a loop's call outside its steps, with the wait for its end; 0 if the device was not
/// measured.
double loop_overhead_seconds(device where);

}  // namespace dsl::detail

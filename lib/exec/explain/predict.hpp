// What a kernel has to do, and how long a device takes for it.
#pragma once

#include <array>
#include <string>

#include <dsl/exec/run/run.hpp>

#include "exec/run/calibration.hpp"

namespace dsl::detail {

struct kernel_demand {
  std::int64_t elements = 0;
  double read_bytes = 0, written_bytes = 0;  // of memory, each once
  double footprint = 0;                      // bytes of all arrays
  double partly_written = 0;                 // of sectors that are not written whole
  double again_bytes = 0;                    // that a stencil's other operands have read already
  double waiting = 1;      // by how much a scan's blocks, which wait for each other, take longer
  double round_trips = 0;  // to memory, one after another, that a reduction's last block makes
  double values = 0;       // that get memory of their own
  double overhead = 0;     // slots of threads that find their elements, which are among the amounts
  double flops = 0;
  std::array<double, unit_count> amounts{};  // of each unit
  bool calls_functors = false;

  double& operator[](unit u) { return amounts[static_cast<std::size_t>(u)]; }
};

/// Of a kernel whose plan is known; `columns` threads take a row of a tile, 0 where there are none,
/// and so many share a result.
kernel_demand demand_of(const pass_view& pass, const operand* operands, int inputs, int outputs,
                        const geometry& g, const plan& p, int columns = 0,
                        int threads_a_result = 1);

/// Adds what a program's operations take, for so many elements, `lanes` of them side by side in a
/// thread.
void add_program(kernel_demand& w, const program_view& view, double elements, int lanes = 1);

struct prediction {
  double seconds = __builtin_nan("");
  double memory = 0, arithmetic = 0, launch = 0;  // seconds of each alone
  const char* binds = "";
  std::string why_none;
};

prediction predict(const kernel_demand& work, device where);
/// A loop's step.
prediction predict_step(const kernel_demand& work, const loop_plan& plan);
/// What a call of a loop takes beside its steps, with the wait for its end; 0 where nothing is
/// known.
double seconds_beside_steps(device where);

}  // namespace dsl::detail

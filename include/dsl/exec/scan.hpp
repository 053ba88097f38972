// Runs a scan on operands: lays out, chooses how, and hands over to the back end of the operands' device.
#pragma once

#include <dsl/exec/scan_cuda.hpp>
#include <dsl/exec/scan_host.hpp>
#include <dsl/exec/scan_sim.hpp>

namespace dsl::detail {

/// What a scan was compiled to.
struct scan_code {
  pass_view view;  // of the elements
  int inputs, lanes, rounds;
  dtype target;
  const char* architectures;  // as program_code's
  // Null in a file that nvcc did not compile.
  const void* rows[3];  // linear and one row, linear, strided
  const void *columns, *column_totals;
  simulated_scan simulated[3];
  scan_host_code host;
};

/// What is scanned: along one axis (from 0 on), or all elements in row-major order (-1).
struct scan_request {
  int axis = -1;
  bool exclusive = false, has_init = false;
  literal init{};
};

/// Queues a scan on the current stream. `operands` are the inputs and the target, which has their shape. As if the right side were
/// complete before the first write. Throws shape_error, device_error, memory_error or cuda_error.
void run_scan(const scan_code& code, const operand* operands, const scan_request& request);

/// Gives a target the shape of what is scanned; where that is flattened, the target is of rank 1. Throws shape_error where it is not
/// the shape of the scan.
void fit_scan_target(operand& target, const std::int64_t* shape, int rank, bool flat);

template <class Scan>
const scan_code& scan_code_of() {
  constexpr int operands = Scan::inputs + 1;
  using linear = linear_arguments<operands>;
  using strided = strided_arguments<operands>;
  using thread = scan_thread<Scan, true, strided, checked_memory>;
  static const scan_code code{
      Scan::pass::view(),
      Scan::inputs,
      thread::lanes,
      thread::rounds,
      Scan::target,
      DSL_DETAIL_ARCHITECTURES,
#if defined(__CUDACC__)
      {reinterpret_cast<const void*>(&scan_rows<Scan, false, linear>), reinterpret_cast<const void*>(&scan_rows<Scan, true, linear>),
       reinterpret_cast<const void*>(&scan_rows<Scan, true, strided>)},
      reinterpret_cast<const void*>(&scan_columns<Scan, strided>),
      reinterpret_cast<const void*>(&scan_column_totals<typename Scan::combine, typename Scan::value>),
#else
      {},
      nullptr,
      nullptr,
#endif
      {{&simulated_scan_rows<Scan, false, linear>::run, nullptr, nullptr},
       {&simulated_scan_rows<Scan, true, linear>::run, nullptr, nullptr},
       {&simulated_scan_rows<Scan, true, strided>::run, &simulated_scan_columns<Scan, strided>::run, &simulated_scan_columns<Scan, strided>::totals}},
      scan_host_loop<Scan>::code()};
  return code;
}

}  // namespace dsl::detail

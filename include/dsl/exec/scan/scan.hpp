// Runs a scan on operands: lays them out, chooses a method, and calls the back end of their device.
#pragma once

#include <dsl/exec/run/compiled.hpp>
#include <dsl/exec/scan/scan_host.hpp>
#include <dsl/exec/scan/scan_kernel.hpp>

namespace dsl::detail {

/// The kernels of a scan: of rows (all elements one row, linear; linear; strided), of columns, and
/// of the totals of columns' chunks.
struct scan_kernels : entry_points<5> { scan_policy policy; };
enum scan_kernel_number {
  scan_of_one_row,
  scan_of_linear_rows,
  scan_of_rows,
  scan_of_columns,
  scan_of_totals
};

/// The compiled code of a scan.
struct scan_code {
  pass_view view;        // The pass that computes the elements.
  program_view combine;  // The operator.
  int inputs, lanes;
  dtype target;
  int value_bytes;  // Bytes of an accumulated value.
  // Null if no file compiled it for that back end.
  const scan_host_code* host;
  const scan_kernels* kernels[kernel_targets];
};

/// The axis to scan along (from 0), or all elements in row-major order (-1).
struct scan_request {
  int axis = -1;
  bool exclusive = false, has_init = false;
  literal init{};
};

/// Queues a scan on the current stream. `operands` are the inputs and the target, which has their
/// shape. As if the right side were complete before the first write. Throws shape_error,
/// device_error, memory_error or cuda_error.
void run_scan(const scan_code& code, const operand* operands, const scan_request& request);

/// The plan with which `run_scan` would run. Throws as it would.
scan_plan plan_scan(const scan_code& code, const operand* operands, const scan_request& request);

/// Gives a target the scan's shape; if that is flattened, the target has rank 1. Throws shape_error
/// if the target has another shape.
void fit_scan_target(operand& target, const std::int64_t* shape, int rank, bool flat);

// The scan is taken apart, so that nvcc's stub can spell its parts.
template <kernel_target T, class Pass, class Operator, dtype Target, int Inputs>
scan_kernels kernels_of_scan(scan_program<Pass, Operator, Target, Inputs>) {
  using scan = scan_program<Pass, Operator, Target, Inputs>;
  using linear = linear_arguments<Inputs + 1>;
  using strided = strided_arguments<Inputs + 1>;
  using elements = typename Pass::elements;
  constexpr int warp_size = T == kernel_target::sim ? simulated_team::warp_size : 32;
  constexpr scan_policy policy = scan_policy_of<Pass>(capability_of<T>, warp_size);
  using naming = named_by_scan<elements, Operator>;
  using totals = scan_totals_kernel<elements::output(0).type(), policy.totals_run,
                                    policy.totals_ahead, Operator>;
  return {{architectures_of<T>,
           {entry_point<T, scan_rows_kernel<linear, false, scan>, naming>(),
            entry_point<T, scan_rows_kernel<linear, true, scan>, naming>(),
            entry_point<T, scan_rows_kernel<strided, true, scan>, naming>(),
            entry_point<T, scan_columns_kernel<strided, scan>, naming>(),
            entry_point<T, totals, named_by_scan<no_program, Operator>>()}},
          policy};
}

template <class Scan>
struct scan_kind {
  using code_type = scan_code;
  using kernels_type = scan_kernels;
  static constexpr bool has_kernels = true;

  static constexpr scan_code made() {
    return {Scan::pass::view(),
            Scan::combine::view(),
            Scan::inputs,
            lanes_of_scan<typename Scan::pass>,
            Scan::target,
            sizeof(typename Scan::value),
            nullptr,
            {}};
  }
  static void add_host(scan_code& code) {
    static constexpr scan_host_code loop = scan_host_loop<Scan>::code();
    code.host = &loop;
  }
  template <kernel_target Target>
  static scan_kernels kernels() {
    return kernels_of_scan<Target>(Scan{});
  }
};

template <class Scan>
const scan_code& scan_code_of() {
  return compiled<scan_kind<Scan>>::code();
}

}  // namespace dsl::detail

// Runs a scan on operands: lays them out, chooses a method, and calls the back end of their device.
#pragma once

#include <dsl/exec/run/back_ends.hpp>
#include <dsl/exec/run/entry_points.hpp>
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

template <class Scan> void add_scan_kernels();

template <class Scan>
struct compiled_scan {
  using linear = linear_arguments<Scan::inputs + 1>;
  using strided = strided_arguments<Scan::inputs + 1>;
  static constexpr int lanes = lanes_of_scan<typename Scan::pass>;

  static inline constinit scan_code code{
      Scan::pass::view(), Scan::combine::view(),        Scan::inputs, lanes,
      Scan::target,       sizeof(typename Scan::value), nullptr,      {}};

  template <unsigned BackEnds>
  static void add() {
    if constexpr (has_cuda(BackEnds)) add_scan_kernels<Scan>();
    if constexpr (has_host(BackEnds)) {
      static constexpr scan_host_code compiled = scan_host_loop<Scan>::code();
      code.host = &compiled;
    }
    if constexpr (has_sim(BackEnds)) add_sim();
  }

 private:
  static void add_sim() {
    constexpr scan_policy policy = scan_policy_of<typename Scan::pass>(0);
    static const scan_kernels made{
        {nullptr,
         {reinterpret_cast<const void*>(&simulate_scan_rows<Scan, false, linear>),
          reinterpret_cast<const void*>(&simulate_scan_rows<Scan, true, linear>),
          reinterpret_cast<const void*>(&simulate_scan_rows<Scan, true, strided>),
          reinterpret_cast<const void*>(&simulate_scan_columns<Scan, strided>),
          reinterpret_cast<const void*>(
              &simulate_scan_column_totals<typename Scan::combine, typename Scan::value,
                                           policy.totals_run, policy.totals_ahead>)}},
        policy};
    code.kernels[static_cast<int>(kernel_target::sim)] = &made;
  }
};

#if defined(__CUDACC__)
template <class Arguments, bool Rows, class Scan>
struct scan_rows_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::scan_rows<Name, Arguments, Rows, Scan>);
  }
};
template <class Arguments, class Scan>
struct scan_columns_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::scan_columns<Name, Arguments, Scan>);
  }
};
template <dtype Value, int Run, int Ahead, class Operator>
struct scan_totals_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(
        &kernels::scan_column_totals<Name, Value, Run, Ahead, Operator>);
  }
};
template <class Pass, class Operator, dtype Target, int Inputs>
scan_kernels make_scan_kernels(scan_program<Pass, Operator, Target, Inputs>) {
  using scan = scan_program<Pass, Operator, Target, Inputs>;
  using linear = linear_arguments<Inputs + 1>;
  using strided = strided_arguments<Inputs + 1>;
  using elements = typename Pass::elements;
  constexpr scan_policy policy = device_scan_policy<scan>;
  using totals = scan_totals_kernel<elements::output(0).type(), policy.totals_run,
                                    policy.totals_ahead, Operator>;
  return {{DSL_DETAIL_ARCHITECTURES,
           {kernel_of_scan<scan_rows_kernel<linear, false, scan>, elements, Operator>(),
            kernel_of_scan<scan_rows_kernel<linear, true, scan>, elements, Operator>(),
            kernel_of_scan<scan_rows_kernel<strided, true, scan>, elements, Operator>(),
            kernel_of_scan<scan_columns_kernel<strided, scan>, elements, Operator>(),
            kernel_of_scan<totals, no_program, Operator>()}},
          policy};
}
template <class Scan>
void add_scan_kernels() {
  static const scan_kernels made = make_scan_kernels(Scan{});
  compiled_scan<Scan>::code.kernels[static_cast<int>(kernel_target::cuda)] = &made;
}
#endif

template <class Scan>
const scan_code& scan_code_of() {
  using compiled = compiled_scan<Scan>;
  add_to_program<compiled>();
  return compiled::code;
}

}  // namespace dsl::detail

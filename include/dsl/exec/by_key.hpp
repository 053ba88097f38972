// Runs a reduction by key on operands: lays out, chooses how, and hands over to the back end of the operands' device.
#pragma once

#include <dsl/exec/back_ends.hpp>
#include <dsl/exec/by_key_host.hpp>
#include <dsl/exec/by_key_kernel.hpp>
#include <dsl/exec/entry_points.hpp>

namespace dsl::detail {

/// The kernels of a reduction by key: of elements in one line, of others, and what makes results.
struct by_key_kernels : entry_points<3> {};
enum by_key_kernel_number { by_key_linear, by_key_strided, by_key_results };

/// What a reduction by key was compiled to.
struct by_key_code {
  pass_view view;
  int inputs, lanes, accumulator_bytes, values;  // values: of an element, with its key
  bool counts;                                   // elements, and nothing else
  bool combines_quickly;
  // Null where no file compiled it for that.
  const by_key_host_code* host;
  const by_key_kernels* kernels[kernel_targets];
};

struct by_key_request {
  std::int64_t groups;
  bool ignores_others = false;  // keys of no group
};

/// Queues a reduction by key on the current stream. `operands` are the inputs and the target, of rank 1, with an element for each
/// group. Throws shape_error, device_error, memory_error or cuda_error.
void run_by_key(const by_key_code& code, const operand* operands, const by_key_request& request);

template <class Pass, int Inputs> void add_by_key_kernels();

template <class Pass, int Inputs>
struct compiled_by_key {
  using linear = linear_arguments<Inputs + Pass::targets>;
  using strided = strided_arguments<Inputs + Pass::targets>;
  static inline constinit by_key_code code{
      Pass::view(),
      Inputs,
      lanes_of_pass<Pass>,
      static_cast<int>(sizeof(typename reductions_of<typename Pass::reductions>::accumulators)),
      Pass::elements::outputs,
      only_counts<Pass>,
      combines_quickly<typename Pass::reductions>,
      nullptr,
      {}};

  template <unsigned BackEnds>
  static void add() {
    if constexpr (has_cuda(BackEnds)) add_by_key_kernels<Pass, Inputs>();
    if constexpr (has_host(BackEnds)) {
      static constexpr by_key_host_code compiled = by_key_host_loop<Pass>::code();
      code.host = &compiled;
    }
    if constexpr (has_sim(BackEnds)) add_sim();
  }

 private:
  static void add_sim() {
    static const by_key_kernels made{{nullptr,
                                      {reinterpret_cast<const void*>(&simulate_by_key<Pass, Inputs, linear>),
                                       reinterpret_cast<const void*>(&simulate_by_key<Pass, Inputs, strided>),
                                       reinterpret_cast<const void*>(&simulate_by_key_finish<Pass, Inputs, linear>)}}};
    code.kernels[static_cast<int>(kernel_target::sim)] = &made;
  }
};

#if defined(__CUDACC__)
template <class Pass, int Inputs, class Arguments>
struct by_key_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::by_key<Name, Arguments, Inputs, Pass>);
  }
};
template <class Pass, int Inputs, class Arguments>
struct by_key_finish_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::by_key_finish<Name, Arguments, Inputs, Pass>);
  }
};
template <class Pass, int Inputs>
void add_by_key_kernels() {
  using linear = linear_arguments<Inputs + Pass::targets>;
  using strided = strided_arguments<Inputs + Pass::targets>;
  static const by_key_kernels made{{DSL_DETAIL_ARCHITECTURES,
                                    {kernel_of_pass<by_key_kernel<Pass, Inputs, linear>, unnamed, Pass>(),
                                     kernel_of_pass<by_key_kernel<Pass, Inputs, strided>, unnamed, Pass>(),
                                     kernel_of_pass<by_key_finish_kernel<Pass, Inputs, linear>, unnamed, Pass>()}}};
  compiled_by_key<Pass, Inputs>::code.kernels[static_cast<int>(kernel_target::cuda)] = &made;
}
#endif

template <int Inputs, std::uint64_t Key, class... Calls>
const by_key_code& by_key_code_for(pass<Key, Calls...>) {
  using compiled = compiled_by_key<pass<Key, Calls...>, Inputs>;
  add_to_program<compiled>();
  return compiled::code;
}

}  // namespace dsl::detail

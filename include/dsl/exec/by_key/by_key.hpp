// Runs a reduction by key on operands: lays out, chooses how, and hands over to the back end of the
// operands' device.
#pragma once

#include <dsl/exec/by_key/by_key_host.hpp>
#include <dsl/exec/by_key/by_key_kernel.hpp>
#include <dsl/exec/run/back_ends.hpp>
#include <dsl/exec/run/entry_points.hpp>

namespace dsl::detail {

/// The kernels of a reduction by key: of elements in one line, of others, and what makes results.
struct by_key_kernels : entry_points<3> {};
enum by_key_kernel_number { by_key_linear, by_key_strided, by_key_results };

/// What a reduction by key was compiled to.
struct by_key_code {
  pass_view view;
  int inputs, lanes, accumulator_bytes, values;  // values: of an element, with its key
  int targets, groups,
      all_bytes;  // targets, of which the first are groups'; of what all elements come to, or 0
  bool counts;    // a group's elements, and nothing else of them
  bool combines_quickly;
  // Null where no file compiled it for that.
  const by_key_host_code* host;
  const by_key_kernels* kernels[kernel_targets];
};

struct by_key_request {
  std::int64_t groups;
  bool ignores_others = false;  // keys of no group
};

/// Throws shape_error where a target has not an element for each group.
void require_groups(const by_key_request& request, const operand& target);
/// Queues a reduction by key on the current stream. `operands` are the inputs and the targets:
/// those of groups are of rank 1, with an element for each, others are scalars. Throws shape_error,
/// device_error, memory_error or cuda_error.
void run_by_key(const by_key_code& code, const operand* operands, const by_key_request& request);

/// Whether some leaves, `second` of them behind the first ones, have the same index space as those,
/// of which there is at least an element. Throws shape_error where the first or the second ones do
/// not fit each other.
bool is_space_of_keys(const operand* leaves, int first, int second);

template <class Pass, int Inputs, int Groups> void add_by_key_kernels();

template <class Pass, int Inputs, int Groups>
struct compiled_by_key {
  using of_groups = results_of_groups<Pass, Groups>;
  using of_all = results_of_all<Pass, Groups>;
  using linear = linear_arguments<Inputs + Pass::targets>;
  using strided = strided_arguments<Inputs + Pass::targets>;
  static inline constinit by_key_code code{
      Pass::view(),
      Inputs,
      lanes_of_pass<Pass>,
      static_cast<int>(sizeof(typename of_groups::accumulators)),
      Pass::elements::outputs,
      Pass::results::outputs,
      Groups,
      of_all::reductions::count > 0 ? static_cast<int>(sizeof(typename of_all::accumulators)) : 0,
      only_counts<Pass, Groups>,
      combines_quickly<typename of_groups::chosen>,
      nullptr,
      {}};

  template <unsigned BackEnds>
  static void add() {
    if constexpr (has_cuda(BackEnds)) add_by_key_kernels<Pass, Inputs, Groups>();
    if constexpr (has_host(BackEnds)) {
      static constexpr by_key_host_code compiled = by_key_host_loop<Pass, Groups>::code();
      code.host = &compiled;
    }
    if constexpr (has_sim(BackEnds)) add_sim();
  }

 private:
  static void add_sim() {
    static const by_key_kernels made{
        {nullptr,
         {reinterpret_cast<const void*>(&simulate_by_key<Pass, Inputs, Groups, linear>),
          reinterpret_cast<const void*>(&simulate_by_key<Pass, Inputs, Groups, strided>),
          reinterpret_cast<const void*>(&simulate_by_key_finish<Pass, Inputs, Groups, linear>)}}};
    code.kernels[static_cast<int>(kernel_target::sim)] = &made;
  }
};

#if defined(__CUDACC__)
template <class Pass, int Inputs, int Groups, class Arguments>
struct by_key_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::by_key<Name, Arguments, Inputs, Groups, Pass>);
  }
};
template <class Pass, int Inputs, int Groups, class Arguments>
struct by_key_finish_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(
        &kernels::by_key_finish<Name, Arguments, Inputs, Groups, Pass>);
  }
};
template <class Pass, int Inputs, int Groups>
void add_by_key_kernels() {
  using linear = linear_arguments<Inputs + Pass::targets>;
  using strided = strided_arguments<Inputs + Pass::targets>;
  static const by_key_kernels made{
      {DSL_DETAIL_ARCHITECTURES,
       {kernel_of_pass<by_key_kernel<Pass, Inputs, Groups, linear>, unnamed, Pass>(),
        kernel_of_pass<by_key_kernel<Pass, Inputs, Groups, strided>, unnamed, Pass>(),
        kernel_of_pass<by_key_finish_kernel<Pass, Inputs, Groups, linear>, unnamed, Pass>()}}};
  compiled_by_key<Pass, Inputs, Groups>::code.kernels[static_cast<int>(kernel_target::cuda)] =
      &made;
}
#endif

template <int Inputs, int Groups, std::uint64_t Key, class... Calls>
const by_key_code& by_key_code_for(pass<Key, Calls...>) {
  using compiled = compiled_by_key<pass<Key, Calls...>, Inputs, Groups>;
  add_to_program<compiled>();
  return compiled::code;
}

}  // namespace dsl::detail

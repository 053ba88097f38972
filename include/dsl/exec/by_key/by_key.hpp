// Runs a reduction by key on operands: lays them out, chooses a method, and calls the back end of
// their device.
#pragma once

#include <dsl/exec/by_key/by_key_host.hpp>
#include <dsl/exec/by_key/by_key_kernel.hpp>
#include <dsl/exec/run/compiled.hpp>

namespace dsl::detail {

/// The kernels of a reduction by key: for elements in one line, for other layouts, and for making
/// results.
struct by_key_kernels : entry_points<3> {};
enum by_key_kernel_number { by_key_linear, by_key_strided, by_key_results };

/// The compiled code of a reduction by key.
struct by_key_code {
  pass_view view;
  // values: outputs of the element program, of which the first is the key.
  int inputs, lanes, accumulator_bytes, values;
  // Targets, of which the first `groups` have an element for each group; bytes of the accumulators
  // of all elements, or 0.
  int targets, groups, all_bytes;
  bool counts;  // Whether only the number of a group's elements is computed.
  bool combines_quickly;
  // Null if no file compiled it for that back end.
  const by_key_host_code* host;
  const by_key_kernels* kernels[kernel_targets];
};

struct by_key_request {
  std::int64_t groups;
  bool ignores_others = false;  // Whether elements with a key of no group are ignored.
};

/// Throws shape_error if a target does not have one element for each group.
void require_groups(const by_key_request& request, const operand& target);
/// Queues a reduction by key on the current stream. `operands` are the inputs, then the targets:
/// those for groups have rank 1 and an element for each group, the others are scalars. Throws
/// shape_error, device_error, memory_error or cuda_error.
void run_by_key(const by_key_code& code, const operand* operands, const by_key_request& request);

/// Whether the `second` leaves that follow the first `first` have the same, non-empty index space
/// as those. Throws shape_error if the first or the second ones do not broadcast.
bool is_space_of_keys(const operand* leaves, int first, int second);

template <class Pass, int Inputs, int Groups>
struct by_key_kind {
  using code_type = by_key_code;
  using kernels_type = by_key_kernels;
  using of_groups = results_of_groups<Pass, Groups>;
  using of_all = results_of_all<Pass, Groups>;
  static constexpr bool has_kernels = true;

  static constexpr by_key_code made() {
    return {
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
  }
  static void add_host(by_key_code& code) {
    static constexpr by_key_host_code loop = by_key_host_loop<Pass, Groups>::code();
    code.host = &loop;
  }
  template <kernel_target Target>
  static by_key_kernels kernels() {
    using linear = linear_arguments<Inputs + Pass::targets>;
    using strided = strided_arguments<Inputs + Pass::targets>;
    using naming = named_by_pass<unnamed, Pass>;
    return {{architectures_of<Target>,
             {entry_point<Target, by_key_kernel<Pass, Inputs, Groups, linear>, naming>(),
              entry_point<Target, by_key_kernel<Pass, Inputs, Groups, strided>, naming>(),
              entry_point<Target, by_key_finish_kernel<Pass, Inputs, Groups, linear>, naming>()}}};
  }
};

// The pass is taken apart, so that nvcc's stub can spell its parts.
template <int Inputs, int Groups, std::uint64_t Key, class... Calls>
const by_key_code& by_key_code_for(pass<Key, Calls...>) {
  return compiled<by_key_kind<pass<Key, Calls...>, Inputs, Groups>>::code();
}

}  // namespace dsl::detail

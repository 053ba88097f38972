// Runs a selection on operands.
#pragma once

#include <dsl/exec/by_key/compress_kernel.hpp>
#include <dsl/exec/host/host.hpp>
#include <dsl/exec/run/compiled.hpp>

namespace dsl::detail {

/// The kernels of a selection: for elements in one line, and for other layouts.
struct compress_kernels : entry_points<2> {};

/// The compiled code of a selection: a pass whose outputs are the condition and the values.
struct compress_code {
  pass_view view;
  int inputs, lanes, tiles_a_warp;
  // Null if no file compiled it for that back end.
  const host_code* host;
  const compress_kernels* kernels[kernel_targets];
};

/// Queues a selection on the current stream. `operands` are the inputs, a target of rank 1 for each
/// value, and the number of selected elements, int64 of rank 0. Elements that do not fit in the
/// targets are not written, and neither are the targets' elements after the last one. As if the
/// right side were complete before the first write. Throws shape_error, device_error, memory_error
/// or cuda_error.
void run_compress(const compress_code& code, const operand* operands);

/// The number of elements of the operands' index space. Throws shape_error and device_error.
std::int64_t elements_of(const operand* operands, int count, const pass_view& pass);

// The selection is taken apart, so that nvcc's stub can spell its parts.
template <kernel_target Target, class Pass, class Count, int Inputs>
compress_kernels kernels_of_compress(compress_program<Pass, Count, Inputs>) {
  using compress = compress_program<Pass, Count, Inputs>;
  using linear = linear_arguments<Inputs + Pass::targets>;
  using strided = strided_arguments<Inputs + Pass::targets>;
  using naming = named_by_pass<unnamed, Pass>;
  return {{architectures_of<Target>,
           {entry_point<Target, compress_kernel<compress, linear>, naming>(),
            entry_point<Target, compress_kernel<compress, strided>, naming>()}}};
}

template <class Compress>
struct selection_kind {
  using code_type = compress_code;
  using kernels_type = compress_kernels;
  static constexpr bool has_kernels = true;

  static constexpr compress_code made() {
    return {Compress::pass::view(), Compress::inputs, Compress::lanes,
            Compress::rounds,       nullptr,          {}};
  }
  static void add_host(compress_code& code) { code.host = &host_code_of<typename Compress::pass>; }
  template <kernel_target Target>
  static compress_kernels kernels() {
    return kernels_of_compress<Target>(Compress{});
  }
};

template <int Inputs, std::uint64_t Key, class... Calls, std::uint64_t Count>
const compress_code& compress_code_for(pass<Key, Calls...>, program<Count>) {
  return compiled<
      selection_kind<compress_program<pass<Key, Calls...>, program<Count>, Inputs>>>::code();
}

}  // namespace dsl::detail

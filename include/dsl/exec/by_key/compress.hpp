// Runs a selection on operands.
#pragma once

#include <dsl/exec/by_key/compress_kernel.hpp>
#include <dsl/exec/host/host.hpp>
#include <dsl/exec/run/back_ends.hpp>
#include <dsl/exec/run/entry_points.hpp>

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

template <class Compress> void add_compress_kernels();

template <class Compress>
struct compiled_compress {
  using pass = typename Compress::pass;
  using linear = linear_arguments<Compress::inputs + pass::targets>;
  using strided = strided_arguments<Compress::inputs + pass::targets>;
  static inline constinit compress_code code{pass::view(),     Compress::inputs, Compress::lanes,
                                             Compress::rounds, nullptr,          {}};

  template <unsigned BackEnds>
  static void add() {
    if constexpr (has_cuda(BackEnds)) add_compress_kernels<Compress>();
    if constexpr (has_host(BackEnds)) code.host = &host_code_of<pass>;
    if constexpr (has_sim(BackEnds)) add_sim();
  }

 private:
  static void add_sim() {
    static const compress_kernels made{
        {nullptr,
         {reinterpret_cast<const void*>(&simulate_compress<Compress, linear>),
          reinterpret_cast<const void*>(&simulate_compress<Compress, strided>)}}};
    code.kernels[static_cast<int>(kernel_target::sim)] = &made;
  }
};

#if defined(__CUDACC__)
template <class Compress, class Arguments>
struct compress_kernel {
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::compress<Name, Arguments, Compress>);
  }
};
template <class Pass, class Count, int Inputs>
compress_kernels make_compress_kernels(compress_program<Pass, Count, Inputs>) {
  using compress = compress_program<Pass, Count, Inputs>;
  using linear = linear_arguments<Inputs + Pass::targets>;
  using strided = strided_arguments<Inputs + Pass::targets>;
  return {{DSL_DETAIL_ARCHITECTURES,
           {kernel_of_pass<compress_kernel<compress, linear>, unnamed, Pass>(),
            kernel_of_pass<compress_kernel<compress, strided>, unnamed, Pass>()}}};
}
template <class Compress>
void add_compress_kernels() {
  static const compress_kernels made = make_compress_kernels(Compress{});
  compiled_compress<Compress>::code.kernels[static_cast<int>(kernel_target::cuda)] = &made;
}
#endif

template <int Inputs, std::uint64_t Key, class... Calls, std::uint64_t Count>
const compress_code& compress_code_for(pass<Key, Calls...>, program<Count>) {
  using compiled = compiled_compress<compress_program<pass<Key, Calls...>, program<Count>, Inputs>>;
  add_to_program<compiled>();
  return compiled::code;
}

}  // namespace dsl::detail

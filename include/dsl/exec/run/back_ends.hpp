// Which back ends a file is compiled for, and how the compiled code of several files is joined in
// one program.
//
// DSL_BACK_ENDS names them before the first header, or on the command line: -DDSL_BACK_ENDS=cuda,
// -DDSL_BACK_ENDS='host|sim'. By default they are all that the compiler supports: host and sim, and
// with nvcc cuda. A formula runs on every back end for which at least one of the program's files
// compiled it, and throws device_error on the others.
#pragma once

#include <dsl/ir/config.hpp>

#if !defined(DSL_BACK_ENDS)
#define DSL_BACK_ENDS cuda | host | sim
#endif

namespace dsl::detail {

namespace back_end_bits {

enum bits : unsigned { cuda = 1, host = 2, sim = 4 };
constexpr unsigned chosen = DSL_BACK_ENDS;

}  // namespace back_end_bits

constexpr bool compiles_cuda =
    DSL_DETAIL_COMPILES_CUDA && (back_end_bits::chosen & back_end_bits::cuda) != 0;
// nvcc's device pass compiles kernels only, whatever else the file instantiates.
constexpr bool compiles_host =
    !DSL_DETAIL_ON_DEVICE && (back_end_bits::chosen & back_end_bits::host) != 0;
constexpr bool compiles_sim =
    !DSL_DETAIL_ON_DEVICE && (back_end_bits::chosen & back_end_bits::sim) != 0;

/// The back ends for which this file compiles formulas.
constexpr unsigned compiled_back_ends = (compiles_cuda ? back_end_bits::cuda : 0u) |
                                        (compiles_host ? back_end_bits::host : 0u) |
                                        (compiles_sim ? back_end_bits::sim : 0u);
constexpr bool has_cuda(unsigned back_ends) { return (back_ends & back_end_bits::cuda) != 0; }
constexpr bool has_host(unsigned back_ends) { return (back_ends & back_end_bits::host) != 0; }
constexpr bool has_sim(unsigned back_ends) { return (back_ends & back_end_bits::sim) != 0; }

/// True once Compiled::add<BackEnds>() was called, which is before `main`. If two files compile an
/// inline function for different back ends, the linker keeps one of them; the other file's code
/// enters the program only through this variable. `add` always stores the same addresses, so it may
/// be called again.
template <class Compiled, unsigned BackEnds>
inline bool added_at_start = (Compiled::template add<BackEnds>(), true);

/// Registers this file's compiled code if its initializer has not run yet: another file's
/// initializers may run first.
template <class Compiled> void add_to_program() {
  if (!added_at_start<Compiled, compiled_back_ends>) Compiled::template add<compiled_back_ends>();
}

}  // namespace dsl::detail

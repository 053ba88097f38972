// Error messages for names whose header is not included: they say which header to include.
#pragma once

#include <dsl/lang/operands.hpp>

#pragma GCC system_header  // GCC then shows only where its macros are used

namespace dsl {

// These functions take any argument, through a conversion that ranks below the parameters of every
// other function. The return type `auto` is deduced only at a call, so that this error comes first.
#define DSL_NOT_INCLUDED(name, part, file)                                     \
  static_assert(dsl::detail::is_included<dsl::detail::header::part, Explicit>, \
                #name " has a header of its own: add #include <dsl/" #file ".hpp>");
#define DSL_ELSEWHERE_WITH(name, part, file, fifth)                                              \
  template <class Explicit = void>                                                               \
    requires(!dsl::detail::is_included<dsl::detail::header::part, Explicit>)                     \
  auto name(dsl::detail::no_operand, dsl::detail::no_operand = {}, dsl::detail::no_operand = {}, \
            dsl::detail::no_operand = {}, fifth = {}, dsl::detail::no_operand = {},              \
            dsl::detail::no_operand = {}, dsl::detail::no_operand = {}) {                        \
    DSL_NOT_INCLUDED(name, part, file)                                                           \
    return refused{};                                                                            \
  }
#define DSL_ELSEWHERE(name, part, file) \
  DSL_ELSEWHERE_WITH(name, part, file, dsl::detail::no_operand)
#define DSL_ELSEWHERE_OF_RANK(name, part, file)                              \
  template <class Explicit, int Rank = 1>                                    \
    requires(!dsl::detail::is_included<dsl::detail::header::part, Explicit>) \
  auto name(dsl::detail::no_operand, dsl::detail::no_operand = {}) {         \
    DSL_NOT_INCLUDED(name, part, file)                                       \
    return refused{};                                                        \
  }
DSL_ELSEWHERE(cumsum, scan, scan)
DSL_ELSEWHERE(cumprod, scan, scan)
DSL_ELSEWHERE(scan, scan, scan)

DSL_ELSEWHERE(sliding_window, window, window)
DSL_ELSEWHERE(convolve, window, window)

DSL_ELSEWHERE(sum_by, by_key, by_key)
DSL_ELSEWHERE(reduce_by, by_key, by_key)
DSL_ELSEWHERE(bincount, by_key, by_key)
DSL_ELSEWHERE(histogram, by_key, by_key)
DSL_ELSEWHERE(scatter_add, scatter, by_key)
DSL_ELSEWHERE(put, scatter, by_key)
DSL_ELSEWHERE(compress, select, by_key)
DSL_ELSEWHERE(nonzero, select, by_key)
DSL_ELSEWHERE(assign_where, select, by_key)
DSL_ELSEWHERE(sort, sort, by_key)
DSL_ELSEWHERE(argsort, sort, by_key)
DSL_ELSEWHERE(partition, sort, by_key)
DSL_ELSEWHERE(unique, sort, by_key)
DSL_ELSEWHERE(median, sort, by_key)
DSL_ELSEWHERE(percentile, sort, by_key)
DSL_ELSEWHERE(searchsorted, sort, by_key)
DSL_ELSEWHERE(topk, sort, by_key)
DSL_ELSEWHERE(argtopk, sort, by_key)

DSL_ELSEWHERE(matmul, linear, linear)
DSL_ELSEWHERE(solve, linear, linear)
DSL_ELSEWHERE(inv, linear, linear)
DSL_ELSEWHERE(cholesky, linear, linear)
DSL_ELSEWHERE(eigh, linear, linear)
DSL_ELSEWHERE(svd, linear, linear)
DSL_ELSEWHERE(svdvals, linear, linear)
DSL_ELSEWHERE(matrix_norm, linear, linear)

DSL_ELSEWHERE(fft, fft, fft)
DSL_ELSEWHERE(ifft, fft, fft)
DSL_ELSEWHERE(fft2, fft, fft)
DSL_ELSEWHERE(ifft2, fft, fft)
DSL_ELSEWHERE(fftn, fft, fft)
DSL_ELSEWHERE(ifftn, fft, fft)
DSL_ELSEWHERE(rfft, fft, fft)
DSL_ELSEWHERE(irfft, fft, fft)
DSL_ELSEWHERE(rfftn, fft, fft)
DSL_ELSEWHERE(irfftn, fft, fft)
DSL_ELSEWHERE(fftfreq, fft, fft)
DSL_ELSEWHERE(rfftfreq, fft, fft)
DSL_ELSEWHERE(fftshift, fft, fft)
DSL_ELSEWHERE(ifftshift, fft, fft)

DSL_ELSEWHERE(mesh, mpi, mpi)
DSL_ELSEWHERE_OF_RANK(from_dlpack, dlpack, dlpack)
DSL_ELSEWHERE(to_dlpack, dlpack, dlpack)
DSL_ELSEWHERE_OF_RANK(from_cuda_array_interface, cuda_array_interface, cuda_array_interface)
DSL_ELSEWHERE(to_cuda_array_interface, cuda_array_interface, cuda_array_interface)

namespace random {
DSL_ELSEWHERE(bits, random, random)
DSL_ELSEWHERE(uniform, random, random)
DSL_ELSEWHERE(normal, random, random)
DSL_ELSEWHERE(exponential, random, random)
DSL_ELSEWHERE(integers, random, random)
DSL_ELSEWHERE(bernoulli, random, random)
DSL_ELSEWHERE(permutation, random, random)
}  // namespace random

namespace ode {
namespace detail {
/// Accepts the braces that may be written for a tolerance.
struct any_tolerance {
  dsl::detail::no_operand relative, absolute, first_step, largest_step, most_steps;
};
}  // namespace detail
struct tolerance;  // #include <dsl/ode.hpp>

DSL_ELSEWHERE(euler, ode, ode)
DSL_ELSEWHERE(heun, ode, ode)
DSL_ELSEWHERE(rk4, ode, ode)
DSL_ELSEWHERE(dopri5, ode, ode)
DSL_ELSEWHERE(fehlberg8, ode, ode)
DSL_ELSEWHERE(with_time, ode, ode)
DSL_ELSEWHERE(sde, ode, ode)
DSL_ELSEWHERE_WITH(integrate, ode, ode, detail::any_tolerance)
}  // namespace ode
#undef DSL_ELSEWHERE
#undef DSL_ELSEWHERE_WITH
#undef DSL_ELSEWHERE_OF_RANK
#undef DSL_NOT_INCLUDED

namespace python {
template <element T> struct any_rank;
namespace detail {
struct no_module {
  template <class... P, class F> no_module& kernel(const char*, const F&, const char* = "") {
    return *this;
  }
  template <class... P, class F> no_module& loop(const char*, const F&, const char* = "") {
    return *this;
  }
  template <class... P, class F, class... Options>
  no_module& ensemble(const char*, const F&, const char* = "", const Options&...) {
    return *this;
  }
};
}  // namespace detail
}  // namespace python

}  // namespace dsl

#define DSL_PYTHON_MODULE(name, m)                                                           \
  static_assert(sizeof(#name) == 0,                                                          \
                "DSL_PYTHON_MODULE has a header of its own: add #include <dsl/python.hpp>"); \
  [[maybe_unused]] static void dsl_fill_python_module_##name(                                \
      [[maybe_unused]] ::dsl::python::detail::no_module& m)

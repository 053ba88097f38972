// What differs between compilers, and nothing else: every other header is plain C++20.
#pragma once

// A missing header ends the compilation, which #error does not: hundreds of errors would follow.
#if __cplusplus < 202002L
#include <dsl needs C++20: compile with -std=c++20, in CMake target_compile_features(my_program PRIVATE cxx_std_20)>
#endif

#if defined(__NVCC__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "dsl needs nvcc's option --expt-relaxed-constexpr (the CMake target dsl::dsl brings it)"
#endif

// Kernels copy asynchronously (cp.async) and say what is to stay in the L2 cache (createpolicy).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error \
    "dsl's kernels need compute capability 8.0 or later: compile for it, -arch=sm_80 (nvcc's default may be lower)"
#endif

// The virtual architectures that nvcc compiles this file for, as "800,900"; null in a file that it
// does not compile.
#if defined(__CUDACC__) && defined(__CUDA_ARCH_LIST__)
#define DSL_DETAIL_SPELLED(...) #__VA_ARGS__
#define DSL_DETAIL_SPELL(...) DSL_DETAIL_SPELLED(__VA_ARGS__)
#define DSL_DETAIL_ARCHITECTURES DSL_DETAIL_SPELL(__CUDA_ARCH_LIST__)
#define DSL_DETAIL_ARCHITECTURE_NUMBERS __CUDA_ARCH_LIST__
#else
#define DSL_DETAIL_ARCHITECTURES nullptr
#define DSL_DETAIL_ARCHITECTURE_NUMBERS 0
#endif

// Whether this file's compiler makes kernels.
#if defined(__CUDACC__)
#define DSL_DETAIL_COMPILES_CUDA 1
#else
#define DSL_DETAIL_COMPILES_CUDA 0
#endif

// Of a function without DSL_FN that device code calls nvcc makes nothing, and only warns: a kernel
// that stores nothing. It is an error in all that follows.
#if defined(__NVCC__)
#pragma nv_diag_error 20011
#pragma nv_diag_error 20014
#endif

/// Marks a functor's `operator()`, and the functions that it calls, as callable on the device and
/// on the host. Needed only for functors that `vectorize` calls as they are; a lambda with `auto`
/// parameters is traced and needs no annotation.
#if defined(__CUDACC__)
#define DSL_FN __host__ __device__
#else
#define DSL_FN
#endif

// A function of the evaluator. It has to be inlined: the host loop is compiled once for each
// instruction set, and only what is inlined into it is compiled for that set.
#define DSL_DETAIL_FN DSL_FN inline __attribute__((always_inline))

// A function of the evaluator that is compiled once and called.
#if defined(__CUDACC__)
#define DSL_DETAIL_NOINLINE __host__ __device__ __noinline__
#else
#define DSL_DETAIL_NOINLINE __attribute__((noinline))
#endif

// Before a loop over a thread's lanes: their values stay in registers only if every index is a
// constant. A loop whose count is rarely more than one is not worth the code of a second copy.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_UNROLL _Pragma("unroll")
#define DSL_DETAIL_UNROLL_BY_2 _Pragma("unroll 2")
#define DSL_DETAIL_UNROLL_BY_4 _Pragma("unroll 4")
#define DSL_DETAIL_ROLLED _Pragma("unroll 1")
#else
#define DSL_DETAIL_UNROLL
#define DSL_DETAIL_UNROLL_BY_2
#define DSL_DETAIL_UNROLL_BY_4
#define DSL_DETAIL_ROLLED
#endif

// Compiled for size: the simulator runs no faster for being optimised, but took more than half of a
// file's compilation when it was.
#if defined(__GNUC__) && !defined(__clang__)
#define DSL_DETAIL_LITTLE __attribute__((optimize("O1")))
#else
#define DSL_DETAIL_LITTLE
#endif
#define DSL_DETAIL_SMALL __attribute__((noinline)) DSL_DETAIL_LITTLE

// A function that has many kernels run at a call: compiled for size.
#define DSL_DETAIL_RARE __attribute__((cold))

// A function of a kernel. On the host it is the simulator's, where to inline all of it takes a
// quarter of a scan's compilation.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_KERNEL_FN DSL_DETAIL_FN
#else
#define DSL_DETAIL_KERNEL_FN DSL_FN inline DSL_DETAIL_LITTLE
#endif

// One that does not know the formula: in the simulator formulas share its code.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_SHARED_KERNEL_FN DSL_DETAIL_FN
#else
#define DSL_DETAIL_SHARED_KERNEL_FN DSL_FN inline DSL_DETAIL_SMALL
#endif

// True in the device half of an nvcc compilation.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_ON_DEVICE 1
#else
#define DSL_DETAIL_ON_DEVICE 0
#endif

// What the host's loops are compiled for: three instruction sets on x86-64, else one.
// DSL_DETAIL_TARGET is one of the three. GCC's loop that clears 32 values is not to become `rep
// stos`, which took a third of the time of a row of 64 elements. clang has no preferred width among
// a function's attributes, and takes 256 bits where the processor is named: so its features are.
#if defined(__x86_64__) && defined(__GNUC__)
#define DSL_DETAIL_X86_LEVELS 1
#define DSL_DETAIL_V3 "arch=x86-64-v3"
#if defined(__clang__)
#define DSL_DETAIL_V4 "arch=x86-64-v3,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
#define DSL_DETAIL_TARGET(set) __attribute__((target(set), noinline))
#else
#define DSL_DETAIL_V4 "arch=x86-64-v4,prefer-vector-width=512"
#define DSL_DETAIL_TARGET(set) \
  __attribute__((target(set), optimize("O3", "no-tree-loop-distribute-patterns"), noinline))
#endif
#define DSL_DETAIL_V2 "sse2"
// Whether this machine has them; clang knows no names of levels here before its version 18.
#define DSL_DETAIL_HAS(feature) __builtin_cpu_supports(#feature)
#define DSL_DETAIL_HAS_V3 \
  (DSL_DETAIL_HAS(avx2) && DSL_DETAIL_HAS(fma) && DSL_DETAIL_HAS(bmi) && DSL_DETAIL_HAS(bmi2))
#define DSL_DETAIL_HAS_V4                                                      \
  (DSL_DETAIL_HAS_V3 && DSL_DETAIL_HAS(avx512f) && DSL_DETAIL_HAS(avx512bw) && \
   DSL_DETAIL_HAS(avx512cd) && DSL_DETAIL_HAS(avx512dq) && DSL_DETAIL_HAS(avx512vl))
#else
#define DSL_DETAIL_X86_LEVELS 0
#define DSL_DETAIL_V2
#define DSL_DETAIL_TARGET(set) __attribute__((noinline))
#endif

// A loop that goes on with what it wrote a few elements before: the parts of a struct are stored
// one by one. Stored as a vector the first one, which comes first, would wait for the last one.
#if defined(__GNUC__) && !defined(__clang__)
#define DSL_DETAIL_PARTS_APART __attribute__((optimize("no-tree-slp-vectorize")))
#else
#define DSL_DETAIL_PARTS_APART
#endif

// The best of them that this machine has, from 0 on; and which of them formulas are compiled for
// where `level` is asked for, or -1: -DDSL_SIMD=0, 1 or 2 leaves the others out, and what has less
// cannot run them.
#if DSL_DETAIL_X86_LEVELS
#define DSL_DETAIL_BEST_LEVEL (DSL_DETAIL_HAS_V4 ? 2 : DSL_DETAIL_HAS_V3 ? 1 : 0)
#else
#define DSL_DETAIL_BEST_LEVEL 0
#endif
#if !DSL_DETAIL_X86_LEVELS
#define DSL_DETAIL_LEVEL(level) 0
#elif defined(DSL_SIMD)
#if DSL_SIMD < 0 || DSL_SIMD > 2
#error "DSL_SIMD is 0 (x86-64), 1 (AVX2) or 2 (AVX-512)"
#endif
#define DSL_DETAIL_LEVEL(level) ((level) < DSL_SIMD ? -1 : DSL_SIMD)
#else
#define DSL_DETAIL_LEVEL(level) level
#endif

// `simd` tells GCC that vector variants of a function exist under the names of the vector function
// ABI (SLEEF exports them). clang has no such attribute: there the host loop calls the scalar
// functions.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define DSL_DETAIL_SIMD __attribute__((simd("notinbranch"), const))
#define DSL_DETAIL_CALLS_VECTORS 1
#else
#define DSL_DETAIL_SIMD __attribute__((const))
#define DSL_DETAIL_CALLS_VECTORS 0
#endif

// Around functions whose multiplications and additions become one operation where they are inlined:
// g++ and nvcc do that anyway, clang within one expression of the source alone.
#if defined(__clang__)
#define DSL_DETAIL_BEGIN_CONTRACTED \
  _Pragma("float_control(push)") _Pragma("clang fp contract(fast)")
#define DSL_DETAIL_END_CONTRACTED _Pragma("float_control(pop)")
#else
#define DSL_DETAIL_BEGIN_CONTRACTED
#define DSL_DETAIL_END_CONTRACTED
#endif

// Before a loop none of whose iterations reads what another one writes. clang warns where it does
// not vectorise one, as with calls of functions: not where the loops are, between these two.
#if defined(__clang__)
#define DSL_DETAIL_BEGIN_LOOPS \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
#define DSL_DETAIL_END_LOOPS _Pragma("clang diagnostic pop")
#else
#define DSL_DETAIL_BEGIN_LOOPS
#define DSL_DETAIL_END_LOOPS
#endif
#if defined(__clang__)
#define DSL_DETAIL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DSL_DETAIL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define DSL_DETAIL_INDEPENDENT
#endif

// <complex> doubles the time of an otherwise empty nvcc compilation, 0.9 to 2.1 s (it brings
// <string> and the streams), so it is left to those who use complex numbers. libstdc++ declares the
// template in namespace std itself, which makes this declaration harmless. Where <complex> is
// missing the partial specialization says so; where it is there, its own specializations for these
// types take precedence.
#include <cstddef>
#include <type_traits>
#if defined(__GLIBCXX__)
namespace std {
template <class T>
class complex;
#if !defined(_GLIBCXX_COMPLEX)
template <class T>
  requires(is_same_v<T, float> || is_same_v<T, double>)
class complex<T> {
 public:
  template <class... Parts> constexpr complex(const Parts&...) {}
  constexpr T real() const { return {}; }
  constexpr T imag() const { return {}; }
  static_assert(
      sizeof(T) == 0,
      "std::complex is without its header: add #include <complex>, before or after dsl's");
};
#endif
}  // namespace std
#else
#include <complex>
#endif

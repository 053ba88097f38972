// All differences between compilers. Every other header is plain C++20.
#pragma once

// A missing header ends the compilation; after #error it would go on with hundreds of errors.
#if __cplusplus < 202002L
#include <dsl needs C++20: compile with -std=c++20, in CMake target_compile_features(my_program PRIVATE cxx_std_20)>
#endif

#if defined(__NVCC__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "dsl needs nvcc's option --expt-relaxed-constexpr (the CMake target dsl::dsl brings it)"
#endif

// Kernels use asynchronous copies (cp.async) and L2 cache policies (createpolicy).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error \
    "dsl's kernels need compute capability 8.0 or later: compile for it, -arch=sm_80 (nvcc's default may be lower)"
#endif

// The virtual architectures for which nvcc compiles this file, as "800,900"; null in a file that
// nvcc does not compile.
#if defined(__CUDACC__) && defined(__CUDA_ARCH_LIST__)
#define DSL_DETAIL_SPELLED(...) #__VA_ARGS__
#define DSL_DETAIL_SPELL(...) DSL_DETAIL_SPELLED(__VA_ARGS__)
#define DSL_DETAIL_ARCHITECTURES DSL_DETAIL_SPELL(__CUDA_ARCH_LIST__)
#define DSL_DETAIL_ARCHITECTURE_NUMBERS __CUDA_ARCH_LIST__
#else
#define DSL_DETAIL_ARCHITECTURES nullptr
#define DSL_DETAIL_ARCHITECTURE_NUMBERS 0
#endif

// Whether this file's compiler generates kernels.
#if defined(__CUDACC__)
#define DSL_DETAIL_COMPILES_CUDA 1
#else
#define DSL_DETAIL_COMPILES_CUDA 0
#endif

// nvcc emits no code for calls to functions without DSL_FN from device code and only warns: the
// kernel would store nothing. From here on the warning is an error.
#if defined(__NVCC__)
#pragma nv_diag_error 20011
#pragma nv_diag_error 20014
#endif

/// Marks a functor's `operator()`, and the functions that it calls, as callable on the device and
/// on the host. Only functors that `vectorize` calls directly need it; a lambda with `auto`
/// parameters is traced and needs no annotation.
#if defined(__CUDACC__)
#define DSL_FN __host__ __device__
#else
#define DSL_FN
#endif

// A function of the evaluator. It must be inlined: the host loop is compiled once for each
// instruction set, and only code inlined into it is compiled for that set.
#define DSL_DETAIL_FN DSL_FN inline __attribute__((always_inline))

// A function of the evaluator that is compiled once and called, not inlined.
#if defined(__CUDACC__)
#define DSL_DETAIL_NOINLINE __host__ __device__ __noinline__
#else
#define DSL_DETAIL_NOINLINE __attribute__((noinline))
#endif

// Goes before a loop over a thread's lanes: their values stay in registers only if every index is a
// constant. DSL_DETAIL_ROLLED is for a loop that rarely iterates more than once, which is not worth
// the code of a second copy.
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

// Optimised less: the simulator runs no faster when optimised, but optimising it took more than
// half of a file's compilation. Of the passes of -O1, those that are left out took a tenth of the
// simulator's part, and made its code no smaller.
#if defined(__GNUC__) && !defined(__clang__)
#define DSL_DETAIL_LITTLE                                                                         \
  __attribute__((optimize("O1", "no-tree-loop-optimize", "no-tree-ch", "no-move-loop-invariants", \
                          "no-tree-dominator-opts", "no-tree-pta", "no-tree-sink",                \
                          "no-if-conversion", "no-if-conversion2")))
#else
#define DSL_DETAIL_LITTLE
#endif
#define DSL_DETAIL_SMALL __attribute__((noinline)) DSL_DETAIL_LITTLE

// A function each call of which runs many kernels, so that its own time is negligible: compiled for
// size.
#define DSL_DETAIL_RARE __attribute__((cold))

// A function of a kernel. On the host only the simulator runs it; inlining all of it there takes a
// quarter of a scan's compilation.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_KERNEL_FN DSL_DETAIL_FN
#else
#define DSL_DETAIL_KERNEL_FN DSL_FN inline DSL_DETAIL_LITTLE
#endif

// A function of a kernel that does not depend on the formula. In the simulator all formulas share
// one copy.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_SHARED_KERNEL_FN DSL_DETAIL_FN
#else
#define DSL_DETAIL_SHARED_KERNEL_FN DSL_FN inline DSL_DETAIL_SMALL
#endif

// 1 in the device half of an nvcc compilation, else 0.
#if defined(__CUDA_ARCH__)
#define DSL_DETAIL_ON_DEVICE 1
#else
#define DSL_DETAIL_ON_DEVICE 0
#endif

// The instruction sets for which the host's loops are compiled: three on x86-64; one elsewhere, and
// where the compiler is given a processor (-march=native), since what it compiles for that one
// cannot be inlined into a function for another. DSL_DETAIL_TARGET selects one of the three. GCC
// must not turn the loop that clears 32 values into `rep stos`, which took a third of the time of a
// row of 64 elements. clang has no attribute for the preferred vector width, and uses 256 bits if
// the processor is named, so its features are listed instead.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX__)
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
// Whether this machine supports the instruction sets. clang accepts names of levels here only from
// version 18 on.
#define DSL_DETAIL_HAS(feature) __builtin_cpu_supports(#feature)
#define DSL_DETAIL_HAS_V3 \
  (DSL_DETAIL_HAS(avx2) && DSL_DETAIL_HAS(fma) && DSL_DETAIL_HAS(bmi) && DSL_DETAIL_HAS(bmi2))
#define DSL_DETAIL_HAS_V4                                                      \
  (DSL_DETAIL_HAS_V3 && DSL_DETAIL_HAS(avx512f) && DSL_DETAIL_HAS(avx512bw) && \
   DSL_DETAIL_HAS(avx512cd) && DSL_DETAIL_HAS(avx512dq) && DSL_DETAIL_HAS(avx512vl))
#else
#define DSL_DETAIL_X86_LEVELS 0
#define DSL_DETAIL_V2
#if defined(__GNUC__) && !defined(__clang__)
#define DSL_DETAIL_TARGET(set) \
  __attribute__((optimize("O3", "no-tree-loop-distribute-patterns"), noinline))
#else
#define DSL_DETAIL_TARGET(set) __attribute__((noinline))
#endif
#endif

// For a loop that reads what it wrote a few elements earlier: stores the parts of a struct one by
// one. As one vector store, the first part, which is needed first, would wait for the last one.
#if defined(__GNUC__) && !defined(__clang__)
#define DSL_DETAIL_PARTS_APART __attribute__((optimize("no-tree-slp-vectorize")))
#else
#define DSL_DETAIL_PARTS_APART
#endif

// DSL_DETAIL_BEST_LEVEL: the best instruction set that this machine supports, from 0 on.
// DSL_DETAIL_LEVEL(level): the instruction set for which formulas are compiled where `level` is
// requested, or -1 for none. -DDSL_SIMD=0, 1 or 2 compiles for that level alone; machines below it
// cannot run the program.
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

// Encloses functions whose multiplications and additions may be contracted to fused operations
// where they are inlined. g++ and nvcc do so anyway; clang only within one source expression.
#if defined(__clang__)
#define DSL_DETAIL_BEGIN_CONTRACTED \
  _Pragma("float_control(push)") _Pragma("clang fp contract(fast)")
#define DSL_DETAIL_END_CONTRACTED _Pragma("float_control(pop)")
#else
#define DSL_DETAIL_BEGIN_CONTRACTED
#define DSL_DETAIL_END_CONTRACTED
#endif

// DSL_DETAIL_INDEPENDENT goes before a loop none of whose iterations reads what another one writes.
// DSL_DETAIL_NO_UNROLL goes before a loop of at most 16 iterations, which GCC would unroll before
// it could vectorise it. BEGIN_LOOPS and END_LOOPS disable a warning between them: clang's of a
// loop that it does not vectorise, for instance because it calls functions; nvcc's of a pragma for
// GCC that it does not know.
#if defined(__clang__)
#define DSL_DETAIL_BEGIN_LOOPS \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
#define DSL_DETAIL_END_LOOPS _Pragma("clang diagnostic pop")
#elif defined(__NVCC__)
#define DSL_DETAIL_BEGIN_LOOPS _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
#define DSL_DETAIL_END_LOOPS _Pragma("nv_diagnostic pop")
#else
#define DSL_DETAIL_BEGIN_LOOPS
#define DSL_DETAIL_END_LOOPS
#endif
#if defined(__clang__)
#define DSL_DETAIL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define DSL_DETAIL_NO_UNROLL
#elif defined(__GNUC__)
#define DSL_DETAIL_INDEPENDENT _Pragma("GCC ivdep")
#define DSL_DETAIL_NO_UNROLL _Pragma("GCC unroll 1")
#else
#define DSL_DETAIL_INDEPENDENT
#define DSL_DETAIL_NO_UNROLL
#endif

// <complex> doubles the time of an otherwise empty nvcc compilation, 0.9 to 2.1 s (it includes
// <string> and the streams), so only users of complex numbers include it. libstdc++ declares the
// template in namespace std itself, which makes this declaration harmless. If <complex> is missing,
// the partial specialization reports it; if it is included, its own specializations for these types
// take precedence.
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

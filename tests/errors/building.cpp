// Headers and options.

// case without_complex
// says: std::complex is without its header: add #include <complex>
// lines: nvcc 6, g++ 8
#include <dsl/dsl.hpp>
void f(dsl::array<std::complex<float>>& z) { z = 2 * z + std::complex<float>(1, 2); }

// case without_complex_variable
// says: std::complex is without its header: add #include <complex>
// lines: nvcc 6, g++ 8, clang++ 9
#include <dsl/dsl.hpp>
std::complex<double> c;

// case without_complex_vector
// says: std::complex is without its header: add #include <complex>
// lines: nvcc 8, g++ 9, clang++ 15
#include <dsl/dsl.hpp>

#include <vector>
auto f(std::vector<std::complex<float>>& v) { return dsl::to_device(v); }

// case complex_after_the_library
// lines: nvcc compiles, g++ compiles, clang++ compiles
#include <complex>
#include <dsl/dsl.hpp>
void f(dsl::array<std::complex<float>>& z) { z = 2 * z + std::complex<float>(1, 2); }

// case cpp17
// says: dsl needs C++20
// options: -std=c++17
// lines: nvcc 6, g++ 6, clang++ 6
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { x = 2 * x; }

// case cpp17_scan
// says: dsl needs C++20
// options: -std=c++17
// lines: nvcc 7, g++ 7, clang++ 7
#include <dsl/scan.hpp>
void f(dsl::array<float>& x) { x = dsl::cumsum(x); }

// case cpp17_ode
// says: dsl needs C++20
// options: -std=c++17
// lines: nvcc 9, g++ 9, clang++ 9
#include <dsl/ode.hpp>
void f(dsl::array<float>& x) { x = 2 * x; }

// case compute_capability
// says: dsl's kernels need compute capability 8.0 or later
// options: -arch=sm_75
// lines: nvcc 5
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { x = 2 * x; }

// case default_architecture
// says: dsl's kernels need compute capability 8.0 or later
// options: --gpu-architecture=compute_75
// lines: nvcc 5
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { x = 2 * x; }

// case without_relaxed_constexpr
// says: dsl needs nvcc's option --expt-relaxed-constexpr
// without: --expt-relaxed-constexpr
// lines: nvcc 5
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { x = 2 * x; }

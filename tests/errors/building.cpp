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

// case sums_by_key_without_their_header
// says: sum_by has a header of its own: add #include <dsl/by_key.hpp>
// lines: nvcc 6, g++ 9, clang++ 19
#include <dsl/dsl.hpp>
void f(dsl::array<int>& keys, dsl::array<float>& x) { x = 2 * dsl::eval(dsl::sum_by(keys, x, 4)); }

// case selection_without_its_header
// says: compress has a header of its own: add #include <dsl/by_key.hpp>
// lines: nvcc 6, g++ 9, clang++ 19
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x, dsl::array<float>& kept, dsl::scalar<std::int64_t>& n) {
  dsl::tie(kept, n) = dsl::compress(x > 0, x);
}

// case random_without_its_header
// says: normal has a header of its own: add #include <dsl/random.hpp>
// lines: nvcc 6, g++ 9, clang++ 19
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  const dsl::random::key k{42};
  x = dsl::random::normal<float>(k.fold(1), 100);
}

// case steps_without_their_header
// says: rk4 has a header of its own: add #include <dsl/ode.hpp>
// lines: nvcc 6, g++ 9, clang++ 19
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  const auto step = dsl::ode::rk4([](auto y) { return -y; });
  dsl::iterate(100, step, dsl::state(x), 0.1f);
}

// case integration_without_its_header
// says: integrate has a header of its own: add #include <dsl/ode.hpp>
// lines: nvcc 6, g++ 9, clang++ 16
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  const auto at = dsl::ode::integrate([](auto y, auto rate) { return -rate * y; }, dsl::state(x), 0,
                                      1, {.relative = 1e-6}, 2);
}

// case tensor_without_its_header
// says: from_dlpack has a header of its own: add #include <dsl/dlpack.hpp>
// lines: nvcc 6, g++ 9, clang++ 16
#include <dsl/dsl.hpp>
void f(void* tensor) { auto m = dsl::from_dlpack<float, 2>(tensor); }

// case python_without_its_header
// says: DSL_PYTHON_MODULE has a header of its own: add #include <dsl/python.hpp>
// lines: nvcc 5, g++ 5, clang++ 7
#include <dsl/dsl.hpp>
DSL_PYTHON_MODULE(fields, m) {
  m.kernel<dsl::python::any_rank<float>, float>("twice", [](auto x, auto) { return 2 * x; });
}

// case python_ensemble_without_its_header
// says: m.ensemble has a header of its own: add #include <dsl/python/ensemble.hpp>
// lines: nvcc 6, g++ 8, clang++ 9
#include <dsl/python.hpp>
DSL_PYTHON_MODULE(fields, m) {
  m.ensemble<dsl::array<double>, double>("decline", [](auto y, auto rate) { return -rate * y; });
}

// case python_ensemble_with_times_of_the_source
// says: the options of m.ensemble are a method, fixed_steps, events and dsl::python::times<T0, T1>
// lines: nvcc 11, g++ 11, clang++ 23
#include <dsl/python.hpp>
#include <dsl/python/ensemble.hpp>
DSL_PYTHON_MODULE(fields, m) {
  m.ensemble<dsl::array<double>, double>(
      "decline", [](auto y, auto rate) { return -rate * y; }, "",
      dsl::ode::save_at(std::vector<double>{1}));
}

// case python_ensemble_of_numbers
// says: the fields of an ensemble are arrays of one rank, of at most 7 dimensions
// lines: nvcc 11, g++ 11, clang++ 23
#include <dsl/python.hpp>
#include <dsl/python/ensemble.hpp>
DSL_PYTHON_MODULE(fields, m) {
  m.ensemble<double, double>("decline", [](auto y, auto rate) { return -rate * y; });
}

// case headers_after_the_library
// lines: nvcc compiles, g++ compiles
#include <dsl/by_key.hpp>
#include <dsl/dsl.hpp>
#include <dsl/ode.hpp>
#include <dsl/random.hpp>
#include <dsl/scan.hpp>
#include <dsl/window.hpp>
using namespace dsl;
using namespace dsl::ode;
void f(array<float>& x, array<std::int32_t>& keys) {
  const auto step = rk4([](auto y) { return -y; });
  const random::key k{42};
  x = random::normal<float>(k, 100);
  x = cumsum(sort(x));
  x = convolve(max(sliding_window(x, 3), axis(0)), topk(x, 2));
  array<std::int64_t> n = histogram(x, 10, 0, 1);
  x = dsl::sum_by(keys, x, std::int64_t{4});
  const auto at =
      integrate([](auto y, auto rate) { return -rate * y; }, state(x), 0, 1, {.relative = 1e-6}, 2);
}

// case random_without_a_key
// says: random numbers are drawn with a key, the first argument: for the seed 42 dsl::random::key{42}
// lines: nvcc 8, g++ 9, clang++ 12
#include <dsl/random.hpp>
void f(dsl::array<float>& x) { x = dsl::random::normal<float>(42, 100); }

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

// Measures the cost of each operation for an element, in multiply-adds of float. slots.py compiles
// this once for each dtype (-DTYPE=float ...), runs it, and writes slots.inc.
#include <dsl/ir/op.hpp>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>

namespace dsl::detail {
namespace {

constexpr dtype type = dtype_v<TYPE>;
using value = value_t<type>;
// `chains` is the number of independent values that a thread computes.
constexpr int chains = 4, block = 256;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

// take_in uses a result, so that it is computed, and advance makes the next argument. Together they
// cost about two multiply-adds, which are measured alone and subtracted.
[[maybe_unused]] __device__ void take_in(float& all, float x) { all = ::fmaf(x, 0.99f, all); }
[[maybe_unused]] __device__ void take_in(double& all, double x) { all = ::fma(x, 0.99, all); }
template <class T>
__device__ void take_in(complex_value<T>& all, complex_value<T> x) {
  take_in(all.re, x.re);
  take_in(all.im, x.im);
}
template <std::integral T>
__device__ void take_in(T& all, T x) {
  all = static_cast<T>((all ^ x) + 3);
}
[[maybe_unused]] __device__ void advance(float& x) { x = x + 1e-7f; }
[[maybe_unused]] __device__ void advance(double& x) { x = x + 1e-9; }
template <class T>
__device__ void advance(complex_value<T>& x) {
  advance(x.re);
  advance(x.im);
}
template <std::integral T>
__device__ void advance(T& x) {
  x = static_cast<T>(x + 1);
}
__device__ value argument(float x) {
  if constexpr (std::integral<value>) return static_cast<value>(100 * x);
  else return math::convert<value>(x);
}

// Converts a result to the dtype.
template <class V, class R>
__device__ V as_value(R result) {
  if constexpr (is_complex<V> && !is_complex<R>) {
    V v{};
    v.re = math::convert<math::real_type<V>>(result);
    return v;
  } else if constexpr (!is_complex<V> && is_complex<R>) {
    return static_cast<V>(result.re + result.im);
  } else {
    return math::convert<V>(result);
  }
}

template <op Code>
constexpr signature signature_of() {
  constexpr weak_dtype of{type};
  constexpr int arity = info(Code).arity;
  return resolve(Code, of, arity > 1 ? of : weak_dtype{}, arity > 2 ? of : weak_dtype{});
}

template <op Code, class V>
__device__ V applied(V x, V y, V z) {
  constexpr signature s = signature_of<Code>();
  using code = scalar_code<Code>;
  using R = value_t<s.result.type>;
  const auto a = math::convert<value_t<s.operand[0]>>(x);
  if constexpr (info(Code).arity == 1) {
    return as_value<V>(code::template apply<R, s.result.type>(a));
  } else {
    const auto b = math::convert<value_t<s.operand[1]>>(y);
    if constexpr (info(Code).arity == 2)
      return as_value<V>(code::template apply<R, s.result.type>(a, b));
    else
      return as_value<V>(
          code::template apply<R, s.result.type>(a, b, math::convert<value_t<s.operand[2]>>(z)));
  }
}

/// Without the operation if `Empty`, to measure the rest.
template <op Code, bool Empty>
__global__ void repeat(value* out, int steps, float first) {
  value all[chains], x[chains], y[chains];
#pragma unroll
  for (int k = 0; k < chains; ++k) {
    all[k] = argument(0);
    x[k] = argument(first + 0.3f + 1e-5f * static_cast<float>(threadIdx.x % 32) +
                    0.01f * static_cast<float>(k));
    y[k] = argument(first + 0.4f + 0.02f * static_cast<float>(k));
  }
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < chains; ++k) {
      if constexpr (Empty) take_in(all[k], x[k]);
      else take_in(all[k], applied<Code>(x[k], y[k], all[k]));
      advance(x[k]);
    }
  }
#pragma unroll
  for (int k = 1; k < chains; ++k) take_in(all[0], all[k]);
  out[blockIdx.x * block + threadIdx.x] = all[0];
}

__global__ void multiply_adds(float* out, int steps, float by) {
  float x[2 * chains];
#pragma unroll
  for (int k = 0; k < 2 * chains; ++k) x[k] = static_cast<float>(threadIdx.x + k);
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < 2 * chains; ++k) x[k] = ::fmaf(x[k], by, 0.5f);
  }
#pragma unroll
  for (int k = 1; k < 2 * chains; ++k) x[0] += x[k];
  out[blockIdx.x * block + threadIdx.x] = x[0];
}

struct bench {
  int grid = 0;
  void* out = nullptr;
  // Seconds of a multiply-add; slots of a step without an operation.
  double unit = 0, empty = 0;

  template <class Launch>
  static double seconds(const Launch& launch) {
    cudaEvent_t begin{}, end{};
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    launch();
    double least = 1e9;
    for (int k = 0; k < 3; ++k) {
      check(cudaEventRecord(begin));
      launch();
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin, end));
      least = std::min(least, 1e-3 * static_cast<double>(milliseconds));
    }
    check(cudaGetLastError());
    return least;
  }
  template <op Code, bool Empty>
  double slots(int steps) const {
    const double all = seconds(
        [&] { repeat<Code, Empty><<<grid, block>>>(static_cast<value*>(out), steps, 0.1f); });
    return all / (static_cast<double>(chains) * steps * grid * block) / unit;
  }
  template <op Code>
  void print(const char* name) const {
    if constexpr (signature_of<Code>().valid && !(Code == op::ldexp))
      std::printf("%s %.2f\n", name, slots<Code, false>(500) - empty);
  }
};

}  // namespace
}  // namespace dsl::detail

int main() {
  using namespace dsl::detail;
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0));
  bench b;
  b.grid = 8 * gpu.multiProcessorCount;
  check(cudaMalloc(&b.out, static_cast<std::size_t>(b.grid) * block * 16));
  constexpr int steps = 20'000;
  b.unit = bench::seconds([&] {
             multiply_adds<<<b.grid, block>>>(static_cast<float*>(b.out), steps, 0.999f);
           }) /
           (2.0 * chains * steps * b.grid * block);
  b.empty = b.slots<dsl::op::add, true>(2000);
#define DSL_OPERATOR(name, ...) b.print<dsl::op::name>(#name);
#define DSL_FUNCTION(name, ...) b.print<dsl::op::name>(#name);
#define DSL_FAST(name, ...) \
  if constexpr (type == dsl::dtype::float32) b.print<dsl::op::fast_##name>("fast_" #name);
#include <dsl/ir/ops.inc>
}

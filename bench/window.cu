// Measures reductions of windows, convolutions and the largest elements. The peers by hand are one
// thread a result, which reads its window through the caches; CUB sorts all elements.
#include <cub/device/device_radix_sort.cuh>

#include <dsl/by_key.hpp>
#include <dsl/window.hpp>

#include "check.cuh"
#include "row.hpp"
#include "workspace.cuh"

namespace bench {
namespace {

constexpr int block = 256;

template <bool Max>
__global__ void reduce_windows(const float* a, float* out, std::int64_t results, int window) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= results) return;
  float value = a[i];
  for (int k = 1; k < window; ++k) value = Max ? fmaxf(value, a[i + k]) : value + a[i + k];
  out[i] = Max ? value : value / static_cast<float>(window);
}

__global__ void convolve_valid(const float* a, const float* taps, float* out, std::int64_t results,
                               int count) {
  extern __shared__ float shared[];
  for (int k = static_cast<int>(threadIdx.x); k < count; k += block) shared[k] = taps[k];
  __syncthreads();
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= results) return;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += shared[k] * a[i + count - 1 - k];
  out[i] = sum;
}

unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>((n + block - 1) / block); }

/// A row by a function that returns a new array.
template <class T, class Make>
void add_dsl(work& of, std::int64_t n, std::int64_t results, Make make) {
  of.by("dsl", [=] {
    const auto a = operand<float>(slot::a, n);
    const auto out = target<T>(slot::out, results);
    const auto made = std::make_shared<dsl::array<T>>();
    return job{[=] { *made = make(a); }, out, {}, [=] { out = *made; }};
  });
}

template <bool Max>
void add_by_hand(work& of, std::int64_t n, std::int64_t window) {
  of.by("hand, one element a thread", [=] {
    const std::int64_t results = n - window + 1;
    const auto a = operand<float>(slot::a, n);
    const auto out = target<float>(slot::out, results);
    return job{[=] {
                 reduce_windows<Max><<<blocks_of(results), block, 0, stream()>>>(
                     a.data(), out.data(), results, static_cast<int>(window));
                 check(cudaGetLastError());
               },
               out};
  });
}

work window_work(const char* name, std::int64_t n, std::int64_t window, double bytes) {
  return {"window", dsl::dtype::float32, shape_of(n, window), name, bytes};
}

const rows windows([] {
  for (const auto& [n, window] : {std::pair<std::int64_t, std::int64_t>{100'000'000, 64},
                                  {100'000'000, 1024},
                                  {99'999'989, 67}}) {
    const std::int64_t results = n - window + 1;
    const double bytes = 4. * static_cast<double>(n + results);
    const auto size = window;
    add_copy("window", shape_of(n, window), n);
    work means = window_work("mean of windows", n, window, bytes);
    add_dsl<float>(means.within(1e-4), n, results, [size](const dsl::view<const float>& a) {
      return mean(dsl::sliding_window(a, size), dsl::axis(-1));
    });
    add_by_hand<false>(means, n, window);
    work extrema = window_work("max of windows", n, window, bytes);
    add_dsl<float>(extrema, n, results, [size](const dsl::view<const float>& a) {
      return max(dsl::sliding_window(a, size), dsl::axis(-1));
    });
    add_by_hand<true>(extrema, n, window);
    work deviations = window_work("std of windows", n, window, bytes);
    add_dsl<float>(deviations, n, results, [size](const dsl::view<const float>& a) {
      return dsl::std(dsl::sliding_window(a, size), dsl::axis(-1));
    });
  }

  for (const auto& [n, taps] :
       {std::pair<std::int64_t, std::int64_t>{100'000'000, 63}, {99'999'989, 1021}}) {
    const std::int64_t results = n - taps + 1, count = taps;
    work of = window_work("convolve", n, taps, 4. * static_cast<double>(n + results));
    of.within(1e-4).flops(2. * static_cast<double>(results) * static_cast<double>(taps));
    add_dsl<float>(of, n, results, [count](const dsl::view<const float>& a) {
      return dsl::convolve(a, operand<float>(slot::b, count), dsl::convolve_mode::valid);
    });
    of.by("hand, one element a thread", [=] {
      const auto a = operand<float>(slot::a, n), b = operand<float>(slot::b, count);
      const auto out = target<float>(slot::out, results);
      return job{[=] {
                   convolve_valid<<<blocks_of(results), block,
                                    sizeof(float) * static_cast<std::size_t>(count), stream()>>>(
                       a.data(), b.data(), out.data(), results, static_cast<int>(count));
                   check(cudaGetLastError());
                 },
                 out};
    });
  }

  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{100'000'000, 1},
                             {100'000'000, 100},
                             {99'999'989, 10'007}}) {
    const std::int64_t wanted = k;
    work of = window_work("topk", n, k, 4. * static_cast<double>(n));
    add_dsl<float>(of, n, k,
                   [wanted](const dsl::view<const float>& a) { return dsl::topk(a, wanted); });
    of.by("CUB", [=] {
      const auto a = operand<float>(slot::a, n);
      const auto sorted = target<float>(slot::second_out, n);
      const auto out = target<float>(slot::out, wanted);
      return job{with_workspace([=](void* memory, std::size_t& size) {
                   return cub::DeviceRadixSort::SortKeysDescending(
                       memory, size, a.data(), sorted.data(), n, 0, 32, stream());
                 }),
                 out,
                 {},
                 [=] { out = sorted(dsl::slice(0, wanted)); }};
    });
  }
});

}  // namespace
}  // namespace bench

// What the benchmarks on the GPU share: timing between events, and rows of a table.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <dsl/dsl.hpp>

inline constexpr int repeats = 20, launches = 5;

inline void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

/// Milliseconds a launch: the median of `repeats` measurements between events, of `launches` each, after three to warm up.
template <class Run>
float median_ms(Run&& run) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin)), check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int k = 0; k < 3 + repeats; ++k) {
    check(cudaEventRecord(begin));
    for (int l = 0; l < launches; ++l) run();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (k >= 3) times.push_back(ms / launches);
  }
  check(cudaEventDestroy(begin)), check(cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

inline double copy_gbs = 0;

template <class Run>
void row_of(const char* name, double bytes, Run&& run) {
  const float ms = median_ms(run);
  const double gbs = bytes / ms * 1e-6;
  if (copy_gbs == 0) copy_gbs = gbs;
  std::printf("%-34s %9.4f ms %8.0f GB/s %6.1f %%\n", name, ms, gbs, 100 * gbs / copy_gbs);
}

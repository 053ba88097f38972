// Reductions on the GPU beside CUB's: time, GB/s, and percent of a device copy of the same run.
// Prints a table. Bytes are those that are read and written, each once.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdio>
#include <tuple>

#include "measure.hpp"

namespace {

struct times {
  std::int64_t by;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i * by; }
};

cudaStream_t stream() { return static_cast<cudaStream_t>(dsl::stream::current().native()); }

// CUB asks for its workspace once, outside of what is measured.
template <class Call>
void cub_row(const char* name, double bytes, const Call& call) {
  std::size_t size = 0;
  check(call(nullptr, size));
  void* workspace = nullptr;
  check(cudaMalloc(&workspace, size));
  row_of(name, bytes, [&] { check(call(workspace, size)); });
  check(cudaFree(workspace));
}

void whole(std::int64_t n) {
  const auto a = dsl::array<float>(dsl::arange<float>(n) / n), b = dsl::array<float>(1 - a);
  dsl::array<float> out(n);
  dsl::scalar<float> s, lo, hi, mean;
  dsl::scalar<std::int64_t> at;
  const double bytes = 4.0 * n;
  row_of("copy (cudaMemcpy)", 2 * bytes, [&] { out = a; });
  cub_row("sum(a), CUB DeviceReduce", bytes, [&](void* w, std::size_t& size) { return cub::DeviceReduce::Sum(w, size, a.data(), s.data(), n, stream()); });
  row_of("sum(a)", bytes, [&] { s = dsl::sum(a); });
  row_of("min(a), max(a), mean(a)", bytes, [&] { dsl::tie(lo, hi, mean) = std::tuple{dsl::min(a), dsl::max(a), dsl::mean(a)}; });
  row_of("sum(a * exp(b))", 2 * bytes, [&] { s = dsl::sum(a * exp(b)); });
  row_of("norm(a)", bytes, [&] { s = dsl::norm(a); });
  row_of("var(a)", bytes, [&] { s = dsl::var(a); });
  cub_row("argmax(a), CUB", bytes, [&](void* w, std::size_t& size) {
    return cub::DeviceReduce::ArgMax(w, size, a.data(), reinterpret_cast<cub::KeyValuePair<int, float>*>(out.data()), static_cast<int>(n), stream());
  });
  row_of("argmax(a)", bytes, [&] { at = dsl::argmax(a); });
  constexpr auto larger = dsl::reduce([](auto x, auto y) { return where(abs(x) > abs(y), x, y); }, 0.0f);
  row_of("reduce(larger magnitude)", bytes, [&] { s = larger(a); });
  row_of("a / norm(a), two kernels", 3 * bytes, [&] { out = a / dsl::norm(a); });
  row_of("softmax(a), three kernels", 4 * bytes, [&] { out = exp(a - dsl::max(a)) / dsl::sum(exp(a - dsl::max(a))); });
  row_of("sum(a) of double", 8.0 * (n / 2), [&] { s = dsl::cast<float>(dsl::sum(dsl::view<const double, 1>(a.view().owner(), reinterpret_cast<const double*>(a.data()), {n / 2}, {1}))); });
  row_of("sum(a) of int8", bytes, [&] { at = dsl::sum(dsl::view<const std::int8_t, 1>(a.view().owner(), reinterpret_cast<const std::int8_t*>(a.data()), {4 * n}, {1})); });
}

void along_axes(std::int64_t rows, std::int64_t columns) {
  std::printf("%lld x %lld\n", static_cast<long long>(rows), static_cast<long long>(columns));
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(rows * columns), rows, columns) / (rows * columns);
  dsl::array<float, 2> out(rows, columns);
  dsl::array<float> of_rows(rows), of_columns(columns);
  dsl::array<std::int64_t> at(rows);
  const double bytes = 4.0 * rows * columns;
  copy_gbs = 0;
  row_of("  copy (cudaMemcpy)", 2 * bytes, [&] { out = m; });
  if (rows < 0x7fffffff / 2) {
    cub_row("  sums of rows, CUB", bytes + 4.0 * rows, [&](void* w, std::size_t& size) {
      const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), times{columns});
      return cub::DeviceSegmentedReduce::Sum(w, size, m.data(), of_rows.data(), static_cast<int>(rows), begins, begins + 1, stream());
    });
  }
  row_of("  sums of rows", bytes + 4.0 * rows, [&] { of_rows = dsl::sum(m, dsl::axis(1)); });
  row_of("  sums of columns", bytes + 4.0 * columns, [&] { of_columns = dsl::sum(m, dsl::axis(0)); });
  row_of("  argmax of rows", bytes + 8.0 * rows, [&] { at = dsl::argmax(m, dsl::axis(1)); });
  if (rows * columns > 0) row_of("  m - mean of rows, two kernels", 3 * bytes, [&] { out = m - dsl::mean(m, dsl::axis(1), dsl::keep_dims); });
  std::printf("  %s\n  %s\n", dsl::plan_of(of_rows, dsl::sum(m, dsl::axis(1))).describe().c_str(), dsl::plan_of(of_columns, dsl::sum(m, dsl::axis(0))).describe().c_str());
}

}  // namespace

int main() {
  try {
    const auto& gpu = dsl::properties(dsl::device("cuda"));
    std::printf("%s, driver %d, runtime %d, n = 2^27\n", gpu.name, gpu.driver, gpu.runtime);
    whole(std::int64_t{1} << 27);
    along_axes(8192, 8192);
    along_axes(4096, 4096);
    along_axes(10'000'000, 8);
    along_axes(8, 10'000'000);
    along_axes(1'000'000, 100);
    along_axes(10'000'000, 3);
    along_axes(100, 1'000'000);
    along_axes(1'000, 3);
  } catch (const dsl::error& e) {
    std::fprintf(stderr, "bench_reductions: %s\n", e.what());
    return 1;
  }
}

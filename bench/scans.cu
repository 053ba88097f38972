// Scans on the GPU beside CUB's DeviceScan: time, GB/s, and percent of a device copy of the same run. Bytes are those that a scan must
// move: every element read once and written once. CUB's sums of floating point numbers vary from run to run; these do not.
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <dsl/scan.hpp>

#include "measure.hpp"

namespace {

struct product {
  const float *a, *b;
  __device__ float operator()(std::int64_t i) const { return a[i] * b[i]; }
};
struct add {
  template <class T> __device__ T operator()(T x, T y) const { return x + y; }
};

cudaStream_t current() { return static_cast<cudaStream_t>(dsl::stream::current().native()); }

/// CUB's scan of `from`, which may be any iterator, with memory that is there before the first launch.
template <class From, class To>
void row_of_cub(const char* name, double bytes, From from, To* to, std::int64_t n) {
  std::size_t size = 0;
  check(cub::DeviceScan::InclusiveScan(nullptr, size, from, to, add{}, n, current()));
  dsl::array<unsigned char> memory(static_cast<std::int64_t>(size));
  row_of(name, bytes, [&] { check(cub::DeviceScan::InclusiveScan(memory.data(), size, from, to, add{}, n, current())); });
}

void row_of_axis(const char* name, const dsl::array<float>& from, dsl::array<float>& to, std::int64_t rows, std::int64_t columns, int axis) {
  if (rows * columns > from.size()) return;
  const auto x = dsl::reshape(from(dsl::slice(0, rows * columns)), rows, columns);
  const auto y = dsl::reshape(to(dsl::slice(0, rows * columns)), rows, columns);
  row_of(name, 8.0 * rows * columns, [&] { y = dsl::cumsum(x, dsl::axis(axis)); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 80000000;
  const auto a = dsl::full<float>(0.5f, n), b = dsl::full<float>(0.25f, n);
  dsl::array<float> out(n);
  const auto i = dsl::full<std::int32_t>(3, n);
  dsl::array<std::int64_t> wide(n);
  const auto d = dsl::full<double>(0.5, n);
  dsl::array<double> sums(n);
  const double bytes = static_cast<double>(n);
  std::printf("%lld elements\n", static_cast<long long>(n));
  row_of("copy (cudaMemcpy)", 8 * bytes, [&] { check(cudaMemcpyAsync(out.data(), a.data(), 4 * static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice, current())); });
  row_of("cumsum(float)", 8 * bytes, [&] { out = dsl::cumsum(a); });
  row_of_cub("  CUB", 8 * bytes, a.data(), out.data(), n);
  row_of("cumsum(float), exclusive", 8 * bytes, [&] { out = dsl::cumsum(a, dsl::exclusive); });
  row_of("cumsum(a * b)", 12 * bytes, [&] { out = dsl::cumsum(a * b); });
  row_of_cub("  CUB", 12 * bytes, thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), product{a.data(), b.data()}), out.data(), n);
  row_of("cumsum(double)", 16 * bytes, [&] { sums = dsl::cumsum(d); });
  row_of_cub("  CUB", 16 * bytes, d.data(), sums.data(), n);
  row_of("cumsum(int32) in int64", 12 * bytes, [&] { wide = dsl::cumsum(i); });
  row_of("cumsum(float[1:])", 8 * bytes, [&] { out(dsl::slice(1, dsl::end)) = dsl::cumsum(a(dsl::slice(1, dsl::end))); });
  row_of_axis("n/8 x 8, axis 1", a, out, n / 8, 8, 1);
  row_of_axis("n/8 x 8, axis 0", a, out, n / 8, 8, 0);
  row_of_axis("8 x n/8, axis 1", a, out, 8, n / 8, 1);
  row_of_axis("8 x n/8, axis 0", a, out, 8, n / 8, 0);
  row_of_axis("n/7 x 7, axis 1", a, out, n / 7, 7, 1);
  row_of_axis("4096 x 4096, axis 1", a, out, 4096, 4096, 1);
  row_of_axis("4096 x 4096, axis 0", a, out, 4096, 4096, 0);
}

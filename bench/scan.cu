// Measures scans, with CUB's DeviceScan and Thrust as peers. CUB's floating point sums vary from
// run to run; dsl's do not.
#include <thrust/execution_policy.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/zip_function.h>
#include <cub/device/device_scan.cuh>

#include <dsl/scan.hpp>

#include "works.hpp"
#include "workspace.cuh"

namespace bench {
namespace {

struct product {
  __host__ __device__ float operator()(float a, float b) const { return a * b; }
};

template <class From, class To> auto cub_sums(From from, To* to, std::int64_t n) {
  return with_workspace([=](void* memory, std::size_t& size) {
    return cub::DeviceScan::InclusiveSum(memory, size, from, to, n, stream());
  });
}

template <class T, class R = T> auto sums(std::int64_t n) {
  using x_t = arrays<T, dsl::view<R>>;
  return work_on<x_t>("scan", dsl::dtype_v<T>, "cumsum(a)", n, sizeof(T) + sizeof(R))
      .by("dsl", [](const x_t& x) { x.out = dsl::cumsum(x.a); });
}

const rows scans([] {
  using x_t = arrays<float>;
  for (const std::int64_t n : {80'000'000, 79'999'987, (1 << 26) + 1}) {
    sums<float>(n)
        .within(1e-4)
        .by("CUB", [](const x_t& x) { return cub_sums(x.a.data(), x.out.data(), x.n); })
        .by("Thrust", [](const x_t& x) {
          thrust::inclusive_scan(thrust::cuda::par_nosync.on(stream()), x.a.data(),
                                 x.a.data() + x.n, x.out.data());
        });
    sums<double>(n).by(
        "CUB", [](const arrays<double>& x) { return cub_sums(x.a.data(), x.out.data(), x.n); });
    sums<std::int32_t, std::int64_t>(n);
    map<float>("cumsum(a), exclusive", n, 2, "scan").by("dsl", [](const x_t& x) {
      x.out = dsl::cumsum(x.a, dsl::exclusive);
    });
    map<float>("cumsum(a * b)", n, 3, "scan")
        .within(1e-4)
        .by("dsl", [](const x_t& x) { x.out = dsl::cumsum(x.a * x.b); })
        .by("CUB", [](const x_t& x) {
          return cub_sums(
              thrust::make_transform_iterator(thrust::make_zip_iterator(x.a.data(), x.b.data()),
                                              thrust::make_zip_function(product{})),
              x.out.data(), x.n);
        });
    map<float>("out[1:] = cumsum(a[1:])", n, 2, "scan").by("dsl", [](const x_t& x) {
      const auto from_1 = dsl::slice(1, dsl::end);
      x.out(from_1) = dsl::cumsum(x.a(from_1));
    });
  }
  constexpr std::int64_t n = 10'000'000;
  for (const auto [rows, columns] :
       {shape{n, 8}, {8, n}, {4096, 4096}, {4099, 4093}, odd_shape, {9, 9'999'991}}) {
    const auto along = [rows, columns](const char* name, int axis) {
      work_on_matrix("scan", name, rows, columns, 2 * bytes_of_matrix(rows, columns), whole)
          .by("dsl", [axis](const matrix& x) { x.out = dsl::cumsum(x.m, dsl::axis(axis)); });
    };
    along("cumsum along rows", 1);
    along("cumsum down columns", 0);
  }
});

}  // namespace
}  // namespace bench

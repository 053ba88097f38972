// Measures reductions by key, selections and sorting, with CUB as peer. CUB has no sum by unsorted
// keys.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <dsl/by_key.hpp>

#include "by_key.hpp"
#include "workspace.cuh"

namespace bench {
namespace {

struct is_above_one {
  __host__ __device__ bool operator()(float x) const { return x > 1; }
};

template <class T> auto counters_of(const T& counts) {
  return reinterpret_cast<unsigned long long*>(counts.data());
}

const rows by_keys([] {
  constexpr std::int64_t most = 100'000'000, prime = 99'999'989;
  for (const auto [n, groups] : {shape{most, 1},
                                 {most, 10},
                                 {most, 100},
                                 {most, 1000},
                                 {most, 10'000},
                                 {most, 100'000},
                                 {most, 1'000'000},
                                 {prime, 1009}})
    work_by_key<std::int32_t>("sum_by", dsl::dtype::float32, n, groups, 8,
                              [](const keyed<std::int32_t>& x) -> result { return x.sums; })
        .within(1e-4)
        .by("dsl", [](const keyed<std::int32_t>& x) {
          dsl::assign(x.sums, dsl::sum_by(x.keys, x.values, x.groups));
        });
  for (const std::int64_t n : {most, prime}) {
    for (const std::int64_t groups : {100, 10'000})
      work_by_key<std::int64_t>("bincount", dsl::dtype::int64, n / 2, groups, 8,
                                [](const keyed<std::int64_t>& x) -> result { return x.counts; })
          .by("dsl",
              [](const keyed<std::int64_t>& x) {
                dsl::assign(x.counts, dsl::bincount(x.keys, x.groups));
              })
          .by("CUB", [](const keyed<std::int64_t>& x) {
            return with_workspace([=](void* memory, std::size_t& size) {
              return cub::DeviceHistogram::HistogramEven(
                  memory, size, x.keys.data(), counters_of(x.counts),
                  static_cast<int>(x.groups) + 1, std::int64_t{0}, x.groups, x.n, stream());
            });
          });
    work_by_key<std::int32_t>("histogram", dsl::dtype::float32, n, 100, 4,
                              [](const keyed<std::int32_t>& x) -> result { return x.counts; })
        .within(1e-4)
        .by("dsl",
            [](const keyed<std::int32_t>& x) {
              dsl::assign(x.counts, dsl::histogram(x.values, x.groups, 0.5f, 1.5f));
            })
        .by("CUB", [](const keyed<std::int32_t>& x) {
          return with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceHistogram::HistogramEven(
                memory, size, x.values.data(), counters_of(x.counts),
                static_cast<int>(x.groups) + 1, 0.5f, 1.5f, x.n, stream());
          });
        });
    work_by_key<std::int32_t>("histogram, sum(a * a), max(a)", dsl::dtype::float32, n, 100, 4,
                              [](const keyed<std::int32_t>& x) -> result { return x.counts; })
        .by("dsl", [](const keyed<std::int32_t>& x) {
          dsl::scalar<float> squares, greatest;
          dsl::tie(x.counts, squares, greatest) =
              std::tuple{dsl::histogram(x.values, x.groups, 0.5f, 1.5f),
                         dsl::sum(x.values * x.values), dsl::max(x.values)};
        });
    using selected = arrays<float, dsl::view<std::int64_t, 0>>;
    work_on<selected>("by key", dsl::dtype::float32, "compress(a > 1, a)", n, 6)
        .by("dsl",
            [](const selected& x) {
              const auto kept = target<float>(slot::second_out, x.n);
              dsl::tie(kept, x.out) = dsl::compress(x.a > 1, x.a);
            })
        .by("CUB", [](const selected& x) {
          const auto kept = target<float>(slot::second_out, x.n);
          return with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceSelect::If(memory, size, x.a.data(), kept.data(), x.out.data(), x.n,
                                         is_above_one{}, stream());
          });
        });
    work_by_key<std::int32_t>(
        "unique(keys)", dsl::dtype::int32, n, 10'000, 4,
        [](const keyed<std::int32_t>& x) -> result { return x.counts(dsl::slice(0, 1)); })
        .by("dsl", [](const keyed<std::int32_t>& x) {
          const auto kept = target<std::int32_t>(slot::second_out, x.n);
          const dsl::view<std::int64_t, 0> count(x.counts.owner(), x.counts.data(), {}, {});
          dsl::tie(kept, count) = dsl::unique(x.keys);
        });
    map<float>("sort(a)", n, 2, "by key")
        .by("dsl", [](const arrays<float>& x) { x.out = dsl::sort(x.a); })
        .by("CUB", [](const arrays<float>& x) {
          return with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceRadixSort::SortKeys(memory, size, x.a.data(), x.out.data(), x.n, 0,
                                                  32, stream());
          });
        });
    using ordered = arrays<float, dsl::view<std::int64_t>>;
    work_on<ordered>("by key", dsl::dtype::float32, "argsort(a)", n, 12)
        .by("dsl", [](const ordered& x) { x.out = dsl::argsort(x.a); });
    work_on<ordered>("by key", dsl::dtype::float32, "searchsorted(1000 edges, a)", n, 12)
        .by("dsl", [](const ordered& x) {
          const auto edges = dsl::eval(dsl::linspace<float>(0.5f, 1.5f, 1000));
          return [x, edges] { x.out = dsl::searchsorted(edges, x.a); };
        });
  }
});

}  // namespace
}  // namespace bench

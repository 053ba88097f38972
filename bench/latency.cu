// Measures what a call on few elements costs the program: the wall time of one of many calls in a
// row.
#include "by_hand.cuh"

#include <cub/device/device_reduce.cuh>

#include "workspace.cuh"

namespace bench {
namespace {

struct sum_of_two {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct next_of {
  __device__ float operator()(float a) const { return a + 1; }
};

template <class Arrays> work_on<Arrays> call_of(const char* name, std::int64_t n, int moved) {
  return {"latency", dsl::dtype::float32, name, n, 4.0 * moved, timing::calls};
}

template <class F, int N, class Work> void with_peers(Work work) {
  work.by("hand", by_sixteen_bytes<F, N>{})
      .by("CUB", by_cub<F, N>{})
      .by("Thrust", by_thrust<F, N>{});
}

const rows calls([] {
  using x_t = arrays<float>;
  for (const std::int64_t n : {1000, 1021})
    with_peers<sum_of_two, 2>(
        call_of<x_t>("a + b", n, 3).by("dsl", [](const x_t& x) { x.out = x.a + x.b; }));
  for (const std::int64_t n : {1 << 20, (1 << 20) + 1})
    with_peers<next_of, 1>(
        call_of<x_t>("a + 1", n, 2).by("dsl", [](const x_t& x) { x.out = x.a + 1; }));
  for (const std::int64_t n : {1000, 1021})
    call_of<reduced<float>>("sum(a)", n, 1)
        .within(1e-4)
        .by("dsl", [](const reduced<float>& x) { x.out = dsl::sum(x.a); })
        .by("CUB", [](const reduced<float>& x) {
          return with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceReduce::Sum(memory, size, x.a.data(), x.out.data(), x.n, stream());
          });
        });
});

}  // namespace
}  // namespace bench

// Measures elementwise formulas of floats over all sizes, and functions that cost more than the
// memory accesses.
#include "by_hand.cuh"

namespace bench {
namespace {

struct sum_of_two {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct exponential_of {
  __device__ float operator()(float a) const { return expf(a); }
};
struct of_three {
  __device__ float operator()(float a, float b, float c) const {
    return a * expf(-b * b) + sqrtf(fabsf(c));
  }
};

template <class F, int N, class Work> void with_all_peers(Work work) {
  work.by("hand", by_sixteen_bytes<F, N>{})
      .by("hand, one element a thread", by_element<F, N>{})
      .by("CUB", by_cub<F, N>{})
      .by("Thrust", by_thrust<F, N>{});
}

const rows sizes([] {
  for (const std::int64_t n : swept_sizes()) {
    add_copy("map", std::to_string(n), n);
    with_all_peers<sum_of_two, 2>(add<float>(n));
    with_all_peers<exponential_of, 1>(exponential<float>(n));
    with_all_peers<of_three, 3>(three_operands(n));
  }
  with_all_peers<exponential_of, 1>(exponential<float>(10'000'000));
});

}  // namespace
}  // namespace bench

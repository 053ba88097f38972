// Measures functions whose arithmetic may cost more than their memory accesses.
#include "by_hand.cuh"

namespace bench {
namespace {

struct sine_of {
  __device__ float operator()(float a) const { return sinf(a); }
  __device__ double operator()(double a) const { return sin(a); }
};
struct power_of {
  __device__ float operator()(float a, float b) const { return powf(a, b); }
  __device__ double operator()(double a, double b) const { return pow(a, b); }
};
struct exponential_and_twice {
  __device__ float operator()(float a, float b) const { return expf(a) + 2 * b; }
};
struct square_and_turn {
  __device__ pair<float> operator()(pair<float> a) const {
    return a * a + pair<float>{-a.im, a.re};
  }
};

__device__ float normal(float d) { return 0.5f * erfcf(-0.70710678f * d); }

__global__ void option_prices_by_hand(std::int64_t n, float4* call, float4* put,
                                      const float4* stock, const float4* strike,
                                      const float4* years) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;  // n is a multiple of 4.
  const float4 s = stock[i], k = strike[i], t = years[i];
  const auto of = [](float s, float k, float t) {
    const float deviation = volatility * sqrtf(t),
                d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / deviation,
                d2 = d1 - deviation;
    const float discounted = k * expf(-rate * t);
    return float2{s * normal(d1) - discounted * normal(d2),
                  discounted * normal(-d2) - s * normal(-d1)};
  };
  const float2 x = of(s.x, k.x, t.x), y = of(s.y, k.y, t.y), z = of(s.z, k.z, t.z),
               w = of(s.w, k.w, t.w);
  call[i] = {x.x, y.x, z.x, w.x};
  put[i] = {x.y, y.y, z.y, w.y};
}

template <class T> void functions(std::int64_t n) {
  sine<T>(n).by("hand", by_sixteen_bytes<sine_of, 1>{}).by("CUB", by_cub<sine_of, 1>{});
  power<T>(n).by("hand", by_sixteen_bytes<power_of, 2>{}).by("CUB", by_cub<power_of, 2>{});
}

const rows more([] {
  for (const std::int64_t one : {0, 1}) {
    constexpr std::int64_t count = 1 << 27;
    functions<float>(count + one);
    functions<double>(count / 2 + one);
    map<float>("exp(a) + 2 * b", count + one, 3)
        .by("dsl", [](const arrays<float>& x) { x.out = exp(x.a) + 2 * x.b; })
        .by("hand", by_sixteen_bytes<exponential_and_twice, 2>{})
        .by("CUB", by_cub<exponential_and_twice, 2>{});
    auto prices = black_scholes(count + one);
    prices.within(1e-5);
    if (one == 0)
      prices.by("hand", [](const arrays<float>& x) {
        const auto four = [](const auto& v) { return reinterpret_cast<const float4*>(v.data()); };
        const auto put = target<float>(slot::second_out, x.n);
        option_prices_by_hand<<<grid_by_hand(x.n / 4), block_by_hand, 0, stream()>>>(
            x.n, reinterpret_cast<float4*>(x.out.data()), reinterpret_cast<float4*>(put.data()),
            four(x.a), four(x.b), four(x.c));
      });
    map<c32>("a * a + 1i * a", count / 2 + one, 2)
        .by("dsl", [](const arrays<c32>& x) { x.out = x.a * x.a + 1i * x.a; })
        .by("hand", by_sixteen_bytes<square_and_turn, 1>{})
        .by("CUB", by_cub<square_and_turn, 1>{});
  }
});

}  // namespace
}  // namespace bench

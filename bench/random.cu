// Measures random numbers, stored and averaged, and a stochastic differential equation. Peers:
// kernels by hand that draw the same numbers with cuRAND's Philox.
#include <curand_kernel.h>

#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include "check.cuh"
#include "works.hpp"

namespace bench {
namespace {

constexpr std::int64_t n = std::int64_t{1} << 28;
constexpr dsl::random::key k{42};

/// Two works that write the elements of formula(count): n elements, and one more. Returns the
/// first.
template <class T, class Formula>
work filled(const char* name, Formula formula) {
  const auto of = [=](std::int64_t count) {
    return work("random", dsl::dtype_v<T>, std::to_string(count), name,
                static_cast<double>(sizeof(T)) * static_cast<double>(count))
        .by("dsl", [=] {
          const auto out = target<T>(slot::out, count);
          const auto numbers = formula(count);
          return job{[=] { out = numbers; }, out};
        });
  };
  of(n + 1);
  return of(n);
}

/// The four words of a block of 4 elements; `stream` distinguishes bits from keys.
__device__ uint4 words(std::int64_t block, std::uint64_t key, unsigned stream = 0) {
  const auto low = [](std::uint64_t x) { return static_cast<unsigned>(x); };
  const auto number = static_cast<std::uint64_t>(block);
  return curand_Philox4x32_10({low(number), low(number >> 32), 0, stream},
                              {low(key), low(key >> 32)});
}
__device__ float uniform_of(unsigned word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
__device__ float2 normal_of(unsigned radius_word, unsigned angle_word) {
  const float radius =
      sqrtf(-2.0f * logf((static_cast<float>(radius_word >> 1) + 0.5f) * 0x1p-31f));
  float sine, cosine;
  sincospif(static_cast<float>(static_cast<int>(angle_word)) * 0x1p-31f, &sine, &cosine);
  return {radius * cosine, radius * sine};
}
__device__ float4 normals_of(uint4 w) {
  const float2 a = normal_of(w.x, w.y), b = normal_of(w.z, w.w);
  return {a.x, a.y, b.x, b.y};
}
struct as_bits {
  __device__ uint4 operator()(uint4 w) const { return w; }
};
struct as_uniform {
  __device__ float4 operator()(uint4 w) const {
    return {uniform_of(w.x), uniform_of(w.y), uniform_of(w.z), uniform_of(w.w)};
  }
};
struct as_normal {
  __device__ float4 operator()(uint4 w) const { return normals_of(w); }
};

// Each thread computes a block of four elements. n is a multiple of the elements that a block of
// threads writes.
constexpr int threads = 256;
template <class Made, class Four>
__global__ void fill_by_hand(Four* out, std::uint64_t key, Made made) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  out[block] = made(words(block, key));
}
template <class T, class Made>
std::function<job()> filled_by_hand(Made made) {
  using four = std::invoke_result_t<Made, uint4>;
  return [=] {
    const auto out = target<T>(slot::out, n);
    return job{[=] {
                 fill_by_hand<<<static_cast<unsigned>(n / 4 / threads), threads, 0, stream()>>>(
                     reinterpret_cast<four*>(out.data()), k.bits(), made);
               },
               out};
  };
}

// For pairs of numbers under two keys: 4 times the share of pairs inside the unit circle.
__global__ void pi_by_hand(double* pi, std::uint64_t key_x, std::uint64_t key_y) {
  int inside = 0;
  for (std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
       block < n / 4; block += static_cast<std::int64_t>(gridDim.x) * threads) {
    const float4 x = as_uniform{}(words(block, key_x)), y = as_uniform{}(words(block, key_y));
    inside += (x.x * x.x + y.x * y.x < 1) + (x.y * x.y + y.y * y.y < 1) +
              (x.z * x.z + y.z * y.z < 1) + (x.w * x.w + y.w * y.w < 1);
  }
  inside = __reduce_add_sync(~0u, inside);
  if (threadIdx.x % 32 == 0) atomicAdd(pi, 4.0 * inside / n);
}

// dX = 1.5 X dt + 0.01 X dW for three states from 0.1, to time 1 in 256 steps, as in DiffEqGPU's
// benchmark.
constexpr std::int64_t paths = 8'388'608, states = 3;
constexpr int steps = 256;
constexpr float drift = 1.5f, diffusion = 0.01f, start = 0.1f, h = 1.0f / steps;
struct linear_step;
constexpr auto linear = dsl::ode::sde<linear_step>([](auto x) { return drift * x; },
                                                   [](auto x) { return diffusion * x; });

// Each thread has four elements; a block of threads has the keys of all steps.
__global__ void linear_by_hand(float4* x, std::uint64_t key) {
  __shared__ std::uint64_t keys[steps];
  for (int s = static_cast<int>(threadIdx.x); s < steps; s += threads) {
    const uint4 w = words(s, key, 1);
    keys[s] = w.x | static_cast<std::uint64_t>(w.y) << 32;
  }
  __syncthreads();
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  float4 y = x[block];
  const auto next = [](float y, float w) {
    return y + (h * (drift * y) + sqrtf(h) * (diffusion * y * w));
  };
  for (int s = 0; s < steps; ++s) {
    const float4 w = normals_of(words(block, keys[s]));
    y = {next(y.x, w.x), next(y.y, w.y), next(y.z, w.z), next(y.w, w.w)};
  }
  x[block] = y;
}

// Gillespie's algorithm: molecules that are made at a rate of 20 and decay at a rate of one each,
// for 8 units of time. Reactions come at random times, so that cells draw different numbers.
constexpr std::int64_t cells = 1 << 20;
constexpr float birth = 20, end_of_time = 8;
struct molecules {
  dsl::random::key key;
  DSL_FN int operator()(std::int64_t cell) const {
    dsl::random::generator g(key, cell);
    int n = 0;
    for (float t = 0;;) {
      const float rate = birth + static_cast<float>(n);
      t += g.exponential<float>() / rate;
      if (t > end_of_time) return n;
      n += g.uniform<float>() * rate < birth ? 1 : -1;
    }
  }
};
// The same with cuRAND's Philox of the device API.
__global__ void molecules_by_curand(int* out, std::uint64_t key) {
  const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  curandStatePhilox4_32_10_t g;
  curand_init(key, static_cast<unsigned long long>(cell), 0, &g);
  int n = 0;
  for (float t = 0;;) {
    const float rate = birth + static_cast<float>(n);
    t -= logf(curand_uniform(&g)) / rate;
    if (t > end_of_time) break;
    n += curand_uniform(&g) * rate <= birth ? 1 : -1;
  }
  out[cell] = n;
}

const rows drawn([] {
  using dsl::random::bits, dsl::random::exponential, dsl::random::integers, dsl::random::normal,
      dsl::random::permutation, dsl::random::uniform;
  filled<std::uint32_t>("bits", [](std::int64_t count) {
    return bits(k, count);
  }).by("hand", filled_by_hand<std::uint32_t>(as_bits{}));
  filled<float>("uniform", [](std::int64_t count) {
    return uniform<float>(k, count);
  }).by("hand", filled_by_hand<float>(as_uniform{}));
  filled<double>("uniform", [](std::int64_t count) { return uniform<double>(k, count); });
  filled<float>("normal", [](std::int64_t count) {
    return normal<float>(k, count);
  }).by("hand", filled_by_hand<float>(as_normal{}));
  filled<double>("normal", [](std::int64_t count) { return normal<double>(k, count); });
  filled<float>("exponential", [](std::int64_t count) { return exponential<float>(k, count); });
  filled<std::int32_t>(
      "integers", [](std::int64_t count) { return integers<std::int32_t>(k, 0, 1000, count); });
  filled<std::int64_t>("permutation", [](std::int64_t count) { return permutation(k, count); });

  work("random", dsl::dtype::float32, std::to_string(n), "pi", 0)
      .by("dsl",
          [] {
            const auto pi = target<double, 0>(slot::out, 1);
            const auto x = dsl::random::uniform<float>(k.fold(0), n),
                       y = dsl::random::uniform<float>(k.fold(1), n);
            return job{[=] { pi = 4 * dsl::mean(x * x + y * y < 1); }, pi};
          })
      .by("hand", [] {
        const auto pi = target<double, 0>(slot::out, 1);
        return job{[=] {
                     check(cudaMemsetAsync(pi.data(), 0, sizeof(double), stream()));
                     pi_by_hand<<<132 * 8, threads, 0, stream()>>>(pi.data(), k.fold(0).bits(),
                                                                   k.fold(1).bits());
                   },
                   pi};
      });

  // The mean is compared; it is known to be 19.99, with a standard deviation of 0.0044.
  const auto of_cells = [](auto run) {
    return [=] {
      const auto n = std::make_shared<dsl::array<int>>(cells);
      const auto mean = target<double, 0>(slot::out, 1);
      return job{[=] { run(*n); }, mean, {}, [=] { mean = dsl::mean(*n); }};
    };
  };
  work("random", dsl::dtype::int32, std::to_string(cells), "Gillespie's birth and death",
       static_cast<double>(sizeof(int)) * cells)
      .within(2e-3)
      .by("dsl", of_cells([](dsl::array<int>& n) {
            n = dsl::vectorize(molecules{k})(dsl::arange<std::int64_t>(cells));
          }))
      .by("cuRAND", of_cells([](dsl::array<int>& n) {
            molecules_by_curand<<<static_cast<unsigned>(cells / threads), threads, 0, stream()>>>(
                n.data(), k.bits());
          }));

  const auto of_linear = [](auto run) {
    return [=] {
      const auto x = std::make_shared<dsl::array<float, 2>>(states, paths);
      return job{[=] { run(*x); }, *x, [=] { *x = start; }};
    };
  };
  work("random", dsl::dtype::float32, std::to_string(paths),
       "256 Euler-Maruyama steps of a linear SDE", 2.0 * sizeof(float) * states * paths,
       timing::call)
      .within(1e-5)
      .by("dsl", of_linear([](dsl::array<float, 2>& x) {
            dsl::iterate(steps, linear, dsl::state(x), h,
                         dsl::random::normal<float>(k.fold(dsl::step), states, paths));
          }))
      .by("hand", of_linear([](dsl::array<float, 2>& x) {
            linear_by_hand<<<static_cast<unsigned>(x.size() / 4 / threads), threads, 0, stream()>>>(
                reinterpret_cast<float4*>(x.data()), k.bits());
          }));
});

}  // namespace
}  // namespace bench

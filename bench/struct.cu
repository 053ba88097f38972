// Measures a step of a struct's members: a struct of arrays, the same with tie, an array of
// structs, and by hand.
#include <dsl/hana.hpp>

#include "check.cuh"
#include "row.hpp"

namespace bench {
namespace {

template <class X, class V> struct oscillator {
  BOOST_HANA_DEFINE_STRUCT(oscillator, (X, x), (V, v));
};

constexpr float h = 1e-3f;

constexpr auto step_of_struct = dsl::vectorize([](auto p, auto h) {
  p.v = p.v - h * p.x;
  p.x = p.x + h * p.v;
  return p;
});
constexpr auto step_of_arrays = dsl::vectorize([](auto x, auto v, auto h) {
  auto faster = v - h * x;
  return std::tuple{x + h * faster, faster};
});

__global__ void step_by_hand(float4* x, float4* v, float h, std::int64_t vectors) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  float4 p = x[i], q = v[i];
  q = {q.x - h * p.x, q.y - h * p.y, q.z - h * p.z, q.w - h * p.w};
  p = {p.x + h * q.x, p.y + h * q.y, p.z + h * q.z, p.w + h * q.w};
  x[i] = p;
  v[i] = q;
}

/// Positions and velocities that a step changes, and those from which each row starts.
struct places {
  explicit places(std::int64_t n)
      : x0(operand<float>(slot::a, n)),
        v0(operand<float>(slot::b, n)),
        x(target<float>(slot::out, n)),
        v(target<float>(slot::second_out, n)) {}
  dsl::view<const float> x0, v0;
  dsl::view<float> x, v;
  void start() const {
    x = x0;
    v = v0;
  }
};

template <class Step> std::function<job()> in_place(std::int64_t n, Step step) {
  return [n, step] {
    const places p(n);
    return job{[=] { step(p); }, p.x, [=] { p.start(); }};
  };
}

void structs_of(std::int64_t n) {
  work w("struct", dsl::dtype::float32, std::to_string(n), "v -= h * x, x += h * v",
         16.0 * static_cast<double>(n));
  w.by("dsl", in_place(n,
                       [](const places& p) {
                         oscillator<dsl::view<float>, dsl::view<float>> all{p.x, p.v};
                         dsl::tie(all) = step_of_struct(all, h);
                       }))
      .by("dsl tie",
          in_place(n, [](const places& p) { dsl::tie(p.x, p.v) = step_of_arrays(p.x, p.v, h); }));
  if (n % 1024 == 0)
    w.by("hand", in_place(n, [n](const places& p) {
           step_by_hand<<<static_cast<unsigned>(n / 4 / 256), 256, 0, stream()>>>(
               reinterpret_cast<float4*>(p.x.data()), reinterpret_cast<float4*>(p.v.data()), h,
               n / 4);
         }));
  w.by("dsl array of structs", [n] {
    dsl::structured_array<oscillator<float, float>> all(n);
    const places p(n);
    const auto members = dsl::members(all);  // Views, which keep the memory alive.
    const auto step = [=] {
      auto both = members;
      dsl::tie(both) = step_of_struct(both, h);
    };
    return job{step, p.x,
               [=] {
                 members.x = p.x0;
                 members.v = p.v0;
               },
               [=] { p.x = members.x; }};
  });
}

const rows structs([] {
  structs_of(1 << 26);
  structs_of((1 << 26) + 1);
});

}  // namespace
}  // namespace bench

// The RK4 step as a CUDA programmer writes it: 16-byte accesses, two elements a thread, a scalar
// tail.
#include <cstdint>

struct c32 { float re, im; };
__device__ c32 operator+(c32 a, c32 b) { return {a.re + b.re, a.im + b.im}; }
__device__ c32 operator-(c32 a, c32 b) { return {a.re - b.re, a.im - b.im}; }
__device__ c32 operator*(c32 a, c32 b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ c32 operator*(float a, c32 b) { return {a * b.re, a * b.im}; }
__device__ c32 conj(c32 a) { return {a.re, -a.im}; }

__device__ c32 dF(c32 F, c32 G, c32 d) {
  return c32{0, -2} * F - c32{0, 1} * d * (2.0f * G - c32{1, 0});
}
__device__ c32 dG(c32 F, c32 d) { return c32{0, -1} * (conj(d) * F - d * conj(F)); }

__device__ void rk4(c32& F, c32& G, c32 d, float h) {
  const c32 F1 = dF(F, G, d), G1 = dG(F, d);
  const c32 F2 = dF(F + h / 2 * F1, G + h / 2 * G1, d), G2 = dG(F + h / 2 * F1, d);
  const c32 F3 = dF(F + h / 2 * F2, G + h / 2 * G2, d), G3 = dG(F + h / 2 * F2, d);
  const c32 F4 = dF(F + h * F3, G + h * G3, d), G4 = dG(F + h * F3, d);
  F = F + h / 6 * (F1 + 2.0f * F2 + 2.0f * F3 + F4);
  G = G + h / 6 * (G1 + 2.0f * G2 + 2.0f * G3 + G4);
}

__global__ void rk4_by_hand(float4* F, float4* G, const c32* delta, float h, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const c32 d = *delta;
  if (2 * i + 1 < n) {
    float4 f = F[i], g = G[i];
    c32 f0{f.x, f.y}, f1{f.z, f.w}, g0{g.x, g.y}, g1{g.z, g.w};
    rk4(f0, g0, d, h);
    rk4(f1, g1, d, h);
    F[i] = {f0.re, f0.im, f1.re, f1.im};
    G[i] = {g0.re, g0.im, g1.re, g1.im};
  } else if (2 * i < n) {
    c32 f = reinterpret_cast<c32*>(F)[2 * i], g = reinterpret_cast<c32*>(G)[2 * i];
    rk4(f, g, d, h);
    reinterpret_cast<c32*>(F)[2 * i] = f;
    reinterpret_cast<c32*>(G)[2 * i] = g;
  }
}

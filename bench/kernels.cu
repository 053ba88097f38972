// Elementwise kernels and reductions on the GPU: time, GB/s, and percent of a device copy of the same run.
// Prints a table; --size log2(n) sets the largest size. Bytes are those that the formula must move, each once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../tests/rk4.hpp"
#include "measure.hpp"
#include "rk4_by_hand.hpp"

namespace {

template <class Run>
void wall(const char* name, int calls, Run&& run) {
  for (int k = 0; k < 100; ++k) run();
  check(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < calls; ++k) run();
  check(cudaDeviceSynchronize());
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / calls;
  std::printf("%-34s %9.2f us a call, wall\n", name, us);
}

struct rk4_map;
struct rk4_map_and_sum;
constexpr auto rk4_summed = [](auto F, auto G, auto d, auto h) {
  auto [Fn, Gn] = rk4_fields(F, G, d, h);
  return std::tuple{Fn, Gn, dsl::sum(Fn)};
};

void loop(int side) {
  const auto step = dsl::vectorize<rk4_map_and_sum>(rk4_summed);
  auto F = dsl::full<c32>(1.0f, side, side), G = dsl::full<c32>(1.0f, side, side);
  dsl::scalar<c32> delta = c32(1);
  double best = 1e9;
  for (int k = 0; k < 10; ++k) {
    F = c32(1), G = c32(1), delta = c32(1);
    check(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    const auto history = dsl::iterate(100, step, dsl::state(F, G, delta), 1e-4f);
    check(cudaDeviceSynchronize());
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("100 steps, %4d x %-4d              %9.3f ms, wall, best of 10\n", side, side, best);
}

/// Broadcast, shifted and transposed operands over a square, against a copy of that square.
void strided(const dsl::array<float>& from, dsl::array<float>& to) {
  std::int64_t side = 1;
  while (4 * side * side <= from.size()) side *= 2;
  const std::int64_t n = side * side;
  const auto a = dsl::reshape(from(dsl::slice(0, n)), side, side);
  const auto out = dsl::reshape(to(dsl::slice(0, n)), side, side);
  const dsl::array<float> line = dsl::arange<float>(side);
  const auto row = line.view();
  const auto column = dsl::reshape(line, side, 1);
  const dsl::scalar<float> s = 2.0f;
  copy_gbs = 0;
  std::printf("%lld x %lld\n", static_cast<long long>(side), static_cast<long long>(side));
  row_of("  copy (cudaMemcpy)", 8.0 * n, [&] { check(cudaMemcpyAsync(out.data(), a.data(), 4 * n, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(dsl::stream::current().native()))); });
  row_of("  m * row", 8.0 * n, [&] { out = a * row; });
  row_of("  m * col", 8.0 * n, [&] { out = a * column; });
  row_of("  m * row + col", 8.0 * n, [&] { out = a * row + column; });
  row_of("  m * scalar", 8.0 * n, [&] { out = a * s; });
  row_of("  row * col", 4.0 * n, [&] { out = column * row; });
  row_of("  transpose(m)", 8.0 * n, [&] { out = dsl::transpose(a); });
  row_of("  m + transpose(m)", 12.0 * n, [&] { out = a + dsl::transpose(a); });
  row_of("  m[:, 1:]", 8.0 * side * (side - 1), [&] { out(dsl::slice(), dsl::slice(0, -1)) = a(dsl::slice(), dsl::slice(1, dsl::end)) + 1; });
  row_of("  m[:, ::2]", 8.0 * n, [&] { out(dsl::slice(), dsl::slice(0, dsl::end, 2)) = a(dsl::slice(), dsl::slice(0, dsl::end, 2)) + 1; });
  row_of("  five-point heat step, one kernel", 8.0 * n, [&] {
    using dsl::boundary;
    out = a + 0.1f * (dsl::shift(a, 1, boundary::clamp, 0) + dsl::shift(a, -1, boundary::clamp, 0) + dsl::shift(a, 1, boundary::clamp, 1) +
                      dsl::shift(a, -1, boundary::clamp, 1) - 4 * a);
  });
  const dsl::array<std::int32_t> back = n - 1 - dsl::arange<std::int32_t>(n);
  row_of("  take, backwards", 12.0 * n, [&] { dsl::reshape(out, n) = dsl::take(a, back); });
  copy_gbs = 0;
}

void run(int log2n) {
  const std::int64_t n = std::int64_t{1} << log2n;
  const auto& gpu = dsl::properties(dsl::device("cuda"));
  std::printf("%s, driver %d, runtime %d, n = 2^%d\n", gpu.name, gpu.driver, gpu.runtime, log2n);

  const auto a = dsl::array<float>(dsl::arange<float>(n) / n), b = dsl::array<float>(1 - a), c = dsl::array<float>(a * b);
  dsl::array<float> out(n);
  row_of("copy (cudaMemcpy)", 8.0 * n, [&] { out = a; });
  row_of("a + b", 12.0 * n, [&] { out = a + b; });
  row_of("exp(a)", 8.0 * n, [&] { out = exp(a); });
  row_of("exp(a) + 2 * b", 12.0 * n, [&] { out = exp(a) + 2 * b; });
  row_of("a*exp(-b*b) + sqrt(abs(c))", 16.0 * n, [&] { out = a * exp(-b * b) + sqrt(abs(c)); });
  {
    const auto head = dsl::slice(0, -1), tail = dsl::slice(1, dsl::end);
    row_of("a[1:] + b[:-1]", 12.0 * n, [&] { out(head) = a(tail) + b(head); });
    row_of("exp(a[1:])", 8.0 * n, [&] { out(head) = exp(a(tail)); });
    row_of("out[1:] = exp(a[1:])", 8.0 * n, [&] { out(tail) = exp(a(tail)); });
  }
  dsl::scalar<float> s;
  row_of("sum(a)", 4.0 * n, [&] { s = dsl::sum(a); });
  row_of("sum(a * exp(b))", 8.0 * n, [&] { s = dsl::sum(a * exp(b)); });
  strided(a, out);
  for (const int side : {1024, 4096}) {
    auto F = dsl::full<c32>({0.5f, 0.25f}, side, side), G = dsl::full<c32>({0.125f, 0.0f}, side, side);
    const dsl::scalar<c32> d = c32(1e-3f);
    dsl::scalar<c32> sum;
    const double bytes = 32.0 * side * side;
    const auto map = dsl::vectorize<rk4_map>(rk4_fields);
    const auto summed = dsl::vectorize<rk4_map_and_sum>(rk4_summed);
    std::printf("RK4 step, %d x %d\n", side, side);
    row_of("  by hand, 16-byte accesses", bytes, [&] { launch_rk4_by_hand(F.data(), G.data(), d.data(), 1e-4f, F.size()); });
    row_of("  dsl", bytes, [&] { dsl::tie(F, G) = map(F, G, d, 1e-4f); });
    row_of("  dsl, with sum(F)", bytes, [&] { dsl::tie(F, G, sum) = summed(F, G, d, 1e-4f); });
    if (side == 4096) std::printf("  %s\n  %s\n", dsl::plan_of(dsl::tie(F, G), map(F, G, d, 1e-4f)).describe().c_str(),
                                  dsl::plan_of(dsl::tie(F, G, sum), summed(F, G, d, 1e-4f)).describe().c_str());
  }
  auto x = dsl::ones<float>(1000), y = dsl::ones<float>(1000);
  dsl::array<float> z(1000);
  wall("a + b, n = 1000", 10000, [&] { z = x + y; });
  wall("sum(a), n = 1000", 10000, [&] { s = dsl::sum(x); });
  for (const int side : {4, 512, 3162}) loop(side);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 2 && std::strcmp(argv[1], "--size") == 0 ? std::atoi(argv[2]) : 27);
  } catch (const dsl::error& e) {
    std::fprintf(stderr, "bench_kernels: %s\n", e.what());
    return 1;
  }
}

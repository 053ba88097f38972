// Measures works on one GPU and on several as one device: `bench_mesh cuda:0 cuda:0-1`, after
// Google Benchmark's options. A row's name is such as mesh/float32/536870912/dsl cuda:0-1/a + b.
// Its time is that of a call: the median of ten in a row, each with the wait for its end.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include "machine.hpp"
#include "works.hpp"

namespace bench {
namespace {

struct mesh_exchange;
struct mesh_alone;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of a call on the current device.
double median_of(const std::function<void()>& call, int calls) {
  constexpr int measurements = 9;
  const dsl::device where = dsl::device::current();
  std::vector<double> times;
  for (int i = 0; i <= measurements; ++i) {
    where.synchronize();
    const double begin = seconds();
    for (int c = 0; c < calls; ++c) call();
    where.synchronize();
    if (i > 0) times.push_back((seconds() - begin) / calls);  // The first round is a warm-up.
  }
  std::nth_element(times.begin(), times.begin() + measurements / 2, times.end());
  return times[measurements / 2];
}

/// Adds a row. `make()`, called on the device, returns the call to time.
void add(const std::string& where, const char* type, const std::string& size,
         const std::string& work, int calls, const std::function<std::function<void()>()>& make) {
  const std::string name = std::string("mesh/") + type + "/" + size + "/dsl " + where + "/" + work;
  const auto run = [=](benchmark::State& state) {
    try {
      const dsl::device_guard guard(dsl::device(where.c_str()));
      const auto call = make();
      for (auto each : state) state.SetIterationTime(median_of(call, calls));
    } catch (const dsl::error& e) {
      state.SkipWithError(e.what());
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

void add_maps(const std::string& where) {
  for (const std::int64_t n : {std::int64_t{1} << 29, (std::int64_t{1} << 29) + 1}) {
    add(where, "float32", std::to_string(n), "a + b", 10, [n] {
      const dsl::array<float> a = dsl::full<float>(1, n), b = dsl::full<float>(2, n);
      return [a, b, out = dsl::array<float>(n)]() mutable { out = a + b; };
    });
    add(where, "float32", std::to_string(n), "sum(a)", 10, [n] {
      const dsl::array<float> a = dsl::full<float>(1, n);
      return [a, out = dsl::scalar<float>()]() mutable { out = dsl::sum(a); };
    });
  }
  for (const auto [rows, columns] : {shape{16384, 32768}, {16381, 32749}}) {
    for (const int axis : {1, 0})
      add(where, "float32", shape_of(rows, columns), axis == 1 ? "sum of rows" : "sum of columns",
          10, [=] {
            const dsl::array<float, 2> m = dsl::full<float>(1, rows, columns);
            return [m, axis, out = dsl::array<float>(axis == 1 ? rows : columns)]() mutable {
              if (axis == 1) out = dsl::sum(m, dsl::axis(1));
              else out = dsl::sum(m, dsl::axis(0));
            };
          });
    add(where, "float32", shape_of(rows, rows), "five-point heat by slices", 10, [rows] {
      const dsl::array<float, 2> m = dsl::full<float>(1, rows, rows);
      return [m, out = dsl::array<float, 2>(rows, rows)]() mutable {
        const auto in = dsl::slice(1, -1), up = dsl::slice(0, -2), down = dsl::slice(2, dsl::end);
        out(in, in) =
            m(in, in) + 0.1f * (m(up, in) + m(down, in) + m(in, up) + m(in, down) - 4 * m(in, in));
      };
    });
    add(where, "float32", shape_of(rows, rows), "transpose(m)", 10, [rows] {
      const dsl::array<float, 2> m = dsl::full<float>(1, rows, rows);
      return [m, out = dsl::array<float, 2>(rows, rows)]() mutable { out = dsl::transpose(m); };
    });
  }
  for (const std::int64_t n : {1 << 25, (1 << 25) + 1})
    add(where, "float32", std::to_string(n), "cumsum(a)", 10, [n] {
      const dsl::array<float> a = dsl::full<float>(1, n);
      return [a, out = dsl::array<float>(n)]() mutable { out = dsl::cumsum(a); };
    });
}

void add_loops(const std::string& where) {
  for (const std::int64_t side : {512, 768, 1024, 1448, 2048, 3162, 4472})
    add(where, "complex64", std::to_string(side) + "x" + std::to_string(side),
        "100 RK4 steps, sum(F) fed back", 1, [side] {
          const auto x = std::make_shared<fields>(side);
          x->start();
          const c32 scale(1.0f / static_cast<float>(side * side));
          return [=] {
            dsl::iterate(100, coupled, dsl::state(x->F, x->G, x->delta), step_size, scale);
          };
        });
  // Steps with almost no arithmetic: their time is that of the exchange of each step's sum between
  // all blocks; without the mean there is no exchange. 4 MiB is the least that each of two GPUs may
  // have, and with many steps the launch does not matter.
  for (const auto& [n, steps] : {std::pair{1 << 21, 1000}, {1 << 20, 10000}}) {
    add(where, "float32", std::to_string(n), std::to_string(steps) + " steps of x + h mean(x)", 1,
        [n = n, steps = steps] {
          const auto step = dsl::vectorize<mesh_exchange>([](auto x, auto mean, auto h) {
            const auto next = x + h * mean;
            return std::tuple{next, dsl::mean(next)};
          });
          return [=, x = dsl::array<float>(dsl::full<float>(1, n)),
                  mean = dsl::scalar<float>(1.0f)]() mutable {
            dsl::iterate(steps, step, dsl::state(x, mean), 1e-6f);
          };
        });
    add(where, "float32", std::to_string(n), std::to_string(steps) + " steps of x + h x", 1,
        [n = n, steps = steps] {
          const auto step = dsl::vectorize<mesh_alone>([](auto x, auto h) { return x + h * x; });
          return [=, x = dsl::array<float>(dsl::full<float>(1, n))]() mutable {
            dsl::iterate(steps, step, dsl::state(x), 1e-6f);
          };
        });
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 1)
    for (const auto& [name, value] : bench::machine::context_of(dsl::device(argv[argc - 1])))
      benchmark::AddCustomContext(name, value);
  for (int i = 1; i < argc; ++i) {
    bench::add_maps(argv[i]);
    bench::add_loops(argv[i]);
  }
  benchmark::RunSpecifiedBenchmarks();
}

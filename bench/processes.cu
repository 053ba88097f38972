// Measures works of bench_mesh on processes with a GPU each, as one device: `mpirun -n 2
// bench_processes`. A row's time is that of a call with the wait for its end, in milliseconds, the
// median of nine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <dsl/dsl.hpp>
#include <dsl/mpi.hpp>

#include "works.hpp"

namespace bench {
namespace {

struct processes_exchange;

int rank = 0, processes = 1;

void report(const char* type, const std::string& size, const char* work, int calls,
            const std::function<void()>& call) {
  constexpr int measurements = 9;
  const dsl::device where = dsl::device::current();
  std::vector<double> times;
  for (int i = 0; i <= measurements; ++i) {
    where.synchronize();
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    for (int c = 0; c < calls; ++c) call();
    where.synchronize();
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (i > 0) times.push_back(1e3 * seconds / calls);  // The first round is a warm-up.
  }
  std::nth_element(times.begin(), times.begin() + measurements / 2, times.end());
  if (rank == 0)
    std::printf("mesh/%s/%s/dsl %d processes/%s: %.4f\n", type, size.c_str(), processes, work,
                times[measurements / 2]);
}

void run() {
  const std::int64_t n = std::int64_t{1} << 29;
  {
    const dsl::array<float> a = dsl::full<float>(1, n), b = dsl::full<float>(2, n);
    dsl::array<float> out(n);
    dsl::scalar<float> total;
    report("float32", std::to_string(n), "a + b", 10, [&] { out = a + b; });
    report("float32", std::to_string(n), "sum(a)", 10, [&] { total = dsl::sum(a); });
  }
  for (const std::int64_t side : {512, 1024, 2048, 3162}) {
    fields x(side);
    x.start();
    const c32 scale(1.0f / static_cast<float>(side * side));
    report("complex64", std::to_string(side) + "x" + std::to_string(side),
           "100 RK4 steps, sum(F) fed back", 1,
           [&] { dsl::iterate(100, coupled, dsl::state(x.F, x.G, x.delta), step_size, scale); });
    if (side != 512) continue;
    report("complex64", "512x512", "100 RK4 steps, sum(F) fed back, a launch a step", 1, [&] {
      dsl::iterate(100, coupled, dsl::state(x.F, x.G, x.delta), step_size, scale,
                   dsl::strategy::launches);
    });
  }
  const auto step = dsl::vectorize<processes_exchange>([](auto x, auto mean, auto h) {
    const auto next = x + h * mean;
    return std::tuple{next, dsl::mean(next)};
  });
  dsl::array<float> x = dsl::full<float>(1, 1 << 21);
  dsl::scalar<float> mean(1.0f);
  report("float32", "2097152", "1000 steps of x + h mean(x)", 1,
         [&] { dsl::iterate(1000, step, dsl::state(x, mean), 1e-6f); });
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &bench::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &bench::processes);
  try {
    const dsl::device_guard together(dsl::mesh(MPI_COMM_WORLD));
    bench::run();
  } catch (const dsl::error& e) {
    std::printf("process %d: %s\n", bench::rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

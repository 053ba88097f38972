// mpirun -n N stopped_process_test P hangs|dies: process P stops before a sum, and the others must
// not wait for ever. On GPUs they have started it: first NCCL's kernels are aborted, then the
// processes determine which one is missing. With reads|reduces|shifts process P does not stop, but
// runs another statement than the others: all processes report that.
#include <dsl/dsl.hpp>
#include <dsl/mpi.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "gpus.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

// Whether it throws an error that names the stopped process.
bool is_refused(const dsl::array<double>& x, int stopped) {
  try {
    const dsl::scalar<double> total = dsl::sum(x);
    std::printf("a sum of %g without process %d\n", total.value(), stopped);
    return false;
  } catch (const dsl::device_error& e) {
    const std::string named = "process " + std::to_string(stopped) + " did not come within 1 s ";
    if (std::string(e.what()).find(named) != std::string::npos) return true;
    std::printf("\"%s\" for process %d\n", e.what(), stopped);
    return false;
  }
}

// Runs the statement of all processes but P, or, if `differs`, P's: it differs in the number of
// bytes, in the reduction of as many bytes, or in the messages.
void run_statement(const dsl::array<double>& x, const std::string& how, bool differs) {
  dsl::array<double> y(x.size());
  dsl::scalar<double> total;
  if (how == "shifts") y = dsl::shift(x, differs ? 2 : 1);
  else if (how == "reads" && differs) (void)x.copy_to_host();
  else if (differs) total = dsl::max(x);
  else total = dsl::sum(x);
}
// Whether all processes report, now and from then on, that one runs another statement.
bool are_told(const dsl::array<double>& x, const std::string& how, int rank, int other) {
  const std::string named =
      how == "shifts" ? "some processes of a mesh run other statements than process 0"
      : other == 0 ? "processes 1 and 2 run other statements than process 0"
                   : "process " + std::to_string(other) + " runs other statements than process 0";
  int told = 0;
  for (int k = 0; k < 2; ++k) {
    try {
      run_statement(x, how, k == 0 && rank == other);
    } catch (const dsl::device_error& e) {
      if (std::string(e.what()).find(named) != std::string::npos) ++told;
      else std::printf("\"%s\", not that %s\n", e.what(), named.c_str());
    }
  }
  return told == 2;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("DSL_TIMEOUT", "1", 1);
  MPI_Init(&argc, &argv);
  int rank = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (lacks_gpus(rank, processes)) {
    MPI_Finalize();
    return 77;
  }
  const int stopped = std::atoi(argv[1]);
  const dsl::device_guard all(dsl::mesh(MPI_COMM_WORLD));
  const double begun = dsl::device::current().kind == dsl::backend::cuda ? 1.5 : 0;
  const dsl::array<double> x = dsl::full<double>(2., 1000);
  bool passed = dsl::scalar<double>(dsl::sum(x)).value() == 2000;
  if (rank == stopped && argv[2] == std::string("dies")) std::raise(SIGKILL);

  if (argv[2] != std::string("hangs") && argv[2] != std::string("dies")) {
    passed = are_told(x, argv[2], rank, stopped) && passed;
    if (!passed) std::printf("process %d failed\n", rank);
    MPI_Finalize();
    return passed ? 0 : 1;
  }

  // The others wait twice as long for the first process. A late process is told so, unless it is
  // the first, which the others have abandoned.
  const auto begin = clock_type::now();
  if (rank == stopped) {
    std::this_thread::sleep_for(std::chrono::duration<double>(3.5 + begun));
    int refused = 0;
    for (int k = 0; k < 2; ++k) {
      try {
        passed = dsl::scalar<double>(dsl::sum(x)).value() == 2000 && passed;
      } catch (const dsl::device_error&) {
        ++refused;
      }
    }
    passed = refused >= (begun > 0 ? 1 : 2) && passed;  // GPUs had sent the first one
  } else {
    passed =
        is_refused(x, stopped) && seconds_since(begin) < begun + (stopped == 0 ? 3 : 2) && passed;
    passed = is_refused(x, stopped) && seconds_since(begin) < begun + 3.2 && passed;
  }
  if (!passed) std::printf("process %d failed\n", rank);
  MPI_Finalize();
  return passed ? 0 : 1;
}

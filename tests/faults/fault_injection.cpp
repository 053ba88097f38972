// Fault injection: every CUDA call of many pieces of work is made to fail, one at a time. The work
// then throws an error of the library's or is not affected; targets are unchanged, no resource
// leaks, and a repetition succeeds. `--without-kernels`: runs without a GPU; results of kernels are
// then not checked.
#include <dsl/dsl.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "attempt.hpp"
#include "runtime.hpp"

namespace {

using namespace faults;

// Resources alive and pool memory in use after all queued work is done.
struct in_use {
  faults::living alive;
  std::size_t pool;
  friend bool operator==(const in_use&, const in_use&) = default;
  std::string describe() const {
    return alive.describe() + ", " + std::to_string(pool) + " bytes of the pool";
  }
};
in_use used_now() {
  const faults::pause unseen;
  dsl::device::current().synchronize();
  return {faults::alive(), dsl::memory_usage_of().used};
}

// The ways in which calls of a function can fail.
std::vector<faults::failure> failures_of(std::string_view function) {
  if (function == "cudaMallocAsync")
    return {{cudaErrorMemoryAllocation}, {cudaErrorMemoryAllocation, true}, {cudaErrorUnknown}};
  if (function.ends_with("Synchronize")) return {{cudaErrorLaunchFailure}};
  return {{cudaErrorUnknown}};
}

// Whether the failure may have no effect: releases take place anyway and may query the device, an
// allocation is tried twice, and if one stream cannot be ordered after another, the host waits
// before memory is freed.
bool may_be_harmless(std::string_view function, const faults::failure& how) {
  for (const char* const each :
       {"cudaFreeAsync", "cudaStreamDestroy", "cudaEventDestroy", "cudaGraphDestroy",
        "cudaGraphExecDestroy", "cudaGetDevice", "cudaEventCreateWithFlags", "cudaEventRecord",
        "cudaStreamWaitEvent"})
    if (function == each) return true;
  return function == "cudaMallocAsync" && how.status == cudaErrorMemoryAllocation && !how.stays;
}

struct counts { long calls = 0, errors = 0, harmless = 0; };

// Makes the number-th call of a piece of work fail. Returns false if there are fewer calls.
bool fail_at(const work& w, long number, in_use& before, counts& all) {
  const auto fail = [&](const faults::failure& how) -> const char* {
    faults::begin(number, how);
    const outcome o = attempt(w);
    const char* const function = faults::failed();
    faults::end();
    if (function == nullptr) return nullptr;
    ++all.calls;
    ++(o.is_error ? all.errors : all.harmless);
    const std::string where = "call " + std::to_string(number) + " (" + function +
                              (how.stays ? ", and all later ones" : "") + ": " +
                              cudaGetErrorName(how.status) + ")";
    if (!o.wrong.empty()) report(w, where, o.wrong);
    else if (!o.is_error && !may_be_harmless(function, how)) report(w, where, "nothing came of it");
    must_succeed(w, "after " + where);
    if (const in_use after = used_now(); after != before) {
      report(w, where, "in use are " + after.describe() + "; before " + before.describe());
      before = after;
    }
    return function;
  };
  const char* const function = fail({cudaErrorUnknown});
  if (function == nullptr) return false;
  for (const faults::failure& how : failures_of(function))
    if (how.status != cudaErrorUnknown) fail(how);
  return true;
}

// Tests all calls of all work, after the process has run the work once.
counts fail_each_call() {
  counts all;
  for (const work& w : faults::all_work()) {
    must_succeed(w, "at first");
    must_succeed(w, "the second time");
    in_use before = used_now();
    must_succeed(w, "the third time");
    if (const in_use after = used_now(); after != before)
      report(w, "without a failure",
             "in use are " + after.describe() + "; before " + before.describe());
    faults::begin();
    must_succeed(w, "counted");
    const long calls = faults::calls();
    const counts so_far = all;
    long number = 1;
    while (fail_at(w, number, before, all)) ++number;
    // Threads interleave, so the number of calls varies a little.
    if (number <= calls / 2 || number == 1)
      report(w, "at last",
             "only " + std::to_string(number - 1) + " of " + std::to_string(calls) +
                 " calls were made to fail");
    std::printf("%-26s %4ld calls; %4ld failures: %4ld errors, %3ld harmless\n", w.name, calls,
                all.calls - so_far.calls, all.errors - so_far.errors,
                all.harmless - so_far.harmless);
    std::fflush(stdout);
  }
  if (faults::strangers() > 0)
    report(faults::all_work()[0], "at last",
           std::to_string(faults::strangers()) + " things were given back that were not alive");
  return all;
}

int count_of_gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

// Calls that are made once in a process: each is failed in a new process, during its first work.
constexpr int enough = 100;  // exit code: there are fewer calls
int fail_in_a_new_process(const work& w, long number) {
  faults::begin(number);
  const outcome o = attempt(w);
  const char* const function = faults::failed();
  faults::end();
  if (function == nullptr) return enough;
  const std::string where = "call " + std::to_string(number) + " of a process (" + function + ")";
  if (!o.wrong.empty()) report(w, where, o.wrong);
  must_succeed(w, "after " + where);
  return mistakes;
}

}  // namespace

int main(int argc, char** argv) {
  const bool emulated = argc > 1 && std::strcmp(argv[1], "--without-kernels") == 0;
  constexpr long first_calls = 24;
  if (emulated) faults::emulate();
  if (!emulated && in_child(count_of_gpus) == 0) return std::printf("skipped: no GPU\n"), 77;
  long failed_processes = 0;
  for (long number = 1; number <= first_calls; ++number) {
    const int code = in_child([&] { return fail_in_a_new_process(faults::first_work(), number); });
    if (code == enough) break;
    if (code != 0) ++mistakes;
    ++failed_processes;
  }
  const counts all = fail_each_call();
  if (failed_processes < 8) {
    ++mistakes;
    std::printf("WRONG: only %ld calls of a new process were made to fail\n", failed_processes);
  }
  std::printf(
      "%ld calls in new processes and %ld after that were made to fail, of which %ld ended in an "
      "error%s; %d mistakes\n",
      failed_processes, all.calls, all.errors,
      emulated ? ", without kernels, whose results were not compared" : "", mistakes);
  return mistakes == 0 ? 0 : 1;
}

// driver_faults FAULTY_DRIVER: every call of OpenCL that some pieces of work make is made to fail,
// alone and together with all later ones, as when a device is lost. The work then throws one error
// that names the device and the call, or is not affected; targets are unchanged, no object leaks,
// the host's devices work, and a repetition succeeds.
#include <dsl/dsl.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "../../faults/attempt.hpp"
#include "../../faults/checks.hpp"
#include "faulty_driver.hpp"
#include "mem/stream.hpp"

namespace {

using namespace faults;
using faulty_driver::failure;
using faulty_driver::lasting;

faulty_driver::control* driver = nullptr;

// Of a function in a piece of work; and how many calls of a new process lie between those that
// fail.
#ifdef DSL_TEST_ALL
constexpr long most_calls = 1000, step_of_calls = 1;
#else
constexpr long most_calls = 2, step_of_calls = 5;
#endif

void pinned_copies() {
  dsl::pinned_array<integer> from(n), to(n);
  std::copy(counted.begin(), counted.end(), from.data());
  dsl::array<integer> x(n);
  x.copy_from_host_async(from);
  x.copy_to_host_async(to);
  to.wait();
  from.wait();
  want(std::equal(counted.begin(), counted.end(), to.data()), "page-locked copies");
}

void large_copies() {
  const numbers many(20000, 7);
  const dsl::array<integer> x = dsl::to_device(many);
  want(x.copy_to_host() == many, "a large copy");
}

void streams() {
  const dsl::stream first, second;
  dsl::array<integer> x(n);
  {
    const dsl::stream_guard on(first);
    x = dsl::arange<integer>(n);
  }
  const dsl::detail::marker reached(first);
  {
    const dsl::stream_guard on(second);
    x = 2 * x;
  }
  reached.wait();
  want(reached.is_reached(), "an event");
  second.synchronize();
  want(held_by(x)[30] == 60, "two streams");
  const dsl::stream same(second.native());
  want(same.where() == x.view().where(), "a stream's device");
}

void host_must_work(const work& w, const std::string& where) {
  const dsl::device_guard on("host");
  if (dsl::sum(dsl::ones<integer>(10)).value() != 10) report(w, where, "the host is wrong");
}

// Objects alive, and memory in use, after all queued work is done and unused memory is given back.
struct in_use {
  std::map<std::string, long> alive;
  std::size_t used, reserved;
  friend bool operator==(const in_use&, const in_use&) = default;
  std::string describe() const {
    std::string text;
    for (const auto& [kind, count] : alive) text += std::to_string(count) + " " + kind + ", ";
    return text + std::to_string(used) + " of " + std::to_string(reserved) + " bytes";
  }
};
in_use used_now() {
  const faults::pause unseen;
  dsl::release_memory();
  const dsl::memory_usage now = dsl::memory_usage_of();
  return {driver->alive(), now.used, now.reserved};
}

// The ways in which a function can fail, beside the usual one.
std::vector<failure> failures_of(std::string_view function) {
  std::vector<failure> all{{}, {CL_DEVICE_NOT_AVAILABLE, lasting::of_device}};
  if (function == "clCreateBuffer")
    for (const lasting how_long : {lasting::once, lasting::of_function})
      all.push_back({CL_MEM_OBJECT_ALLOCATION_FAILURE, how_long});
  if (function == "clFinish") all.push_back({CL_OUT_OF_RESOURCES});
  if (function.starts_with("clEnqueue")) all.push_back({CL_INVALID_COMMAND_QUEUE});
  if (function == "clWaitForEvents") all.push_back({CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST});
  return all;
}

// Whether the failure may have no effect: objects are released anyway, without a program's file the
// text is compiled, memory of a queue that cannot be kept is given back, an allocation is tried
// twice, without a callback a copy waits, and if one queue cannot be ordered after another, the
// host waits before memory is freed.
bool may_be_harmless(std::string_view function, const failure& how) {
  if (function.starts_with("clRelease")) return true;
  for (const char* const each :
       {"clCreateProgramWithBinary", "clBuildProgram", "clGetProgramInfo", "clGetDeviceInfo",
        "clRetainCommandQueue", "clSetEventCallback", "clEnqueueMarkerWithWaitList",
        "clEnqueueBarrierWithWaitList", "clFlush"})
    if (function == each) return true;
  return function == "clCreateBuffer" && how.status == CL_MEM_OBJECT_ALLOCATION_FAILURE &&
         how.how_long == lasting::once;
}

// Devices are listed once in a process.
bool lists_devices(const std::string& error) {
  return error.find("(no OpenCL device was found: ") != error.npos;
}

// Whether an error's text says what failed and where.
bool is_clear(const std::string& error, std::string_view function, const failure& how) {
  const auto has = [&](const std::string& part) { return error.find(part) != error.npos; };
  if (function == "clGetCommandQueueInfo") return has("failed on an OpenCL device: ");
  if (lists_devices(error)) return has("returned CL_");
  if (how.status == CL_MEM_OBJECT_ALLOCATION_FAILURE) return has("out of memory on opencl:0 (");
  return has("failed on opencl:0") && has("returned CL_") &&
         (how.how_long == lasting::of_device || has(": " + std::string(function) + " returned "));
}

struct counts { long calls = 0, errors = 0, harmless = 0; };

// Runs a piece of work behind `begin`, which makes calls fail. Returns whether a call failed.
template <class Begin>
bool fail(const work& w, const std::string& which, const failure& how, counts& all,
          const Begin& begin) {
  begin();
  const outcome o = attempt(w);
  const char* const function = driver->failed();
  if (function == nullptr) {
    driver->end();
    return false;
  }
  ++all.calls;
  ++(o.is_error ? all.errors : all.harmless);
  const std::string where = which + " (" + function +
                            (how.how_long == lasting::once ? "" : ", and later ones") + ": " +
                            std::to_string(how.status) + ")";
  if (!o.wrong.empty()) report(w, where, o.wrong);
  else if (!o.is_error && !may_be_harmless(function, how)) report(w, where, "nothing came of it");
  else if (o.is_error && !is_clear(o.error, function, how)) report(w, where, o.error);
  host_must_work(w, where);
  driver->end();
  return true;
}

// Calls of a process that has done the work before.
counts fail_later_calls(const work& w) {
  counts all;
  for (int i = 0; i < 2; ++i) must_succeed(w, "at first");
  used_now();
  driver->begin();
  must_succeed(w, "counted");
  const std::map<std::string, long> calls = driver->calls();
  driver->end();
  in_use before = used_now();
  for (const auto& [function, count] : calls)
    for (long number = 1; number <= std::min(count, most_calls); ++number)
      for (const failure& how : failures_of(function)) {
        const std::string which = "call " + std::to_string(number);
        if (!fail(w, which, how, all, [&] { driver->begin_at(function.c_str(), number, how); }))
          report(w, which, function + " was not called");
        must_succeed(w, "after " + which + " of " + function);
        if (const in_use after = used_now(); after != before) {
          report(w, which + " of " + function,
                 "in use are " + after.describe() + "; before " + before.describe());
          before = after;
        }
      }
  std::printf("%-26s %4ld failures: %4ld errors, %3ld harmless\n", w.name, all.calls, all.errors,
              all.harmless);
  return all;
}

// Has an array that lives longer than `main`.
void first_in_process() {
  static dsl::array<integer> lasts;
  lasts = dsl::arange<integer>(n) + 1;
  want(held_by(lasts)[7] == 8, "the first result");
}
const work first{"the first work of a process", first_in_process};

// Calls of a new process, whose exit code is the number of mistakes, or `enough` if there are fewer
// calls. It ends as any other.
constexpr int enough = 100, seconds = 120;
int fail_in_a_new_process(long number, lasting how_long) {
  alarm(seconds);
  const failure how{CL_DEVICE_NOT_AVAILABLE, how_long};
  counts all;
  if (!fail(first, "call " + std::to_string(number) + " of a process", how, all,
            [&] { driver->begin(number, how); }))
    std::exit(enough);
  if (how_long == lasting::of_device) driver->begin(1, how);
  std::exit(mistakes);
}

long fail_new_processes(lasting how_long) {
  long number = 1;
  for (;; number += step_of_calls) {
    const int code = in_child([&] { return fail_in_a_new_process(number, how_long); });
    if (code == enough) break;
    if (code != 0) ++mistakes;
  }
  return number;
}

}  // namespace

namespace faults {
pause::pause() { driver->pause(1); }
pause::~pause() { driver->pause(-1); }
bool is_emulated() { return false; }
std::vector<work> own_work() {
  return {
      {"page-locked copies", pinned_copies}, {"large copies", large_copies}, {"streams", streams}};
}
}  // namespace faults

int main(int, char** arguments) {
  setenv("DSL_OPENCL_LIBRARY", arguments[1], 1);
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 1;
  driver =
      reinterpret_cast<decltype(&faulty_driver_control)>(dlsym(library, "faulty_driver_control"))();
  const long alone = fail_new_processes(lasting::once),
             lost = fail_new_processes(lasting::of_device);
  counts all;
  for (const work& w : all_work()) {
    const counts more = fail_later_calls(w);
    all.calls += more.calls;
    all.errors += more.errors;
  }
  if (alone < 30 || lost < 30 || all.calls < 100) {
    ++mistakes;
    std::printf("WRONG: too few calls were made to fail\n");
  }
  std::printf(
      "%ld calls of new processes, and %ld after these, of which %ld ended in an error; "
      "%d mistakes\n",
      alone, all.calls, all.errors, mistakes);
  return mistakes == 0 ? 0 : 1;
}

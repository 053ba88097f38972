#include "faulty_driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace faulty_driver {

namespace {

thread_local int paused = 0;

struct state final : control {
  std::mutex mutex;
  std::map<std::string, long> counts, living;
  std::string function;  // that is to fail; empty: any
  long all = 0, wanted = 0;
  failure how;
  const char* first_failed = nullptr;

  void begin(long number, failure with) override { begin_at("", number, with); }
  void begin_at(const char* of, long number, failure with) override {
    const std::lock_guard lock(mutex);
    function = of;
    wanted = number;
    how = with;
    all = 0;
    counts.clear();
    first_failed = nullptr;
  }
  void pause(int change) override { paused += change; }
  void end() override {
    const std::lock_guard lock(mutex);
    wanted = 0;
    how.how_long = lasting::once;
  }
  std::map<std::string, long> calls() override {
    const std::lock_guard lock(mutex);
    return counts;
  }
  const char* failed() override {
    const std::lock_guard lock(mutex);
    return first_failed;
  }
  std::map<std::string, long> alive() override {
    const std::lock_guard lock(mutex);
    return living;
  }

  bool fails(const char* called) {
    if (paused > 0) return false;
    const std::lock_guard lock(mutex);
    const long of_function = ++counts[called];
    ++all;
    const bool is_first =
        wanted > 0 && first_failed == nullptr &&
        (function.empty() ? all == wanted : function == called && of_function == wanted);
    if (is_first) first_failed = called;
    if (is_first || first_failed == nullptr) return is_first;
    return how.how_long == lasting::of_device ||
           (how.how_long == lasting::of_function && std::string_view(first_failed) == called);
  }
  // "clRetainCommandQueue" is one more command queue.
  void count(std::string_view called) {
    if (called.starts_with("clCreateProgram")) called = "clCreateProgram";
    for (const auto& [prefix, change] :
         {std::pair("clCreate", 1L), std::pair("clRetain", 1L), std::pair("clRelease", -1L)})
      if (called.starts_with(prefix)) {
        std::string kind(called.substr(std::strlen(prefix)));
        if (kind == "Buffer") kind = "MemObject";
        const std::lock_guard lock(mutex);
        living[kind] += change;
      }
  }
  void count_event() {
    const std::lock_guard lock(mutex);
    ++living["Event"];
  }
};
state& now() {
  static state& made = *new state;  // calls are made until the process ends
  return made;
}

void* real(const char* name) {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) {
    std::fprintf(stderr, "the real OpenCL has no %s\n", name);
    std::abort();
  }
  return found;
}

bool takes_effect(std::string_view called) {
  return called.starts_with("clRelease") || called == "clFinish" || called == "clWaitForEvents";
}

// The parameters of a call by their places.
template <class Type, class... Parameters>
Type last_of(Parameters... all) {
  return std::get<sizeof...(all) - 1>(std::tuple(all...));
}

// A function in the place of another one. `Name`: a class with its name.
template <class Name, class Function>
struct replacement;
template <class Name, class Result, class... Parameters>
struct replacement<Name, Result(Parameters...)> {
  static Result call(Parameters... p) {
    static const auto original = reinterpret_cast<Result (*)(Parameters...)>(real(Name::text));
    const bool is_failing = now().fails(Name::text);
    if (is_failing && takes_effect(Name::text)) pass_on(original, p...);
    if (is_failing) return fail(p...);
    return pass_on(original, p...);
  }

 private:
  using last = std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>;

  static Result pass_on(Result (*original)(Parameters...), Parameters... p) {
    const Result result = original(p...);
    if constexpr (std::is_pointer_v<Result>) {
      if (result != nullptr) now().count(Name::text);
    } else if (result == CL_SUCCESS) {
      now().count(Name::text);
      if constexpr (std::is_same_v<last, cl_event*>)
        if (last_of<cl_event*>(p...) != nullptr) now().count_event();
    }
    return result;
  }

  static Result fail(Parameters... p) {
    const cl_int status = now().how.status;
    if constexpr (std::is_same_v<Result(Parameters...), decltype(clGetEventInfo)>) {
      return fail_event(p...);
    } else if constexpr (std::is_pointer_v<Result>) {
      if (cl_int* const to = last_of<cl_int*>(p...); to != nullptr) *to = status;
      return nullptr;
    } else {
      return status;
    }
  }

  // The work before the event ended with the failure's status.
  static cl_int fail_event(cl_event, cl_event_info what, std::size_t, void* value, std::size_t*) {
    if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) return now().how.status;
    std::memcpy(value, &now().how.status, sizeof(cl_int));
    return CL_SUCCESS;
  }
};

}  // namespace

}  // namespace faulty_driver

faulty_driver::control* faulty_driver_control() { return &faulty_driver::now(); }

// Each function under its own name, resolved to its replacement when it is looked up.
#define DSL_DETAIL_FUNCTION(function)                                                   \
  namespace {                                                                           \
  struct name_of_##function { static constexpr const char* text = #function; };         \
  }                                                                                     \
  extern "C" decltype(&function) resolve_##function() {                                 \
    return &faulty_driver::replacement<name_of_##function, decltype(::function)>::call; \
  }                                                                                     \
  extern "C" decltype(function) function __attribute__((ifunc("resolve_" #function)));
#include "opencl/functions.inc"
#undef DSL_DETAIL_FUNCTION

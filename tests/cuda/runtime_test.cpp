// Calls that leave a process or a whole GPU in another state. Each case is a function without a
// test framework and runs in its own process, which exits with 0 on success.
#include <dsl/dsl.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

// Dereferences a null pointer for negative operands.
struct faulty {
  DSL_FN float operator()(float x) const {
    return x < 0 ? *reinterpret_cast<const volatile float*>(static_cast<std::size_t>(x * -16)) : x;
  }
};
struct faulty_kernel;
struct harmless_kernel;

int failures = 0;
void want(bool right, const char* what, const std::string& seen = "") {
  if (right) return;
  std::printf("    WRONG: %s: %s\n", what, seen.c_str());
  ++failures;
}
template <class Error, class Call> std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    std::printf("    %s\n", e.what());
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another class of error: ") + e.what();
  }
  return "no error";
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Without waiting, a later call reports the fault and names the last queued work.
void a_fault_names_what_was_queued_last() {
  const dsl::stream other;
  const auto seen = error_of<dsl::cuda_error>([&] {
    dsl::array<float> x = dsl::full<float>(-1, 1000), y(1000), z = dsl::ones<float>(300);
    dsl::device::current().synchronize();
    y = dsl::vectorize<faulty_kernel>(faulty{})(x);
    const dsl::stream_guard on(other);
    z = dsl::vectorize<harmless_kernel>([](auto v) { return v + 1; })(z);
    dsl::stream::current().synchronize();
    (void)z.copy_to_host();
    (void)y.copy_to_host();
  });
  want(has(seen, "illegal memory access") && has(seen, "faulty_kernel") &&
           has(seen, "1000 elements") && has(seen, "DSL_BLOCKING=1"),
       "the error", seen);
}

void blocking_names_the_kernel() {
  setenv("DSL_BLOCKING", "1", 1);
  dsl::array<float> x = dsl::full<float>(-1, 1000), y(1000), z = dsl::ones<float>(300);
  const auto good = error_of<dsl::cuda_error>(
      [&] { z = dsl::vectorize<harmless_kernel>([](auto v) { return v + 1; })(z); });
  want(good == "no error", "a kernel without a fault", good);
  const auto seen =
      error_of<dsl::cuda_error>([&] { y = dsl::vectorize<faulty_kernel>(faulty{})(x); });
  want(has(seen, "kernel ") && has(seen, "faulty_kernel") && has(seen, "illegal memory access") &&
           !has(seen, "queued last"),
       "the error", seen);
}

void blocking_takes_0_and_1() {
  setenv("DSL_BLOCKING", "yes", 1);
  const auto seen =
      error_of<dsl::device_error>([] { dsl::array<float> x = dsl::zeros<float>(3) + 1; });
  want(has(seen, "DSL_BLOCKING is \"yes\""), "the error", seen);
}

// DSL_BLOCKING changes no result, of graphs and loops either.
void blocking_changes_no_result() {
  setenv("DSL_BLOCKING", "1", 1);
  const auto step = dsl::vectorize([](auto x, auto) { return std::tuple{x + 1, dsl::sum(x)}; });
  for (const auto how :
       {dsl::strategy::graph, dsl::strategy::launches, dsl::strategy::cooperative}) {
    dsl::array<double> x = dsl::zeros<double>(5000);
    dsl::scalar<double> s = 0.0;
    const auto sums = dsl::iterate(200, step, dsl::state(x, s), how).copy_to_host();
    want(sums.back() == 5000.0 * 199 && x(17).value() == 200, "a loop's result");
  }
}

void out_of_memory_counts_what_the_pool_keeps() {
  dsl::array<std::uint8_t> small(1 << 20);
  const auto before = dsl::memory_usage_of();
  const auto most = static_cast<std::int64_t>(before.free / 10 * 8);
  // Freed memory stays in the pool, in pieces that do not fit the next allocation.
  { const dsl::array<std::uint8_t> one(most / 8), two(most / 8), three(most / 8); }
  {
    const dsl::stream other;
    const dsl::stream_guard on(other);
    dsl::array<std::uint8_t> held(most / 2);
  }
  const auto seen = error_of<dsl::memory_error>([&] { dsl::array<std::uint8_t> x(most); });
  want(seen == "no error", "an array of what the pool keeps", seen);
  for (const std::int64_t bytes :
       {static_cast<std::int64_t>(before.total) * 2, static_cast<std::int64_t>(before.total)}) {
    const auto error = error_of<dsl::memory_error>([&] { dsl::array<std::uint8_t> x(bytes); });
    want(has(error, "out of memory on cuda:0: asked for ") && has(error, "this program uses ") &&
             has(error, " are free"),
         "the error", error);
    const auto after = dsl::memory_usage_of();
    want(after.free + (std::size_t{1} << 30) > before.free, "memory that is free afterwards",
         std::to_string(after.free) + " of " + std::to_string(before.free));
  }
  dsl::array<float> still = dsl::ones<float>(1000);
  want(dsl::sum(still * 2).value() == 2000, "an array afterwards");
}

void release_memory_gives_back() {
  constexpr std::size_t gigabyte = 1 << 30;
  const auto before = dsl::memory_usage_of();
  {
    dsl::array<std::uint8_t> x = dsl::zeros<std::uint8_t>(4 * static_cast<std::int64_t>(gigabyte));
  }
  dsl::device::current().synchronize();
  const auto kept = dsl::memory_usage_of();
  want(kept.reserved >= 4 * gigabyte && kept.free + 3 * gigabyte < before.free,
       "memory that the pool keeps", std::to_string(kept.reserved));
  dsl::release_memory();
  const auto released = dsl::memory_usage_of();
  want(released.reserved < gigabyte && released.free + gigabyte > before.free,
       "memory after release_memory", std::to_string(released.reserved));
  dsl::set_release_threshold(gigabyte);
  {
    dsl::array<std::uint8_t> x = dsl::zeros<std::uint8_t>(4 * static_cast<std::int64_t>(gigabyte));
  }
  dsl::device::current().synchronize();
  const auto limited = dsl::memory_usage_of();
  want(limited.reserved <= gigabyte, "memory beyond the threshold",
       std::to_string(limited.reserved));
}

void the_environment_limits_the_pool() {
  setenv("DSL_RELEASE_THRESHOLD", "256M", 1);
  { dsl::array<std::uint8_t> x = dsl::zeros<std::uint8_t>(std::int64_t{2} << 30); }
  dsl::device::current().synchronize();
  const auto limited = dsl::memory_usage_of();
  want(limited.reserved <= std::size_t{256} << 20, "memory beyond the threshold",
       std::to_string(limited.reserved));
}

void the_environment_wants_bytes() {
  setenv("DSL_RELEASE_THRESHOLD", "2 GB", 1);
  const auto seen = error_of<dsl::device_error>([] { dsl::array<float> x = dsl::zeros<float>(3); });
  want(has(seen, "DSL_RELEASE_THRESHOLD is \"2 GB\""), "the error", seen);
}

void no_gpu_has_a_reason() {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const auto seen = error_of<dsl::device_error>([] { dsl::stream s("cuda"); });
  want(has(seen, "no GPU was found"), "the error", seen);
}

constexpr auto towards_mean = dsl::vectorize([](auto x, auto m, auto h) {
  auto y = x + h * (m - x);
  return std::tuple{y, dsl::mean(y)};
});
void run_loop(std::int64_t n) {
  dsl::array<double> x = dsl::arange<double>(n);
  dsl::scalar<double> m = dsl::mean(x);
  dsl::iterate(10, towards_mean, dsl::state(x, m), 0.25);
  dsl::stream::current().synchronize();
}

// Shared memory at and just above 48 kB minus the kernel's static part, the limit without opting in
// to more.
void a_block_takes_48_kilobytes() {
  const auto seen = error_of<dsl::error>([] { run_loop(9793); });
  want(seen == "no error", "a loop", seen);
}

// Loops of 16 concurrent threads, each with another size and so another amount of shared memory.
void threads_ask_for_other_sizes() {
  std::vector<std::thread> threads;
  std::vector<std::string> seen(16);
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([t, &seen] {
      seen[static_cast<std::size_t>(t)] = error_of<dsl::error>([t] {
        const dsl::stream mine;
        const dsl::stream_guard on(mine);
        for (int k = 0; k < 100; ++k) run_loop(1000 + 977 * ((k * 7 + t) % 29));
      });
    });
  for (auto& each : threads) each.join();
  for (const auto& each : seen) want(each == "no error", "a thread", each);
}

struct test_case {
  const char* name;
  void (*run)();
};
constexpr test_case cases[] = {
    {"a_block_takes_48_kilobytes", a_block_takes_48_kilobytes},
    {"threads_ask_for_other_sizes", threads_ask_for_other_sizes},
    {"a_fault_names_what_was_queued_last", a_fault_names_what_was_queued_last},
    {"blocking_names_the_kernel", blocking_names_the_kernel},
    {"blocking_takes_0_and_1", blocking_takes_0_and_1},
    {"blocking_changes_no_result", blocking_changes_no_result},
    {"out_of_memory_counts_what_the_pool_keeps", out_of_memory_counts_what_the_pool_keeps},
    {"release_memory_gives_back", release_memory_gives_back},
    {"the_environment_limits_the_pool", the_environment_limits_the_pool},
    {"the_environment_wants_bytes", the_environment_wants_bytes},
    {"no_gpu_has_a_reason", no_gpu_has_a_reason},
};

}  // namespace

int main() {
  int failed = 0;
  for (const test_case& each : cases) {
    std::fflush(stdout);
    const pid_t child = fork();  // before this process has initialised CUDA
    if (child == 0) {
      try {
        each.run();
      } catch (const std::exception& e) {
        want(false, "an error nobody expected", e.what());
      }
      std::fflush(stdout);
      std::_Exit(failures == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::printf("%s: %s\n", right ? "ok" : "FAILED", each.name);
    failed += right ? 0 : 1;
  }
  return failed;
}

// Measures the rates of this machine's cores.
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>

#include "exec/run/calibration.hpp"
#include "host/host.hpp"
#include "host/threads.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

template <class Work>
double seconds_of(const Work& work) {
  return seconds_a_call([&](int calls) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
}

constexpr double much = 1e9;  // nanoseconds: enough for all threads to take part

// In pieces of the size of a loop's tasks.
template <class Use>
void for_pieces(std::int64_t bytes, const Use& use) {
  constexpr std::int64_t piece = 64 << 10;
  const std::int64_t count = std::max<std::int64_t>(1, bytes / piece);
  on_threads(count, much, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      use(k * piece, k + 1 < count ? piece : bytes - k * piece);
  });
}

/// Independent chains of multiply-adds: enough to hide the latency with vectors of any width.
template <class T>
struct multiply_adds {
  static constexpr int chains = static_cast<int>(512 / sizeof(T));
  DSL_DETAIL_FN static T run(T by, int steps) {
    T x[chains];
    for (int k = 0; k < chains; ++k) x[k] = static_cast<T>(k);
    for (int i = 0; i < steps; ++i)
      for (int k = 0; k < chains; ++k) x[k] = static_cast<T>(x[k] * by + by);
    T all{};
    for (int k = 0; k < chains; ++k) all = static_cast<T>(all + x[k]);
    return all;
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V2) static T v2(T by, int steps) { return run(by, steps); }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3) static T v3(T by, int steps) { return run(by, steps); }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4) static T v4(T by, int steps) { return run(by, steps); }
  static constexpr T (*level[])(T, int) = {&v2, &v3, &v4};
#else
  static constexpr T (*level[])(T, int) = {&v2, &v2, &v2};
#endif

  static double rate() {
    constexpr int steps = 20'000, tasks_a_thread = 4;
    const int tasks = tasks_a_thread * tbb::this_task_arena::max_concurrency();
    static std::atomic<T> used{};
    const double seconds = seconds_of([&] {
      on_threads(tasks, much, [](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin)
          used.store(level[simd_level()](static_cast<T>(0.5), steps), std::memory_order_relaxed);
      });
    });
    return static_cast<double>(chains) * steps * tasks / seconds;
  }
};

}  // namespace

std::unique_ptr<calibration> measure_host() {
  auto made = std::make_unique<calibration>();
  constexpr std::int64_t cache = 32 << 20, most = 128 << 20;
  const host_bytes memory(static_cast<std::size_t>(most), 1);
  std::memset(memory.data(), 0, memory.size());
  static std::atomic<std::uint64_t> used{};
  for (const std::int64_t bytes : calibrated_sizes(cache, most)) {
    made->read.add(static_cast<double>(bytes), seconds_of([&] {
                     for_pieces(bytes, [&](std::int64_t first, std::int64_t count) {
                       const auto* const at =
                           reinterpret_cast<const std::uint64_t*>(memory.data() + first);
                       std::uint64_t all = 0;
                       for (std::int64_t i = 0; i < count / 8; ++i) all += at[i];
                       used.store(all, std::memory_order_relaxed);
                     });
                   }));
    made->copied.add(static_cast<double>(bytes), seconds_of([&] {
                       for_pieces(bytes / 2, [&](std::int64_t first, std::int64_t count) {
                         std::memcpy(memory.data() + bytes / 2 + first, memory.data() + first,
                                     static_cast<std::size_t>(count));
                       });
                     }));
  }
  made->rate_of(unit::fp32) = multiply_adds<float>::rate();
  made->rate_of(unit::fp64) = multiply_adds<double>::rate();
  made->rate_of(unit::integer) = multiply_adds<std::int32_t>::rate();
  return made;
}

}  // namespace dsl::detail

// A loop's kernel in the simulator: the GPU's threads one after another, with every access checked.
#pragma once

#include <dsl/exec/loop_kernel.hpp>
#include <dsl/exec/sim.hpp>

namespace dsl::detail {

/// A thread of a loop's kernel between steps.
struct simulated_thread {
  std::int64_t block, blocks;
  int number, threads;
  unsigned char* shared;
  void* state;
};

/// A loop's kernel as data. Singles are what all folds come to.
struct simulated_loop {
  std::size_t state_bytes, singles_bytes;
  bool (*has_ended)(const void* arguments, const checked_ranges&);
  void (*elementwise)(const void* arguments, const checked_ranges&, std::int64_t group);  // null where the loop folds; else the others are
  void (*begin)(const void* arguments, const checked_ranges&, const simulated_thread&);
  void (*step)(const void* arguments, const checked_ranges&, const simulated_thread&, const void* singles, std::int64_t k, void* sums);
  void (*end)(const void* arguments, const checked_ranges&, const simulated_thread&);
  void (*first)(const void* arguments, const checked_ranges&, void* singles);
  /// Combines the sums of `blocks` times `threads` threads in the GPU's order. Returns whether the loop ends.
  bool (*finish)(const void* arguments, const checked_ranges&, void* sums, std::int64_t blocks, int threads, std::int64_t k, history_place& at, void* singles);
  void (*store)(const void* arguments, const checked_ranges&, const void* singles);
};

template <class Pass, int Inputs, int States, int Stop>
struct simulated_loop_of {
  using arguments = loop_arguments<Inputs + Pass::targets>;
  using body = loop_body<Pass, Inputs, States, Stop, checked_memory>;
  using folds = typename body::folds;
  using accumulators = typename body::accumulators;
  using singles = typename body::singles;
  using state = typename body::thread_state;

  static constexpr simulated_loop code() {
    if constexpr (folds::count == 0) return {0, 0, &has_ended, &elementwise, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    else return {sizeof(state), sizeof(singles), &has_ended, nullptr, &begin, &step, &end, &first, &finish, &store};
  }

 private:
  static body of(const void* args, const checked_ranges& allowed, unsigned char* shared = nullptr) {
    return body(*static_cast<const arguments*>(args), checked_memory{&allowed, shared});
  }
  DSL_DETAIL_SMALL static bool has_ended(const void* args, const checked_ranges& allowed) { return of(args, allowed).has_ended(); }
  DSL_DETAIL_SMALL static void elementwise(const void* args, const checked_ranges& allowed, std::int64_t group) { of(args, allowed).run_elementwise(group); }
  DSL_DETAIL_SMALL static void begin(const void* args, const checked_ranges& allowed, const simulated_thread& t) {
    of(args, allowed, t.shared).begin(*static_cast<state*>(t.state), t.block, t.blocks, t.number, t.threads);
  }
  DSL_DETAIL_SMALL static void step(const void* args, const checked_ranges& allowed, const simulated_thread& t, const void* now, std::int64_t k, void* sums) {
    *static_cast<accumulators*>(sums) = of(args, allowed, t.shared).step(*static_cast<state*>(t.state), *static_cast<const singles*>(now), k, t.number, t.threads);
  }
  DSL_DETAIL_SMALL static void end(const void* args, const checked_ranges& allowed, const simulated_thread& t) {
    of(args, allowed, t.shared).end(*static_cast<const state*>(t.state), t.number, t.threads);
  }
  DSL_DETAIL_SMALL static void first(const void* args, const checked_ranges& allowed, void* s) { *static_cast<singles*>(s) = of(args, allowed).first_singles(); }

  // By halves, as `combine_warp`.
  static accumulators combine_warp(accumulators (&v)[32]) {
    for (int step = 16; step > 0; step /= 2)
      for (int t = 0; t + step < 32; ++t) folds::add(v[t], v[t + step]);
    return v[0];
  }
  // One after another, as `combine_warps`.
  static accumulators combine_warps(const sequence<accumulators>& of_warp) {
    accumulators all = folds::identities();
    for (const accumulators& each : of_warp) folds::add(all, each);
    return all;
  }
  DSL_DETAIL_SMALL static bool finish(const void* args, const checked_ranges& allowed, void* sums, std::int64_t blocks, int threads, std::int64_t k, history_place& at, void* s) {
    const auto* const of_thread = static_cast<const accumulators*>(sums);
    sequence<accumulators> of_block, of_readers;
    accumulators lanes[32];
    for (std::int64_t b = 0; b < blocks; ++b) {
      sequence<accumulators> of_warp;
      for (int w = 0; w < threads; w += 32) {
        for (int t = 0; t < 32; ++t) lanes[t] = of_thread[b * threads + w + t];
        of_warp.push_back(combine_warp(lanes));
      }
      of_block.push_back(threads == 32 ? of_warp[0] : combine_warps(of_warp));
    }
    for (int w = 0; w < threads && w < blocks; w += 32) {
      for (int t = 0; t < 32; ++t) {
        lanes[t] = folds::identities();
        for (std::int64_t b = w + t; b < blocks; b += threads) folds::add(lanes[t], of_block[static_cast<std::size_t>(b)]);
      }
      of_readers.push_back(combine_warp(lanes));
    }
    const accumulators total = blocks == 1 ? of_block[0] : combine_warps(of_readers);
    const body leader = of(args, allowed);
    singles& now = *static_cast<singles*>(s);
    now = leader.finish(total, now, k);
    leader.record_singles(now, at);
    return body::stops(now);
  }
  DSL_DETAIL_SMALL static void store(const void* args, const checked_ranges& allowed, const void* s) { of(args, allowed).store_singles(*static_cast<const singles*>(s)); }
};

}  // namespace dsl::detail

// The simulator: the CUDA kernel's body, block by block and thread by thread on the CPU, with every access checked.
#pragma once

#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

/// The memory that a kernel may touch.
struct checked_range { std::uintptr_t begin, end; };
struct checked_ranges {
  checked_range range[2 * max_operands + 1];
  int count = 0;
  const char* kernel;
  const pass_view* pass;
  const operand* operands;
  std::int64_t block = 0;
  int thread = 0;
  void add(std::uintptr_t begin, std::size_t bytes) { range[count++] = {begin, begin + bytes}; }
};
/// Throws memory_error that names the kernel, the expression, the block and the thread.
void check_access(const checked_ranges& allowed, const void* address, std::size_t bytes, std::size_t alignment);

struct checked_memory {
  static constexpr bool apart = true;
  const checked_ranges* allowed;
  unsigned char* shared;
  template <class T> DSL_DETAIL_FN T load(const void* address) const {
    check(address, sizeof(T), alignof(T));
    return *static_cast<const T*>(address);
  }
  template <class T> DSL_DETAIL_FN void store(T* address, const T& value) const {
    check(address, sizeof(T), alignof(T));
    *address = value;
  }
  template <class T> DSL_DETAIL_FN void fetch(T* to, const T* from) const { store(to, load<T>(from)); }
  template <class T> DSL_DETAIL_FN void stream_in(T* to, const T* from, bool) const { fetch(to, from); }
  template <class T> DSL_DETAIL_FN void stream_out(T* to, const T& value, bool) const { store(to, value); }
  DSL_DETAIL_FN void commit_fetches() const {}
  template <int Pending> DSL_DETAIL_FN void wait_for_fetches() const {}

 private:
  DSL_DETAIL_FN void check([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes, [[maybe_unused]] std::size_t alignment) const {
#if !DSL_DETAIL_ON_DEVICE
    check_access(*allowed, address, bytes, alignment);
#endif
  }
};

// All threads of a block at once.
template <class T>
class per_thread {
 public:
  per_thread() = default;
  explicit per_thread(std::size_t count, const T& value = {}) {
    for (std::size_t t = 0; t < count; ++t) push_back(value);
  }

  std::size_t size() const { return count_; }
  T& operator[](std::size_t t) { return of_[t]; }
  const T& operator[](std::size_t t) const { return of_[t]; }
  void push_back(const T& value) { of_[count_++] = value; }

 private:
  T of_[1024];
  std::size_t count_ = 0;
};

struct simulated_team {
  template <class Fold> per_thread<fold_state<Fold>> combine(per_thread<fold_state<Fold>> a, const per_thread<fold_state<Fold>>& b) const {
    for (std::size_t t = 0; t < a.size(); ++t) a[t] = detail::combine<Fold>(a[t], b[t]);
    return a;
  }
  template <class T> per_thread<T> shift_down(const per_thread<T>& v, int step) const {
    per_thread<T> shifted = v;  // past the warp's end a lane gets its own value, as on the GPU
    for (std::size_t t = 0; t < v.size(); ++t)
      if (t % 32 + static_cast<std::size_t>(step) < 32) shifted[t] = v[t + static_cast<std::size_t>(step)];
    return shifted;
  }
  template <class Fold> per_thread<fold_state<Fold>> across_warps(const per_thread<fold_state<Fold>>& v, const sharing& threads) const {
    per_thread<fold_state<Fold>> combined = v;
    const int block = static_cast<int>(v.size());
    for (int t = 0; t < block; ++t) {
      if (threads.owned_by(t, block) < 0) continue;
      const warp_leaders from = leaders_of(t, threads);
      fold_state<Fold> mine = v[static_cast<std::size_t>(from.first)];
      for (int i = 1; i < from.count; ++i) mine = detail::combine<Fold>(mine, v[static_cast<std::size_t>(from.first + i * from.step)]);
      combined[static_cast<std::size_t>(t)] = mine;
    }
    return combined;
  }
};

/// One thread's share of one tile.
struct simulated_step {
  std::uint32_t group;
  std::int64_t tile;
  int thread, block;
  unsigned char* shared;
};

/// A kernel as data. Accumulators are all folds' values of a pass; a thread has `slots` of them.
struct simulated_kernel {
  void (*load_tile)(const void* arguments, const checked_ranges&, const simulated_step&);  // null for the linear kernel
  void (*run)(const void* arguments, const checked_ranges&, const simulated_step&, void* accumulators);
  // Where the kernel folds; else `reduce` is null.
  int slots, ahead;
  void (*clear)(void* accumulators);
  void (*add)(void* accumulators, const void* others);
  void (*reduce)(void* accumulators, int threads, int stride, const sharing&);  // every `stride`-th, in place
  void (*finish)(const void* arguments, const checked_ranges&, const simulated_step&, const void* totals, int owner, int slot);
};
/// Runs the blocks in order, and each block's threads in order between two barriers.
void simulate(const simulated_kernel& k, int accumulator_bytes, const void* arguments, const plan& p, const fold_walk& walk, checked_ranges& allowed);

template <class Pass, int Inputs, class Arguments>
struct simulated {
  using body = kernel_body<Pass, Inputs, Arguments, checked_memory>;
  using folds = typename body::folds;
  using accumulators = typename body::accumulators;

  static constexpr simulated_kernel kernel() {
    simulated_kernel k{nullptr, &run, body::slots, body::ahead, nullptr, nullptr, nullptr, nullptr};
    if constexpr (Arguments::strided) k.load_tile = &load_tile;
    if constexpr (folds::count > 0) k.clear = &clear, k.add = &add, k.reduce = &reduce, k.finish = &finish;
    return k;
  }

 private:
  static body thread_of(const void* arguments, const checked_ranges& allowed, const simulated_step& s) {
    return body(*static_cast<const Arguments*>(arguments), checked_memory{&allowed, s.shared});
  }
  DSL_DETAIL_SMALL static void load_tile(const void* arguments, const checked_ranges& allowed, const simulated_step& s) {
    thread_of(arguments, allowed, s).load_tile(static_cast<std::uint32_t>(s.tile), s.thread, s.block);
  }
  DSL_DETAIL_SMALL static void run(const void* arguments, const checked_ranges& allowed, const simulated_step& s, void* mine) {
    body thread = thread_of(arguments, allowed, s);
    if constexpr (folds::count > 0) thread.fold(s.group, s.tile, s.thread, s.block, static_cast<accumulators*>(mine));
    else thread.map(s.tile, s.thread, s.block);
  }
  static void clear(void* mine) { *static_cast<accumulators*>(mine) = folds::identities(); }
  static void add(void* mine, const void* others) { folds::add(*static_cast<accumulators*>(mine), *static_cast<const accumulators*>(others)); }
  DSL_DETAIL_SMALL static void reduce(void* of_threads, int count, int stride, const sharing& threads) {
    auto* const all = static_cast<accumulators*>(of_threads);
    folds::visit([&]<class Fold, int J>() {
      per_thread<fold_state<Fold>> states;
      for (int t = 0; t < count; ++t) states.push_back(nth_fold<J>(all[t * stride]));
      const simulated_team team;
      for (int step = 16; step > 0; step /= 2)
        if (halves_at(step, threads)) states = team.combine<Fold>(states, team.shift_down(states, step));
      if (goes_across_warps(threads)) states = team.across_warps<Fold>(states, threads);
      for (int t = 0; t < count; ++t) nth_fold<J>(all[t * stride]) = states[static_cast<std::size_t>(t)];
    });
  }
  DSL_DETAIL_SMALL static void finish(const void* arguments, const checked_ranges& allowed, const simulated_step& s, const void* totals, int owner, int slot) {
    body thread = thread_of(arguments, allowed, s);
    thread.enter(s.group, 0);
    thread.finish(*static_cast<const accumulators*>(totals), owner, slot);
  }
};

}  // namespace dsl::detail

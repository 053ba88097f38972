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
  const program_view* program;
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

 private:
  DSL_DETAIL_FN void check([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes, [[maybe_unused]] std::size_t alignment) const {
#if !DSL_DETAIL_ON_DEVICE
    check_access(*allowed, address, bytes, alignment);
#endif
  }
};

// All threads of a block at once.
template <class T> using per_thread = std::vector<T>;

struct simulated_team {
  template <op Reduction, class T> static per_thread<T> combine(per_thread<T> a, const per_thread<T>& b) {
    for (std::size_t t = 0; t < a.size(); ++t) a[t] = detail::combine<Reduction>(a[t], b[t]);
    return a;
  }
  template <class T> static per_thread<T> shift_down(const per_thread<T>& v, int step) {
    per_thread<T> shifted = v;  // past the warp's end a lane gets its own value, as on the GPU
    for (std::size_t t = 0; t < v.size(); ++t)
      if (t % 32 + static_cast<std::size_t>(step) < 32) shifted[t] = v[t + static_cast<std::size_t>(step)];
    return shifted;
  }
  template <op Reduction, class T> static per_thread<T> leaders(const per_thread<T>& v) {
    per_thread<T> first(v.size(), identity<Reduction, T>());
    for (std::size_t w = 0; w < v.size() / 32; ++w) first[w] = v[32 * w];
    return first;
  }
};

/// One thread's share of one tile.
struct simulated_step {
  std::int64_t tile;
  int thread, block;
  unsigned char* shared;
};

/// A kernel as data. `sums` are accumulators<Program>.
struct simulated_kernel {
  void (*load_tile)(const void* arguments, const checked_ranges&, const simulated_step&);  // null for the linear kernel
  void (*run)(const void* arguments, const checked_ranges&, const simulated_step&, void* sums);
  void (*clear)(void* sums);
  // Where the kernel reduces: a block's threads to its partial result, and all blocks' partial results to the results.
  std::size_t sums_bytes;
  void (*reduce)(const void* threads, int count, void* block);
  void (*finish)(const void* arguments, const checked_ranges&, const void* blocks, std::int64_t block_count, int threads);
};
/// Runs the blocks in order, and each block's threads in order between two barriers.
void simulate(const simulated_kernel& k, const void* arguments, const plan& p, checked_ranges& allowed);

template <class Program, int Inputs, class Arguments>
struct simulated {
  using body = kernel_body<Program, Inputs, Arguments, checked_memory>;
  using sums = accumulators<Program>;
  using outputs = typename body::outputs;

  static constexpr simulated_kernel kernel() {
    simulated_kernel k{nullptr, &run, &clear, sizeof(sums), nullptr, nullptr};
    if constexpr (Arguments::strided) k.load_tile = &load_tile;
    if constexpr (reduces(Program::view())) k.reduce = &reduce, k.finish = &finish;
    return k;
  }

 private:
  DSL_DETAIL_SMALL static void load_tile(const void* arguments, const checked_ranges& allowed, const simulated_step& s) {
    body(*static_cast<const Arguments*>(arguments), checked_memory{&allowed, s.shared}).load_tile(static_cast<std::uint32_t>(s.tile), s.thread, s.block);
  }
  DSL_DETAIL_SMALL static void run(const void* arguments, const checked_ranges& allowed, const simulated_step& s, void* mine) {
    body(*static_cast<const Arguments*>(arguments), checked_memory{&allowed, s.shared}).run(s.tile, s.thread, s.block, *static_cast<sums*>(mine));
  }
  static void clear(void* mine) { body::clear(*static_cast<sums*>(mine), outputs{}); }
  static void reduce(const void* threads, int count, void* block) {
    reduce_all(static_cast<const sums*>(threads), count, *static_cast<sums*>(block), outputs{});
  }
  template <std::size_t... I>
  static void reduce_all(const sums* threads, int count, sums& block, std::index_sequence<I...>) {
    (reduce_one<static_cast<int>(I)>(threads, count, block), ...);
  }
  template <int I>
  static void reduce_one(const sums* threads, int count, sums& block) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) {
      per_thread<value_t<o.type()>> values;
      for (int t = 0; t < count; ++t) values.push_back(total<I>(threads[t]));
      simulated_team team;
      total<I>(block) = reduce_block<o.reduction()>(team, values)[0];
    }
  }
  static void finish(const void* arguments, const checked_ranges& allowed, const void* blocks, std::int64_t count, int threads) {
    // Each thread of the last block takes every `threads`-th partial result.
    std::vector<sums> partial(static_cast<std::size_t>(threads));
    for (sums& s : partial) body::clear(s, outputs{});
    for (std::int64_t b = 0; b < count; ++b)
      merge(partial[static_cast<std::size_t>(b % threads)], static_cast<const sums*>(blocks)[b], outputs{});
    sums results;
    reduce(partial.data(), threads, &results);
    store_all(*static_cast<const Arguments*>(arguments), checked_memory{&allowed, nullptr}, results, outputs{});
  }
  template <std::size_t... I>
  static void merge(sums& to, const sums& from, std::index_sequence<I...>) {
    (merge_one<static_cast<int>(I)>(to, from), ...);
  }
  template <int I>
  static void merge_one(sums& to, const sums& from) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) total<I>(to) = combine<o.reduction()>(total<I>(to), total<I>(from));
  }
  template <std::size_t... I>
  static void store_all(const Arguments& args, const checked_memory& memory, sums& results, std::index_sequence<I...>) {
    (store_one<static_cast<int>(I)>(args, memory, results), ...);
  }
  template <int I>
  static void store_one(const Arguments& args, const checked_memory& memory, sums& results) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) {
      using T = memory_t<o.type()>;
      const argument& a = args.operand[Inputs + I];
      memory.store(reinterpret_cast<T*>(a.word), static_cast<T>(total<I>(results)));
      if (a.extra != 0) memory.store(reinterpret_cast<T*>(a.extra), static_cast<T>(total<I>(results)));
    }
  }
};

}  // namespace dsl::detail

// The simulator: the CUDA kernel's body, block by block and thread by thread on the CPU, with every access checked.
#pragma once

#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

/// The memory that a kernel may touch.
struct checked_range { std::uintptr_t begin, end; };
struct checked_ranges {
  checked_range range[2 * max_operands];
  int count = 0;
  const char* kernel;
  const program_view* program;
  std::int64_t block = 0;
  int thread = 0;
  void add(std::uintptr_t begin, std::size_t bytes) { range[count++] = {begin, begin + bytes}; }
};
checked_ranges ranges_of(const operand* operands, int count);
/// Throws memory_error that names the kernel, the expression, the block and the thread.
void check_access(const checked_ranges& allowed, const void* address, std::size_t bytes, std::size_t alignment);

struct checked_memory {
  const checked_ranges* allowed;
  template <class T> DSL_DETAIL_FN T load(const void* address) const {
    check(address, sizeof(T), alignof(T));
    return *static_cast<const T*>(address);
  }
  template <class T> DSL_DETAIL_FN void store(T* address, const T& value) const {
    check(address, sizeof(T), alignof(T));
    *address = value;
  }

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

template <class Program, int Inputs, class Arguments>
struct simulated_grid {
  using body = kernel_body<Program, Inputs, Arguments, checked_memory>;
  using outputs = typename body::outputs;

  const Arguments& args;
  const plan& p;
  checked_ranges allowed;
  std::vector<accumulators<Program>> blocks{};  // each block's partial results

  void run() {
    const std::int64_t stride = p.grid * p.block;
    for (allowed.block = 0; allowed.block < p.grid; ++allowed.block) {
      std::vector<accumulators<Program>> threads(static_cast<std::size_t>(p.block));
      for (allowed.thread = 0; allowed.thread < p.block; ++allowed.thread) {
        auto& sums = threads[static_cast<std::size_t>(allowed.thread)];
        body::clear(sums, outputs{});
        body thread(args, checked_memory{&allowed});
        for (std::int64_t group = allowed.block * p.block + allowed.thread; group < args.groups; group += stride) thread.run(group, sums);
      }
      blocks.push_back(threads[0]);
      reduce_all(threads, blocks.back(), outputs{});
    }
    std::vector<accumulators<Program>> threads(static_cast<std::size_t>(p.block));
    finish(threads, outputs{});
  }

 private:
  template <std::size_t... I>
  static void reduce_all(const std::vector<accumulators<Program>>& threads, accumulators<Program>& to, std::index_sequence<I...>) {
    (reduce_one<static_cast<int>(I)>(threads, to), ...);
  }
  template <int I>
  static void reduce_one(std::vector<accumulators<Program>> threads, accumulators<Program>& to) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) {
      per_thread<value_t<o.type()>> values;
      for (auto& t : threads) values.push_back(total<I>(t));
      simulated_team team;
      total<I>(to) = reduce_block<o.reduction()>(team, values)[0];
    }
  }
  template <std::size_t... I>
  void finish(std::vector<accumulators<Program>>& threads, std::index_sequence<I...>) {
    (finish_one<static_cast<int>(I)>(threads), ...);
  }
  template <int I>
  void finish_one(std::vector<accumulators<Program>>& threads) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) {
      using T = memory_t<o.type()>;
      for (std::size_t t = 0; t < threads.size(); ++t) {
        auto& sum = total<I>(threads[t]) = identity<o.reduction(), value_t<o.type()>>();
        for (std::size_t b = t; b < blocks.size(); b += threads.size()) sum = combine<o.reduction()>(sum, total<I>(blocks[b]));
      }
      reduce_one<I>(threads, blocks[0]);
      const argument& a = args.operand[Inputs + I];
      const checked_memory memory{&allowed};
      const T result = static_cast<T>(total<I>(blocks[0]));
      memory.store(reinterpret_cast<T*>(a.word), result);
      if (a.extra != 0) memory.store(reinterpret_cast<T*>(a.extra), result);
    }
  }
};

}  // namespace dsl::detail

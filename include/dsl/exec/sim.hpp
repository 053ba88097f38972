// The simulator: the CUDA kernel's body, block by block and thread by thread on the CPU, with every access checked.
#pragma once

#include <vector>

#include <dsl/exec/pass_kernel.hpp>
#include <dsl/exec/sim_team.hpp>

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
  static constexpr bool calls_formula = true, may_load_unwritten = true;
  const checked_ranges* allowed;
  unsigned char* of_block;
  DSL_DETAIL_FN unsigned char* shared() const { return of_block; }
  template <class T> DSL_DETAIL_FN T load(const void* address) const {
    check(address, sizeof(T), alignof(T));
    return *static_cast<const T*>(address);
  }
  template <class T> DSL_DETAIL_FN void store(T* address, const T& value) const {
    check(address, sizeof(T), alignof(T));
    *address = value;
  }
  template <class T> DSL_DETAIL_FN void copy_async(T* to, const T* from, bool = false) const { store(to, load<T>(from)); }
  template <class T> DSL_DETAIL_FN void store_streaming(T* to, const T& value, bool) const { store(to, value); }
  DSL_DETAIL_FN void commit_copies() const {}
  template <int Pending> DSL_DETAIL_FN void wait_for_copies() const {}

 private:
  DSL_DETAIL_FN void check([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes, [[maybe_unused]] std::size_t alignment) const {
#if !DSL_DETAIL_ON_DEVICE
    check_access(*allowed, address, bytes, alignment);
#endif
  }
};

// All threads of a block at once.
template <class T> using per_thread = std::vector<T>;

/// A pass's entry point in the simulator.
template <class Pass, int Inputs, class Arguments>
DSL_DETAIL_SMALL void simulated_pass(const void* arguments, simulated_thread& self) {
  run_pass<Pass, Inputs>(*static_cast<const Arguments*>(arguments), simulated_memory{&self}, simulated_team{&self});
}

}  // namespace dsl::detail

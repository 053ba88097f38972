#include "sim/back_end.hpp"

#include <cstdio>
#include <cstring>

#include "exec/copy.hpp"
#include "exec/grid_executor.hpp"
#include "exec/parameters.hpp"
#include "mem/buffer.hpp"
#include "sim/grid.hpp"
#include "sim/sim.hpp"

namespace dsl::detail {

namespace {

class sim_executor final : public grid_executor {
 public:
  constexpr sim_executor() : grid_executor(kernel_target::sim, false) {}

  kernel_attributes attributes(const kernel_entry&, int, int) const override { return {}; }
  bool is_cooperative(int) const override { return true; }
  void launch_kernel(const kernel_launch& k, const stream&) const override {
    simulated_launch launch{reinterpret_cast<simulated_entry>(const_cast<void*>(k.function)), k.parameters[0], k.grid, k.block, k.shared_bytes, k.cooperative,
                            {}, k.name, &k.pass, k.operands};
    const int inputs = k.operand_count - k.pass.target_count;
    for (int i = 0; i < k.operand_count; ++i)
      if (const buffer* b = k.operands[i].memory; b != nullptr) launch.memory.push_back({reinterpret_cast<std::uintptr_t>(b->data), b->bytes, i >= inputs});
    for (int i = 0; i < k.other_count; ++i) launch.memory.push_back({reinterpret_cast<std::uintptr_t>(k.others[i].begin), k.others[i].bytes, true});
    simulate(launch);
  }

  void run_pass(const prepared& pass, const std::uint64_t* recorded, const bool* stop, const stream&) const override {
    const program_code& code = pass.code();
    const plan p = plan_pass(pass);
    kernel_parameters given = pass_parameters(code, pass.operands(), pass.space(), p, recorded, stop);
    checked_ranges allowed = ranges_of(pass.operands(), code.inputs + code.outputs(), code);
    for (int i = 0; recorded != nullptr && i < code.outputs(); ++i)
      allowed.add(recorded[i], static_cast<std::size_t>(size_of(code.pass.view.type(i))));
    const auto& kernel = *static_cast<const simulated_kernel*>(compiled(code.kernels)->kernel[pass.space().linear ? 0 : 1]);
    simulate(kernel, code.pass.accumulator_bytes, given.data(), p, given.header().folds, allowed);
  }
};

constinit sim_executor kernels;

}  // namespace

constinit sim_back_end simulator(&kernels);

// Small enough that the tests' kernels have more work than threads, and walk on.
const device_properties& sim_back_end::properties(int) {
  static const device_properties known = [] {
    device_properties d = read_machine();
    std::snprintf(d.name, sizeof d.name, "simulator");
    d.multiprocessors = 2, d.threads_per_multiprocessor = 1024, d.registers_per_multiprocessor = 65536;
    d.shared_per_block = 16 << 10;
    return d;
  }();
  return known;
}

// Memory starts as NaNs and -1s, so that reading what was never written shows.
void* sim_back_end::allocate(std::size_t bytes, int index, void* stream) {
  void* const memory = machine_memory::allocate(bytes, index, stream);
  std::memset(memory, 0xff, bytes);
  return memory;
}

void sim_back_end::copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from, const void* source,
                                 const mapping& elements, std::size_t size) {
  detail::copy_elements(to, at, target, from, source, elements, size);
}

}  // namespace dsl::detail

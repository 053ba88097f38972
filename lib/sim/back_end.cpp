#include "sim/back_end.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "exec/run/shares.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"
#include "sim/csr_product.hpp"
#include "sim/grid.hpp"
#include "sim/mesh.hpp"
#include "sim/tasks.hpp"

namespace dsl::detail {

namespace {

class sim_executor final : public grid_executor {
 public:
  constexpr sim_executor() : grid_executor(kernel_target::sim, false) {}

  kernel_attributes attributes(const kernel_entry&, int, int) const override {
    return {0, 0, 0, 0, simulator.largest_cluster};
  }
  bool is_cooperative(int) const override { return true; }
  void launch_kernel(const kernel_launch& k, const stream& on) const override {
    simulated_launch launch{reinterpret_cast<simulated_entry>(const_cast<void*>(k.function)),
                            k.range,
                            k.grid,
                            k.block,
                            k.shared_bytes,
                            k.cooperative,
                            k.cluster,
                            {},
                            k.name,
                            &k.pass,
                            k.operands_of_pass()};
    launch.warp_size = simulator.chip().warp_size;
    for (int i = 0; i < k.inputs + k.outputs; ++i)
      if (const buffer* b = k.operands[i].memory; b != nullptr)
        launch.memory.push_back(
            {reinterpret_cast<std::uintptr_t>(b->data), b->bytes, i >= k.inputs});
    for (int i = 0; i < k.other_count; ++i) {
      const memory_range& each = k.others[i];
      launch.memory.push_back(
          {reinterpret_cast<std::uintptr_t>(each.begin), each.bytes, true, each.is_empty});
    }
    back_end& where = stream_state::of(on).on;
    for (std::size_t m = 0;
         m < std::max<std::size_t>(1, where.members().size()) && k.zeroed.bytes > 0; ++m)
      std::memset(static_cast<unsigned char*>(k.zeroed.begin) + m * k.zeroed.copy_bytes, 0,
                  k.zeroed.bytes);
    if (where.members().empty()) {
      simulate(launch);
    } else {
      const grid_shares shares = shares_of(k, where);
      launch.member_ends = shares.ends;
      std::vector<kernel_parameters> of_member;
      if (k.of_members != nullptr) of_member.assign(shares.ends.size(), *k.parameters);
      std::int64_t first = 0;
      for (std::size_t m = 0; m < of_member.size(); first = shares.ends[m++]) {
        k.of_members->fill(of_member[m], static_cast<int>(m), first, shares.ends[m] - first);
        launch.of_member.push_back(of_member[m].range());
      }
      static_cast<sim_mesh&>(where).run(launch, shares.is_local);
    }
  }
  using grid_executor::run;
  void run(const library_task& task, const stream&) const override {
    if (const auto* const product = std::get_if<csr_task>(&task.is)) return simulate(*product);
    if (const auto* const scatter = std::get_if<scatter_task>(&task.is))
      for (std::int64_t i = 0; i < scatter->count; ++i)
        if (const std::int64_t at = scatter->positions[i]; at < 0 || at >= scatter->elements)
          raise<memory_error>("position " + spell_position(at) + " is none of " +
                              std::to_string(scatter->elements) + " elements");
    std::visit(
        [&](const auto& of) {
          if constexpr (requires { simulate(of, std::size_t{}); })
            simulate(of, simulator.chip().shared_per_block);
          else run_in_memory(of);
        },
        task.is);
  }
  bool takes(const library_task& task, device) const override {
    const auto* const rolling = std::get_if<rolling_task>(&task.is);
    return rolling == nullptr ||
           plan_rolling(*rolling, simulator.chip().shared_per_block).threads > 0;
  }
};

constinit sim_executor kernels;

}  // namespace

constinit sim_back_end simulator(&kernels);

back_end* sim_back_end::make_mesh(std::span<const int> members) {
  return new sim_mesh(members, properties(0), &kernels());
}

// Small enough that the tests' kernels have more work than threads, so that their grid-stride loops
// iterate.
device_properties& sim_back_end::chip() {
  static device_properties known = [] {
    device_properties d = read_machine();
    std::snprintf(d.name, sizeof d.name, "simulator");
    d.multiprocessors = 2;
    d.threads_per_multiprocessor = 1024;
    d.registers_per_multiprocessor = 65536;
    d.shared_per_block = 16 << 10;
    return d;
  }();
  return known;
}

// Memory starts as NaNs and -1s, so that reads of memory that was never written show in results.
void* sim_back_end::allocate(std::size_t bytes, int index, void* stream) {
  void* const memory = machine_memory::allocate(bytes, index, stream);
  std::memset(memory, 0xff, bytes);
  return memory;
}

}  // namespace dsl::detail

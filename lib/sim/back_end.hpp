// The simulator as a device.
#pragma once

#include "mem/machine_memory.hpp"

namespace dsl::detail {

class sim_back_end final : public machine_memory {
 public:
  constexpr explicit sim_back_end(kernel_services* kernels)
      : machine_memory("sim", kernels, backend::sim) {}

  back_end* make_mesh(std::span<const int> members) override;
  int max_member() override { return 64; }
  const device_properties& properties(int) override { return chip(); }
  /// The properties of the simulated chip. Tests change them to get other plans.
  device_properties& chip();
  int largest_cluster = 4;  // blocks
  void* allocate(std::size_t bytes, int index, void* stream) override;
};
extern sim_back_end simulator;

}  // namespace dsl::detail

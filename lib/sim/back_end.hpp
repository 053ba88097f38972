// The simulator as a device.
#pragma once

#include "mem/machine_memory.hpp"

namespace dsl::detail {

class sim_back_end final : public machine_memory {
 public:
  constexpr explicit sim_back_end(executor* kernels) : machine_memory("sim", kernels, backend::sim) {}

  const device_properties& properties(int index) override;
  void* allocate(std::size_t bytes, int index, void* stream) override;
  void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from, const void* source, const mapping& elements,
                     std::size_t size) override;
};
extern sim_back_end simulator;

}  // namespace dsl::detail

// This machine's cores as a device.
#pragma once

#include "mem/machine_memory.hpp"

namespace dsl::detail {

class host_back_end final : public machine_memory {
 public:
  constexpr explicit host_back_end(executor* kernels) : machine_memory("host", kernels, backend::host) {}

  const device_properties& properties(int index) override;
  void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from, const void* source, const mapping& elements,
                     std::size_t size) override;
};
extern host_back_end host;

}  // namespace dsl::detail

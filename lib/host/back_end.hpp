// The host back end: this machine's cores as a device.
#pragma once

#include "mem/machine_memory.hpp"

namespace dsl::detail {

class host_back_end final : public machine_memory {
 public:
  constexpr explicit host_back_end(kernel_services* kernels)
      : machine_memory("host", kernels, backend::host) {}

  const device_properties& properties(int index) override;
};
extern host_back_end host;

}  // namespace dsl::detail

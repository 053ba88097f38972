// Devices in this machine's own memory, which complete work immediately.
#pragma once

#include "mem/back_end.hpp"

namespace dsl::detail {

class machine_memory : public back_end {
 public:
  constexpr machine_memory(const char* name, kernel_services* kernels, backend kind)
      : back_end({name, false, false, true}, kernels, kind) {}

  memory_usage usage(int index) override;
  void* allocate(std::size_t bytes, int index, void* stream) override;
  void release(void* memory, int index, void* stream) noexcept override;
  void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
            void* stream) override;
  void set_zero(void* at, std::size_t bytes, int index, void* stream) override;
  void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
            void* stream) override;

 protected:
  ~machine_memory() = default;
  /// The machine's processor, threads and memory.
  static device_properties read_machine();
};

}  // namespace dsl::detail

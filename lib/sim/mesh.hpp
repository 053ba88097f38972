// Several simulated GPUs as one device.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "mem/machine_memory.hpp"
#include "sim/grid.hpp"

namespace dsl::detail {

/// Arrays are in the machine's memory. Each member has a part, as even as granules allow; an array
/// with less than a granule per member belongs to the first one. All members work in the order of
/// the calls. On real GPUs a member's work waits for others' only where it must. So the simulator
/// reports work that depends on another member's work without waiting for it.
class sim_mesh final : public machine_memory {
 public:
  sim_mesh(std::span<const int> members, const device_properties& one, kernel_services* kernels);

  std::span<const int> members() const override { return members_; }
  const device_properties& properties(int) override { return properties_; }
  void part_ends(const void* address, std::size_t bytes, std::size_t* ends) const override;
  std::int64_t elements_between_cuts() const override { return 1024; }
  std::size_t bytes_of_copy(std::size_t bytes) const override {
    return (bytes + granule - 1) / granule * granule;
  }

  void* allocate(std::size_t bytes, int index, void* stream) override;
  void release(void* memory, int index, void* stream) noexcept override;
  void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
            void* stream) override;
  void set_zero(void* at, std::size_t bytes, int index, void* stream) override;
  void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
            void* stream) override;

  /// Runs a launch. `is_local`: no member waits for others. In that case throws memory_error if a
  /// member touches what another wrote, or writes what another touched, since all members last
  /// waited for each other.
  void run(const simulated_launch& launch, bool is_local);

 private:
  static constexpr std::size_t granule = 256;
  static std::size_t part_end(std::size_t bytes, std::size_t member, std::size_t members);
  struct allocation {
    std::size_t bytes;
    std::vector<touched_bytes> touched;  // by each member, since they last waited for each other
  };
  std::map<std::uintptr_t, allocation>::const_iterator find(std::uintptr_t at) const;
  void join();

  const std::vector<int> members_;
  device_properties properties_;
  mutable std::mutex mutex_;  // guards the member below
  std::map<std::uintptr_t, allocation> allocations_;
};

}  // namespace dsl::detail

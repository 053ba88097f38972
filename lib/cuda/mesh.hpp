// A mesh of GPUs: several GPUs as one device.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "cuda/mesh_memory.hpp"
#include "cuda/mesh_waits.hpp"
#include "mem/back_end.hpp"

namespace dsl::detail {

class cuda_mesh final : public back_end {
 public:
  explicit cuda_mesh(std::span<const int> members);

  std::span<const int> members() const override { return members_; }
  /// The stream of a handle; null is the mesh's default stream.
  cuda::mesh_stream& stream_of(void* stream);
  cuda::mesh_waits& waits() { return waits_; }
  /// Orders kernels whose blocks wait for each other: while the lock is held no other thread queues
  /// one, and `on` waits for the stream of the previous one.
  std::unique_lock<std::mutex> queue_cooperative(cuda::mesh_stream& on);

  /// Throws device_error, which names the GPUs, if one cannot access another's memory.
  const device_properties& properties(int index) override;
  void synchronize_device(int index) override;

  memory_usage usage(int index) override;
  void release_memory(int index) override;
  void set_release_threshold(int index, std::size_t bytes) override;
  void* allocate(std::size_t bytes, int index, void* stream) override;
  void release(void* memory, int index, void* stream) noexcept override;
  /// Each member copies its own part.
  void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
            void* stream) override;
  void set_zero(void* at, std::size_t bytes, int index, void* stream) override;
  void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
            void* stream) override;
  void part_ends(const void* address, std::size_t bytes, std::size_t* ends) const override;
  std::size_t bytes_of_copy(std::size_t bytes) const override;
  std::int64_t elements_between_cuts() const override { return 32768; }
  void* allocate_pinned(std::size_t bytes, int index) override;
  void release_pinned(void* memory, int index) noexcept override;
  bool is_page_locked(const void* address) override;
  /// Only memory of this mesh's arrays.
  std::optional<address_home> find_memory(const void* address) override;
  bool reaches_host_memory(const void* address, int index) override;

  void* create_stream(int index) override;
  void destroy_stream(int index, void* stream) noexcept override;
  void synchronize(int index, void* stream) override;
  void synchronize_quietly(int index, void* stream) noexcept override;
  void wait_for(int index, void* stream, void* other) override;
  void* record_event(int index, void* stream) override;
  void wait_for_event(void* event) override;
  bool is_reached(void* event) override;
  void wait_for_event_on(int index, void* stream, void* event) override;
  void destroy_event(void* event) noexcept override;

 private:
  template <class Each>
  void by_parts(const void* at, std::size_t bytes, void* stream, const Each& each);

  cuda::mesh_memory& memory() const;

  const std::vector<int> members_;
  cuda::mesh_waits waits_;
  // Guards the members below, which are made at first use and then stay.
  mutable std::mutex mutex_;
  std::unique_ptr<device_properties> properties_;
  mutable std::unique_ptr<cuda::mesh_memory> memory_;
  std::unique_ptr<cuda::mesh_stream> default_;
};

}  // namespace dsl::detail

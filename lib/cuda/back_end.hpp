// The CUDA back end: GPUs as devices.
#pragma once

#include "mem/back_end.hpp"

namespace dsl::detail {

class cuda_back_end final : public back_end {
 public:
  constexpr explicit cuda_back_end(kernel_services* kernels)
      : back_end({"cuda", true, true}, kernels, backend::cuda) {}

  /// 0 without a driver or a GPU. Also 0 if the GPUs cannot be counted; then the next call tries
  /// again.
  int device_count() override;
  back_end* make_mesh(std::span<const int> members) override;
  std::string why_no_device() override;
  std::string device_count_error() override;
  const device_properties& properties(int index) override;
  void synchronize_device(int index) override;

  memory_usage usage(int index) override;
  /// Waits for the device.
  void release_memory(int index) override;
  void set_release_threshold(int index, std::size_t bytes) override;
  /// Allocates from the device's pool. If the pool has too little memory, waits for the device,
  /// lets the pool release unused memory, and tries again. Throws memory_error, which says how many
  /// bytes were requested, used and free.
  void* allocate(std::size_t bytes, int index, void* stream) override;
  void release(void* memory, int index, void* stream) noexcept override;
  /// Whether CUDA waits for the stream, without a time limit, before it copies: to memory that is
  /// not page-locked, and from such memory if it is much.
  bool waits_to_copy(const void* to, const void* from, std::size_t bytes, direction way);
  void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
            void* stream) override;
  void set_zero(void* at, std::size_t bytes, int index, void* stream) override;
  void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
            void* stream) override;
  void* allocate_pinned(std::size_t bytes, int index) override;
  void release_pinned(void* memory, int index) noexcept override;
  bool is_page_locked(const void* address) override;
  std::optional<address_home> find_memory(const void* address) override;
  /// Page-locked memory; all host memory if the system supports it
  /// (cudaDevAttrPageableMemoryAccess).
  bool reaches_host_memory(const void* address, int index) override;

  void* create_stream(int index) override;
  int device_of_stream(void* stream) override;
  void destroy_stream(int index, void* stream) noexcept override;
  void synchronize(int index, void* stream) override;
  void synchronize_quietly(int index, void* stream) noexcept override;
  void wait_for(int index, void* stream, void* other) override;
  bool is_captured(int index, void* stream) override;
  void* record_event(int index, void* stream) override;
  void wait_for_event(void* event) override;
  bool is_reached(void* event) override;
  void wait_for_event_on(int index, void* stream, void* event) override;
  void destroy_event(void* event) noexcept override;
};
extern cuda_back_end gpus;

}  // namespace dsl::detail

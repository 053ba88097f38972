// The OpenCL back end: devices of any vendor, for which programs are built at run time.
#pragma once

#include "mem/back_end.hpp"

namespace dsl::detail {

class opencl_back_end final : public back_end {
 public:
  constexpr explicit opencl_back_end(kernel_services* kernels)
      : back_end({"opencl", true, true}, kernels, backend::opencl) {}

  /// The devices of all platforms, in their order. 0 without a loader or a driver.
  int device_count() override;
  std::string why_no_device() override;
  const device_properties& properties(int index) override;
  void synchronize_device(int index) override;

  memory_usage usage(int index) override;
  void release_memory(int index) override;
  void set_release_threshold(int index, std::size_t bytes) override;
  void* allocate(std::size_t bytes, int index, void* stream) override;
  void release(void* memory, int index, void* stream) noexcept override;
  /// Copies of much memory that is not page-locked wait for the stream.
  void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
            void* stream) override;
  void set_zero(void* at, std::size_t bytes, int index, void* stream) override;
  void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
            void* stream) override;
  /// Ordinary memory that stays in place: copies from and to it do not wait.
  void* allocate_pinned(std::size_t bytes, int index) override;
  void release_pinned(void* memory, int index) noexcept override;
  bool is_page_locked(const void* address) override;
  std::optional<address_home> find_memory(const void* address) override;

  // A stream is a cl_command_queue.
  void* create_stream(int index) override;
  /// Throws device_error for a queue of a context that is not the library's: the device's arrays
  /// belong to the library's.
  int device_of_stream(void* stream) override;
  void destroy_stream(int index, void* stream) noexcept override;
  void synchronize(int index, void* stream) override;
  void synchronize_quietly(int index, void* stream) noexcept override;
  void wait_for(int index, void* stream, void* other) override;
  void* record_event(int index, void* stream) override;
  void wait_for_event(void* event) override;
  bool is_reached(void* event) override;
  void wait_for_event_on(int index, void* stream, void* event) override;
  void destroy_event(void* event) noexcept override;
};
extern opencl_back_end opencl_devices;

}  // namespace dsl::detail

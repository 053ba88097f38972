// Memory of an OpenCL device.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "mem/buffer.hpp"
#include "mem/text.hpp"
#include "opencl/back_end.hpp"
#include "opencl/device.hpp"

namespace dsl::detail {

using namespace opencl;

memory_usage opencl_back_end::usage(int index) { return device_state::of(index).pool().usage(); }
void opencl_back_end::release_memory(int index) {
  synchronize_device(index);  // the driver frees memory once its queued work has ended
  device_state::of(index).pool().give_back();
}
void opencl_back_end::set_release_threshold(int index, std::size_t bytes) {
  device_state::of(index).pool().set_release_threshold(bytes);
}

void* opencl_back_end::allocate(std::size_t bytes, int index, void* stream) {
  device_state& on = device_state::of(index);
  return on.pool().allocate(bytes, on.queue_of(stream));
}
void opencl_back_end::release(void* memory, int index, void* stream) noexcept {
  device_state& on = *device_state::find(index);
  on.pool().release(memory, on.queue_of(stream));
}

namespace {

// Host memory that is page-locked as far as the library is concerned: what copies from or to it
// keeps it until it is done.
class pinned_ranges {
 public:
  void add(void* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    all_.emplace(static_cast<std::byte*>(begin), bytes);
  }
  void remove(void* begin) noexcept {
    const std::lock_guard lock(mutex_);
    all_.erase(static_cast<std::byte*>(begin));
  }
  bool has(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    const std::lock_guard lock(mutex_);
    const auto behind = all_.upper_bound(at);
    return behind != all_.begin() &&
           static_cast<std::size_t>(at - std::prev(behind)->first) < std::prev(behind)->second;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, std::size_t> all_;
};
pinned_ranges& pinned() {
  static pinned_ranges& made = *new pinned_ranges;  // memory may be freed after everything else
  return made;
}

// A copy to the device that does not wait: it reads a copy of the host's memory, which the driver
// lets go when it has.
void write_staged(const device_state& on, cl_command_queue queue, const memory_place& to,
                  const void* from, std::size_t bytes) {
  host_bytes staged(1, bytes);
  std::memcpy(staged.data(), from, bytes);
  cl_event written = nullptr;
  on.check(driver().clEnqueueWriteBuffer(queue, to.memory, CL_FALSE, to.offset, bytes,
                                         staged.data(), 0, nullptr, &written),
           "clEnqueueWriteBuffer", "a copy to the device");
  const auto let_go = [](cl_event, cl_int, void* memory) { std::free(memory); };
  // Where neither the driver nor a wait says when, the copy is never freed.
  if (driver().clSetEventCallback(written, CL_COMPLETE, let_go, staged.data()) == CL_SUCCESS ||
      driver().clWaitForEvents(1, &written) != CL_SUCCESS)
    staged.release();
  driver().clReleaseEvent(written);
}

void begin_work(const device_state& on, cl_command_queue queue) {
  const cl_int status = driver().clFlush(queue);
  if (status != CL_SUCCESS) driver().clFinish(queue);  // The caller may free what a copy uses.
  on.check(status, "clFlush", "beginning the work of a stream");
}

}  // namespace

void opencl_back_end::copy(void* to, const void* from, std::size_t bytes, direction way, int index,
                           void* stream) {
  constexpr std::size_t copied_at_once = 64 << 10;
  device_state& on = device_state::of(index);
  const cl_command_queue queue = on.queue_of(stream);
  const driver_functions& call = driver();
  const auto asked = [bytes] { return "a copy of " + spell_bytes(static_cast<double>(bytes)); };
  switch (way) {
    case direction::to_device: {
      const memory_place target = on.pool().at(to);
      const bool lasts = is_page_locked(from);
      if (!lasts && bytes <= copied_at_once) {
        write_staged(on, queue, target, from, bytes);
        break;
      }
      on.check(call.clEnqueueWriteBuffer(queue, target.memory, lasts ? CL_FALSE : CL_TRUE,
                                         target.offset, bytes, from, 0, nullptr, nullptr),
               "clEnqueueWriteBuffer", asked);
      break;
    }
    case direction::to_host: {
      const memory_place source = on.pool().at(from);
      on.check(
          call.clEnqueueReadBuffer(queue, source.memory, is_page_locked(to) ? CL_FALSE : CL_TRUE,
                                   source.offset, bytes, to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer", asked);
      break;
    }
    case direction::on_device: {
      const memory_place source = on.pool().at(from), target = on.pool().at(to);
      on.check(call.clEnqueueCopyBuffer(queue, source.memory, target.memory, source.offset,
                                        target.offset, bytes, 0, nullptr, nullptr),
               "clEnqueueCopyBuffer", asked);
      break;
    }
  }
  begin_work(on, queue);
}

void opencl_back_end::set_zero(void* at, std::size_t bytes, int index, void* stream) {
  constexpr unsigned char zeros[16] = {};
  std::size_t size = sizeof zeros;
  while (bytes % size != 0 || reinterpret_cast<std::uintptr_t>(at) % size != 0) size /= 2;
  fill(at, zeros, size, static_cast<std::int64_t>(bytes / size), index, stream);
}
void opencl_back_end::fill(void* at, const void* value, std::size_t size, std::int64_t count,
                           int index, void* stream) {
  device_state& on = device_state::of(index);
  const cl_command_queue queue = on.queue_of(stream);
  const memory_place target = on.pool().at(at);
  on.check(
      driver().clEnqueueFillBuffer(queue, target.memory, value, size, target.offset,
                                   static_cast<std::size_t>(count) * size, 0, nullptr, nullptr),
      "clEnqueueFillBuffer",
      [count] { return "a fill of " + std::to_string(count) + " elements"; });
  begin_work(on, queue);
}

void* opencl_back_end::allocate_pinned(std::size_t bytes, int index) {
  void* const memory = back_end::allocate_pinned(bytes, index);
  pinned().add(memory, std::max<std::size_t>(bytes, 1));
  return memory;
}
void opencl_back_end::release_pinned(void* memory, int index) noexcept {
  pinned().remove(memory);
  back_end::release_pinned(memory, index);
}
bool opencl_back_end::is_page_locked(const void* address) { return pinned().has(address); }

std::optional<back_end::address_home> opencl_back_end::find_memory(const void* address) {
  for (int i = 0; i < max_devices; ++i)
    if (device_state* const on = device_state::find(i); on != nullptr)
      if (on->pool().find(address)) return address_home{i, false};
  return {};
}

}  // namespace dsl::detail

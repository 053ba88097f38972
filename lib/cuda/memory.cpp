// Memory of a GPU.
#include <algorithm>

#include "cuda/back_end.hpp"
#include "cuda/calls.hpp"
#include "cuda/process_waits.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

using namespace cuda;

namespace {

cudaMemPool_t pool_of(int index) {
  cudaMemPool_t pool{};
  DSL_CHECK(cudaDeviceGetDefaultMemPool(&pool, index));
  return pool;
}

}  // namespace

memory_usage cuda_back_end::usage(int index) {
  const current_device on(index);
  const cudaMemPool_t pool = pool_of(index);
  memory_usage m{};
  std::uint64_t used = 0, reserved = 0;
  DSL_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  DSL_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  DSL_CHECK(cudaMemGetInfo(&m.free, &m.total));
  m.used = used;
  m.reserved = reserved;
  return m;
}
void cuda_back_end::release_memory(int index) {
  synchronize_device(index);  // memory freed after queued work is in use until that work has ended
  const current_device on(index);
  DSL_CHECK(cudaMemPoolTrimTo(pool_of(index), 0));
}
void cuda_back_end::set_release_threshold(int index, std::size_t bytes) {
  std::uint64_t most = bytes;
  DSL_CHECK(cudaMemPoolSetAttribute(pool_of(index), cudaMemPoolAttrReleaseThreshold, &most));
}

void* cuda_back_end::allocate(std::size_t bytes, int index, void* stream) {
  const current_device on(index);
  void* memory = nullptr;
  cudaError_t status = cudaMallocAsync(&memory, bytes, native(stream));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    memory_usage m{};
    const auto give_back = [&] {
      if (!is_capturing(stream)) release_memory(index);
      m = usage(index);
    };
    // Memory that other streams freed is available once their work has ended. A pool that fails to
    // allocate keeps everything it took on the way.
    give_back();
    if (bytes <= m.free + m.reserved - std::min(m.used, m.reserved)) {
      status = cudaMallocAsync(&memory, bytes, native(stream));
      if (status != cudaErrorMemoryAllocation)
        return check(status, "cudaMallocAsync", stream), memory;
      cudaGetLastError();
      give_back();
    }
    const auto spell = [](std::size_t n) { return spell_bytes(static_cast<double>(n)); };
    raise<memory_error>("out of memory on " + cuda_back_end::spell(index) + ": asked for " +
                        spell(bytes) + "; of " + spell(m.total) + " this program uses " +
                        spell(m.used) + ", its pool keeps " +
                        spell(m.reserved - std::min(m.used, m.reserved)) + " unused, and " +
                        spell(m.free) + " are free");
  }
  check(status, "cudaMallocAsync", stream);
  return memory;
}
void cuda_back_end::release(void* memory, int index, void* stream) noexcept {
  const current_device_quietly on(index);
  cudaFreeAsync(memory, native(stream));
}

bool cuda_back_end::waits_to_copy(const void* to, const void* from, std::size_t bytes,
                                  direction way) {
  constexpr std::size_t copied_at_once = 64 << 10;
  return (way == direction::to_host && !is_page_locked(to)) ||
         (way == direction::to_device && bytes > copied_at_once && !is_page_locked(from));
}

void cuda_back_end::copy(void* to, const void* from, std::size_t bytes, direction way, int index,
                         void* stream) {
  const current_device on(index);
  const cudaMemcpyKind kind = way == direction::to_device ? cudaMemcpyHostToDevice
                              : way == direction::to_host ? cudaMemcpyDeviceToHost
                                                          : cudaMemcpyDeviceToDevice;
  if (process_waits::exist() && waits_to_copy(to, from, bytes, way)) wait_for_others(stream);
  check(cudaMemcpyAsync(to, from, bytes, kind, native(stream)), "a copy", stream);
}

void* cuda_back_end::allocate_pinned(std::size_t bytes, int index) {
  const current_device on(index);
  void* memory = nullptr;
  const cudaError_t status = cudaMallocHost(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    raise<memory_error>("out of page-locked memory on the host: asked for " +
                        spell_bytes(static_cast<double>(bytes)));
  }
  check(status, "cudaMallocHost");
  return memory;
}
void cuda_back_end::release_pinned(void* memory, int index) noexcept {
  const current_device_quietly on(index);
  cudaFreeHost(memory);
}

namespace {

cudaPointerAttributes attributes_of(const void* address) {
  cudaPointerAttributes found{};
  DSL_CHECK(cudaPointerGetAttributes(&found, address));
  return found;
}

}  // namespace

// Managed memory counts too: the device can read it directly.
bool cuda_back_end::is_page_locked(const void* address) {
  return attributes_of(address).type != cudaMemoryTypeUnregistered;
}

std::optional<back_end::address_home> cuda_back_end::find_memory(const void* address) {
  if (device_count() == 0) return {};
  const cudaPointerAttributes found = attributes_of(address);
  if (found.type != cudaMemoryTypeDevice && found.type != cudaMemoryTypeManaged) return {};
  return address_home{found.device, found.type == cudaMemoryTypeManaged};
}
bool cuda_back_end::reaches_host_memory(const void* address, int index) {
  const current_device on(index);
  const cudaPointerAttributes found = attributes_of(address);
  if (found.type == cudaMemoryTypeHost) return found.devicePointer == address;
  int pageable = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, index));
  return pageable != 0;
}

void cuda_back_end::set_zero(void* at, std::size_t bytes, int index, void* stream) {
  const current_device on(index);
  check(cudaMemsetAsync(at, 0, bytes, native(stream)), "a fill with zeros", stream);
}

}  // namespace dsl::detail

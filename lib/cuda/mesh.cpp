#include "cuda/mesh.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "cuda/back_end.hpp"
#include "cuda/launch.hpp"
#include "cuda/mesh_kernels.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

using namespace cuda;

namespace {

using events = std::vector<cudaEvent_t>;

std::string name_of(int gpu) { return "cuda:" + std::to_string(gpu); }

// Throws device_error if members cannot access each other's memory.
void require_reach(const std::string& mesh, const std::vector<int>& members) {
  const std::set<int> all(members.begin(), members.end());
  for (const int gpu : all) {
    int supported = 0;
    check(driver().attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                             gpu),
          "cuDeviceGetAttribute");
    if (supported == 0)
      raise<device_error>(mesh + " cannot be used: " + name_of(gpu) + " (" +
                          gpus.properties(gpu).name + ") has no virtual memory management");
    for (const int other : all) {
      int reaches = 1, atomics = 1;
      if (other != gpu) {
        DSL_CHECK(cudaDeviceCanAccessPeer(&reaches, gpu, other));
        DSL_CHECK(
            cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, gpu, other));
      }
      if (reaches == 0 || atomics == 0)
        raise<device_error>(
            mesh + " cannot be used: " + name_of(gpu) + " cannot " +
            (reaches == 0 ? "reach" : "use atomic operations in") + " the memory of " +
            name_of(other) +
            "; take GPUs that are linked with each other (nvidia-smi topo -m), or one");
    }
  }
}

}  // namespace

cuda_mesh::cuda_mesh(std::span<const int> members)
    : back_end({"cuda", true, true}, &mesh_kernels(), backend::cuda),
      members_(members.begin(), members.end()),
      waits_(members_) {}

back_end* cuda_back_end::make_mesh(std::span<const int> members) { return new cuda_mesh(members); }

mesh_memory& cuda_mesh::memory() const {
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr) memory_ = std::make_unique<mesh_memory>(members_);
  return *memory_;
}
mesh_stream& cuda_mesh::stream_of(void* stream) {
  if (stream != nullptr) return *static_cast<mesh_stream*>(stream);
  const std::lock_guard lock(mutex_);
  if (default_ == nullptr) default_ = std::make_unique<mesh_stream>(members_, true);
  return *default_;
}

// Plans see one GPU as large as all members together. If a test lists a GPU several times, its
// parts share that GPU.
const device_properties& cuda_mesh::properties(int index) {
  const std::lock_guard lock(mutex_);
  if (properties_ != nullptr) return *properties_;
  require_reach(spell(index), members_);
  device_properties all{};
  for (const int gpu : members_) {
    const device_properties& one = gpus.properties(gpu);
    const auto times = static_cast<int>(std::count(members_.begin(), members_.end(), gpu));
    if (all.multiprocessors == 0) {
      all = one;
      all.multiprocessors = 0;
      all.memory = all.l2 = 0;
    }
    all.multiprocessors += one.multiprocessors / times;
    all.memory += one.memory / static_cast<std::size_t>(times);
    all.l2 += one.l2 / static_cast<std::size_t>(times);
    all.compute_capability = std::min(all.compute_capability, one.compute_capability);
    all.threads_per_multiprocessor =
        std::min(all.threads_per_multiprocessor, one.threads_per_multiprocessor);
    all.registers_per_multiprocessor =
        std::min(all.registers_per_multiprocessor, one.registers_per_multiprocessor);
    all.shared_per_block = std::min(all.shared_per_block, one.shared_per_block);
  }
  const std::string name = std::to_string(members_.size()) + " x " + all.name;
  std::snprintf(all.name, sizeof all.name, "%s", name.c_str());
  properties_ = std::make_unique<device_properties>(all);
  return *properties_;
}

void cuda_mesh::synchronize_device(int) {
  waits_.wait_for_all();
  for (const int gpu : members_) gpus.synchronize_device(gpu);
  waits_.check();
}

memory_usage cuda_mesh::usage(int) {
  memory_usage all = memory().usage();
  for (const int gpu : std::set<int>(members_.begin(), members_.end())) {
    const memory_usage one = gpus.usage(gpu);
    all.free += one.free;
    all.total += one.total;
  }
  return all;
}
void cuda_mesh::release_memory(int) { memory().give_back(); }
void cuda_mesh::set_release_threshold(int, std::size_t bytes) {
  memory().set_release_threshold(bytes);
}

// Before the second try the members' own pools also release their unused memory.
void* cuda_mesh::allocate(std::size_t bytes, int index, void* stream) {
  mesh_stream& on = stream_of(stream);
  if (void* const first = memory().allocate(bytes, on)) return first;
  memory().give_back();
  for (const int gpu : members_) gpus.release_memory(gpu);
  if (void* const second = memory().allocate(bytes, on)) return second;
  memory().give_back();
  const memory_usage m = usage(index);
  const auto spelled = [](std::size_t n) { return spell_bytes(static_cast<double>(n)); };
  raise<memory_error>("out of memory on " + spell(index) + ": asked for " + spelled(bytes) +
                      "; of " + spelled(m.total) + " this program's arrays there use " +
                      spelled(m.used) + ", and " + spelled(m.free) + " are free");
}
void cuda_mesh::release(void* memory, int, void* stream) noexcept {
  try {
    this->memory().release(memory, stream_of(stream));
  } catch (const error&) {  // of work that failed before
  }
}

// Calls each(address, bytes, GPU, its stream) for the parts of a contiguous piece of memory.
template <class Each>
void cuda_mesh::by_parts(const void* at, std::size_t bytes, void* stream, const Each& each) {
  const std::vector<mesh_memory::part> parts = memory().parts(at, bytes);
  std::uint64_t members = 0;
  for (const auto& p : parts) members |= std::uint64_t{1} << p.member;
  mesh_stream& on = stream_of(stream);
  auto next = parts.begin();
  on.queue(members, touches::others, [&](int m, cudaStream_t s) {
    each(next->at, next->bytes, on.gpu(m), s);
    ++next;
  });
}

void cuda_mesh::copy(void* to, const void* from, std::size_t bytes, direction way, int,
                     void* stream) {
  const cudaMemcpyKind kind = way == direction::to_device ? cudaMemcpyHostToDevice
                              : way == direction::to_host ? cudaMemcpyDeviceToHost
                                                          : cudaMemcpyDeviceToDevice;
  if (gpus.waits_to_copy(to, from, bytes, way)) waits_.wait_for(stream_of(stream));
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  const unsigned char* const here = way == direction::to_host ? source : target;
  by_parts(here, bytes, stream, [&](const unsigned char* part, std::size_t n, int, cudaStream_t s) {
    check(cudaMemcpyAsync(target + (part - here), source + (part - here), n, kind, s), "a copy", s);
  });
}
void cuda_mesh::set_zero(void* at, std::size_t bytes, int, void* stream) {
  by_parts(at, bytes, stream, [](void* part, std::size_t n, int, cudaStream_t s) {
    check(cudaMemsetAsync(part, 0, n, s), "a fill with zeros", s);
  });
}
void cuda_mesh::fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
                     void* stream) {
  const unsigned char zeros[16] = {};
  const std::size_t bytes = size * static_cast<std::size_t>(count);
  if (std::memcmp(value, zeros, size) == 0) return set_zero(at, bytes, index, stream);
  by_parts(at, bytes, stream, [&](void* part, std::size_t n, int gpu, cudaStream_t s) {
    fill_elements(part, value, size, static_cast<std::int64_t>(n / size), gpu, s);
  });
}

void cuda_mesh::part_ends(const void* address, std::size_t bytes, std::size_t* ends) const {
  std::fill_n(ends, members_.size(), 0);
  for (const mesh_memory::part& p : memory().parts(address, bytes))
    ends[p.member] =
        static_cast<std::size_t>(p.at + p.bytes - static_cast<const unsigned char*>(address));
  for (std::size_t m = 1; m < members_.size(); ++m) ends[m] = std::max(ends[m], ends[m - 1]);
}
std::size_t cuda_mesh::bytes_of_copy(std::size_t bytes) const { return memory().granules(bytes); }

namespace {

// Serializes cooperative kernels of all meshes: two of them, each with only some of its blocks
// running, would wait for each other forever.
struct cooperative_order {
  std::mutex mutex;
  mesh_stream* last = nullptr;
};
cooperative_order& order() {
  static cooperative_order& of_all = *new cooperative_order;
  return of_all;
}

}  // namespace

std::unique_lock<std::mutex> cuda_mesh::queue_cooperative(mesh_stream& on) {
  std::unique_lock lock(order().mutex);
  if (order().last != nullptr) on.wait_for(*order().last);
  order().last = &on;
  return lock;
}

void* cuda_mesh::allocate_pinned(std::size_t bytes, int) {
  return gpus.allocate_pinned(bytes, members_[0]);
}
void cuda_mesh::release_pinned(void* memory, int) noexcept {
  gpus.release_pinned(memory, members_[0]);
}
bool cuda_mesh::is_page_locked(const void* address) { return gpus.is_page_locked(address); }
std::optional<back_end::address_home> cuda_mesh::find_memory(const void* address) {
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr || !memory_->has(address)) return {};
  return address_home{0, false};
}
bool cuda_mesh::reaches_host_memory(const void* address, int) {
  return std::all_of(members_.begin(), members_.end(),
                     [&](int gpu) { return gpus.reaches_host_memory(address, gpu); });
}

void* cuda_mesh::create_stream(int) { return new mesh_stream(members_, false); }
void cuda_mesh::destroy_stream(int, void* stream) noexcept {
  auto* const ends = static_cast<mesh_stream*>(stream);
  waits_.forget(*ends);
  if (memory_ != nullptr) memory_->forget(*ends);
  {
    const std::lock_guard lock(order().mutex);
    if (order().last == ends) {
      ends->synchronize_quietly();
      order().last = nullptr;
    }
  }
  delete ends;
}
void cuda_mesh::synchronize(int, void* stream) {
  mesh_stream& waited_for = stream_of(stream);
  waits_.wait_for(waited_for);
  waited_for.synchronize();
  waits_.check();
  memory().trim();
}
void cuda_mesh::synchronize_quietly(int, void* stream) noexcept {
  try {
    stream_of(stream).synchronize_quietly();
  } catch (const error&) {  // a default stream that was never made
  }
}
void cuda_mesh::wait_for(int, void* stream, void* other) {
  stream_of(stream).wait_for(stream_of(other));
}

void* cuda_mesh::record_event(int, void* stream) { return new events(stream_of(stream).record()); }
void cuda_mesh::wait_for_event(void* event) {
  const events& all = *static_cast<events*>(event);
  waits_.wait_until_none([&] {
    std::vector<int> at_work;
    for (std::size_t m = 0; m < all.size(); ++m)
      if (!gpus.is_reached(all[m])) at_work.push_back(members_[m]);
    return at_work;
  });
  for (const cudaEvent_t each : all) check(cudaEventSynchronize(each), "waiting for a stream");
  waits_.check();
}
bool cuda_mesh::is_reached(void* event) {
  const events& all = *static_cast<events*>(event);
  return std::all_of(all.begin(), all.end(),
                     [](cudaEvent_t each) { return gpus.is_reached(each); });
}
void cuda_mesh::wait_for_event_on(int, void* stream, void* event) {
  stream_of(stream).wait_for(*static_cast<events*>(event));
}
void cuda_mesh::destroy_event(void* event) noexcept {
  for (const cudaEvent_t each : *static_cast<events*>(event)) cudaEventDestroy(each);
  delete static_cast<events*>(event);
}

}  // namespace dsl::detail

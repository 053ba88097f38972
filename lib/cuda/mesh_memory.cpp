#include "cuda/mesh_memory.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "cuda/back_end.hpp"

namespace dsl::detail::cuda {

namespace {

constexpr std::size_t alignment = 256;

CUmemAllocationProp memory_of(int gpu) {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu};
  return p;
}

std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

mesh_memory::mesh_memory(std::vector<int> members) : members_(std::move(members)) {
  for (const int gpu : members_) {
    const CUmemAllocationProp of = memory_of(gpu);
    std::size_t granule = 0;
    check(driver().granularity(&granule, &of, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "cuMemGetAllocationGranularity");
    granule_ = std::max(granule_, granule);
    least_memory_ = std::min(least_memory_, gpus.properties(gpu).memory);
  }
  cudaMemPoolProps of{};
  of.allocType = cudaMemAllocationTypePinned;
  of.location = {cudaMemLocationTypeDevice, members_[0]};
  DSL_CHECK(cudaMemPoolCreate(&small_, &of));
  std::vector<cudaMemAccessDesc> others;
  for (const int gpu : std::set<int>(members_.begin(), members_.end()))
    if (gpu != members_[0])
      others.push_back({{cudaMemLocationTypeDevice, gpu}, cudaMemAccessFlagsProtReadWrite});
  if (!others.empty()) DSL_CHECK(cudaMemPoolSetAccess(small_, others.data(), others.size()));
}

// A new range for an array of `bytes`. Two members' parts meet in the middle of the array; with
// more members, parts end at the granule nearest to an even division.
mesh_memory::range mesh_memory::divided(std::size_t bytes) const {
  const std::size_t n = members_.size(), first = bytes / n / alignment * alignment,
                    lead = up(first, granule_) - first;
  range r{};
  for (std::size_t m = 1; m < n; ++m)
    r.ends.push_back((lead + bytes / n * m + granule_ / 2) / granule_ * granule_);
  r.ends.push_back(up(lead + bytes, granule_));
  return r;
}

// The offset at which an array may begin in a range, if the range is suitable: its parts end within
// one granule of an even division, and little memory is unused.
std::optional<std::size_t> mesh_memory::lead_in(const range& r, std::size_t bytes) const {
  const std::size_t n = members_.size(), first = bytes / n / alignment * alignment;
  if (r.ends[0] < first || r.bytes() > bytes + bytes / 8 + 2 * granule_) return {};
  const std::size_t lead = r.ends[0] - first;
  if (lead + bytes > r.bytes()) return {};
  for (std::size_t m = 1; m < n; ++m) {
    const std::size_t end = lead + bytes / n * m;
    if (std::max(end, r.ends[m - 1]) - std::min(end, r.ends[m - 1]) > granule_) return {};
  }
  return lead;
}

// False if a member has too little memory.
bool mesh_memory::map(range& r) const {
  const driver_functions& call = driver();
  check(call.reserve(&r.low, r.bytes(), 0, 0, 0), "cuMemAddressReserve");
  std::size_t mapped = 0;
  CUresult status = CUDA_SUCCESS;
  for (std::size_t m = 0; m < members_.size() && status == CUDA_SUCCESS; ++m) {
    const CUmemAllocationProp of = memory_of(members_[m]);
    const std::size_t bytes = r.ends[m] - mapped;
    CUmemGenericAllocationHandle part{};
    if (bytes == 0) continue;
    if (status = call.create(&part, bytes, &of, 0); status != CUDA_SUCCESS) break;
    if (status = call.map(r.low + mapped, bytes, 0, part, 0); status == CUDA_SUCCESS)
      mapped += bytes;
    call.release(part);  // the mapping keeps the memory
  }
  if (status == CUDA_SUCCESS) {
    std::vector<CUmemAccessDesc> all;
    for (const int gpu : std::set<int>(members_.begin(), members_.end()))
      all.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, gpu}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    status = call.set_access(r.low, r.bytes(), all.data(), all.size());
  }
  if (status == CUDA_SUCCESS) return true;
  if (mapped > 0) call.unmap(r.low, mapped);
  call.free_addresses(r.low, r.bytes());
  if (status != CUDA_ERROR_OUT_OF_MEMORY) check(status, "mapping memory of several GPUs");
  return false;
}

void mesh_memory::unmap(const range& r) const noexcept {
  driver().unmap(r.low, r.bytes());
  driver().free_addresses(r.low, r.bytes());
}

bool mesh_memory::has_ended(const range& r) {
  if (r.freed_on == nullptr) return true;
  const std::vector<std::uint64_t> ended = r.freed_on->ended();
  for (std::size_t m = 0; m < ended.size(); ++m)
    if (ended[m] < r.freed_at[m]) return false;
  return true;
}

void* mesh_memory::allocate(std::size_t bytes, mesh_stream& on) {
  if (bytes < members_.size() * granule_) return allocate_small(bytes, on);
  if (bytes / members_.size() > least_memory_) return nullptr;
  const std::lock_guard lock(mutex_);
  // The smallest suitable range; among equal ones, one that was freed on this stream.
  auto best = free_.end();
  for (auto r = free_.begin(); r != free_.end(); ++r) {
    if (!lead_in(*r, bytes)) continue;
    const auto rank = [&](const range& each) {
      return std::pair(each.bytes(), each.freed_on != &on);
    };
    if (best == free_.end() || rank(*r) < rank(*best)) best = r;
  }
  range taken{};
  if (best != free_.end()) {
    if (best->freed_on == &on) on.count_all_as_foreign();
    else if (!has_ended(*best)) on.wait_for(*best->freed_on);
    taken = std::move(*best);
    free_.erase(best);
  } else {
    taken = divided(bytes);
    if (!map(taken)) return nullptr;
    kept_ += taken.bytes();
  }
  taken.used = bytes;
  const std::uintptr_t at = static_cast<std::uintptr_t>(taken.low) + *lead_in(taken, bytes);
  used_.emplace(at, std::move(taken));
  return reinterpret_cast<void*>(at);
}

// On the first member's stream: uses of the memory, and its next allocation, are queued after it.
void* mesh_memory::allocate_small(std::size_t bytes, mesh_stream& on) {
  void* memory = nullptr;
  on.queue(1, touches::others, [&](int, cudaStream_t stream) {
    const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, small_, stream);
    if (status == cudaErrorMemoryAllocation) cudaGetLastError();
    else check(status, "cudaMallocFromPoolAsync", stream);
  });
  const std::lock_guard lock(mutex_);
  if (memory != nullptr) small_used_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  return memory;
}

void mesh_memory::release(void* memory, mesh_stream& on) {
  const std::lock_guard lock(mutex_);
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto found = used_.find(at);
  if (found == used_.end()) {
    small_used_.erase(at);
    return on.queue(1, touches::others,
                    [&](int, cudaStream_t stream) { cudaFreeAsync(memory, stream); });
  }
  range& r = found->second;
  r.used = 0;
  r.freed_on = &on;
  r.freed_at = on.queued();
  free_.push_back(std::move(r));
  used_.erase(found);
}

void mesh_memory::forget(mesh_stream& ends) noexcept {
  const std::lock_guard lock(mutex_);
  for (range& r : free_) {
    if (r.freed_on != &ends) continue;
    if (!has_ended(r)) ends.synchronize_quietly();
    r.freed_on = nullptr;
  }
}

// Memory outside the ranges belongs to the first member.
std::vector<mesh_memory::part> mesh_memory::parts(const void* address, std::size_t bytes) const {
  auto* const begin = static_cast<unsigned char*>(const_cast<void*>(address));
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto found = used_.upper_bound(at);
  if (found == used_.begin() || at >= (--found)->first + found->second.used)
    return {{0, begin, bytes}};
  const range& r = found->second;
  const std::size_t first = at - static_cast<std::uintptr_t>(r.low);
  std::vector<part> all;
  std::size_t done = 0;
  for (std::size_t m = 0; m < r.ends.size(); ++m) {
    const std::size_t end = std::min(bytes, std::max(r.ends[m], first) - first);
    if (end > done) all.push_back({static_cast<int>(m), begin + done, end - done});
    done = std::max(done, end);
  }
  return all;
}

bool mesh_memory::has(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto is_in = [at](const auto& all, const auto& bytes_of) {
    const auto behind = all.upper_bound(at);
    return behind != all.begin() &&
           at - std::prev(behind)->first < bytes_of(std::prev(behind)->second);
  };
  return is_in(used_, [](const range& r) { return r.used; }) ||
         is_in(small_used_, [](std::size_t bytes) { return bytes; });
}

memory_usage mesh_memory::usage() const {
  std::uint64_t used = 0, reserved = 0;
  DSL_CHECK(cudaMemPoolGetAttribute(small_, cudaMemPoolAttrUsedMemCurrent, &used));
  DSL_CHECK(cudaMemPoolGetAttribute(small_, cudaMemPoolAttrReservedMemCurrent, &reserved));
  const std::lock_guard lock(mutex_);
  for (const auto& each : used_) used += each.second.used;
  memory_usage m{};
  m.used = used;
  m.reserved = reserved + kept_;
  return m;
}

void mesh_memory::give_back() {
  std::list<range> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(free_);
    for (const range& r : idle) kept_ -= r.bytes();
  }
  for (const int gpu : members_) {
    const current_device on(gpu);
    check(cudaDeviceSynchronize(), "waiting for a device");
    forget_launches(gpu);
  }
  for (const range& r : idle) unmap(r);
  DSL_CHECK(cudaMemPoolTrimTo(small_, 0));
}

void mesh_memory::set_release_threshold(std::size_t bytes) {
  std::uint64_t most = bytes;
  DSL_CHECK(cudaMemPoolSetAttribute(small_, cudaMemPoolAttrReleaseThreshold, &most));
  const std::lock_guard lock(mutex_);
  threshold_ = bytes;
}

void mesh_memory::trim() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto r = free_.begin(); r != free_.end() && kept_ > threshold_;) {
    if (!has_ended(*r)) {
      ++r;
      continue;
    }
    unmap(*r);
    kept_ -= r->bytes();
    r = free_.erase(r);
  }
}

}  // namespace dsl::detail::cuda

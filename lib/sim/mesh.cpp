#include "sim/mesh.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "exec/plan/text.hpp"

namespace dsl::detail {

std::size_t sim_mesh::part_end(std::size_t bytes, std::size_t member, std::size_t members) {
  if (bytes < members * granule || member + 1 == members) return bytes;
  return (bytes / members * (member + 1) + granule / 2) / granule * granule;
}

sim_mesh::sim_mesh(std::span<const int> members, const device_properties& one,
                   kernel_services* kernels)
    : machine_memory("sim", kernels, backend::sim),
      members_(members.begin(), members.end()),
      properties_(one) {
  const auto count = static_cast<int>(members.size());
  std::snprintf(properties_.name, sizeof properties_.name, "%d x %.200s", count, one.name);
  properties_.multiprocessors *= count;
}

std::map<std::uintptr_t, sim_mesh::allocation>::const_iterator sim_mesh::find(
    std::uintptr_t at) const {
  const auto behind = allocations_.upper_bound(at);
  if (behind == allocations_.begin()) return allocations_.end();
  const auto found = std::prev(behind);
  return at - found->first < found->second.bytes ? found : allocations_.end();
}

// Memory that is not the library's belongs to the first member.
void sim_mesh::part_ends(const void* address, std::size_t bytes, std::size_t* ends) const {
  const std::size_t count = members_.size();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto whole = find(at);
  for (std::size_t m = 0; m < count; ++m) {
    ends[m] = bytes;
    if (whole == allocations_.end()) continue;
    const std::size_t end = whole->first + part_end(whole->second.bytes, m, count);
    ends[m] = std::min(bytes, end - std::min<std::size_t>(at, end));
  }
}

// Memory starts with the same contents as that of one simulated GPU.
void* sim_mesh::allocate(std::size_t bytes, int index, void* stream) {
  void* const memory = machine_memory::allocate(bytes, index, stream);
  std::memset(memory, 0xff, bytes);
  const std::lock_guard lock(mutex_);
  allocations_[reinterpret_cast<std::uintptr_t>(memory)] = {
      bytes, std::vector<touched_bytes>(members_.size())};
  return memory;
}
void sim_mesh::release(void* memory, int index, void* stream) noexcept {
  {
    const std::lock_guard lock(mutex_);
    allocations_.erase(reinterpret_cast<std::uintptr_t>(memory));
  }
  machine_memory::release(memory, index, stream);
}

void sim_mesh::join() {
  const std::lock_guard lock(mutex_);
  for (auto& [at, each] : allocations_)
    std::fill(each.touched.begin(), each.touched.end(), touched_bytes{});
}

void sim_mesh::copy(void* to, const void* from, std::size_t bytes, direction way, int index,
                    void* stream) {
  join();
  machine_memory::copy(to, from, bytes, way, index, stream);
}
void sim_mesh::set_zero(void* at, std::size_t bytes, int index, void* stream) {
  join();
  machine_memory::set_zero(at, bytes, index, stream);
}
void sim_mesh::fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
                    void* stream) {
  join();
  machine_memory::fill(at, value, size, count, index, stream);
}

void sim_mesh::run(const simulated_launch& launch, bool is_local) {
  const std::vector<touched_memory> now = simulate(launch);
  if (!is_local) return join();
  const std::lock_guard lock(mutex_);
  for (const touched_memory& each : now) {
    const auto found = allocations_.find(each.begin);
    if (found == allocations_.end()) continue;
    std::vector<touched_bytes>& all = found->second.touched;
    for (std::size_t m = 0; m < all.size(); ++m) {
      const touched_bytes& mine = each.by[m];
      for (std::size_t other = 0; other < all.size(); ++other) {
        const touched_bytes& theirs = all[other];
        const bool writes =
            mine.written.overlaps(theirs.written) || mine.written.overlaps(theirs.read);
        if (other != m && (writes || mine.read.overlaps(theirs.written)))
          raise<memory_error>(
              "a race between devices of " + spell(0) + ": number " + std::to_string(m) +
              (writes ? " writes what number " : " reads what number ") + std::to_string(other) +
              " has " + (mine.written.overlaps(theirs.read) ? "read" : "written") +
              ", and does not wait for it, in " + spell_kernel(launch.name) +
              (launch.pass != nullptr ? ": " + spell_pass(*launch.pass, launch.operands) : ""));
      }
    }
    for (std::size_t m = 0; m < all.size(); ++m) {
      all[m].read.add(each.by[m].read);
      all[m].written.add(each.by[m].written);
    }
  }
}

}  // namespace dsl::detail

#include "opencl/memory_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "mem/text.hpp"
#include "opencl/device.hpp"

namespace dsl::detail::opencl {

namespace {

std::string spell(std::size_t bytes) { return spell_bytes(static_cast<double>(bytes)); }

// Sizes are rounded up by an eighth at most, so that memory of similar sizes is taken again.
std::size_t rounded_up(std::size_t bytes) {
  const std::size_t unit = std::max<std::size_t>(256, std::bit_floor(bytes) / 8);
  return (bytes + unit - 1) / unit * unit;
}

bool is_lack_of_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY;
}

}  // namespace

// A page more than was asked for: the address behind the last byte belongs to no other memory.
reserved_addresses::reserved_addresses(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = (bytes + page - 1) / page * page + page;
  void* const begin =
      mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    raise<memory_error>("there are no addresses left for " + spell(bytes) + " of a device");
  begin_ = static_cast<std::byte*>(begin);
}
reserved_addresses::reserved_addresses(reserved_addresses&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_) {}
reserved_addresses& reserved_addresses::operator=(reserved_addresses&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
reserved_addresses::~reserved_addresses() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

void* memory_pool::allocate(std::size_t bytes, cl_command_queue on) {
  const std::size_t rounded = rounded_up(bytes);
  const std::lock_guard lock(mutex_);
  std::optional<block> taken = take_free(rounded, on);
  if (!taken) taken = create(rounded);
  if (!taken) {  // memory that was freed is there again once its work has ended
    trim(0);
    device_.finish();
    taken = create(rounded);
  }
  if (!taken) throw_full(bytes);
  std::byte* const begin = taken->addresses.begin();
  used_bytes_ += rounded;
  used_.emplace(begin, std::move(*taken));
  return begin;
}

std::optional<memory_pool::block> memory_pool::take_free(std::size_t bytes, cl_command_queue on) {
  const auto found = free_.find(bytes);
  if (found == free_.end()) return {};
  std::vector<block>& all = found->second;
  const auto own = std::find_if(all.rbegin(), all.rend(),
                                [on](const block& each) { return each.freed_on == on; });
  const auto chosen = own != all.rend() ? std::prev(own.base()) : all.begin();
  if (chosen->freed_on != on) device_.order(on, chosen->freed_on);
  block taken = std::move(*chosen);
  all.erase(chosen);
  if (all.empty()) free_.erase(found);
  driver().clReleaseCommandQueue(std::exchange(taken.freed_on, nullptr));
  return taken;
}

std::optional<memory_pool::block> memory_pool::create(std::size_t bytes) {
  if (bytes > device_.largest_allocation ||
      bytes > device_.properties.memory - std::min(device_.properties.memory, reserved_bytes_))
    return {};
  reserved_addresses addresses(bytes);
  cl_int status = CL_SUCCESS;
  const cl_mem memory =
      driver().clCreateBuffer(device_.context(), CL_MEM_READ_WRITE, bytes, nullptr, &status);
  if (is_lack_of_memory(status)) return {};
  device_.check(status, "clCreateBuffer", [bytes] { return "an allocation of " + spell(bytes); });
  reserved_bytes_ += bytes;
  return block{std::move(addresses), bytes, memory};
}

void memory_pool::drop(block& unused) noexcept {
  driver().clReleaseMemObject(unused.memory);
  if (unused.freed_on != nullptr) driver().clReleaseCommandQueue(unused.freed_on);
  reserved_bytes_ -= unused.bytes;
}

// The largest blocks first.
void memory_pool::trim(std::size_t most) noexcept {
  while (reserved_bytes_ > most && !free_.empty()) {
    const auto largest = std::prev(free_.end());
    drop(largest->second.back());
    largest->second.pop_back();
    if (largest->second.empty()) free_.erase(largest);
  }
}

void memory_pool::release(void* memory, cl_command_queue on) noexcept {
  const std::lock_guard lock(mutex_);
  auto freed = used_.extract(static_cast<const std::byte*>(memory));
  block& of = freed.mapped();
  used_bytes_ -= of.bytes;
  // Memory of a queue that is lost is not used again.
  if (driver().clRetainCommandQueue(on) != CL_SUCCESS) return drop(of);
  of.freed_on = on;
  std::vector<block>& all = free_[of.bytes];
  all.push_back(std::move(of));
  trim(threshold_);
}

std::optional<memory_place> memory_pool::find(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex_);
  const auto behind = used_.upper_bound(at);
  if (behind == used_.begin()) return {};
  const auto& [begin, of] = *std::prev(behind);
  const auto offset = static_cast<std::size_t>(at - begin);
  return offset < of.bytes ? std::optional(memory_place{of.memory, offset}) : std::nullopt;
}

memory_usage memory_pool::usage() const {
  const std::lock_guard lock(mutex_);
  const std::size_t total = device_.properties.memory;
  return {used_bytes_, reserved_bytes_, total - std::min(total, reserved_bytes_), total};
}

void memory_pool::give_back() {
  const std::lock_guard lock(mutex_);
  trim(0);
}

void memory_pool::set_release_threshold(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  threshold_ = bytes;
  trim(threshold_);
}

void memory_pool::throw_full(std::size_t bytes) const {
  raise<memory_error>("out of memory on " + device_.name() + ": asked for " + spell(bytes) +
                      "; of " + spell(device_.properties.memory) + " this program uses " +
                      spell(used_bytes_) + ", and one allocation has at most " +
                      spell(device_.largest_allocation));
}

}  // namespace dsl::detail::opencl

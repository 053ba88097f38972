// Memory that the library does not own.
#include <dsl/mem/foreign.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "mem/buffer.hpp"
#include "mem/mesh.hpp"
#include "mem/text.hpp"

namespace dsl {

namespace detail {

namespace {

struct found_memory {
  device where;
  bool is_managed;
};
// Memory of a mesh belongs to its members as well; meshes are searched first.
std::optional<found_memory> find_memory(const void* address) {
  for (const device mesh : known_meshes())
    if (const auto home = back_end::of(mesh).find_memory(address))
      return found_memory{mesh, home->is_managed};
  for (back_end* const each : back_end::all())
    if (const auto home = each->find_memory(address))
      return found_memory{{each->kind(), home->index}, home->is_managed};
  return {};
}

void require_reach(const void* address, device where) {
  back_end& on = back_end::of(where);
  const bool in_host_memory = on.traits.is_in_host_memory;
  const auto found = find_memory(address);
  if (!found ? in_host_memory || on.reaches_host_memory(address, where.index)
             : found->where == where ||
                   (found->is_managed && (in_host_memory || found->where.kind == where.kind)))
    return;
  raise<device_error>("memory of " + (found ? std::string(found->where.name()) : "the host") +
                      " cannot be used on " + std::string(where.name()) +
                      ": copy it, or have the view where the memory is");
}

// The bytes from the lowest address of any element to the end of the highest. `begin`: offset of
// the lowest address from the first element, not positive.
struct span { std::int64_t begin, bytes; };
span span_of(const mapping& m, std::size_t size) {
  span s{0, static_cast<std::int64_t>(size)};
  bool fits = true;
  for (int d = 0; d < m.rank; ++d) {
    std::int64_t reach = 0;
    fits = fits && !__builtin_mul_overflow(m.extents[d] - 1, m.strides[d], &reach) &&
           !__builtin_mul_overflow(reach, static_cast<std::int64_t>(size), &reach) &&
           reach > -(std::int64_t{1} << 62) &&
           !__builtin_add_overflow(s.bytes, std::abs(reach), &s.bytes);
    if (fits && reach < 0) s.begin += reach;
  }
  if (!fits) raise<shape_error>("a view whose strides reach farther than 2^63 bytes");
  return s;
}

// Whether no two elements share an address: ordered by size, each stride exceeds the reach of the
// smaller ones.
bool are_places_distinct(const mapping& m) {
  std::array<int, max_rank> order{};
  std::size_t rank = 0;
  for (int d = 0; d < m.rank; ++d) {
    if (m.extents[d] <= 1) continue;
    std::size_t at = rank++;
    for (; at > 0 && std::abs(m.strides[order[at - 1]]) > std::abs(m.strides[d]); --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  std::int64_t reach = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t step = std::abs(m.strides[order[i]]);
    if (step <= reach) return false;
    reach += (m.extents[order[i]] - 1) * step;
  }
  return true;
}

// The existing views of foreign memory, by address, on devices that queue work.
class registry {
 public:
  void add(const buffer& b) {
    const std::lock_guard lock(mutex_);
    largest_ = std::max(largest_, b.bytes);
    by_address_.emplace(begin_of(b), &b);
  }
  void remove(const buffer& b) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_address_.equal_range(begin_of(b));
    const auto mine =
        std::find_if(first, last, [&](const auto& each) { return each.second == &b; });
    if (mine != last) by_address_.erase(mine);
  }
  template <class Visit>
  void visit_overlapping(const buffer& b, const Visit& visit) {
    const std::lock_guard lock(mutex_);
    const std::uintptr_t begin = begin_of(b), end = begin + b.bytes;
    for (auto at = by_address_.lower_bound(begin - std::min(begin, largest_));
         at != by_address_.end() && at->first < end; ++at)
      if (at->second != &b && at->second->where == b.where && at->first + at->second->bytes > begin)
        visit(const_cast<buffer&>(*at->second));
  }

 private:
  static std::uintptr_t begin_of(const buffer& b) {
    return reinterpret_cast<std::uintptr_t>(b.data);
  }
  std::mutex mutex_;
  std::multimap<std::uintptr_t, const buffer*> by_address_;
  // The most bytes of any buffer so far.
  std::size_t largest_ = 0;
};
// Never destroyed: views may outlive everything else.
registry& foreign_views() {
  static registry& all = *new registry;
  return all;
}

}  // namespace

void throw_no_strides() { raise<shape_error>("a view of an mdspan whose mapping has no strides"); }

buffer_ref borrow(const void* first, const mapping& elements, std::size_t size, const device* where,
                  bool is_written, keeper&& kept, address_check how) {
  const bool is_empty = element_count(elements.extents, elements.rank, static_cast<int>(size)) == 0;
  if (first == nullptr && !is_empty) raise<memory_error>("a view of memory at a null pointer");
  if (reinterpret_cast<std::uintptr_t>(first) % size != 0)
    raise<memory_error>("a view of memory at an address that is no multiple of " +
                        std::to_string(size) + ", the bytes of an element");
  const span bytes = is_empty ? span{0, 0} : span_of(elements, size);
  if (is_written && !is_empty && !are_places_distinct(elements))
    raise<shape_error>(
        "a view whose strides bring elements to the same place; make it a view of const elements, "
        "to read");
  const device home = where != nullptr ? *where : device_of(first);
  stream_state& now = stream_state::of(stream::current(home));
  if (where != nullptr && !is_empty && how == address_check::looked_up) require_reach(first, home);
  auto* const data = static_cast<unsigned char*>(const_cast<void*>(first)) + bytes.begin;
  auto* const made = new buffer{home, data, static_cast<std::size_t>(bytes.bytes), &now, &now};
  // As home and as the first writer.
  now.retain();
  now.retain();
  made->is_foreign = true;
  made->kept = std::move(kept);
  buffer_ref ref(made);
  if (now.on.traits.is_asynchronous && !is_empty) foreign_views().add(*made);
  return ref;
}

void use_overlapping(const buffer& memory, stream_state& on, bool writes) {
  foreign_views().visit_overlapping(memory, [&](buffer& other) {
    const std::lock_guard lock(other.mutex);
    if (other.writer != &on) on.wait_for(*other.writer);
    if (!writes) return;
    for (stream_state* reader : other.readers)
      if (reader != &on) on.wait_for(*reader);
  });
}

void forget_foreign(const buffer& memory) noexcept {
  if (back_end::of(memory.where).traits.is_asynchronous) foreign_views().remove(memory);
}

}  // namespace detail

device device_of(const void* address) {
  if (address != nullptr)
    if (const auto found = detail::find_memory(address)) return found->where;
  const device now = device::current();
  return detail::back_end::of(now).traits.is_in_host_memory ? now : device(backend::host);
}

}  // namespace dsl

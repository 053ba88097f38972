#include "mem/back_end.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "mem/buffer.hpp"
#include "mem/mesh.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

std::vector<back_end*> back_end::all() {
  std::vector<back_end*> there;
  for (const auto& each : table)
    if (back_end* const b = each.load(std::memory_order_acquire); b != nullptr) there.push_back(b);
  return there;
}

void back_end::add(back_end& made) {
  for (std::size_t k = 0; k < max_kinds; ++k) {
    back_end* free = nullptr;
    made.kind_ = static_cast<backend>(k);
    if (table[k].compare_exchange_strong(free, &made)) return;
  }
  raise<device_error>(std::string("there is no room for \"") + made.traits.name +
                      "\" among the kinds of devices");
}

std::optional<int> back_end::find(std::string_view wanted) {
  const std::string_view name = traits.name;
  if (wanted == name) return 0;
  if (!wanted.starts_with(name) || wanted[name.size()] != ':') return {};
  const auto listed = parse_members(wanted.substr(name.size() + 1), device_count());
  if (!listed) return {};
  if (listed->size() == 1)
    return traits.is_numbered ? std::optional(listed->front()) : std::nullopt;
  for (std::size_t i = 0; i < listed->size(); ++i)
    if (std::count(listed->begin(), listed->end(), (*listed)[i]) > 1)
      raise<device_error>("the mesh \"" + std::string(wanted) + "\" has device " +
                          std::to_string((*listed)[i]) + " twice");
  return mesh_of(*this, *listed);
}

std::string back_end::spell(int index) const {
  std::string name = traits.name;
  if (!members().empty()) name.append(":").append(spell_members(members()));
  else if (traits.is_numbered) name.append(":").append(std::to_string(index));
  return name;
}

void* back_end::allocate_pinned(std::size_t bytes, int) { return host_bytes(1, bytes).release(); }
void back_end::release_pinned(void* memory, int) noexcept { std::free(memory); }

stream_state& back_end::default_stream(int index) {
  std::atomic<stream_state*>& place = default_streams_[index < max_devices ? index : 0];
  if (stream_state* const made = place.load(std::memory_order_acquire)) return *made;
  auto* const made = new stream_state(*this, index, true);
  stream_state* first = nullptr;
  if (place.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *first;
}

void require_addressable(device where, const char* operation) {
  const bool known =
      where.kind == backend::cuda || where.kind == backend::host || where.kind == backend::sim;
  if (known && !(where.kind == backend::cuda && back_end::is_mesh(where)) &&
      back_end::of(where).processes() == nullptr)
    return;
  raise<device_error>(std::string(operation) + " does not run on " + where.name().c_str() +
                      ": on one GPU, the host and the simulator; copy the arrays to one of them");
}

}  // namespace dsl::detail

#include "mem/back_end.hpp"

#include <cstdlib>
#include <mutex>
#include <vector>

#include "mem/buffer.hpp"
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
  raise<device_error>(std::string("there is no room for \"") + made.traits.name + "\" among the kinds of devices");
}

std::optional<int> back_end::find(std::string_view wanted) {
  const std::string_view name = traits.name;
  if (wanted == name) return 0;
  if (!traits.is_numbered || !wanted.starts_with(name)) return {};
  const std::string number(wanted.substr(name.size()));
  const bool is_number =
      number.size() > 1 && number.size() < 5 && number[0] == ':' && number.find_first_not_of("0123456789", 1) == number.npos;
  return is_number ? std::optional(std::atoi(number.c_str() + 1)) : std::nullopt;
}

std::string back_end::spell(int index) const {
  std::string name = traits.name;
  if (traits.is_numbered) name.append(":").append(std::to_string(index));
  return name;
}

void* back_end::allocate_pinned(std::size_t bytes, int) { return host_bytes(1, bytes).release(); }
void back_end::release_pinned(void* memory, int) noexcept { std::free(memory); }

stream_state& back_end::default_stream(int index) {
  std::atomic<stream_state*>& place = default_streams_[index];
  if (stream_state* const made = place.load(std::memory_order_acquire)) return *made;
  auto* const made = new stream_state(*this, index, true);
  stream_state* first = nullptr;
  if (place.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *first;
}

}  // namespace dsl::detail

#include "mem/mesh.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "mem/text.hpp"

namespace dsl::detail {

namespace {

constexpr int max_meshes = 256;
std::atomic<back_end*> meshes[max_meshes];
std::mutex mutex;  // held by writers
int mesh_count = 0;

int append(back_end& made) {
  if (mesh_count == max_meshes)
    raise<device_error>("there are " + std::to_string(max_meshes) +
                        " meshes, and no room for another");
  meshes[mesh_count].store(&made, std::memory_order_release);
  return back_end::max_devices + mesh_count++;
}

// Takes a number of at most three digits from the front.
std::optional<int> take_number(std::string_view& from) {
  const std::string digits(from.substr(0, from.find_first_not_of("0123456789")));
  if (digits.empty() || digits.size() > 3) return {};
  from.remove_prefix(digits.size());
  return std::stoi(digits);
}

}  // namespace

std::optional<std::vector<int>> parse_members(std::string_view list, int count) {
  std::vector<int> members;
  if (list == "all") {
    members.resize(static_cast<std::size_t>(std::max(count, 1)));
    std::iota(members.begin(), members.end(), 0);
    return members;
  }
  for (;;) {
    const std::optional<int> first = take_number(list);
    std::optional<int> last = first;
    if (first && list.starts_with('-')) {
      list.remove_prefix(1);
      last = take_number(list);
    }
    if (!first || !last || *last < *first || *last >= back_end::max_devices) return {};
    for (int m = *first; m <= *last; ++m) members.push_back(m);
    if (list.empty()) return members;
    if (!list.starts_with(',')) return {};
    list.remove_prefix(1);
  }
}

std::string spell_members(std::span<const int> members) {
  std::string list;
  for (std::size_t i = 0; i < members.size();) {
    std::size_t end = i + 1;
    while (end < members.size() && members[end] == members[end - 1] + 1) ++end;
    list.append(i > 0 ? "," : "").append(std::to_string(members[i]));
    if (end - i > 1) list.append("-").append(std::to_string(members[end - 1]));
    i = end;
  }
  return list;
}

std::optional<int> mesh_of(back_end& kind, std::span<const int> members) {
  const std::lock_guard lock(mutex);
  for (int i = 0; i < mesh_count; ++i) {
    const back_end& mesh = *meshes[i].load(std::memory_order_relaxed);
    if (mesh.kind() == kind.kind() && std::ranges::equal(mesh.members(), members))
      return back_end::max_devices + i;
  }
  back_end* const made = kind.make_mesh(members);
  return made == nullptr ? std::nullopt : std::optional(append(*made));
}

int add_mesh(back_end& made) {
  const std::lock_guard lock(mutex);
  return append(made);
}

std::vector<device> known_meshes() {
  std::vector<device> known;
  for (int i = 0; i < max_meshes; ++i) {
    const back_end* const mesh = meshes[i].load(std::memory_order_acquire);
    if (mesh == nullptr) break;
    known.emplace_back(mesh->kind(), back_end::max_devices + i);
  }
  return known;
}

// A number that no name has received is that of a device that does not exist.
back_end& back_end::of_mesh(device where) noexcept {
  const int i = where.index - max_devices;
  back_end* const mesh = i < max_meshes ? meshes[i].load(std::memory_order_acquire) : nullptr;
  return mesh != nullptr && mesh->kind() == where.kind ? *mesh : of(where.kind);
}

}  // namespace dsl::detail

#include "exec/run/shares.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/run/grid_executor.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

/// The member that has all of some memory, if there is one.
std::optional<int> member_with(const back_end& mesh, const void* at, std::size_t bytes) {
  std::vector<std::size_t> ends(mesh.members().size());
  mesh.part_ends(at, bytes, ends.data());
  const auto first = std::upper_bound(ends.begin(), ends.end(), std::size_t{0});
  if (first == ends.end() || *first < bytes) return {};
  return static_cast<int>(first - ends.begin());
}
std::optional<int> member_with(const back_end& mesh, const buffer& memory) {
  return member_with(mesh, memory.data, memory.bytes);
}

/// Whether a launch uses only a member's own memory.
bool is_at_home(const kernel_launch& k, const back_end& mesh, int member) {
  for (int i = 0; i < k.inputs + k.outputs; ++i)
    if (const buffer* const b = k.operands[i].memory; b != nullptr)
      if (b->is_foreign || member_with(mesh, *b) != member) return false;
  return std::all_of(k.others, k.others + k.other_count, [&](const memory_range& r) {
    return member_with(mesh, r.begin, r.bytes) == member;
  });
}

/// Whether a launch uses only whole arrays, and each block only the elements at its place.
bool is_map_of_arrays(const kernel_launch& k, const back_end& mesh) {
  if (k.elements_a_block == 0 || mesh.elements_between_cuts() % k.elements_a_block != 0 ||
      k.other_count > 0)
    return false;
  return std::all_of(k.operands, k.operands + k.inputs + k.outputs, [&](const operand& o) {
    if (o.memory == nullptr) return true;
    const std::size_t bytes =
        static_cast<std::size_t>(k.elements) * static_cast<std::size_t>(size_of(o.type));
    return o.kind == operand_kind::array && !o.memory->is_foreign &&
           o.word[0] == reinterpret_cast<std::uintptr_t>(o.memory->data) &&
           o.memory->bytes == bytes && !member_with(mesh, *o.memory);
  });
}

}  // namespace

std::optional<int> sole_member(const back_end& mesh, const operand* operands, int count) {
  const buffer* largest = nullptr;
  for (const operand* o = operands; o != operands + count; ++o)
    if (o->memory != nullptr && (largest == nullptr || o->memory->bytes > largest->bytes))
      largest = o->memory;
  return largest != nullptr ? member_with(mesh, *largest) : 0;
}

int members_for(device where, const operand* operands, int count) {
  const back_end& mesh = back_end::of(where);
  const auto members = static_cast<int>(mesh.members().size());
  return members > 0 && sole_member(mesh, operands, count) ? 1 : members;
}

const device_properties& properties_for(device where, const operand* operands, int count) {
  back_end& mesh = back_end::of(where);
  if (mesh.members().empty()) return properties(where);
  const std::optional<int> member = sole_member(mesh, operands, count);
  if (!member) return properties(where);
  return back_end::of(where.kind).properties(mesh.members()[static_cast<std::size_t>(*member)]);
}

grid_shares shares_of(const kernel_launch& k, const back_end& mesh) {
  const auto members = static_cast<std::int64_t>(mesh.members().size());
  grid_shares shares{std::vector<std::int64_t>(mesh.members().size(), k.grid), false};
  if (const std::optional<int> member = sole_member(mesh, k.operands, k.inputs + k.outputs)) {
    std::fill_n(shares.ends.begin(), *member, 0);
    shares.is_local = is_at_home(k, mesh, *member);
    return shares;
  }
  if (k.member_ends != nullptr) return {*k.member_ends, false};
  shares.is_local = is_map_of_arrays(k, mesh);
  const std::int64_t together = k.cluster * k.blocks_together, clusters = k.grid / together,
                     step = mesh.elements_between_cuts();
  for (std::int64_t m = 1; m < members; ++m)
    shares.ends[static_cast<std::size_t>(m - 1)] =
        shares.is_local ? std::min(k.grid, (k.elements * m / members + step / 2) / step * step /
                                               k.elements_a_block)
                        : pieces(clusters * m, members) * together;
  return shares;
}

}  // namespace dsl::detail

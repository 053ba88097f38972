#include "exec/stencil/halos.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "exec/plan/layout.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

constexpr int axes = halo_tile::axes;

bool has_reach(const found_halos::array& a) {
  return std::any_of(a.reach, a.reach + axes, [](std::int64_t n) { return n > 0; });
}

class halo_finder {
 public:
  halo_finder(found_halos& to, const geometry& g, const operand* all, int inputs, int count,
              const pass_traits& pass)
      : to_(to),
        g_(g),
        all_(all),
        inputs_(inputs),
        count_(count),
        pass_(pass),
        program_(pass.view.elements) {}

  bool find() {
    const bool found = pass_.view.neighbours.nodes > 0 ? find_neighbours() : find_slices();
    return found && to_.count > 0 && are_near() && are_all_found();
  }

 private:
  static constexpr std::int64_t farthest[axes] = {32, 16, 4};

  std::int64_t stride(int k, int axis) const {
    return axis < g_.rank ? g_.layouts[k].strides[g_.rank - 1 - axis] : 0;
  }
  std::int64_t extent(int axis) const {
    return axis < g_.rank ? g_.extents[g_.rank - 1 - axis] : 1;
  }
  std::int64_t size(int k) const { return size_of(all_[k].type); }

  // Adds an array whose first operand is k. Returns -1 if there is no room, or if the array's
  // strides are negative or too large.
  int add(int k) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 31;
    if (to_.count == halo_tiles::most) return -1;
    found_halos::array& a = to_.arrays[to_.count];
    a = {};
    a.tile.size = static_cast<std::int32_t>(size(k));
    a.tile.word = all_[k].word[0];
    a.tile.operand = k;
    std::uint32_t* const bytes[] = {&a.tile.element_bytes, &a.tile.row_bytes, &a.tile.plane_bytes};
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t apart = stride(k, axis) * a.tile.size;
      if (apart < 0 || apart >= most_bytes) return -1;
      *bytes[axis] = static_cast<std::uint32_t>(apart);
      a.tile.extents[axis] = extent(axis);
    }
    return to_.count++;
  }
  // Extends an array's halo to include displacement `at`.
  void widen(found_halos::array& a, const std::int64_t (&at)[axes]) {
    for (int axis = 0; axis < axes; ++axis) {
      const auto before =
          static_cast<std::int32_t>(std::min<std::int64_t>(at[axis], a.tile.first[axis]));
      a.reach[axis] = std::max(at[axis], a.tile.first[axis] + a.reach[axis]) - before;
      a.tile.first[axis] = before;
    }
  }
  bool are_near() const {
    for (int i = 0; i < to_.count; ++i)
      for (int axis = 0; axis < axes; ++axis)
        if (to_.arrays[i].reach[axis] > 2 * farthest[axis]) return false;
    return true;
  }

  // Whether every array input belongs to one of the halo arrays.
  bool are_all_found() const {
    for (int k = 0; k < inputs_; ++k)
      if (all_[k].kind == operand_kind::array && to_.places[k].array < 0) return false;
    return true;
  }

  // Finds arrays that are read by shift. Along an axis, all reads of an array need the same
  // boundary.
  bool find_neighbours() {
    bool bounded[halo_tiles::most][axes] = {};
    for (int i = 0; i < program_.nodes; ++i)
      if (head{program_.heads[i]}.code() == op::neighbour && !add_neighbour(i, bounded))
        return false;
    for (int k = 0; k < inputs_; ++k) {
      const bool is_array = all_[k].kind == operand_kind::array;
      if (!is_array && all_[k].kind != operand_kind::neighbour) continue;
      to_.places[k].array = array_of(k);
      if (to_.places[k].array < 0) to_.places[k].array = add(k);
      if (to_.places[k].array < 0) return false;
      for (int axis = 0; axis < axes; ++axis)
        to_.places[k].at[axis] = -to_.arrays[to_.places[k].array].tile.first[axis];
    }
    return true;
  }
  int array_of(int k) const {
    for (int i = 0; i < to_.count; ++i)
      if (is_same_operand(all_[to_.arrays[i].tile.operand], all_[k])) return i;
    return -1;
  }
  bool add_neighbour(int node, bool (&bounded)[halo_tiles::most][axes]) {
    const neighbour_path path = path_of(program_, node);
    if (path.base != op::load) return true;
    int number = array_of(path.slot);
    if (number < 0) number = add(path.slot);
    if (number < 0) return false;
    found_halos::array& a = to_.arrays[number];
    std::int64_t at[axes] = {};
    for (int s = 0; s < path.count; ++s) {
      path_step step = path.step[s];
      if (step.slot >= 0) {
        const operand& given = all_[step.slot];
        step.axis = given.axis;
        step.beyond = given.beyond;
        step.distance = given.distance;
      }
      const int dimension = dimension_of_axis(g_, all_[path.slot], step.axis),
                axis = g_.rank - 1 - dimension;
      if (dimension < 0 || axis >= axes || at[axis] != 0) return false;
      at[axis] = -least_distance(step.beyond, step.distance, extent(axis));
      if (std::abs(at[axis]) > farthest[axis]) return false;
      if (step.slot >= 0)
        to_.steps[step.slot] = {axis, axis == 0 ? at[axis] * a.tile.size : at[axis]};
      if (step.ends_inside && step.beyond == boundary::zero)
        continue;  // The value read beyond the end is discarded.
      if (bounded[number][axis] && a.tile.beyond[axis] != step.beyond) return false;
      bounded[number][axis] = true;
      a.tile.beyond[axis] = step.beyond;
    }
    widen(a, at);
    return true;
  }

  // Finds slices: at least three arrays with equal strides in the same memory, a few elements and
  // rows apart. If all operands are wide, tiles do not pay: whole vectors are read instead.
  bool find_slices() {
    bool wide = true;
    for (int k = 0; k < count_; ++k) {
      if (all_[k].kind != operand_kind::array) continue;
      if (g_.layouts[k].how == access::tiled) return false;
      wide = wide && g_.layouts[k].how == access::wide;
    }
    if (wide) return false;
    int first[halo_tiles::most], members[halo_tiles::most] = {};
    for (int k = 0; k < inputs_; ++k) {
      found_halos::place& p = to_.places[k];
      if (all_[k].kind != operand_kind::array) continue;
      for (int i = 0; i < to_.count && p.array < 0; ++i)
        if (is_apart(p.at, first[i], k)) p.array = i;
      if (p.array < 0) {
        p.array = add(k);
        if (p.array < 0) return false;
        first[p.array] = k;
        std::fill_n(p.at, axes, 0);
      }
      ++members[p.array];
      widen(to_.arrays[p.array], p.at);
    }
    bool any = false;
    for (int i = 0; i < to_.count; ++i) {
      any = any || (members[i] >= 3 && has_reach(to_.arrays[i]));
      if (!become_array(to_.arrays[i])) return false;
    }
    for (int k = 0; k < inputs_; ++k)
      for (int axis = 0; axis < axes && to_.places[k].array >= 0; ++axis)
        to_.places[k].at[axis] += begin_[to_.places[k].array][axis];
    return any;
  }
  // Whether operand k has the strides and memory of `other`, a small displacement `at` away.
  bool is_apart(std::int64_t (&at)[axes], int other, int k) const {
    const operand &a = all_[other], &b = all_[k];
    if (a.memory != b.memory || a.type != b.type ||
        !std::equal(g_.layouts[k].strides, g_.layouts[k].strides + g_.rank,
                    g_.layouts[other].strides))
      return false;
    const auto bytes = static_cast<std::int64_t>(b.word[0] - a.word[0]);
    std::int64_t apart = bytes / size(k);
    if (apart * size(k) != bytes) return false;
    for (int axis = axes - 1; axis >= 0; --axis) {
      const std::int64_t s = stride(k, axis);
      at[axis] = s > 0 ? (apart >= 0 ? (apart + s / 2) / s : -((s / 2 - apart) / s)) : 0;
      apart -= at[axis] * s;
      if (std::abs(at[axis]) > farthest[axis]) return false;
    }
    return apart == 0;
  }
  // Turns a group of slices into one array that covers them; false if it would leave its memory.
  bool become_array(found_halos::array& a) {
    const int number = static_cast<int>(&a - to_.arrays);
    halo_tile& t = a.tile;
    std::int64_t last = 0;
    for (int axis = 0; axis < axes; ++axis) {
      begin_[number][axis] = -t.first[axis];
      t.word += static_cast<std::uint64_t>(t.first[axis] * stride(t.operand, axis) * a.tile.size);
      t.extents[axis] += a.reach[axis];
      t.first[axis] = 0;
      last += (t.extents[axis] - 1) * stride(t.operand, axis);
      t.beyond[axis] = boundary::clamp;
    }
    for (int axis = axes; axis < g_.rank; ++axis)
      last += (extent(axis) - 1) * stride(t.operand, axis);
    const buffer& memory = *all_[t.operand].memory;
    const auto begin = reinterpret_cast<std::uint64_t>(memory.data), end = begin + memory.bytes;
    return t.word >= begin && t.word + static_cast<std::uint64_t>((last + 1) * a.tile.size) <= end;
  }

  found_halos& to_;
  const geometry& g_;
  const operand* all_;
  int inputs_, count_;
  const pass_traits& pass_;
  const program_view& program_;
  std::int64_t begin_[halo_tiles::most][axes] = {};
};

// Decides which arrays may be copied in pieces of 16 bytes. Fails if the kernel writes an array
// with a halo, since another block may already have overwritten the halo's elements.
bool find_vectors(found_halos& found, const geometry& g, const operand* operands, int inputs,
                  int count) {
  for (int i = 0; i < found.count; ++i) {
    found_halos::array& a = found.arrays[i];
    a.is_written = std::any_of(operands + inputs, operands + count, [&](const operand& o) {
      return share_memory(o.memory, operands[a.tile.operand].memory);
    });
    if (a.is_written && has_reach(a)) return false;
    const int whole = 16 / a.tile.size;
    a.may_be_in_vectors = whole > 1 && a.tile.word % static_cast<unsigned>(a.tile.size) == 0 &&
                          a.tile.element_bytes == static_cast<unsigned>(a.tile.size);
    for (int d = 0; d + 3 < g.rank; ++d)
      a.may_be_in_vectors =
          a.may_be_in_vectors && g.layouts[a.tile.operand].strides[d] % whole == 0;
  }
  return true;
}

// The distance in bytes from the last 16-byte boundary to the first byte of an array's tile.
std::uint32_t misalignment_of(const found_halos& found, const halo_tile& t) {
  const std::int64_t bytes = (t.first[0] - found.before) * std::int64_t{t.size} +
                             t.first[1] * std::int64_t{t.row_bytes} +
                             t.first[2] * std::int64_t{t.plane_bytes};
  return static_cast<std::uint32_t>((t.word + static_cast<std::uint64_t>(bytes)) % 16);
}

// The number of elements by which the first tile of a row begins earlier, so that a warp writes
// whole cache lines, or at least whole sectors: less than what the warp writes at once.
int elements_before_rows(const geometry& g, const operand* operands, int inputs, int count,
                         const program_view& program) {
  for (int i = 0; i < program.nodes; ++i) {
    // The elements before the first one do not exist, so a gather or call must not run for them.
    const op code = head{program.heads[i]}.code();
    if (code == op::gather || code == op::call) return 0;
  }
  const auto target = std::find_if(operands + inputs, operands + count,
                                   [](const operand& o) { return o.kind == operand_kind::array; });
  if (target == operands + count) return 0;
  const std::int64_t* const strides = g.layouts[target - operands].strides;
  const int size = size_of(target->type);
  if (strides[g.rank - 1] != 1) return 0;
  constexpr int line = 128, sector = 32, warp = 32;
  int whole = std::min(line, warp * size);
  for (int d = 0; d + 1 < g.rank; ++d)
    while (whole >= sector && strides[d] * size % whole != 0) whole /= 2;
  return whole < sector ? 0
                        : static_cast<int>(target->word[0] % static_cast<unsigned>(whole)) / size;
}

}  // namespace

void add_owner(found_halos& found) noexcept {
  found.owners.fetch_add(1, std::memory_order_relaxed);
}
void drop_owner(found_halos& found) noexcept {
  if (found.owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &found;
}

counted_ref<found_halos> find_halos(const geometry& g, const operand* operands, int inputs,
                                    int count, const pass_traits& pass) {
  const int half_a_tile = 16 * pass.lanes;
  if (!pass.kernels.halos || g.linear || g.elements == 0 || g.extents[g.rank - 1] < half_a_tile)
    return {};
  auto made = std::make_unique<found_halos>();
  found_halos& found = *made;
  if (!halo_finder(found, g, operands, inputs, count, pass).find()) return {};
  found.before = elements_before_rows(g, operands, inputs, count, pass.view.elements);
  if (!find_vectors(found, g, operands, inputs, count)) return {};
  constexpr int least_rows = 8, most_bytes = 24 << 10;
  if (lay_out_halos(found, 2 * half_a_tile, least_rows, 1) > most_bytes) return {};
  return counted_ref(made.release());
}

// Rows and planes in shared memory have the same offset from a 16-byte boundary as in the array, so
// that pieces of 16 bytes are aligned in both.
int lay_out_halos(found_halos& found, int width, int height, int planes) {
  constexpr std::uint32_t whole = 16;
  const bool alike = std::all_of(
      found.arrays, found.arrays + found.count,
      [&](const found_halos::array& a) { return a.tile.size == found.arrays[0].tile.size; });
  // By how many bytes the offset from a 16-byte boundary grows from row to row, and from plane to
  // plane.
  const std::uint32_t row_misalignment = alike ? found.arrays[0].tile.row_bytes % whole : 0,
                      plane_misalignment = alike ? found.arrays[0].tile.plane_bytes % whole : 0;
  const bool varies = row_misalignment != 0 || plane_misalignment != 0;
  const auto rounded = [](std::uint32_t bytes) { return (bytes + whole - 1) / whole * whole; };
  found.pitch = 0;
  std::int32_t rows = 0;
  for (int i = 0; i < found.count; ++i) {
    found_halos::array& a = found.arrays[i];
    halo_tile& t = a.tile;
    const std::uint32_t misalignment = misalignment_of(found, t);
    t.in_vectors = a.may_be_in_vectors && t.row_bytes % whole == row_misalignment &&
                   t.plane_bytes % whole == plane_misalignment &&
                   row_misalignment * static_cast<unsigned>(height) % whole == 0 &&
                   plane_misalignment * static_cast<unsigned>(planes) % whole == 0 &&
                   (!a.is_written || (!varies && misalignment == 0));
    const std::int32_t piece = t.in_vectors != 0 ? 16 / t.size : 1;
    t.before = t.in_vectors == 0 ? 0
               : varies          ? piece - 1
                                 : static_cast<std::int32_t>(misalignment) / t.size;
    const std::int64_t columns = pieces(width + a.reach[0] + t.before, piece);
    t.columns = divisor::of(columns);
    t.behind = static_cast<std::int32_t>(columns * piece) - (varies ? 0 : t.before);
    t.rows = static_cast<std::int32_t>(height + a.reach[1]);
    t.planes = static_cast<std::int32_t>(1 + a.reach[2]);
    t.offset = t.in_vectors != 0 ? misalignment : 0;
    found.pitch = std::max(found.pitch, static_cast<std::uint32_t>(columns * piece * t.size));
    rows = std::max(rows, t.rows);
  }
  found.pitch = rounded(found.pitch) + (varies ? whole + row_misalignment : 0);
  found.plane = rounded(found.pitch * static_cast<std::uint32_t>(rows)) + plane_misalignment;
  std::uint32_t bytes = 0;
  for (int i = 0; i < found.count; ++i) {
    found.arrays[i].tile.offset += bytes;
    bytes += rounded(static_cast<std::uint32_t>(planes + found.arrays[i].reach[2]) * found.plane);
  }
  return static_cast<int>(bytes);
}

std::int32_t step_in_halo(const found_halos& found, int k) {
  const found_halos::step& s = found.steps[k];
  return static_cast<std::int32_t>(s.bytes * (s.axis == 0   ? 1
                                              : s.axis == 1 ? found.pitch
                                                            : found.plane));
}

halo_tiles tiles_of_halos(const found_halos& found) {
  halo_tiles all{};
  all.count = found.count;
  all.before = found.before;
  all.pitch = found.pitch;
  all.plane = found.plane;
  for (int i = 0; i < found.count; ++i) all.tile[i] = found.arrays[i].tile;
  return all;
}

std::uint32_t place_in_halo(const found_halos& found, int k) {
  const found_halos::place& p = found.places[k];
  if (p.array < 0) return 0;
  const halo_tile& t = found.arrays[p.array].tile;
  return t.offset + static_cast<std::uint32_t>(p.at[2] * found.plane + p.at[1] * found.pitch +
                                               p.at[0] * t.size);
}

}  // namespace dsl::detail

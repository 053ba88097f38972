// Neighbours in registers: a thread takes a patch of elements, so many side by side as it takes at a time and several rows of
// them, and reads what lies around them once, by aligned vectors, for all of them. What other threads read as well comes out of
// the first-level cache; tiles of it in shared memory were slower (docs/performance.md).
#pragma once

#include <dsl/exec/near.hpp>
#include <dsl/exec/patch_needs.hpp>

namespace dsl::detail {

/// What a program needs to be taken by patches. Fewer rows where planes or a long formula take registers.
template <class Program>
constexpr patch_needs patch_needs_of(int most_rows) {
  constexpr program_view p = Program::view();
  patch_needs needs;
  bool any = false;
  for (int i = 0; i < p.nodes; ++i) {
    const near_place& place = near_places<Program>[static_cast<std::size_t>(i)];
    const op code = head{p.heads[i]}.code();
    if (!place.is_near || code == op::load) continue;
    any = any || code == op::neighbour;
    needs.note(static_cast<int>(operand_read(p, i)), place.at);
  }
  if (!any || needs.slots > patch_needs::most_slots || calls_functors<Program>) return {};
  const int rows = p.nodes > 128 ? 1 : needs.before[2] + needs.after[2] > 0 ? 2 : 4;
  needs.rows = rows < most_rows ? rows : most_rows;
  return needs;
}

/// What lies around a patch of an operand: which vectors are read, a bit for each of a row's.
struct window_shape {
  static constexpr int most_planes = 5, most_rows = 18;
  int planes = 0, rows = 0, vectors = 0;
  int front = 0, above = 0, left = 0;  // of these before the patch's own
  std::uint32_t reads[most_planes][most_rows] = {};
  boundary beyond[near_place::axes] = {boundary::clamp, boundary::clamp, boundary::clamp};
  dtype type = dtype::boolean;
  constexpr bool any() const { return planes > 0; }
};
template <class Program>
constexpr window_shape window_of(int slot, int lanes, int patch_rows) {
  constexpr program_view p = Program::view();
  window_shape w;
  int back = 0, below = 0, right = 0;
  bool any = false;
  const auto most = [](int& to, int value) { to = value > to ? value : to; };
  const auto reads = [slot, &p](int i) {
    const op code = head{p.heads[i]}.code();
    return (code == op::load || code == op::neighbour) && static_cast<int>(operand_read(p, i)) == slot &&
           near_places<Program>[static_cast<std::size_t>(i)].is_near;
  };
  for (int i = 0; i < p.nodes; ++i) {
    if (!reads(i)) continue;
    const near_place& place = near_places<Program>[static_cast<std::size_t>(i)];
    any = any || head{p.heads[i]}.code() == op::neighbour;
    w.type = head{p.heads[i]}.type();
    for (int axis = 0; axis < near_place::axes; ++axis)
      if (!place.ends_inside[axis]) w.beyond[axis] = place.beyond[axis];
    most(w.front, -place.at[2]);
    most(back, place.at[2]);
    most(w.above, -place.at[1]);
    most(below, place.at[1]);
    most(w.left, (lanes - 1 - place.at[0]) / lanes);
    most(right, (lanes - 1 + place.at[0]) / lanes);
  }
  if (!any || patch_rows == 0) return {};
  w.planes = w.front + 1 + back;
  w.rows = w.above + patch_rows + below;
  w.vectors = w.left + 1 + right;
  for (int i = 0; i < p.nodes; ++i) {
    if (!reads(i)) continue;
    const near_place& place = near_places<Program>[static_cast<std::size_t>(i)];
    for (int r = 0; r < patch_rows; ++r)
      for (int l = 0; l < lanes; ++l)
        w.reads[w.front + place.at[2]][w.above + r + place.at[1]] |= 1u << (w.left * lanes + l + place.at[0]) / lanes;
  }
  return w;
}

/// Where element i of n is found, no further beyond an end than there are elements; -1: it is zero.
template <boundary Beyond>
DSL_DETAIL_FN constexpr std::int64_t near_inside(std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  if constexpr (Beyond == boundary::zero) return -1;
  else if constexpr (Beyond == boundary::clamp) return i < 0 ? 0 : n - 1;
  else if constexpr (Beyond == boundary::wrap) return i < 0 ? i + n : i - n;
  else return i < 0 ? -i : 2 * (n - 1) - i;
}

/// A vector element by element, of a line of n from `first` on.
template <class T, int Lanes, boundary Beyond, class Memory>
DSL_DETAIL_NOINLINE pack<T, Lanes> vector_across_end(Memory memory, const T* line, std::int64_t first, std::int64_t n,
                                                     std::int64_t stride) {
  pack<T, Lanes> v;
  DSL_DETAIL_UNROLL
  for (int l = 0; l < Lanes; ++l) {
    const std::int64_t i = first + l, found = i <= -n || i > 2 * n - 2 ? -1 : near_inside<Beyond>(i, n);
    v.lane[l] = T{};
    if (found >= 0) v.lane[l] = memory.template load<T>(line + found * stride);
  }
  return v;
}

/// The elements around a thread's patch of one operand.
template <class Body, int Slot>
struct window {
  static constexpr int lanes = Body::lanes;
  static constexpr window_shape shape = window_of<typename Body::program>(Slot, lanes, Body::rows_a_patch);
  using T = memory_t<shape.type>;
  pack<T, lanes> at[shape.any() ? shape.planes : 1][shape.any() ? shape.rows : 1][shape.any() ? shape.vectors : 1];

  /// `inner`: all of it lies within the operand.
  DSL_DETAIL_KERNEL_FN void load(const Body& body, int column, int row, bool inner) {
    if constexpr (shape.any()) {
      const auto all = std::make_integer_sequence<int, shape.planes * shape.rows * shape.vectors>{};
      if (inner) load_vectors(body, column, row, all);
      else find_vectors(body, column, row, all);
    }
  }

 private:
  static constexpr int plane_of(int i) { return i / shape.vectors / shape.rows; }
  static constexpr int row_of(int i) { return i / shape.vectors % shape.rows; }
  static constexpr int vector_of(int i) { return i % shape.vectors; }
  static constexpr bool is_read(int i) { return (shape.reads[plane_of(i)][row_of(i)] >> vector_of(i) & 1) != 0; }

  DSL_DETAIL_KERNEL_FN static const T* corner(const Body& body) {
    return reinterpret_cast<const T*>(body.args.operand[Slot].word) + body.offset[Slot];
  }
  template <int... I>
  DSL_DETAIL_KERNEL_FN void load_vectors(const Body& body, int column, int row, std::integer_sequence<int, I...>) {
    const std::int64_t down = body.args.strides[Slot][1], through = body.args.strides[Slot][2];
    const T* const first = corner(body) + row * down + column;
    (load_vector<I>(body, first, down, through), ...);
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN void load_vector(const Body& body, const T* first, std::int64_t down, std::int64_t through) {
    if constexpr (is_read(I))
      at[plane_of(I)][row_of(I)][vector_of(I)] = body.memory.template load<pack<T, lanes>>(
          first +
          ((plane_of(I) - shape.front) * through + (row_of(I) - shape.above) * down + (vector_of(I) - shape.left) * lanes));
  }

  // One by one where a vector lies across an end, or the operand's are not aligned.
  template <int... I>
  DSL_DETAIL_KERNEL_FN void find_vectors(const Body& body, int column, int row, std::integer_sequence<int, I...>) {
    const bool whole = Body::template how_reached<Slot>(body.args) == in_vectors;
    (find_vector<I>(body, column, row, whole), ...);
  }
  template <int I>
  DSL_DETAIL_KERNEL_FN void find_vector(const Body& body, int column, int row, bool whole) {
    if constexpr (is_read(I)) {
      const auto& stride = body.args.strides[Slot];
      const std::int64_t x = body.position(0), y = body.position(1), n = body.extent(0);
      const std::int64_t in_row = near_inside<shape.beyond[1]>(y + row + row_of(I) - shape.above, body.extent(1));
      const T* line = corner(body) - x * stride[0] + (in_row - y) * stride[1];
      bool exists = in_row >= 0;
      if constexpr (shape.planes > 1) {
        const std::int64_t z = body.position(2);
        const std::int64_t in_plane = near_inside<shape.beyond[2]>(z + plane_of(I) - shape.front, body.extent(2));
        line += (in_plane - z) * stride[2];
        exists = exists && in_plane >= 0;
      }
      const std::int64_t first = x + column + (vector_of(I) - shape.left) * lanes;
      pack<T, lanes>& to = at[plane_of(I)][row_of(I)][vector_of(I)];
      if (!exists) to = {};
      else if (whole && first >= 0 && first + lanes <= n) to = body.memory.template load<pack<T, lanes>>(line + first);
      else to = vector_across_end<T, lanes, shape.beyond[0]>(body.memory, line, first, n, stride[0]);
    }
  }
};
template <class Body, class Slots> struct windows;
template <class Body, std::size_t... Slot>
struct windows<Body, std::index_sequence<Slot...>> : window<Body, static_cast<int>(Slot)>... {
  DSL_DETAIL_KERNEL_FN void load(const Body& body, int column, int row, bool inner) {
    (window<Body, static_cast<int>(Slot)>::load(body, column, row, inner), ...);
  }
  /// Whether all operands' vectors are aligned.
  DSL_DETAIL_KERNEL_FN static bool are_whole(const Body& body) {
    return (true && ... &&
            (!window<Body, static_cast<int>(Slot)>::shape.any() ||
             Body::template how_reached<static_cast<int>(Slot)>(body.args) == in_vectors));
  }
};

/// Takes a tile by patches. `Body` is a kernel_body.
template <class Body>
struct patch_walk {
  using group = typename Body::group;
  using program = typename Body::program;
  static constexpr int lanes = Body::lanes, rows = Body::rows_a_patch;
  using around = windows<Body, std::make_index_sequence<static_cast<std::size_t>(Body::inputs)>>;
  Body& body;

  /// Calls take(group, results) for all groups that are a thread's.
  template <class Take>
  DSL_DETAIL_KERNEL_FN void run(int thread, const Take& take) const {
    const int column = body.column_of(thread), step = body.args.tiles_of.rows * rows;
    const bool whole = around::are_whole(body);
    DSL_DETAIL_ROLLED
    for (int plane = 0; plane < body.planes; ++plane) {
      const bool inner = whole && is_inner();
      DSL_DETAIL_ROLLED
      for (int row = body.row_of(thread) * rows; row < body.height && column < body.width; row += step)
        take_patch(column, row, inner, take);
      body.enter_next_plane();
    }
  }

 private:
  // Whether whole patches cover the tile, and all that they read lies within the operands.
  DSL_DETAIL_KERNEL_FN bool is_inner() const {
    const tiling& t = body.args.tiles_of;
    const std::int64_t x = body.position(0), y = body.position(1);
    if (t.before[2] + t.after[2] > 0 && (body.position(2) < t.before[2] || body.position(2) + t.after[2] >= body.extent(2)))
      return false;
    return x >= t.before[0] && x + t.width + t.after[0] <= body.extent(0) && y >= t.before[1] &&
           y + t.height + t.after[1] <= body.extent(1);
  }

  struct source {
    const Body& body;
    group (&of_row)[rows];
    const around& read_around;
    bool inner;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::inside && place_with_head<program, Head>.is_near) {
        constexpr near_place place = place_with_head<program, Head>;
        each<Head>([&](int r, int l) {
          return inner ||
                 (is_within<0>(place, of_row[r].column + l) && is_within<1>(place, of_row[r].row) && is_within<2>(place, 0));
        });
      } else if constexpr (reads_window<Code, Head>()) {
        constexpr near_place place = place_with_head<program, Head>;
        constexpr window_shape shape = window<Body, slot_with_head<program, Head>>::shape;
        const auto& w = static_cast<const window<Body, slot_with_head<program, Head>>&>(read_around);
        each<Head>([&](int r, int l) {
          const int column = shape.left * lanes + l + place.at[0];
          return w.at[shape.front + place.at[2]][shape.above + r + place.at[1]][column / lanes].lane[column % lanes];
        });
      } else {
        DSL_DETAIL_UNROLL
        for (int r = 0; r < rows; ++r) body.template read<Code, D, N, Head>(of_row[r]);
      }
    }

   private:
    template <op Code, std::uint32_t Head>
    static constexpr bool reads_window() {
      if constexpr (Code != op::load && Code != op::neighbour) return false;
      else return place_with_head<program, Head>.is_near && window<Body, slot_with_head<program, Head>>::shape.any();
    }
    template <int Axis>
    DSL_DETAIL_KERNEL_FN bool is_within(const near_place& place, int in_tile) const {
      if (place.at[Axis] == 0 || place.beyond[Axis] != boundary::zero || place.ends_inside[Axis]) return true;
      const std::int64_t from = body.position(Axis) + in_tile + place.at[Axis];
      return from >= 0 && from < body.extent(Axis);
    }
    template <std::uint32_t Head, class Value>
    DSL_DETAIL_KERNEL_FN void each(const Value& value) {
      DSL_DETAIL_UNROLL
      for (int r = 0; r < rows; ++r) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) operand_lanes<Head>(of_row[r]).set(l, value(r, l));
      }
    }
  };
  template <class Take>
  DSL_DETAIL_KERNEL_FN void take_patch(int column, int row, bool inner, const Take& take) const {
    around read_around;
    read_around.load(body, column, row, inner);
    group of_row[rows];
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r)  // the last row takes the place of those missing
      body.place_in_tile(of_row[r], column, row + r < body.height ? row + r : body.height - 1);
    source from{body, of_row, read_around, inner};
    Body::eval::read(from);
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r)
      if (row + r < body.height) take(of_row[r], body.compute_read(of_row[r]));
  }
};

}  // namespace dsl::detail

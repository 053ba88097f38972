// Neighbours in registers: a thread takes a patch of elements, so many side by side as it takes at a time and several rows of
// them, and reads what lies around them once, by aligned vectors, for all of them. What other threads read as well comes out of
// the first-level cache; tiles of it in shared memory were slower (docs/performance.md).
#pragma once

#include <dsl/exec/lanes.hpp>
#include <dsl/exec/neighbours.hpp>

namespace dsl::detail {

/// Where a node reads beside its element, along axes counted from the right.
struct near_place {
  static constexpr int axes = 3;
  bool is_near = false;                   // known while compiling, and near enough
  int at[axes] = {};                      // how far
  int before[axes] = {}, after[axes] = {};  // how far the way to there leads
  // The steps, the first one lowest: whether there is one, axis, boundary, whether it ends inside, distance.
  static constexpr int step_bits = 10, most_steps = 6;
  std::uint64_t steps = 0;
};
constexpr near_place near_place_of(const program_view& p, int node) {
  constexpr int most[near_place::axes] = {7, 7, 2};
  near_place place;
  const op code = head{p.heads[node]}.code();
  place.is_near = code == op::load;
  if (code != op::neighbour && code != op::inside) return place;
  const neighbour_path path = path_of(p, node);
  place.is_near = path.base == op::load;
  for (int s = 0; s < path.count && place.is_near; ++s) {
    const path_step& step = path.step[s];
    place.is_near = s < near_place::most_steps && step.slot < 0 && step.axis < near_place::axes && step.distance >= -most[step.axis] &&
                    step.distance <= most[step.axis];
    if (!place.is_near) return place;
    const int distance = static_cast<int>(step.distance);
    const auto word = 1u | static_cast<unsigned>(step.axis) << 1 | static_cast<unsigned>(step.beyond) << 3 |
                      static_cast<unsigned>(step.ends_inside) << 5 | static_cast<unsigned>(distance + 8) << 6;
    place.steps |= static_cast<std::uint64_t>(word) << near_place::step_bits * s;
    place.at[step.axis] -= distance;
    (distance > 0 ? place.before : place.after)[step.axis] += distance > 0 ? distance : -distance;
    place.is_near = place.before[step.axis] <= most[step.axis] && place.after[step.axis] <= most[step.axis];
  }
  return place;
}

template <class Program, std::uint32_t Head>
inline constexpr near_place place_with_head = near_place_of(Program::view(), node_with(Program::view(), Head));
template <class Program, std::uint32_t Head>
inline constexpr int slot_with_head = static_cast<int>(operand_read(Program::view(), node_with(Program::view(), Head)));

/// Where the steps of a near place lead from an element of an operand, at positions `at` along the axes counted from the right and
/// `place` in its memory; `nowhere`: it is zero. Compiled once for all that a kernel reads beside its elements.
inline constexpr std::int64_t nowhere = std::int64_t{1} << 62;
template <class Arguments>
DSL_DETAIL_NOINLINE std::int64_t place_beside(const Arguments& args, int slot, std::uint64_t steps, std::int64_t at0, std::int64_t at1,
                                              std::int64_t at2, std::int64_t place) {
  const tiling& t = args.tiles_of;
  DSL_DETAIL_ROLLED
  for (; (steps & 1) != 0; steps >>= near_place::step_bits) {
    const int axis = static_cast<int>(steps >> 1 & 3), distance = static_cast<int>(steps >> 6 & 15) - 8;
    auto beyond = static_cast<boundary>(steps >> 3 & 3);
    if ((steps >> 5 & 1) != 0 && beyond == boundary::zero) beyond = boundary::clamp;
    const int dimension = static_cast<int>(t.dimension_of_axis >> 4 * axis & 0xf);
    const bool single = dimension == tiling::no_dimension || neighbour_word{args.operand[slot].descriptor}.is_single(axis);
    const std::int64_t n = single ? 1 : t.extent(dimension), from = axis == 0 ? at0 : axis == 1 ? at1 : at2;
    const std::int64_t to = inside(beyond, from - distance, n);
    if (to < 0) return nowhere;
    if (!single) place += (to - from) * args.strides[slot][dimension];
    if (axis == 0) at0 = to;
    else if (axis == 1) at1 = to;
    else at2 = to;
  }
  return place;
}
/// Reads such places for a group's lanes.
template <class Body, op Code, dtype D, std::uint32_t Head>
DSL_DETAIL_KERNEL_FN void read_near(const Body& body, typename Body::group& g) {
  constexpr int slot = slot_with_head<typename Body::program, Head>;
  constexpr std::uint64_t steps = place_with_head<typename Body::program, Head>.steps;
  const std::uint32_t dimensions = body.args.tiles_of.dimension_of_axis;
  std::int64_t at[near_place::axes];
  int along_lanes = -1;
  DSL_DETAIL_UNROLL
  for (int axis = 0; axis < near_place::axes; ++axis) {
    const int dimension = static_cast<int>(dimensions >> 4 * axis & 0xf);
    const bool single = dimension == tiling::no_dimension || neighbour_word{body.args.operand[slot].descriptor}.is_single(axis);
    at[axis] = single ? 0 : body.position(dimension) + (dimension == 0 ? g.column : dimension == 1 ? g.row : 0);
    if (dimension == 0 && !single) along_lanes = axis;
  }
  DSL_DETAIL_UNROLL
  for (int l = 0; l < Body::lanes; ++l) {
    const int lane = l < g.count ? l : 0;
    const auto moved = [&](int axis) { return at[axis] + (axis == along_lanes ? lane : 0); };
    const std::int64_t found = place_beside(body.args, slot, steps, moved(0), moved(1), moved(2),
                                            body.template place<slot>(g) + lane * body.template step<slot>());
    if constexpr (Code == op::inside) {
      operand_lanes<Head>(g).set(l, found != nowhere);
    } else {
      using T = memory_t<D>;
      T value{};
      if (found != nowhere) value = body.memory.template load<T>(reinterpret_cast<const T*>(body.args.operand[slot].word) + found);
      operand_lanes<Head>(g).set(l, value);
    }
  }
}

/// How many rows a patch has; 0: the program has no near neighbours. Fewer where their planes or a long formula take registers.
constexpr int patch_rows(const program_view& p, int most) {
  bool any = false, planes = false;
  for (int i = 0; i < p.nodes; ++i) {
    if (head{p.heads[i]}.code() != op::neighbour) continue;
    const near_place place = near_place_of(p, i);
    any = any || place.is_near;
    planes = planes || (place.is_near && place.at[2] != 0);
  }
  if (!any) return 0;
  const int rows = p.nodes > 128 ? 1 : planes ? 2 : 4;
  return rows < most ? rows : most;
}

/// What lies around a patch of an operand: which vectors are read, a bit for each of a row's.
struct window_shape {
  static constexpr int most_planes = 5, most_rows = 24;
  int planes = 0, rows = 0, vectors = 0;
  int front = 0, above = 0, left = 0;  // of these before the patch's own
  std::uint32_t reads[most_planes][most_rows] = {};
  constexpr bool any() const { return planes > 0; }
};
constexpr window_shape window_of(const program_view& p, int slot, int lanes, int patch_rows) {
  window_shape w;
  int back = 0, below = 0, right = 0;
  bool any = false;
  const auto each = [&](const auto& take) {
    for (int i = 0; i < p.nodes; ++i) {
      const op code = head{p.heads[i]}.code();
      if ((code != op::load && code != op::neighbour) || static_cast<int>(operand_read(p, i)) != slot) continue;
      if (const near_place place = near_place_of(p, i); place.is_near) take(code, place);
    }
  };
  const auto most = [](int& to, int value) { to = value > to ? value : to; };
  each([&](op code, const near_place& place) {
    any = any || code == op::neighbour;
    most(w.front, -place.at[2]);
    most(back, place.at[2]);
    most(w.above, -place.at[1]);
    most(below, place.at[1]);
    most(w.left, (lanes - 1 - place.at[0]) / lanes);
    most(right, (lanes - 1 + place.at[0]) / lanes);
  });
  if (!any || patch_rows == 0) return {};
  w.planes = w.front + 1 + back;
  w.rows = w.above + patch_rows + below;
  w.vectors = w.left + 1 + right;
  each([&](op, const near_place& place) {
    for (int r = 0; r < patch_rows; ++r)
      for (int l = 0; l < lanes; ++l)
        w.reads[w.front + place.at[2]][w.above + r + place.at[1]] |= 1u << (w.left * lanes + l + place.at[0]) / lanes;
  });
  return w;
}

/// The elements around a thread's patch of one operand.
template <class Body, int Slot>
struct window {
  static constexpr int lanes = Body::lanes;
  static constexpr window_shape shape = window_of(Body::program::view(), Slot, lanes, Body::rows_a_patch);
  static constexpr dtype type = [] {
    const program_view p = Body::program::view();
    for (int i = 0; i < p.nodes; ++i) {
      const op code = head{p.heads[i]}.code();
      if ((code == op::load || code == op::neighbour) && static_cast<int>(operand_read(p, i)) == Slot) return head{p.heads[i]}.type();
    }
    return dtype::boolean;
  }();
  using T = memory_t<type>;
  pack<T, lanes> at[shape.any() ? shape.planes : 1][shape.any() ? shape.rows : 1][shape.any() ? shape.vectors : 1];

  DSL_DETAIL_KERNEL_FN void load(const Body& body, int column, int row) {
    if constexpr (shape.any()) load_vectors(body, column, row, std::make_integer_sequence<int, vectors>{});
  }

 private:
  static constexpr int vectors = shape.planes * shape.rows * shape.vectors;
  template <int... I>
  DSL_DETAIL_KERNEL_FN void load_vectors(const Body& body, int column, int row, std::integer_sequence<int, I...>) {
    const std::int64_t down = body.args.strides[Slot][1], through = body.args.strides[Slot][2];
    const std::int64_t across = body.args.strides[Slot][0];
    const T* const first =
        reinterpret_cast<const T*>(body.args.operand[Slot].word) + body.offset[Slot] + row * down + column * across;
    if (Body::template how_reached<Slot>(body.args) == in_vectors)
      (load_vector<true, I / shape.vectors / shape.rows, I / shape.vectors % shape.rows, I % shape.vectors>(body, first, 1, down,
                                                                                                          through),
       ...);
    else
      (load_vector<false, I / shape.vectors / shape.rows, I / shape.vectors % shape.rows, I % shape.vectors>(body, first, across,
                                                                                                           down, through),
       ...);
  }
  template <bool Whole, int Plane, int Row, int Vector>
  DSL_DETAIL_KERNEL_FN void load_vector(const Body& body, const T* first, std::int64_t across, std::int64_t down,
                                        std::int64_t through) {
    if constexpr ((shape.reads[Plane][Row] >> Vector & 1) != 0) {
      pack<T, lanes>& to = at[Plane][Row][Vector];
      const T* from = first + ((Plane - shape.front) * through + (Row - shape.above) * down + (Vector - shape.left) * lanes * across);
      if constexpr (Whole) {
        to = body.memory.template load<pack<T, lanes>>(from);
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l, from += across) to.lane[l] = body.memory.template load<T>(from);
      }
    }
  }
};
template <class Body, class Slots> struct windows;
template <class Body, std::size_t... Slot>
struct windows<Body, std::index_sequence<Slot...>> : window<Body, static_cast<int>(Slot)>... {
  DSL_DETAIL_KERNEL_FN void load(const Body& body, int column, int row) {
    (window<Body, static_cast<int>(Slot)>::load(body, column, row), ...);
  }
};

/// Takes a tile by patches, where all that they read lies within the operands, and the rest group by group. `Body` is a
/// kernel_body.
template <class Body>
struct patch_walk {
  using group = typename Body::group;
  static constexpr int lanes = Body::lanes, rows = Body::rows_a_patch;
  using around = windows<Body, std::make_index_sequence<static_cast<std::size_t>(Body::inputs)>>;
  Body& body;

  /// Calls take(group, results) for all groups that are a thread's.
  template <class Take>
  DSL_DETAIL_KERNEL_FN void run(int thread, int block, const Take& take) const {
    const tiling& t = body.args.tiles_of;
    for (int plane = 0;; body.enter_next_plane()) {
      const rectangle inner = interior();
      const int column = body.column_of(thread);
      if (column >= inner.left && column < inner.right) {
        DSL_DETAIL_ROLLED
        for (int row = inner.top + body.row_of(thread) * rows; row < inner.bottom; row += t.rows * rows)
          take_patch(column, row, take);
      }
      take_rest(inner, thread, block, take);
      if (++plane == body.planes) return;
    }
  }

 private:
  struct rectangle { int left, right, top, bottom; };

  // Between two numbers, of 64 bits.
  DSL_DETAIL_KERNEL_FN static int clipped(std::int64_t n, int least, int most) {
    return n < least ? least : n > most ? most : static_cast<int>(n);
  }
  // Of the tile, what can be taken by whole patches.
  DSL_DETAIL_KERNEL_FN rectangle interior() const {
    const tiling& t = body.args.tiles_of;
    const std::int64_t x = body.position(0), y = body.position(1), z = body.position(2);
    rectangle r{clipped(t.before[0] - x, 0, body.width), clipped(body.extent(0) - t.after[0] - x, 0, body.width),
                clipped(t.before[1] - y, 0, body.height), clipped(body.extent(1) - t.after[1] - y, 0, body.height)};
    r.left = (r.left + lanes - 1) / lanes * lanes;
    r.right = r.right / lanes * lanes;
    r.bottom -= r.bottom > r.top ? (r.bottom - r.top) % rows : 0;
    const bool beside_planes = t.outer_rank > 0 && (z < t.before[2] || z + t.after[2] >= body.extent(2));
    if (r.left >= r.right || r.top >= r.bottom || beside_planes || t.patches == 0) return {0, 0, 0, 0};
    return r;
  }
  // The four parts around the interior, or where there is none all of the tile. Threads side by side go down a part at its side.
  template <class Take>
  DSL_DETAIL_KERNEL_FN void take_rest(const rectangle& inner, int thread, int block, const Take& take) const {
    if (inner.left == 0 && inner.top == 0 && inner.right == body.width && inner.bottom == body.height) return;
    const bool none = inner.right == 0;
    DSL_DETAIL_ROLLED
    for (int part = 0; part < (none ? 1 : 4); ++part) {
      const int left = part == 0 || none ? 0 : part == 1 ? inner.right : inner.left;
      const int right = none || part == 1 ? body.width : part == 0 ? inner.left : inner.right;
      const int top = part == 3 ? inner.bottom : 0, bottom = part == 2 ? inner.top : body.height;
      const int wide = (right - left + lanes - 1) / lanes, high = bottom - top, line = none || part > 1 ? wide : high;
      DSL_DETAIL_ROLLED
      for (int i = thread; i < wide * high; i += block) {
        const int number = i / line, in_line = i - number * line;
        group g;
        body.place_in_tile(g, left + (line == wide ? in_line : number) * lanes, top + (line == wide ? number : in_line));
        take(g, body.compute(g));
      }
    }
  }

  struct source {
    const Body& body;
    group (&of_row)[rows];
    const around& read_around;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      constexpr near_place place = place_with_head<typename Body::program, Head>;
      constexpr int slot = slot_with_head<typename Body::program, Head>;
      if constexpr (Code == op::inside && place.is_near) {
        each<Head>([](int, int) { return true; });
      } else if constexpr (place.is_near && reads_window<slot>()) {
        constexpr window_shape shape = window<Body, slot>::shape;
        const auto& w = static_cast<const window<Body, slot>&>(read_around);
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
    template <int Slot> static constexpr bool reads_window() { return window<Body, Slot>::shape.any(); }
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
  DSL_DETAIL_KERNEL_FN void take_patch(int column, int row, const Take& take) const {
    around read_around;
    read_around.load(body, column, row);
    group of_row[rows];
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r) {
      of_row[r].column = column;
      of_row[r].row = row + r;
      of_row[r].count = lanes;
    }
    source from{body, of_row, read_around};
    Body::eval::read(from);
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rows; ++r) take(of_row[r], body.compute_read(of_row[r]));
  }
};

}  // namespace dsl::detail

// Neighbours in registers. A thread takes a patch of elements, `lanes` wide and several rows high,
// and reads the patch with its halo once, in aligned vectors, for all its elements. Elements that
// other threads also read come from the L1 cache; tiles in shared memory were slower
// (docs/lab.md). Where rows begin anywhere, patches are one element wide.
#pragma once

#include <dsl/exec/plan/patch_needs.hpp>
#include <dsl/exec/plan/policy.hpp>
#include <dsl/exec/stencil/neighbours.hpp>
#include <dsl/exec/stencil/patch_place.hpp>
#include <dsl/exec/stencil/window.hpp>

namespace dsl::detail {

/// The patch for a pass: as many rows and planes as its policy wants and registers allow.
template <class Pass>
constexpr patch_needs patch_needs_of() {
  using program = typename Pass::elements;
  constexpr program_view p = program::view();
  patch_needs needs;
  bool any = false;
  for (int i = 0; i < p.nodes; ++i) {
    const near_place& place = near_places<program>[static_cast<std::size_t>(i)];
    const op code = head{p.heads[i]}.code();
    if (!place.is_near || code == op::load) continue;
    any = any || code == op::neighbour;
    needs.note(static_cast<int>(operand_read(p, i)), place.at);
  }
  constexpr map_policy policy = pass_policy<Pass>(0);
  if (!any || needs.slots > patch_needs::most_slots || calls_functors<program> ||
      policy.patch_rows < 1)
    return {};
  constexpr int lanes = lanes_of_pass<Pass>;
  const auto vectors = [&] {
    int sum = 0;
    for (int k = 0; k < needs.slots; ++k)
      sum += window_of<program>(needs.of[k].slot, lanes, needs.rows, needs.planes).count();
    return sum;
  };
  const bool by_planes = needs.before[2] + needs.after[2] > 0;
  needs.planes = by_planes ? policy.patch_planes : 1;
  needs.rows = by_planes ? 2 : 4;
  // Twice as many rows, in fewer threads, if the halo is large.
  if (!by_planes && (needs.before[1] + needs.after[1] > 4 || (lanes > 2 && vectors() > 20)))
    needs.rows = 8;
  while (needs.rows > policy.patch_rows) needs.rows /= 2;
  const int most = p.nodes > 128 ? 18 : by_planes ? 72 : 36;
  while (needs.planes > 1 && vectors() > most) needs.planes /= 2;
  while (needs.rows > 1 && vectors() > most) needs.rows /= 2;
  return needs;
}

/// The distance of `count` existing elements from the ends of an axis.
struct axis_ends {
  std::int32_t n, first, end, own;

  DSL_DETAIL_KERNEL_FN axis_ends(std::int32_t position, std::int32_t extent, int count)
      : n(extent), first(-position), end(extent - position), own(count) {}
  DSL_DETAIL_KERNEL_FN bool is_before(int at) const { return at < 0 && at < first; }
  DSL_DETAIL_KERNEL_FN bool is_behind(int at) const { return at >= own && at >= end; }
  DSL_DETAIL_KERNEL_FN bool exists(int at) const { return !is_before(at) && !is_behind(at); }
  /// The element that stands for the one `at` elements further.
  template <boundary Beyond> DSL_DETAIL_KERNEL_FN std::int32_t found(int at) const {
    const bool before = is_before(at), behind = is_behind(at);
    if constexpr (Beyond == boundary::wrap) return at + (before ? n : behind ? -n : 0);
    const std::int32_t edge = before ? first : end - 1;
    const std::int32_t instead = Beyond == boundary::zero    ? 0
                                 : Beyond == boundary::clamp ? edge
                                                             : 2 * edge - at;
    return before || behind ? instead : at;
  }
};
/// The ends around a patch's first element, along the axes counted from the right; along the first
/// axis in elements and in vectors.
struct patch_ends { axis_ends x, vectors, y, z; };

/// A patch of one operand with its halo, read from memory.
template <class Body, int Slot, int Rows, int Planes>
struct window : window_values<typename Body::program, Slot, Body::lanes, Rows, Planes> {
  using base = window_values<typename Body::program, Slot, Body::lanes, Rows, Planes>;
  using base::at, base::shape;
  using typename base::T;
  static constexpr int lanes = Body::lanes;

  /// Whether rows begin with whole vectors.
  DSL_DETAIL_KERNEL_FN static bool is_in_vectors(const Body& body) {
    return !shape.any() || body.how_reached(Slot) == in_vectors;
  }
  /// Whether everything read in a row of whole vectors is whole vectors, also beyond its ends.
  DSL_DETAIL_KERNEL_FN static bool is_whole(const patch_ends& ends) {
    if constexpr (!shape.any()) return true;
    const bool ends_whole = shape.beyond[0] != boundary::reflect && ends.x.n % lanes == 0;
    return ends_whole || (ends.vectors.exists(-shape.left) &&
                          ends.vectors.exists(shape.vectors - 1 - shape.left));
  }
  /// Reads the window, in whole vectors or element by element.
  template <bool InVectors>
  DSL_DETAIL_KERNEL_FN void load(const Body& body, const patch_ends& ends, int column, int row) {
    if constexpr (shape.any()) {
      const T* const corner =
          reinterpret_cast<const T*>(body.args.operand[Slot].word) + body.offset[Slot];
      load_lines<InVectors>(body, ends,
                            body.moved(body.moved(corner, Slot, 1, row), Slot, 0, column), lines{});
    }
  }

 private:
  using lines = std::make_integer_sequence<int, shape.any() ? shape.planes * shape.rows : 0>;
  using vectors = std::make_integer_sequence<int, shape.any() ? shape.vectors : 0>;
  template <bool InVectors, int... Line>
  DSL_DETAIL_KERNEL_FN void load_lines(const Body& body, const patch_ends& ends, const T* own,
                                       std::integer_sequence<int, Line...>) {
    (load_line<InVectors, Line / shape.rows, Line % shape.rows>(body, ends, own, vectors{}), ...);
  }
  template <bool InVectors, int Plane, int Row, int... Vector>
  DSL_DETAIL_KERNEL_FN void load_line(const Body& body, const patch_ends& ends, const T* own,
                                      std::integer_sequence<int, Vector...>) {
    if constexpr (shape.reads[Plane][Row] != 0) {
      constexpr int k = Plane - shape.front, r = Row - shape.above;
      const T* const plane = body.moved(own, Slot, 2, ends.z.template found<shape.beyond[2]>(k));
      const T* const line = body.moved(plane, Slot, 1, ends.y.template found<shape.beyond[1]>(r));
      const bool exists = (shape.beyond[1] != boundary::zero || ends.y.exists(r)) &&
                          (shape.beyond[2] != boundary::zero || ends.z.exists(k));
      (load_vector<InVectors, Vector - shape.left>(
           at[Plane][Row][Vector], body, ends, line, exists,
           std::bool_constant<(shape.reads[Plane][Row] >> Vector & 1) != 0>{}),
       ...);
    }
  }
  template <bool InVectors, int V>
  DSL_DETAIL_KERNEL_FN static void load_vector(pack<T, lanes>&, const Body&, const patch_ends&,
                                               const T*, bool, std::false_type) {}
  template <bool InVectors, int V>
  DSL_DETAIL_KERNEL_FN static void load_vector(pack<T, lanes>& to, const Body& body,
                                               const patch_ends& ends, const T* line, bool exists,
                                               std::true_type) {
    constexpr boundary beyond = shape.beyond[0];
    if constexpr (InVectors && lanes > 1) {
      const auto found = body.memory.template load<pack<T, lanes>>(
          line + ends.vectors.template found<beyond>(V) * lanes);
      const T nearest = beyond == boundary::zero ? T{} : found.lane[V < 0 ? 0 : lanes - 1];
      const bool is_beyond = beyond != boundary::wrap && !ends.vectors.exists(V);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        if (is_column(V, l)) to.lane[l] = !exists ? T{} : is_beyond ? nearest : found.lane[l];
    } else {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        if (!is_column(V, l)) continue;
        const int x = V * lanes + l;
        const T found = body.memory.template load<T>(
            body.moved(line, Slot, 0, ends.x.template found<beyond>(x)));
        to.lane[l] = exists && (beyond != boundary::zero || ends.x.exists(x)) ? found : T{};
      }
    }
  }
  static constexpr bool is_column(int v, int l) {
    return (shape.columns_read >> ((v + shape.left) * lanes + l) & 1) != 0;
  }
};
template <class Body, int Rows, int Planes, class Slots> struct windows;
template <class Body, int Rows, int Planes, std::size_t... Slot>
struct windows<Body, Rows, Planes, std::index_sequence<Slot...>>
    : window<Body, static_cast<int>(Slot), Rows, Planes>... {
  DSL_DETAIL_KERNEL_FN static bool are_in_vectors(const Body& body) {
    return (window<Body, static_cast<int>(Slot), Rows, Planes>::is_in_vectors(body) && ...);
  }
  DSL_DETAIL_KERNEL_FN static bool are_whole(const patch_ends& ends) {
    return (window<Body, static_cast<int>(Slot), Rows, Planes>::is_whole(ends) && ...);
  }
  template <bool InVectors>
  DSL_DETAIL_KERNEL_FN void load(const Body& body, const patch_ends& ends, int column, int row) {
    (window<Body, static_cast<int>(Slot), Rows, Planes>::template load<InVectors>(body, ends,
                                                                                  column, row),
     ...);
  }
};

/// Computes a tile in patches, one for each thread. `Body` is a kernel_body.
template <class Body>
struct patch_walk {
  using group = typename Body::group;
  using program = typename Body::program;
  static constexpr int lanes = Body::lanes, rows = Body::patches.rows,
                       planes = Body::patches.planes;
  using slots = std::make_index_sequence<static_cast<std::size_t>(Body::inputs)>;
  Body& body;

  /// Calls take(body, group, results) for each of a thread's groups. Elements beyond an end are
  /// replaced when they are read, because a branch between loads and formula would keep everything
  /// that a patch reads in registers. Patches of arrays that are not in vectors are one element
  /// wide; those of a thread are as many columns apart as threads are side by side, so that a warp
  /// accesses adjacent elements. A patch that an end cuts off is computed by adjacent patches one
  /// element wide.
  template <class Take>
  DSL_DETAIL_KERNEL_FN void run(int thread, const Take& take) const {
    const int row = body.row_of(thread) * rows;
    if (row >= body.height) return;
    int column = body.column_of(thread), step = 1;
    if (body.stores_vectors() && windows<Body, rows, planes, slots>::are_in_vectors(body)) {
      if (column >= body.width) return;
      const patch_ends ends = ends_of<rows, planes>(column, row);
      if (is_whole(ends, column, row)) return take_patch(ends, column, row, take);
    } else {
      step = 1 << body.args.tiles_of.log2_columns;
      column = thread & (step - 1);
    }
    DSL_DETAIL_ROLLED
    for (int i = 0; i < lanes && column < body.width; ++i, column += step) {
      typename Body::of_one one(body);
      const patch_walk<typename Body::of_one> walk{one};
      const patch_ends ends = walk.template ends_of<rows, planes>(column, row);
      if (walk.is_whole(ends, column, row)) walk.take_patch(ends, column, row, take);
      else walk.take_cut_patch(column, row, take);
    }
  }

 private:
  template <class> friend struct patch_walk;

  DSL_DETAIL_KERNEL_FN bool is_whole(const patch_ends& ends, int column, int row) const {
    return column + lanes <= body.width && row + rows <= body.height && body.planes == planes &&
           windows<Body, rows, planes, slots>::are_whole(ends);
  }
  template <class Take>
  DSL_DETAIL_KERNEL_FN void take_patch(const patch_ends& ends, int column, int row,
                                       const Take& take) const {
    windows<Body, rows, planes, slots> around;
    around.template load<true>(body, ends, column, row);
    DSL_DETAIL_UNROLL
    for (int k = 0; k < planes; ++k) {
      take_rows<true>(around, column, row, k, take);
      if (k + 1 < planes) body.enter_next_plane();
    }
  }
  // Takes the existing part of a patch row by row.
  template <class Take>
  DSL_DETAIL_KERNEL_FN void take_cut_patch(int column, int row, const Take& take) const {
    DSL_DETAIL_ROLLED
    for (int k = 0; k < body.planes; ++k) {
      DSL_DETAIL_ROLLED
      for (int r = row; r < row + rows && r < body.height; ++r) {
        windows<Body, 1, 1, slots> around;
        around.template load<false>(body, ends_of<1, 1>(column, r), column, r);
        take_rows<false>(around, column, r, 0, take);
      }
      if (planes > 1) body.enter_next_plane();
    }
  }

  template <int Rows, int Planes>
  DSL_DETAIL_KERNEL_FN patch_ends ends_of(int column, int row) const {
    const std::int32_t x = body.position(0) + column, n = body.extent(0);
    return {{x, n, 1},
            {whole_vectors(x), whole_vectors(n), 1},
            {body.position(1) + row, body.extent(1), Rows},
            {body.position(2), body.extent(2), Planes}};
  }
  DSL_DETAIL_KERNEL_FN static std::int32_t whole_vectors(std::int32_t elements) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(elements) / lanes);
  }
  template <int Rows, int Planes>
  struct source {
    const Body& body;
    group (&of_row)[Rows];
    const windows<Body, Rows, Planes, slots>& around;
    int plane;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::inside && place_with_head<program, Head>.is_near) {
        constexpr near_place place = place_with_head<program, Head>;
        set_lanes<Head, lanes>(of_row, [&](int r, int l) {
          return exists_near<0>(body, place, of_row[r].column + l) &&
                 exists_near<1>(body, place, of_row[r].row) && exists_near<2>(body, place, 0);
        });
      } else if constexpr (reads_window<Code, Head>()) {
        constexpr near_place place = place_with_head<program, Head>;
        const auto& w =
            static_cast<const window<Body, slot_with_head<program, Head>, Rows, Planes>&>(around);
        set_lanes<Head, lanes>(of_row, [&](int r, int l) { return w.value(place, r, l, plane); });
      } else {
        DSL_DETAIL_UNROLL
        for (int r = 0; r < Rows; ++r) body.template read<Code, D, N, Head>(of_row[r]);
      }
    }

   private:
    template <op Code, std::uint32_t Head>
    static constexpr bool reads_window() {
      if constexpr (Code != op::load && Code != op::neighbour) return false;
      else
        return place_with_head<program, Head>.is_near &&
               window<Body, slot_with_head<program, Head>, Rows, Planes>::shape.any();
    }
  };
  // `Whole`: all elements exist and are stored in whole vectors.
  template <bool Whole, int Rows, int Planes, class Take>
  DSL_DETAIL_KERNEL_FN void take_rows(const windows<Body, Rows, Planes, slots>& around, int column,
                                      int row, int plane, const Take& take) const {
    group of_row[Rows];
    DSL_DETAIL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      body.place_in_tile(of_row[r], column, row + r);
      if (Whole) of_row[r].count = lanes;
    }
    source<Rows, Planes> from{body, of_row, around, plane};
    Body::eval::read(from);
    DSL_DETAIL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      of_row[r].in_vectors = Whole;
      take(body, of_row[r], body.compute_read(of_row[r]));
    }
  }
};

}  // namespace dsl::detail

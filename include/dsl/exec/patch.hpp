// Neighbours in registers: a thread takes a patch of elements, so many side by side as it takes at a time and several rows of
// them, and reads what lies around them once, by aligned vectors, for all of them. What other threads read as well comes out of
// the first-level cache; tiles of it in shared memory were slower (docs/performance.md).
#pragma once

#include <dsl/exec/neighbours.hpp>
#include <dsl/exec/patch_needs.hpp>
#include <dsl/exec/window.hpp>

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

/// The elements around a thread's patch of one operand, read from its memory.
template <class Body, int Slot>
struct window : window_values<typename Body::program, Slot, Body::lanes, Body::rows_a_patch> {
  using base = window_values<typename Body::program, Slot, Body::lanes, Body::rows_a_patch>;
  using base::at, base::shape;
  using typename base::T;
  static constexpr int lanes = Body::lanes;

  /// `inner`: all of it lies within the operand.
  DSL_DETAIL_KERNEL_FN void load(const Body& body, int column, int row, bool inner) {
    if constexpr (shape.any()) {
      const std::int64_t down = body.args.strides[Slot][1], through = body.args.strides[Slot][2];
      if (inner) this->load_vectors(body.memory, corner(body) + row * down + column, down, through);
      else find_vectors(body, column, row, typename base::all{});
    }
  }

 private:
  using base::is_read, base::plane_of, base::row_of, base::vector_of;
  DSL_DETAIL_KERNEL_FN static const T* corner(const Body& body) {
    return reinterpret_cast<const T*>(body.args.operand[Slot].word) + body.offset[Slot];
  }
  template <int Vector, class Memory>
  DSL_DETAIL_KERNEL_FN static void load_elements(pack<T, lanes>& to, Memory memory, const T* line, std::int64_t first,
                                                 std::int64_t n, std::int64_t stride) {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if ((shape.columns_read >> (Vector * lanes + l) & 1) != 0)
        to.lane[l] = element_near_end<shape.beyond[0]>(memory, line, first + l, n, stride);
  }
  // One by one where a vector lies across an end, or the operand's are not aligned.
  template <int... I>
  DSL_DETAIL_KERNEL_FN void find_vectors(const Body& body, int column, int row, std::integer_sequence<int, I...>) {
    const bool whole = body.how_reached(Slot) == in_vectors;
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
      else if constexpr (shape.elements_read(vector_of(I), lanes) <= 2)
        load_elements<vector_of(I)>(to, body.memory, line, first, n, stride[0]);
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
            (!window<Body, static_cast<int>(Slot)>::shape.any() || body.how_reached(static_cast<int>(Slot)) == in_vectors));
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
      const bool in_columns = whole && column >= body.inner_columns[0] && column + lanes <= body.inner_columns[1];
      DSL_DETAIL_ROLLED
      for (int row = body.row_of(thread) * rows; row < body.height && column < body.width; row += step)
        take_patch(column, row, in_columns && row >= body.inner_rows[0] && row + rows <= body.inner_rows[1], take);
      body.enter_next_plane();
    }
  }

 private:
  struct source {
    const Body& body;
    group (&of_row)[rows];
    const around& read_around;
    bool inner;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::inside && place_with_head<program, Head>.is_near) {
        constexpr near_place place = place_with_head<program, Head>;
        set_lanes<Head, lanes>(of_row, [&](int r, int l) {
          return inner || (exists_near<0>(body, place, of_row[r].column + l) && exists_near<1>(body, place, of_row[r].row) &&
                           exists_near<2>(body, place, 0));
        });
      } else if constexpr (reads_window<Code, Head>()) {
        constexpr near_place place = place_with_head<program, Head>;
        const auto& w = static_cast<const window<Body, slot_with_head<program, Head>>&>(read_around);
        set_lanes<Head, lanes>(of_row, [&](int r, int l) { return w.value(place, r, l); });
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

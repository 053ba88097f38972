// A patch with its halo, in registers.
#pragma once

#include <dsl/exec/stencil/near.hpp>

namespace dsl::detail {

/// The vectors that a patch of an operand reads, with its halo: for each row a bit for each vector.
struct window_shape {
  static constexpr int most_planes = 8, most_rows = 22;
  int planes = 0, rows = 0, vectors = 0;
  int front = 0, above = 0, left = 0;  // Planes, rows and vectors of the halo before the patch.
  std::uint32_t reads[most_planes][most_rows] = {};
  std::uint64_t columns_read = 0;  // Columns read, of all rows together.
  boundary beyond[near_place::axes] = {boundary::clamp, boundary::clamp, boundary::clamp};
  dtype type = dtype::boolean;
  constexpr bool any() const { return planes > 0; }
  /// The number of vectors read.
  constexpr int count() const {
    int sum = 0;
    for (const auto& plane : reads)
      for (const std::uint32_t row : plane) sum += __builtin_popcount(row);
    return sum;
  }
};
template <class Program>
constexpr window_shape window_of(int slot, int lanes, int patch_rows, int patch_planes = 1) {
  constexpr program_view p = Program::view();
  window_shape w;
  int back = 0, below = 0, right = 0;
  bool any = false;
  const auto most = [](int& to, int value) { to = value > to ? value : to; };
  const auto reads = [slot, &p](int i) {
    const op code = head{p.heads[i]}.code();
    return (code == op::load || code == op::neighbour) &&
           static_cast<int>(operand_read(p, i)) == slot &&
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
  w.planes = w.front + patch_planes + back;
  w.rows = w.above + patch_rows + below;
  w.vectors = w.left + 1 + right;
  for (int i = 0; i < p.nodes; ++i) {
    if (!reads(i)) continue;
    const near_place& place = near_places<Program>[static_cast<std::size_t>(i)];
    for (int l = 0; l < lanes; ++l) {
      const int column = w.left * lanes + l + place.at[0];
      w.columns_read |= std::uint64_t{1} << column;
      for (int k = 0; k < patch_planes; ++k)
        for (int r = 0; r < patch_rows; ++r)
          w.reads[w.front + k + place.at[2]][w.above + r + place.at[1]] |= 1u << column / lanes;
    }
  }
  return w;
}

/// The position of element i of n, at most n beyond an end; -1: it is zero.
template <boundary Beyond>
DSL_DETAIL_FN constexpr std::int64_t near_inside(std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  if constexpr (Beyond == boundary::zero) return -1;
  else if constexpr (Beyond == boundary::clamp) return i < 0 ? 0 : n - 1;
  else if constexpr (Beyond == boundary::wrap) return i < 0 ? i + n : i - n;
  else return i < 0 ? -i : 2 * (n - 1) - i;
}

/// Element i of a line of n, or the element that stands for it; 0 if that is further away than a
/// patch reads.
template <boundary Beyond, class T, class Memory>
DSL_DETAIL_FN T element_near_end(Memory memory, const T* line, std::int64_t i, std::int64_t n,
                                 std::int64_t stride) {
  const std::int64_t found = i <= -n || i > 2 * n - 2 ? -1 : near_inside<Beyond>(i, n);
  return found >= 0 ? memory.template load<T>(line + found * stride) : T{};
}

/// Lanes `begin` to `end` of the vector that starts at `first` in a line of n, element by element.
template <class T, int Lanes, boundary Beyond, class Memory>
DSL_DETAIL_NOINLINE pack<T, Lanes> vector_across_end(Memory memory, const T* line,
                                                     std::int64_t first, std::int64_t n,
                                                     std::int64_t stride, int begin = 0,
                                                     int end = Lanes) {
  pack<T, Lanes> v;
  DSL_DETAIL_UNROLL
  for (int l = 0; l < Lanes; ++l)
    v.lane[l] =
        l >= begin && l < end ? element_near_end<Beyond>(memory, line, first + l, n, stride) : T{};
  return v;
}

/// A patch of one operand with its halo.
template <class Program, int Slot, int Lanes, int Rows, int Planes = 1>
struct window_values {
  static constexpr window_shape shape = window_of<Program>(Slot, Lanes, Rows, Planes);
  static constexpr int lanes = Lanes;
  using T = memory_t<shape.type>;
  pack<T, Lanes> at[shape.any() ? shape.planes : 1][shape.any() ? shape.rows : 1]
                   [shape.any() ? shape.vectors : 1];

  /// Reads everything in whole vectors. `first` is the patch's first element; `down` and `through`
  /// are the strides to the next row and plane.
  template <class Memory, class Stride>
  DSL_DETAIL_KERNEL_FN void load_vectors(Memory memory, const T* first, Stride down,
                                         Stride through) {
    if constexpr (shape.any()) load_vectors(memory, first, down, through, all{});
  }
  /// The same element by element, `along` apart.
  template <class Memory, class Stride>
  DSL_DETAIL_KERNEL_FN void load_elements(Memory memory, const T* first, Stride along, Stride down,
                                          Stride through) {
    find_vectors([&](int column, int row, int plane) {
      const T* from = first + (plane * through + row * down + column * along);
      pack<T, Lanes> v;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Lanes; ++l) v.lane[l] = memory.template load<T>(from + l * along);
      return v;
    });
  }
  /// Calls find(column, row, plane) for each vector; the patch's first element is at 0, 0, 0.
  template <class Find>
  DSL_DETAIL_KERNEL_FN void find_vectors(const Find& find) {
    if constexpr (shape.any()) find_vectors(find, all{});
  }
  /// The neighbour at a place of lane l of row r of plane k.
  DSL_DETAIL_KERNEL_FN T value(const near_place& place, int r, int l, int k = 0) const {
    const int column = shape.left * Lanes + l + place.at[0];
    return at[shape.front + k + place.at[2]][shape.above + r + place.at[1]][column / Lanes]
        .lane[column % Lanes];
  }

 protected:
  using all = std::make_integer_sequence<int, shape.planes * shape.rows * shape.vectors>;
  static constexpr int plane_of(int i) { return i / shape.vectors / shape.rows; }
  static constexpr int row_of(int i) { return i / shape.vectors % shape.rows; }
  static constexpr int vector_of(int i) { return i % shape.vectors; }
  static constexpr bool is_read(int i) {
    return (shape.reads[plane_of(i)][row_of(i)] >> vector_of(i) & 1) != 0;
  }

 private:
  template <class Find, int... I>
  DSL_DETAIL_KERNEL_FN void find_vectors(const Find& find, std::integer_sequence<int, I...>) {
    (find_vector<I>(find), ...);
  }
  template <int I, class Find>
  DSL_DETAIL_KERNEL_FN void find_vector(const Find& find) {
    if constexpr (is_read(I))
      at[plane_of(I)][row_of(I)][vector_of(I)] = find(
          (vector_of(I) - shape.left) * Lanes, row_of(I) - shape.above, plane_of(I) - shape.front);
  }
  template <class Memory, class Stride, int... I>
  DSL_DETAIL_KERNEL_FN void load_vectors(Memory memory, const T* first, Stride down, Stride through,
                                         std::integer_sequence<int, I...>) {
    (load_vector<I>(memory, first, down, through), ...);
  }
  template <int I, class Memory, class Stride>
  DSL_DETAIL_KERNEL_FN void load_vector(Memory memory, const T* first, Stride down,
                                        Stride through) {
    if constexpr (is_read(I))
      at[plane_of(I)][row_of(I)][vector_of(I)] = memory.template load<pack<T, Lanes>>(
          first + ((plane_of(I) - shape.front) * through + (row_of(I) - shape.above) * down +
                   (vector_of(I) - shape.left) * Lanes));
  }
};

/// Sets the operand that a node reads to value(row, lane), for a patch.
template <std::uint32_t Head, int Lanes, class Group, int Rows, class Value>
DSL_DETAIL_KERNEL_FN void set_lanes(Group (&of_row)[Rows], const Value& value) {
  DSL_DETAIL_UNROLL
  for (int r = 0; r < Rows; ++r) {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) operand_lanes<Head>(of_row[r]).set(l, value(r, l));
  }
}

/// Whether the near neighbour of a position of the block's tile exists along an axis, or a boundary
/// other than zero stands for it.
template <int Axis, class Body>
DSL_DETAIL_KERNEL_FN bool exists_near(const Body& body, const near_place& place, int in_tile) {
  if (place.at[Axis] == 0 || place.beyond[Axis] != boundary::zero || place.ends_inside[Axis])
    return true;
  const std::int64_t from = body.position(Axis) + in_tile + place.at[Axis];
  return from >= 0 && from < body.extent(Axis);
}

}  // namespace dsl::detail

// The path from an element to a neighbour, in an index space that has been laid out.
#pragma once

#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// A step along a dimension; -1: the operand has one element along it.
struct dimension_step {
  int dimension;
  boundary beyond;
  std::int64_t distance;
};

/// The displacement after a path's steps, at most `Most`.
template <int Most>
struct steps_taken {
  std::int64_t moved[Most > 0 ? Most : 1];
  int dimension[Most > 0 ? Most : 1];
  bool exists = true;  // Otherwise the element is zero.

  /// Takes step s, from an element at position `at` of n along the step's dimension.
  DSL_DETAIL_FN void take(int s, const dimension_step& step, std::int64_t at, std::int64_t n) {
    at += along(step.dimension, s);
    const std::int64_t from = inside(step.beyond, at - step.distance, n);
    exists = exists && from >= 0;
    moved[s] = from < 0 ? 0 : from - at;
    dimension[s] = step.dimension;
  }
  /// The displacement along a dimension after the first `count` steps.
  DSL_DETAIL_FN std::int64_t along(int of_dimension, int count) const {
    std::int64_t sum = 0;
    DSL_DETAIL_UNROLL
    for (int s = 0; s < Most; ++s)
      if (s < count && dimension[s] == of_dimension) sum += moved[s];
    return sum;
  }
};

/// On the host the neighbours that a node reads are a column, like those of operands: the number of
/// that column.
inline constexpr int first_neighbour_column = max_inputs;
template <class Program, op Code, int N, std::uint32_t Head>
constexpr int column_of() {
  if constexpr (!is_placed(Code)) return N;
  int number = first_neighbour_column;
  for (int i = 0; i < node_with(Program::view(), Head); ++i)
    number += is_placed(head{Program::view().heads[i]}.code()) ? 1 : 0;
  return number;
}

/// Reads the neighbours of a thread's elements for the node with a head. `Body` is a kernel_body.
template <class Body, class Group, std::uint32_t Head>
struct neighbour_reader {
  using program = typename Body::program;
  static constexpr int lanes = Body::lanes;
  const Body& body;
  Group& g;

  template <op Code, dtype D>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::coordinate) read_coordinate();
    else read_neighbour<Code, D>();
  }
  /// The displacement of all steps in bytes, with the given distances between elements, rows and
  /// planes.
  DSL_DETAIL_KERNEL_FN std::int32_t displacement_bytes(std::int32_t element, std::int32_t row,
                                                       std::int32_t plane) const {
    std::int32_t sum = 0;
    const auto add = [&](const dimension_step& step) {
      sum -= static_cast<std::int32_t>(step.distance) * (step.dimension == 0   ? element
                                                         : step.dimension == 1 ? row
                                                                               : plane);
    };
    [&]<int... S>(std::integer_sequence<int, S...>) {
      (add(step_number<S>()), ...);
    }(std::make_integer_sequence<int, path_with_head<program, Head>.count>{});
    return sum;
  }

 private:
  static constexpr int node = node_with(program::view(), Head);
  static constexpr std::uint64_t word = program::view().payloads[node];
  static constexpr int slot = static_cast<int>(word & 0xffff);

  // The dimension of the operand's axis, counted from the right.
  DSL_DETAIL_KERNEL_FN int dimension_of(int axis) const {
    const int d = static_cast<int>(body.args.tiles_of.dimension_of_axis >> 4 * axis & 0xf);
    return d == tiling::no_dimension ||
                   neighbour_word{body.args.operand[slot].descriptor}.is_single(axis)
               ? -1
               : d;
  }
  // The position of lane l's element along a dimension.
  DSL_DETAIL_KERNEL_FN std::int64_t position_of(int l, int dimension) const {
    return body.position(dimension) + (dimension == 0   ? g.column + l * Body::lane_step
                                       : dimension == 1 ? g.row
                                                        : 0);
  }
  DSL_DETAIL_KERNEL_FN void read_coordinate() const {
    const int dimension = dimension_of(static_cast<int>(word >> 16 & 0xffff));
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      operand_lanes<Head>(g).set(l, position_of(l < g.count ? l : 0, dimension));
  }

  template <int S>
  DSL_DETAIL_KERNEL_FN dimension_step step_number() const {
    constexpr path_step step = path_with_head<program, Head>.step[S];
    if constexpr (step.slot < 0) {
      constexpr boundary beyond =
          step.ends_inside && step.beyond == boundary::zero ? boundary::clamp : step.beyond;
      return {dimension_of(step.axis), beyond, step.distance};
    } else {
      const neighbour_word w{body.args.operand[step.slot].descriptor};
      const boundary beyond =
          step.ends_inside && w.beyond() == boundary::zero ? boundary::clamp : w.beyond();
      return {dimension_of(w.axis()), beyond, w.distance()};
    }
  }
  template <int... S>
  DSL_DETAIL_KERNEL_FN steps_taken<sizeof...(S)> walk(int l,
                                                      std::integer_sequence<int, S...>) const {
    steps_taken<sizeof...(S)> way;
    const auto take = [&](int s, const dimension_step& step) {
      way.take(s, step, position_of(l, step.dimension), body.extent(step.dimension));
    };
    (take(S, step_number<S>()), ...);
    return way;
  }
  template <int... S>
  DSL_DETAIL_KERNEL_FN bool goes_along_lanes(std::integer_sequence<int, S...>) const {
    return ((step_number<S>().dimension == 0) || ...);
  }
  template <int Most>
  DSL_DETAIL_KERNEL_FN std::int64_t offset_after(const steps_taken<Most>& way) const {
    std::int64_t sum = 0;
    DSL_DETAIL_UNROLL
    for (int s = 0; s < Most; ++s)
      if (way.dimension[s] >= 0) sum += way.moved[s] * body.args.strides[slot][way.dimension[s]];
    return sum;
  }

  template <op Code, dtype D>
  DSL_DETAIL_KERNEL_FN void read_neighbour() const {
    using T = memory_t<D>;
    constexpr op base = path_with_head<program, Head>.base;
    using steps = std::make_integer_sequence<int, path_with_head<program, Head>.count>;
    if constexpr (Code == op::neighbour && base == op::load) {
      const T* const here =
          reinterpret_cast<const T*>(body.args.operand[slot].word) + body.place(slot, g);
      if constexpr (steps::size() == 1) {
        const dimension_step step = step_number<0>();
        if (step.dimension == 0) return read_along_lanes(here, step);
        if (step.dimension == 1) return read_row(here, step);
      }
      if (steps::size() == 1 || !goes_along_lanes(steps{})) {
        const auto way = walk(0, steps{});
        if (way.exists) return load_lanes(here + offset_after(way));
        if constexpr (steps::size() == 1) return set_zeros<T>();
      }
    }
    if constexpr (Code != op::neighbour || base != op::load || steps::size() != 1)
      read_each<Code, D>(steps{});
  }
  // One step along the first or the second dimension: the most frequent paths, with little
  // arithmetic.
  template <class T> DSL_DETAIL_KERNEL_FN void read_along_lanes(const T* here,
                                                                const dimension_step& step) const {
    const std::int64_t x = body.position(0) + g.column, n = body.extent(0);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      const std::int64_t at = x + (l < g.count ? l : 0) - step.distance;
      const std::int64_t found = at >= 0 && at < n ? at : inside(step.beyond, at, n);
      T each{};
      if (found >= 0) each = body.memory.template load<T>(here + (found - x) * body.step(slot));
      operand_lanes<Head>(g).set(l, each);
    }
  }
  template <class T> DSL_DETAIL_KERNEL_FN void read_row(const T* here,
                                                        const dimension_step& step) const {
    const std::int64_t y = body.position(1) + g.row, n = body.extent(1), at = y - step.distance;
    const std::int64_t found = at >= 0 && at < n ? at : inside(step.beyond, at, n);
    if (found >= 0) load_lanes(here + (found - y) * body.args.strides[slot][1]);
    else set_zeros<T>();
  }
  template <class T> DSL_DETAIL_KERNEL_FN void load_lanes(const T* from) const {
    body.load(slot, g, from, body.how_reached(slot), operand_lanes<Head>(g));
  }
  template <class T> DSL_DETAIL_KERNEL_FN void set_zeros() const {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) operand_lanes<Head>(g).set(l, T{});
  }
  template <op Code, dtype D, int... S>
  DSL_DETAIL_KERNEL_FN void read_each(std::integer_sequence<int, S...> steps) const {
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      const int lane = l < g.count ? l : 0;
      const auto way = walk(lane, steps);
      if constexpr (Code == op::inside) operand_lanes<Head>(g).set(l, way.exists);
      else operand_lanes<Head>(g).set(l, value_after<D>(lane, way));
    }
  }
  template <dtype D, int Most>
  DSL_DETAIL_KERNEL_FN auto value_after(int l, const steps_taken<Most>& way) const {
    constexpr op base = path_with_head<program, Head>.base;
    using T = std::conditional_t<base == op::load, memory_t<D>, value_t<D>>;
    const std::uint64_t first = body.args.operand[slot].word;
    if (!way.exists) return T{};
    if constexpr (base == op::coordinate) {
      const int dimension = dimension_of(path_with_head<program, Head>.axis);
      return static_cast<T>(position_of(l, dimension) + way.along(dimension, Most));
    } else {
      const std::int64_t from =
          body.place(slot, g) + l * Body::lane_step * body.step(slot) + offset_after(way);
      if constexpr (base == op::load)
        return body.memory.template load<T>(reinterpret_cast<const T*>(first) + from);
      else if constexpr (base == op::index) return static_cast<T>(first) + static_cast<T>(from);
      else
        return static_cast<T>(first) +
               static_cast<T>(from) * static_cast<T>(body.how_reached(slot));
    }
  }
};

}  // namespace dsl::detail

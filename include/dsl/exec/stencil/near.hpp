// Near neighbours: those at small displacements known at compile time.
#pragma once

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/stencil/neighbours.hpp>

namespace dsl::detail {

/// The displacement of a node's read, along axes counted from the right, with at most one step an
/// axis.
struct near_place {
  static constexpr int axes = 3;
  bool is_near = false;
  int at[axes] = {};                            // Elements.
  boundary beyond[axes] = {};                   // Along the axes with a step.
  bool ends_inside[axes] = {true, true, true};  // True: any boundary gives the same.
  // The steps, the first one in the lowest bits: whether there is one, axis, boundary, whether it
  // ends inside, distance.
  static constexpr int step_bits = 10;
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
  for (int s = 0; s < path.count; ++s) {
    const path_step& step = path.step[s];
    place.is_near = place.is_near && step.slot < 0 && step.axis < near_place::axes &&
                    step.distance >= -most[step.axis] && step.distance <= most[step.axis] &&
                    place.at[step.axis] == 0;
    if (!place.is_near) return place;
    const int distance = static_cast<int>(step.distance);
    const auto word =
        1u | static_cast<unsigned>(step.axis) << 1 | static_cast<unsigned>(step.beyond) << 3 |
        static_cast<unsigned>(step.ends_inside) << 5 | static_cast<unsigned>(distance + 8) << 6;
    place.steps |= static_cast<std::uint64_t>(word) << near_place::step_bits * s;
    place.at[step.axis] = -distance;
    place.beyond[step.axis] = step.beyond;
    place.ends_inside[step.axis] = step.ends_inside;
  }
  return place;
}

/// The displacements of all nodes of a program. Reads of one operand qualify only if their
/// boundaries agree.
template <class Program>
inline constexpr auto near_places = [] {
  constexpr program_view p = Program::view();
  std::array<near_place, static_cast<std::size_t>(p.nodes) + 1> all{};
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    if (code != op::load && code != op::neighbour && code != op::inside) continue;
    near_place& mine = all[static_cast<std::size_t>(i)];
    mine = near_place_of(p, i);
    for (int k = 0; k < i && mine.is_near; ++k) {
      const near_place& other = all[static_cast<std::size_t>(k)];
      if (!other.is_near || operand_read(p, k) != operand_read(p, i)) continue;
      for (int axis = 0; axis < near_place::axes; ++axis)
        if (!mine.ends_inside[axis] && !other.ends_inside[axis] &&
            mine.beyond[axis] != other.beyond[axis])
          mine.is_near = false;
    }
  }
  return all;
}();
template <class Program, std::uint32_t Head>
inline constexpr near_place place_with_head =
    near_places<Program>[static_cast<std::size_t>(node_with(Program::view(), Head))];
template <class Program, std::uint32_t Head>
inline constexpr int slot_with_head =
    static_cast<int>(operand_read(Program::view(), node_with(Program::view(), Head)));

/// The place of an element's near neighbour in an operand's memory, given the element's positions
/// `at` along the axes counted from the right and its `place`; `nowhere`: it is zero. Compiled once
/// for all neighbour reads of a kernel.
inline constexpr std::int64_t nowhere = std::int64_t{1} << 62;
template <class Arguments>
DSL_DETAIL_NOINLINE std::int64_t place_of_neighbour(const Arguments& args, int slot,
                                                    std::uint64_t steps, std::int64_t at0,
                                                    std::int64_t at1, std::int64_t at2,
                                                    std::int64_t place) {
  const tiling& t = args.tiles_of;
  DSL_DETAIL_ROLLED
  for (; (steps & 1) != 0; steps >>= near_place::step_bits) {
    const int axis = static_cast<int>(steps >> 1 & 3),
              distance = static_cast<int>(steps >> 6 & 15) - 8;
    auto beyond = static_cast<boundary>(steps >> 3 & 3);
    if ((steps >> 5 & 1) != 0 && beyond == boundary::zero) beyond = boundary::clamp;
    const int dimension = static_cast<int>(t.dimension_of_axis >> 4 * axis & 0xf);
    const bool single = dimension == tiling::no_dimension ||
                        neighbour_word{args.operand[slot].descriptor}.is_single(axis);
    const std::int64_t n = single ? 1 : t.extent(dimension), from = axis == 0   ? at0
                                                                    : axis == 1 ? at1
                                                                                : at2;
    const std::int64_t to = inside(beyond, from - distance, n);
    if (to < 0) return nowhere;
    if (!single) place += (to - from) * args.strides[slot][dimension];
    if (axis == 0) at0 = to;
    else if (axis == 1) at1 = to;
    else at2 = to;
  }
  return place;
}
/// Reads near neighbours of a group's lanes.
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
    const bool single = dimension == tiling::no_dimension ||
                        neighbour_word{body.args.operand[slot].descriptor}.is_single(axis);
    at[axis] = single ? 0
                      : body.position(dimension) + (dimension == 0   ? g.column
                                                    : dimension == 1 ? g.row
                                                                     : 0);
    if (dimension == 0 && !single) along_lanes = axis;
  }
  DSL_DETAIL_UNROLL
  for (int l = 0; l < Body::lanes; ++l) {
    const int lane = l < g.count ? l : 0;
    const auto moved = [&](int axis) { return at[axis] + (axis == along_lanes ? lane : 0); };
    const std::int64_t found =
        place_of_neighbour(body.args, slot, steps, moved(0), moved(1), moved(2),
                           body.place(slot, g) + lane * body.step(slot));
    if constexpr (Code == op::inside) {
      operand_lanes<Head>(g).set(l, found != nowhere);
    } else {
      using T = memory_t<D>;
      T value{};
      if (found != nowhere)
        value = body.memory.template load<T>(
            reinterpret_cast<const T*>(body.args.operand[slot].word) + found);
      operand_lanes<Head>(g).set(l, value);
    }
  }
}

}  // namespace dsl::detail

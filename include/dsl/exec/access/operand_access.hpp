// A thread's accesses to one operand, over a memory (team.hpp).
#pragma once

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/access/tile.hpp>

namespace dsl::detail {

/// The number of arrays of which a formula reads the element at its own position; -1 if it reads
/// elements at other positions too.
template <class Eval> inline constexpr int arrays_read_in_place = [] {
  int arrays = 0;
  for (const int node : Eval::input_nodes) {
    const op code = Eval::head_of(node).code();
    if (is_placed(code)) return -1;
    arrays += code == op::load ? 1 : 0;
  }
  return arrays;
}();

/// Accesses operands by number. It knows the element types but no formula, so that formulas of as
/// many operands share it; in the simulator they share the compiled code too.
template <class Place, class Memory>
struct operand_access : Place {
  using Place::args, Place::offset;
  static constexpr bool strided = Place::strided;
  Memory memory;

  DSL_DETAIL_KERNEL_FN operand_access(const typename Place::arguments& a, Memory m)
      : Place(a), memory(m) {}

  /// The position of a group's first element in an operand, and the distance to the next one.
  DSL_DETAIL_KERNEL_FN std::int64_t place(int operand, const lane_place& g) const {
    if constexpr (strided) {
      std::int64_t at = this->offset_of(operand) + this->distance(operand, 0, g.column) +
                        this->distance(operand, 1, g.row);
      if constexpr (Place::reduces) {
        DSL_DETAIL_UNROLL
        for (int u = 0; u < g.further; ++u) at += this->group_distance[operand];
      }
      return at;
    } else {
      return g.first;
    }
  }
  DSL_DETAIL_KERNEL_FN std::int64_t step(int operand) const {
    if constexpr (strided) return args.strides[operand][0];
    else return 1;
  }

  /// How an operand is reached (`reach`). `beside`: a bit for each operand whose neighbours are
  /// read.
  DSL_DETAIL_KERNEL_FN std::uint64_t how_reached(int k, std::uint64_t beside) const {
    const std::uint64_t word = args.operand[k].descriptor;
    return k < 64 && (beside >> k & 1) != 0 ? neighbour_word{word}.how() : word;
  }

  /// Reads a group's lanes of an operand from an address on.
  template <class T, int Lanes>
  DSL_DETAIL_SHARED_KERNEL_FN void load(int operand, const lane_place& g, const T* from,
                                        std::uint64_t how, lane_values<T, Lanes>& to) const {
    if constexpr (is_single<Lanes>)
      return to.set(0, g.count > 0 ? memory.template load<T>(from) : T{});
    if (g.in_vectors || (g.count == Lanes && how == in_vectors)) {
      to.load(memory, from);
      return;
    }
    if constexpr (strided) {
      if (step(operand) == 0) {
        const T one = memory.template load<T>(from);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < Lanes; ++l) to.set(l, one);
        return;
      }
    }
    T each[Lanes];
    if (strided && how >= in_tile) {
      const T* const tile = in_shared_tile<T>(operand, g, how);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Lanes; ++l)
        each[l] =
            Memory::may_load_unwritten || l < g.count ? memory.template load<T>(tile + l) : T{};
    } else if (strided && Place::reduces && Lanes > 2 && step(operand) == 1) {
      // Addresses known at compile time, and for a whole group no conditions.
      if (g.count == Lanes) {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < Lanes; ++l) each[l] = memory.template load<T>(from + l);
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < Lanes; ++l)
          each[l] = l < g.count ? memory.template load<T>(from + l) : T{};
      }
    } else {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Lanes; ++l, from += step(operand)) {
        each[l] = T{};
        if (l < g.count) each[l] = memory.template load<T>(from);
      }
    }
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) to.set(l, l < g.count ? each[l] : each[0]);
  }

  /// Starts to read a whole group's lanes of an operand that is in vectors or has one element for
  /// all lanes. Nothing that was loaded is used, so that the loads of several operands are in
  /// flight together; `spread` must follow.
  template <class T, int Lanes>
  DSL_DETAIL_KERNEL_FN void load_ahead(int operand, const T* from,
                                       lane_values<T, Lanes>& to) const {
    if (step(operand) != 0) to.load(memory, from);
    else to.set(0, memory.template load<T>(from));
  }
  /// Reads the first `count` lanes of a group, at least one and at most `Most`, of an operand whose
  /// elements are adjacent or one for all lanes.
  template <int Most, class T, int Lanes>
  DSL_DETAIL_SHARED_KERNEL_FN void load_adjacent(int operand, int count, const T* from,
                                                 lane_values<T, Lanes>& to) const {
    T each[Lanes]{};
    if (step(operand) == 0) count = 1;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Most; ++l)
      if (l == 0 || l < count) each[l] = memory.template load<T>(from + l);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) to.set(l, l < Most && l < count ? each[l] : each[0]);
  }
  template <class T, int Lanes>
  DSL_DETAIL_KERNEL_FN void spread(int operand, lane_values<T, Lanes>& of) const {
    if (step(operand) != 0) return;
    const T one = of.at(0);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) of.set(l, one);
  }

  /// Writes a group's lanes of an operand.
  template <class T, int Lanes>
  DSL_DETAIL_SHARED_KERNEL_FN void store(int operand, const lane_place& g,
                                         const pack<T, Lanes>& all, bool whole) const {
    const argument& a = args.operand[operand];
    T* to = reinterpret_cast<T*>(a.word) + place(operand, g);
    if constexpr (is_single<Lanes>) {
      if (g.count > 0) memory.store(to, all.lane[0]);
      return;
    }
    if (whole || (g.count == Lanes && a.descriptor == in_vectors)) {
      if constexpr (takes_patches<typename Place::arguments>)
        memory.store_whole(reinterpret_cast<pack<T, Lanes>*>(to), all);
      else memory.store(reinterpret_cast<pack<T, Lanes>*>(to), all);
    } else {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Lanes; ++l, to += step(operand))
        if (l < g.count) memory.store(to, all.lane[l]);
    }
  }

 private:
  // Whether a thread accesses one element, by the same instruction whether or not the operand is in
  // whole vectors.
  template <int Lanes> static constexpr bool is_single = Lanes == 1 && !strided;

  // The first element of a group in an operand's tile; the tile may be one row that all rows share.
  template <class T>
  DSL_DETAIL_KERNEL_FN const T* in_shared_tile(int operand, const lane_place& g,
                                               std::uint64_t how) const {
    if constexpr (!strided) return nullptr;
    else {
      const int pitch =
          args.strides[operand][1] == 0 ? 0 : tile_pitch(args.tiles_of.shared_columns, sizeof(T));
      return reinterpret_cast<const T*>(memory.shared() + (how - in_tile) + g.row * pitch) +
             g.column;
    }
  }
};

}  // namespace dsl::detail

// Tables of accumulators in a block's shared memory, with an entry for each group, to which its
// warps add elements.
#pragma once

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/by_key/by_key_arguments.hpp>
#include <dsl/exec/reduce/reduction.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

/// Whether each reduction combines two elements in at most `Operations` nodes, including those that
/// read the elements.
template <class Reductions, int Operations> inline constexpr bool combines_within = false;
template <class... F, int Operations>
inline constexpr bool combines_within<pass_reductions<F...>, Operations> =
    ((F::combine::view().nodes <= Operations) && ...);

/// Whether combining two elements takes one operation and few registers.
template <class Reductions>
inline constexpr bool combines_quickly =
    sizeof(typename reductions_of<Reductions>::accumulators) <= 8 && combines_within<Reductions, 3>;

/// One thread's view of the tables. A warp adds a batch at a time, `vectors` elements of each lane,
/// in order. Warps that share a table take turns at it, so a group's elements are always combined
/// in the same order, and any rule may be used. Pure counts are added atomically.
template <class PassReductions, bool Counts, int Vectors, class Memory, class Team>
class by_key_table {
  using reductions = reductions_of<PassReductions>;
  using lane_mask = typename Team::lane_mask;
  static constexpr int log2_warp = Team::warp_size == 64 ? 6 : 5;
  static_assert(Team::warp_size == 1 << log2_warp);
  // Elements of a lane whose entries are read at once.
  static constexpr int together = !combines_quickly<PassReductions> ? 1 : Vectors < 8 ? Vectors : 8;
  static_assert(Vectors % together == 0);

 public:
  using accumulators = typename reductions::accumulators;
  /// An accumulator in a table. If its size allows, it is read and written in accesses of 16 bytes:
  /// member by member, accumulators of four floats would use only one bank in four.
  struct alignas(sizeof(accumulators) % 16 == 0  ? 16
                 : sizeof(accumulators) % 8 == 0 ? 8
                                                 : alignof(accumulators)) whole {
    accumulators of;
  };
  using entry_type = std::conditional_t<Counts, unsigned, whole>;
  struct batch {
    unsigned entry[Vectors];  // Offset from the first byte of shared memory.
    accumulators element[Vectors];
  };

  DSL_DETAIL_KERNEL_FN by_key_table(const by_key_parameters& p, Memory m, Team t)
      : given(p),
        memory(m),
        team(t),
        entries(static_cast<int>(by_key_entries(p.span, p.log2_copies, Team::warp_size))),
        place_in_turn(t.warp() / p.tables << 8 | t.warp() % p.tables),
        // A value from another lane is not computed again, which it otherwise would be in the
        // table's turn.
        first_entry(t.from_lane(static_cast<unsigned>(by_key_tag_bytes(p.tables, p.tags)) +
                                    bytes_of(number() * entries),
                                0)) {
    keep_in_register(place_in_turn);
  }

  /// Called before the first batch; a barrier.
  DSL_DETAIL_KERNEL_FN void clear() {
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < given.tables * entries; i += team.threads())
      memory.store(tables() + i, nothing());
    DSL_DETAIL_ROLLED
    for (int i = team.thread(); i < given.tables * given.tags; i += team.threads())
      memory.store(all_tags() + i, 0u);
    batches = 0;
    team.synchronize();
  }

  /// Assigns an element of a batch to a group of the table, or to none.
  DSL_DETAIL_KERNEL_FN void put(batch& b, int v, bool is_in_table, unsigned group) const {
    const unsigned in_table =
        first_entry + bytes_of(static_cast<int>(group << given.log2_copies | copy()));
    b.entry[v] = is_in_table ? in_table : dummy_entry();
  }

  /// Adds a batch; a tile has `Tile` elements of each lane. All warps of a block add equally many
  /// batches.
  template <int Tile>
  DSL_DETAIL_KERNEL_FN void add(batch& b) {
    if constexpr (Counts) {
      DSL_DETAIL_UNROLL
      for (int v = 0; v < Vectors; ++v) team.atomic_add(place(b.entry[v]), 1u);
    } else {
      if (given.tags == 0) {
        combine_in_lane(b);
      } else {
        DSL_DETAIL_UNROLL
        for (int v = 0; v < Vectors; v += Tile) combine_tile<Tile>(b.entry + v, b.element + v);
      }
      // Other warps wait during a turn, so its inputs are computed before.
      DSL_DETAIL_UNROLL
      for (int v = 0; v < Vectors; ++v) keep_in_register(b.entry[v]);
      if (given.turns > 1 && (turn() > 0 || batches > 0)) team.await_turn();
      if (given.tags == 0) add_by_lanes(b);
      else add_by_tags(b);
      if (given.turns > 1)
        team.pass_turn(turn() + 1 < given.turns ? team.warp() + given.tables : number());
      ++batches;
    }
  }

  /// Combines all tables and copies into one table, in order; a barrier after the last batch.
  DSL_DETAIL_KERNEL_FN void leave(accumulators* to) {
    if (!Counts && given.turns > 1 && turn() == 0 && batches > 0)
      // The last turn, which nobody uses.
      team.await_turn();
    team.synchronize();
    const int all_copies = given.span << given.log2_copies;
    DSL_DETAIL_ROLLED
    for (int first = Team::warp_size * team.warp(); first < all_copies; first += team.threads()) {
      const int at = first + team.lane();
      accumulators sum = reductions::identities();
      DSL_DETAIL_ROLLED
      for (int t = 0; t < given.tables && at < all_copies; ++t)
        reductions::add(sum, sum_of(memory.template load<entry_type>(tables() + t * entries + at)));
      DSL_DETAIL_ROLLED
      for (int step = (1 << given.log2_copies) / 2; step > 0; step /= 2)
        combine_with_lane<reductions>(sum, step, team);
      if (at < all_copies && (at & ((1 << given.log2_copies) - 1)) == 0)
        memory.store(to + (at >> given.log2_copies), sum);
    }
  }

 private:
  DSL_DETAIL_KERNEL_FN unsigned* all_tags() const {
    return reinterpret_cast<unsigned*>(memory.shared());
  }
  DSL_DETAIL_KERNEL_FN entry_type* tables() const {
    return reinterpret_cast<entry_type*>(memory.shared() +
                                         by_key_tag_bytes(given.tables, given.tags));
  }
  DSL_DETAIL_KERNEL_FN entry_type* place(unsigned entry) const {
    return reinterpret_cast<entry_type*>(memory.shared() + entry);
  }
  DSL_DETAIL_KERNEL_FN static unsigned bytes_of(int entries) {
    return static_cast<unsigned>(entries) * static_cast<unsigned>(sizeof(entry_type));
  }
  DSL_DETAIL_KERNEL_FN accumulators sum_at(unsigned entry) const {
    return sum_of(memory.template load<entry_type>(place(entry)));
  }
  DSL_DETAIL_KERNEL_FN void set_sum(unsigned entry, const accumulators& sum) const {
    memory.store(place(entry), {sum});
  }
  DSL_DETAIL_KERNEL_FN unsigned copy() const {
    return static_cast<unsigned>(team.lane() & ((1 << given.log2_copies) - 1));
  }
  DSL_DETAIL_KERNEL_FN int turn() const { return place_in_turn >> 8; }
  DSL_DETAIL_KERNEL_FN int number() const { return place_in_turn & 255; }
  // A lane's entry for elements of no group.
  DSL_DETAIL_KERNEL_FN unsigned dummy_entry() const {
    return first_entry + bytes_of((given.span << given.log2_copies) + team.lane());
  }
  DSL_DETAIL_KERNEL_FN static entry_type nothing() {
    if constexpr (Counts) return 0;
    else return {reductions::identities()};
  }
  DSL_DETAIL_KERNEL_FN static accumulators sum_of(const entry_type& entry) {
    if constexpr (!Counts) {
      return entry.of;
    } else {
      accumulators sum;
      nth<0>(nth_accumulator<0>(sum)) = static_cast<std::int64_t>(entry);
      return sum;
    }
  }

  // Each lane has its own entries. Entries that are read at once must differ, so an element is
  // first combined with the next one of its group.
  DSL_DETAIL_KERNEL_FN void combine_in_lane(batch& b) const {
    DSL_DETAIL_UNROLL
    for (int first = 0; first < Vectors; first += together) {
      DSL_DETAIL_UNROLL
      for (int i = first; i < first + together; ++i) {
        DSL_DETAIL_UNROLL
        for (int j = i + 1; j < first + together; ++j) {
          if (b.entry[i] != b.entry[j]) continue;
          accumulators both = b.element[i];
          reductions::add(both, b.element[j]);
          b.element[j] = both;
          b.entry[i] = dummy_entry();
        }
      }
    }
  }
  DSL_DETAIL_KERNEL_FN void add_by_lanes(const batch& b) const {
    DSL_DETAIL_UNROLL
    for (int first = 0; first < Vectors; first += together) {
      accumulators sum[together];
      DSL_DETAIL_UNROLL
      for (int k = 0; k < together; ++k) sum[k] = sum_at(b.entry[first + k]);
      DSL_DETAIL_UNROLL
      for (int k = 0; k < together; ++k) reductions::add(sum[k], b.element[first + k]);
      DSL_DETAIL_UNROLL
      for (int k = 0; k < together; ++k) set_sum(b.entry[first + k], sum[k]);
    }
  }

  // If all elements of a tile belong to one group, as with sorted keys, the first lane gets their
  // combined value.
  template <int Tile>
  DSL_DETAIL_KERNEL_FN void combine_tile(unsigned* entry, accumulators* element) const {
    const unsigned mine = bytes_of(static_cast<int>(copy())),
                   group = team.from_lane(entry[0] - mine, 0);
    bool same = true;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Tile; ++l) same = same && entry[l] - mine == group;
    if (team.ballot(same) != ~lane_mask{0}) return;
    accumulators all = element[0];
    DSL_DETAIL_UNROLL
    for (int l = 1; l < Tile; ++l) {
      reductions::add(all, element[l]);
      entry[l] = dummy_entry();
    }
    combine_warp<reductions>(all, team);
    element[0] = all;
    if (team.lane() != 0) entry[0] = dummy_entry();
  }

  // A lane exchanges its number and that of the step with its entry's tag, and so finds who was
  // there before. Entries may share a tag.
  DSL_DETAIL_KERNEL_FN void add_by_tags(const batch& b) const {
    unsigned* const tags = all_tags() + number() * given.tags;
    const unsigned step =
        (batches * static_cast<unsigned>(given.turns) + static_cast<unsigned>(turn())) * Vectors +
        1;
    unsigned found[Vectors];
    DSL_DETAIL_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      const unsigned mine =
          (step + static_cast<unsigned>(v)) << log2_warp | static_cast<unsigned>(team.lane());
      found[v] = team.atomic_exchange(
          tags + (b.entry[v] / sizeof(entry_type) & static_cast<unsigned>(given.tags - 1)), mine);
      team.synchronize_warp();
    }
    const auto meets = [&](int v) {
      return team.ballot(found[v] >> log2_warp ==
                         ((step + static_cast<unsigned>(v)) & ~0u >> log2_warp));
    };
    unsigned meet = 0;  // A bit for each vector.
    DSL_DETAIL_UNROLL
    for (int v = 0; v < Vectors; ++v) meet |= meets(v) != 0 ? 1u << v : 0;
    DSL_DETAIL_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      if ((meet >> v & 1) == 0) add_to(b.entry[v], b.element[v]);
      else
        add_conflicting(b.entry[v], b.element[v], meets(v),
                        static_cast<int>(found[v] & (Team::warp_size - 1)));
      team.synchronize_warp();
    }
  }
  DSL_DETAIL_KERNEL_FN void add_to(unsigned entry, const accumulators& element) const {
    accumulators all = sum_at(entry);
    reductions::add(all, element);
    set_sum(entry, all);
  }
  // The lanes in `meets` have found `other`. If none of these others has found one itself, at most
  // two lanes meet, and the second one adds the values of both.
  DSL_DETAIL_KERNEL_FN void add_conflicting(unsigned entry, accumulators element, lane_mask meets,
                                            int other) const {
    const int lane = team.lane();
    const bool has_met = (meets >> lane & 1) != 0;
    if (team.ballot(has_met && (meets >> other & 1) != 0) != 0) {
      if (combine_lanes(element, team.match(entry))) add_to(entry, element);
      return;
    }
    const bool is_second = team.from_lane(entry, other) == entry && has_met;
    accumulators all = sum_at(entry);
    const accumulators others = team.from_lane(element, other);
    if (is_second) {
      accumulators both = lane < other ? element : others;
      reductions::add(both, lane < other ? others : element);
      element = both;
    }
    reductions::add(all, element);
    team.synchronize_warp();
    if (!is_second) set_sum(entry, all);
    team.synchronize_warp();
    if (is_second) set_sum(entry, all);
  }

  // Lanes with the same entry combine their values pairwise: the first with the second, the third
  // with the fourth, then the firsts of these pairs. Returns whether this lane has the combined
  // value.
  DSL_DETAIL_KERNEL_FN bool combine_lanes(accumulators& mine, lane_mask same) const {
    const int lane = team.lane();
    const lane_mask before = same & ((lane_mask{1} << lane) - 1);
    lane_mask others = same & ~((lane_mask{2} << lane) - 1);
    int rank = count_bits(before);
    while (team.ballot(others != 0) != 0) {
      const accumulators other = team.from_lane(mine, others != 0 ? lowest_bit(others) : lane);
      if (others != 0) reductions::add(mine, other);
      others &= ~team.ballot((rank & 1) != 0);
      rank >>= 1;
    }
    return before == 0;
  }

  const by_key_parameters& given;
  const Memory memory;
  const Team team;
  const int entries;
  // The warp's turn among those of its table, and the table's number, in one register.
  int place_in_turn;
  unsigned first_entry;  // The table's.
  unsigned batches = 0;
};

}  // namespace dsl::detail

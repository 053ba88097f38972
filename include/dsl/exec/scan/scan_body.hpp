// One thread of a scan's kernels: the elements that it reads, computes and writes.
#pragma once

#include <dsl/exec/map/kernel.hpp>
#include <dsl/exec/scan/scan_arguments.hpp>
#include <dsl/exec/scan/segment.hpp>

namespace dsl::detail {

/// A scan as a type: the pass that computes its elements, in the dtype of the accumulator; the
/// operator's program, of op::value 0 (the prefix) and 1; and the target's dtype.
template <class Pass, class Operator, dtype Target, int Inputs>
struct scan_program {
  using pass = Pass;
  using combine = Operator;
  using value = value_t<Pass::elements::output(0).type()>;
  static constexpr dtype target = Target;
  static constexpr int inputs = Inputs;
};

/// A warp's values of a tile in the block's shared memory, in groups of lanes: threads write some
/// groups and read others. `Groups`: of the warp.
template <class V, int Lanes, int Groups, class Memory>
class warp_values {
  static constexpr int in_word = sizeof(V) * Lanes <= 16 ? Lanes : static_cast<int>(16 / sizeof(V));
  static constexpr int words = Lanes / in_word;  // Words of a group.

 public:
  using word = pack<V, in_word>;
  using group = pack<V, Lanes>;
  static constexpr int word_count = Groups * words;

  DSL_DETAIL_KERNEL_FN warp_values(word* first, Memory memory) : first_(first), memory_(memory) {}

  DSL_DETAIL_KERNEL_FN void store(int number, const group& values) const {
    DSL_DETAIL_UNROLL
    for (int i = 0; i < words; ++i) {
      word w;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < in_word; ++l) w.lane[l] = values.lane[i * in_word + l];
      memory_.store(first_ + place(number * words + i), w);
    }
  }
  DSL_DETAIL_KERNEL_FN group load(int number) const {
    group values;
    DSL_DETAIL_UNROLL
    for (int i = 0; i < words; ++i) {
      const word w = memory_.template load<word>(first_ + place(number * words + i));
      DSL_DETAIL_UNROLL
      for (int l = 0; l < in_word; ++l) values.lane[i * in_word + l] = w.lane[l];
    }
    return values;
  }
  DSL_DETAIL_KERNEL_FN V* element(int number) const {
    return first_[place(number / in_word)].lane + number % in_word;
  }

 private:
  // Eight threads access the banks of shared memory at a time: adjacent words, and the words of
  // adjacent threads, are in different banks.
  DSL_DETAIL_KERNEL_FN static int place(int number) { return number ^ (number >> 3 & 7); }

  word* first_;
  Memory memory_;
};

/// `Rows`: there may be several rows.
template <class Scan, bool Rows, class Arguments, class Memory, class Team>
struct scan_body : kernel_body<typename Scan::pass, Scan::inputs, without_leads<Arguments>, Memory,
                               lanes_of_scan<typename Scan::pass>> {
  using base = kernel_body<typename Scan::pass, Scan::inputs, without_leads<Arguments>, Memory,
                           lanes_of_scan<typename Scan::pass>>;
  using group = typename base::group;
  using combine = typename Scan::combine;
  using V = typename Scan::value;
  using T = memory_t<Scan::target>;
  using segment_type = std::conditional_t<Rows, segment<V>, row_segment<combine, V>>;
  static constexpr bool by_segments = std::is_same_v<segment_type, segment<V>>;
  static constexpr scan_policy policy =
      scan_policy_of<typename Scan::pass>(Memory::compute_capability, Team::warp_size);
  static constexpr int lanes = base::lanes;
  static constexpr int rounds = policy.rounds;
  static constexpr int ahead = policy.vectors_ahead < rounds ? policy.vectors_ahead : rounds;
  static constexpr int own_elements = rounds * lanes, warp_groups = rounds * Team::warp_size;
  static constexpr int tile_groups = rounds * scan_block_threads,
                       tile_elements = tile_groups * lanes;
  using values = warp_values<V, lanes, warp_groups, Memory>;
  using base::args, base::corner, base::height, base::memory, base::strided;
  static_assert(own_elements <= 32, "a thread has a bit for each of its elements");
  static_assert((rounds & (rounds - 1)) == 0 && warp_groups <= scan_block_threads,
                "a warp's groups are in one piece of the index space");
  static_assert(rounds % ahead == 0, "the vectors of a tile are read so many at a time");

  const scan_parameters& scan;
  const Team team;
  std::int64_t tile = 0;
  DSL_DETAIL_KERNEL_FN scan_body(const scan_arguments<Arguments>& a, Memory m, Team t)
      : base(a, m), scan(a.scan), team(t) {}

  /// A bit for each of a thread's elements: whether it exists, and whether it begins a row.
  struct marks { std::uint32_t exist, heads; };

  /// Enters a tile. Its groups are in the order of the elements; each warp has consecutive groups.
  DSL_DETAIL_KERNEL_FN void enter_tile(std::int64_t number) {
    tile = number;
    if constexpr (strided) {
      const std::int64_t piece = tile * rounds + first_of_warp() / scan_block_threads;
      if (piece < args.tiles) this->enter(0, static_cast<std::uint32_t>(piece));
    }
  }

  /// Whether a row begins with the tile. For the first warp.
  DSL_DETAIL_KERNEL_FN bool begins_row() const {
    if constexpr (strided) return is_one_row() ? tile == 0 : corner[0] == 0;
    else return place_in_row() == 0;
  }

  /// Evaluates a warp's elements. Adjacent threads take adjacent groups.
  DSL_DETAIL_KERNEL_FN void evaluate(const values& to) const {
    const bool whole = is_whole(), in_vectors = whole && this->reads_vectors();
    DSL_DETAIL_ROLLED
    for (int first = first_of_warp() + team.lane(), end = first + warp_groups; first < end;
         first += ahead * Team::warp_size) {
      group g[ahead];
      DSL_DETAIL_UNROLL
      for (int k = 0; k < ahead; ++k) place_group(g[k], first + k * Team::warp_size);
      // No branch between the loads of a whole tile.
      const auto read_whole = [&](bool vectors) {
        DSL_DETAIL_UNROLL
        for (int k = 0; k < ahead; ++k) {
          g[k].count = lanes;
          g[k].in_vectors = vectors;
          read(g[k]);
        }
      };
      if (in_vectors) {
        read_whole(true);
      } else if (whole) {
        read_whole(false);
      } else {
        DSL_DETAIL_UNROLL
        for (int k = 0; k < ahead; ++k)
          if (g[k].count > 0) read(g[k]);
      }
      DSL_DETAIL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        typename values::group x{};
        if (g[k].count > 0) {
          const auto out = this->compute_read(g[k]);
          DSL_DETAIL_UNROLL
          for (int l = 0; l < lanes; ++l) x.lane[l] = nth<0>(out.of[l]);
        }
        to.store(first - first_of_warp() + k * Team::warp_size, x);
      }
    }
  }

  /// The marks of a thread's consecutive elements; also combines the initial value with the first
  /// element of each row.
  DSL_DETAIL_KERNEL_FN marks mark(const values& of) const {
    marks m{0, 0};
    if constexpr (strided) {
      DSL_DETAIL_UNROLL
      for (int j = 0; j < rounds; ++j) {
        group g;
        place_group(g, own_group(j));
        if (g.count <= 0) continue;
        m.exist |= ((2u << (g.count - 1)) - 1) << j * lanes;
        if ((is_one_row() ? tile * tile_groups + own_group(j) : g.first) == 0)
          m.heads |= 1u << j * lanes;
      }
    } else {
      const std::int64_t first = static_cast<std::int64_t>(own_group(0)) * lanes,
                         left = args.elements - tile * tile_elements - first;
      m.exist = left >= 32 ? ~0u : left <= 0 ? 0 : (1u << left) - 1;
      if constexpr (Rows) {
        std::int64_t at = place_in_row() + first;
        if (at >= scan.row)
          at = scan.row > tile_elements
                   ? at - scan.row
                   : static_cast<std::uint32_t>(at) % static_cast<std::uint32_t>(scan.row);
        const auto within = [](std::int64_t n) {
          return n < own_elements ? static_cast<int>(n) : own_elements;
        };
        DSL_DETAIL_ROLLED
        for (int k = at == 0 ? 0 : within(scan.row - at); k < own_elements; k += within(scan.row))
          m.heads |= 1u << k;
      } else if (tile == 0 && first == 0) {
        m.heads = 1;
      }
    }
    if (scan.has_init != 0 && m.heads != 0) {
      DSL_DETAIL_ROLLED
      for (int k = 0; k < own_elements; ++k) {
        if ((m.heads >> k & 1) == 0 || (m.exist >> k & 1) == 0) continue;
        V* const head = of.element(own_group(0) % warp_groups * lanes + k);
        memory.store(head, apply_operator<combine>(init(), memory.template load<V>(head)));
      }
    }
    return m;
  }

  /// The total of a thread's elements.
  DSL_DETAIL_KERNEL_FN segment_type total(const values& of, const marks& m) const {
    segment_type all{};
    DSL_DETAIL_UNROLL_BY_2
    for (int j = 0; j < rounds; ++j) {
      const auto x = of.load(own_group(j) % warp_groups);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const segment_type each = element(x.lane[l], m, j * lanes + l);
        all = j == 0 && l == 0 ? each : join<combine>(all, each);
      }
    }
    return all;
  }

  /// Replaces a thread's elements by their scan, which continues from `before`.
  DSL_DETAIL_KERNEL_FN void scan_own(const values& of, const marks& m, segment_type before) const {
    DSL_DETAIL_UNROLL_BY_2
    for (int j = 0; j < rounds; ++j) {
      auto x = of.load(own_group(j) % warp_groups);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const segment_type each = element(x.lane[l], m, j * lanes + l);
        const V exclusive = (Rows ? each.is_headed() : before.is_none()) ? init() : before.value;
        before = join<combine>(before, each);
        x.lane[l] = scan.exclusive != 0 ? exclusive : before.value;
      }
      of.store(own_group(j) % warp_groups, x);
    }
  }

  /// Writes a warp's elements in whole vectors; otherwise adjacent threads write adjacent elements.
  DSL_DETAIL_KERNEL_FN void write(const values& from) const {
    const int first = first_of_warp() + team.lane();
    const auto write_group = [&](int r, bool in_vectors) {
      group g;
      place_group(g, first + r * Team::warp_size);
      g.in_vectors = in_vectors;
      if (in_vectors || g.count > 0) store(g, from.load(team.lane() + r * Team::warp_size).lane);
    };
    if (is_whole() && this->reads_vectors()) {
      DSL_DETAIL_UNROLL
      for (int r = 0; r < rounds; ++r) write_group(r, true);
    } else if constexpr (strided) {
      DSL_DETAIL_ROLLED
      for (int r = 0; r < rounds; ++r) write_group(r, false);
    } else {
      const std::int64_t before =
          tile * tile_elements + static_cast<std::int64_t>(first_of_warp()) * lanes;
      T* const to = reinterpret_cast<T*>(args.operand[Scan::inputs].word) + before;
      const int end =
          static_cast<int>(args.elements - before < warp_groups * lanes ? args.elements - before
                                                                        : warp_groups * lanes);
      DSL_DETAIL_UNROLL_BY_4
      for (int k = team.lane(); k < end; k += Team::warp_size)
        memory.store(to + k, as_target(memory.template load<V>(from.element(k))));
    }
  }

  /// Scans a thread's columns of a chunk downwards. A tile is a chunk of the adjacent columns that
  /// threads share. The first pass writes the chunks' totals; the last one continues from the
  /// prefix before the chunk and writes the scan. If a column is one chunk, the last pass is the
  /// only one.
  DSL_DETAIL_KERNEL_FN void scan_columns(std::int64_t block) {
    const tiling& t = args.tiles_of;
    const bool last = scan.last_pass != 0;
    const std::int64_t number =
        ((block * scan_block_threads) >> t.log2_columns) + this->row_of(team.thread());
    if (number >= args.tiles) return;
    this->enter(0, static_cast<std::uint32_t>(number));
    constexpr int at_once = policy.rows_ahead;
    group g[at_once];
    this->place_in_tile(g[0], this->column_of(team.thread()), 0);
    const int count = g[0].count, column = g[0].column;
    if (count <= 0) return;
    const std::int64_t chunk = corner[1] / t.height, plane = number / t.across.by / t.down.by;
    V* const totals = static_cast<V*>(scan.totals) + (plane * scan.chunks + chunk) * scan.across +
                      corner[0] + column;
    V before[lanes], run[lanes];
    bool none = chunk == 0 || !last;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      before[l] = l > 0 ? before[0] : V{};
      run[l] = V{};
      if (!none && l < count) before[l] = memory.template load<V>(totals + l);
    }
    const auto joined = [&](int l) {
      return none ? run[l] : apply_operator<combine>(before[l], run[l]);
    };
    const auto end_run = [&] {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) before[l] = joined(l);
      none = false;
    };
    for (int next = 0; next < height; next += at_once) {
      bool is_new = next % policy.column_run == 0;
      if (is_new && next > 0) end_run();
      DSL_DETAIL_UNROLL
      for (int k = 0; k < at_once; ++k) {
        this->place_in_tile(g[k], column, next + k < height ? next + k : next);
        read(g[k]);
      }
      DSL_DETAIL_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if (next + k >= height) break;
        const bool head = corner[1] + next + k == 0;
        const auto out = this->compute_read(g[k]);
        V y[lanes];
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) {
          const V x = nth<0>(out.of[l]);
          if (scan.exclusive != 0) y[l] = head ? init() : is_new ? before[l] : joined(l);
          if (head && scan.has_init != 0) run[l] = apply_operator<combine>(init(), x);
          else run[l] = is_new ? x : apply_operator<combine>(run[l], x);
          if (scan.exclusive == 0) y[l] = joined(l);
        }
        is_new = false;
        if (last) store(g[k], y);
      }
    }
    if (last) return;
    end_run();
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l)
      if (l < count) memory.store(totals + l, before[l]);
  }

 private:
  DSL_DETAIL_KERNEL_FN V init() const { return from_literal<V>(scan.init); }

  // Groups by their number in a tile: the first one of a thread's warp, and those whose elements a
  // thread scans.
  DSL_DETAIL_KERNEL_FN int first_of_warp() const { return team.warp() * warp_groups; }
  DSL_DETAIL_KERNEL_FN int own_group(int j) const { return team.thread() * rounds + j; }
  DSL_DETAIL_KERNEL_FN void place_group(group& g, int number) const {
    if constexpr (!strided) {
      g.first = (tile * tile_groups + number) * lanes;
      g.count = this->lanes_from(g.first);
    } else {
      const int thread = number % scan_block_threads;
      this->place_in_tile(g, this->column_of(thread), this->row_of(thread));
      g.first = corner[0] + g.column;
      if (g.row >= height) g.count = 0;
    }
  }
  DSL_DETAIL_KERNEL_FN bool is_one_row() const { return scan.row >= args.elements; }
  DSL_DETAIL_KERNEL_FN std::int64_t place_in_row() const {
    return is_one_row() ? tile * tile_elements : tile * tile_elements % scan.row;
  }
  // Whether a tile of elements contiguous in memory is entirely inside the array.
  DSL_DETAIL_KERNEL_FN bool is_whole() const {
    return !strided && (tile + 1) * tile_elements <= args.elements;
  }

  DSL_DETAIL_KERNEL_FN void read(group& g) const {
    typename base::template reader<> from{*this, g};
    base::eval::read(from);
  }

  // With one row, elements beyond the end come after everything that is written, so they may have
  // any value.
  DSL_DETAIL_KERNEL_FN static segment_type element(V x, [[maybe_unused]] const marks& m,
                                                   [[maybe_unused]] int k) {
    if constexpr (by_segments)
      return {x, (m.exist >> k & 1) == 0   ? segment_state::none
                 : (m.heads >> k & 1) != 0 ? segment_state::headed
                                           : segment_state::open};
    else return {x, true};
  }

  DSL_DETAIL_KERNEL_FN static T as_target(const V& y) {
    return static_cast<T>(math::convert_to<Scan::target>(y));
  }
  DSL_DETAIL_KERNEL_FN void store(const group& g, const V (&y)[lanes]) const {
    constexpr int out = Scan::inputs;
    pack<T, lanes> all;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) all.lane[l] = as_target(y[l]);
    base::store(out, g, all, g.in_vectors);
  }
};

}  // namespace dsl::detail

// One thread of a scan's kernels: the elements that it reads, computes and writes.
#pragma once

#include <dsl/exec/kernel.hpp>
#include <dsl/exec/scan_arguments.hpp>
#include <dsl/exec/segment.hpp>

namespace dsl::detail {

/// A scan as a type: the pass that gives its elements, in the dtype that is accumulated; the operator's program, of op::value 0
/// (what comes first) and 1; and the target's dtype.
template <class Pass, class Operator, dtype Target, int Inputs>
struct scan_program {
  using pass = Pass;
  using combine = Operator;
  using value = value_t<Pass::elements::output(0).type()>;
  static constexpr dtype target = Target;
  static constexpr int inputs = Inputs;
};

/// `Rows`: there may be several of them.
template <class Scan, bool Rows, class Arguments, class Memory, class Team>
struct scan_body : kernel_body<typename Scan::pass, Scan::inputs, Arguments, Memory, lanes_of_scan<typename Scan::pass>> {
  using base = kernel_body<typename Scan::pass, Scan::inputs, Arguments, Memory, lanes_of_scan<typename Scan::pass>>;
  using group = typename base::group;
  using combine = typename Scan::combine;
  using V = typename Scan::value;
  using T = memory_t<Scan::target>;
  using segment_type = std::conditional_t<Rows, segment<V>, row_segment<combine, V>>;
  static constexpr bool by_segments = std::is_same_v<segment_type, segment<V>>;
  static constexpr scan_policy policy = scan_policy_of<typename Scan::pass>(Memory::compute_capability);
  static constexpr int lanes = base::lanes;
  static constexpr int rounds = policy.rounds;
  static constexpr int tile_elements = rounds * scan_block_threads * lanes;
  using base::args, base::corner, base::height, base::memory, base::strided;

  const scan_parameters& scan;
  const Team team;
  DSL_DETAIL_KERNEL_FN scan_body(const scan_arguments<Arguments>& a, Memory m, Team t) : base(a, m), scan(a.scan), team(t) {}

  /// The elements of a group; how many there are, and a bit for each that begins a row.
  using elements = pack<V, lanes>;
  struct marks {
    int count;
    std::uint32_t heads;
  };

  /// Where in its row a tile begins. Where all elements of a strided scan are one row, only 0 means anything: that the row
  /// begins.
  DSL_DETAIL_KERNEL_FN std::int64_t place_in_row(std::int64_t tile) {
    const bool one_row = scan.row >= args.elements;
    if constexpr (!strided) return one_row ? tile * tile_elements : tile * tile_elements % scan.row;
    if (one_row) return tile;
    this->enter(0, static_cast<std::uint32_t>(tile * rounds));
    return corner[0];
  }

  /// Reads a thread's groups of a tile, all of them before the first is computed with: their loads are on the way together.
  /// Rounds, threads and lanes follow each other in the order of the elements.
  DSL_DETAIL_KERNEL_FN void read_rounds(std::int64_t tile, group (&g)[rounds]) {
    if constexpr (!strided) {
      if ((tile + 1) * tile_elements <= args.elements && this->reads_vectors()) {
        DSL_DETAIL_UNROLL
        for (int r = 0; r < rounds; ++r) {
          place_round(tile, r, g[r]);
          g[r].count = lanes;
          g[r].in_vectors = true;
          read(g[r]);
        }
        return;
      }
    }
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rounds; ++r) {
      place_round(tile, r, g[r]);
      if (g[r].count > 0) read(g[r]);
    }
  }

  /// Evaluates what was read. `place` is the tile's in its row.
  DSL_DETAIL_KERNEL_FN marks evaluate(std::int64_t tile, int round, std::int64_t place, const group& g, elements& x) const {
    marks m{g.count, 0};
    x = {};
    if (g.count <= 0) return m;
    [[maybe_unused]] std::int64_t at = 0;
    if constexpr (strided) {
      at = scan.row < args.elements ? g.first : (tile * rounds + round) * scan_block_threads + team.thread();
    } else if constexpr (Rows) {
      at = place + (round * scan_block_threads + team.thread()) * lanes;
      if (at >= scan.row)
        at = scan.row > tile_elements ? at - scan.row : static_cast<std::uint32_t>(at) % static_cast<std::uint32_t>(scan.row);
    }
    const auto out = this->compute_read(g);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      x.lane[l] = nth<0>(out.of[l]);
      if constexpr (Rows) {
        if (l < g.count && at == 0) {
          m.heads |= 1u << l;
          if (scan.has_init != 0) x.lane[l] = apply_operator<combine>(init(), x.lane[l]);
        }
        if (++at == scan.row && !strided) at = 0;
      } else if (l == 0 && scan.has_init != 0 && tile == 0 && round == 0 && team.thread() == 0) {
        x.lane[l] = apply_operator<combine>(init(), x.lane[l]);
      }
    }
    return m;
  }

  DSL_DETAIL_KERNEL_FN static segment_type total(const elements& x, const marks& m) {
    if (by_segments && m.count <= 0) return segment_type{};
    segment_type all = lane(x, m, 0);
    DSL_DETAIL_UNROLL
    for (int l = 1; l < lanes; ++l) all = join<combine>(all, lane(x, m, l));
    return all;
  }

  /// Writes the scan of a group's elements, which go on from `before`.
  DSL_DETAIL_KERNEL_FN void write_round(std::int64_t tile, int round, segment_type before, const elements& x, const marks& m) {
    if (m.count <= 0) return;
    group g;
    place_round(tile, round, g);
    V y[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      const segment_type each = lane(x, m, l);
      const V exclusive = (Rows ? each.is_headed() : before.is_none()) ? init() : before.value;
      before = join<combine>(before, each);
      y[l] = scan.exclusive != 0 ? exclusive : before.value;
    }
    store(g, y);
  }

  /// A thread's columns of a chunk, downwards; a tile is a chunk of as many neighbouring columns as threads share. In the first
  /// pass their totals are left, in the last one they go on from what comes before the chunk and are written. Where a column is
  /// one chunk, the last pass is the only one.
  DSL_DETAIL_KERNEL_FN void scan_columns(std::int64_t block) {
    const tiling& t = args.tiles_of;
    const bool last = scan.last_pass != 0;
    const std::int64_t tile = ((block * scan_block_threads) >> t.log2_columns) + this->row_of(team.thread());
    if (tile >= args.tiles) return;
    this->enter(0, static_cast<std::uint32_t>(tile));
    constexpr int ahead = policy.rows_ahead;
    group g[ahead];
    this->place_in_tile(g[0], this->column_of(team.thread()), 0);
    const int count = g[0].count, column = g[0].column;
    if (count <= 0) return;
    const std::int64_t chunk = corner[1] / t.height, outer = tile / t.across.by / t.down.by;
    V* const totals = static_cast<V*>(scan.totals) + (outer * scan.chunks + chunk) * scan.across + corner[0] + column;
    V before[lanes], run[lanes];
    bool none = chunk == 0 || !last;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      before[l] = l > 0 ? before[0] : V{};
      run[l] = V{};
      if (!none && l < count) before[l] = memory.template load<V>(totals + l);
    }
    const auto joined = [&](int l) { return none ? run[l] : apply_operator<combine>(before[l], run[l]); };
    const auto end_run = [&] {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) before[l] = joined(l);
      none = false;
    };
    for (int next = 0; next < height; next += ahead) {
      bool is_new = next % policy.column_run == 0;
      if (is_new && next > 0) end_run();
      DSL_DETAIL_UNROLL
      for (int k = 0; k < ahead; ++k) {
        this->place_in_tile(g[k], column, next + k < height ? next + k : next);
        read(g[k]);
      }
      DSL_DETAIL_UNROLL
      for (int k = 0; k < ahead; ++k) {
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

  DSL_DETAIL_KERNEL_FN void place_round(std::int64_t tile, int round, group& g) {
    const std::int64_t piece = tile * rounds + round;
    if constexpr (!strided) {
      g.first = (piece * scan_block_threads + team.thread()) * lanes;
      g.count = this->lanes_from(g.first);
    } else {
      if (piece >= args.tiles) return;  // no lanes
      this->enter(0, static_cast<std::uint32_t>(piece));
      this->place_in_tile(g, this->column_of(team.thread()), this->row_of(team.thread()));
      g.first = corner[0] + g.column;
      if (g.row >= height) g.count = 0;
    }
  }

  DSL_DETAIL_KERNEL_FN void read(group& g) const {
    typename base::template reader<> from{*this, g};
    base::eval::read(from);
  }

  // Of one row, what is beyond the end is behind all that is written, so it may be anything.
  DSL_DETAIL_KERNEL_FN static segment_type lane(const elements& x, [[maybe_unused]] const marks& m, int l) {
    if constexpr (by_segments)
      return {x.lane[l], l >= m.count              ? segment_state::none
                         : (m.heads >> l & 1) != 0 ? segment_state::headed
                                                   : segment_state::open};
    else return {x.lane[l], true};
  }

  DSL_DETAIL_KERNEL_FN void store(const group& g, const V (&y)[lanes]) const {
    constexpr int out = Scan::inputs;
    const argument& a = args.operand[out];
    T* to = reinterpret_cast<T*>(a.word) + this->template place<out>(g);
    pack<T, lanes> all;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) all.lane[l] = static_cast<T>(math::convert<value_t<Scan::target>>(y[l]));
    if (g.count == lanes && a.descriptor == in_vectors) {
      memory.store(reinterpret_cast<pack<T, lanes>*>(to), all);
      return;
    }
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l, to += this->template step<out>())
      if (l < g.count) memory.store(to, all.lane[l]);
  }
};

}  // namespace dsl::detail

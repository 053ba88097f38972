// What one thread of a scan does, and how a block of threads scans a tile. The same code runs on the GPU and in the simulator.
#pragma once

#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

/// A scan as a type: the pass that gives its elements, in the dtype that is accumulated; the operator's program, of op::value 0 (what
/// comes first) and 1; and the target's dtype.
template <class Pass, class Operator, dtype Target, int Inputs>
struct scan_program {
  using pass = Pass;
  using combine = Operator;
  using value = value_t<Pass::elements::output(0).type()>;
  static constexpr dtype target = Target;
  static constexpr int inputs = Inputs;
};

// The operator's two operands.
template <class Operator, class V>
struct operator_source {
  V first, second;
  typename evaluator<Operator>::inputs in;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() { input_of<Head>(in) = N == 0 ? first : second; }
};
template <class Operator, class V>
DSL_DETAIL_FN V apply_inlined(V first, V second) {
  operator_source<Operator, V> source{first, second, {}};
  evaluator<Operator>::read(source);
  return nth<0>(evaluator<Operator>::compute(source.in));
}
template <class Operator, class V>
DSL_DETAIL_KERNEL_FN V apply_operator(V first, V second) { return apply_inlined<Operator>(first, second); }

/// none: no elements. open: elements that go on from what comes before them. headed: a row begins among them, and the value is that
/// of the last row's.
enum class segment_state : std::uint32_t { none, open, headed };

/// What consecutive elements come to. Segments are a monoid though the operator need not have an identity, and rows need no code of
/// their own: a row's first element is a headed segment.
template <class V>
struct segment {
  V value;
  segment_state state;
  DSL_DETAIL_KERNEL_FN bool is_none() const { return state == segment_state::none; }
  DSL_DETAIL_KERNEL_FN bool is_headed() const { return state == segment_state::headed; }
  /// Itself, or none.
  DSL_DETAIL_KERNEL_FN segment where(bool exists) const { return {value, exists ? state : segment_state::none}; }
  DSL_DETAIL_KERNEL_FN unsigned tag() const { return static_cast<unsigned>(state); }
  DSL_DETAIL_KERNEL_FN static segment of(const V& value, unsigned tag) { return {value, static_cast<segment_state>(tag)}; }
};
/// The same where all elements are one row: then most of it is known when it is compiled.
template <class V>
struct stretch {
  V value;
  bool any;
  DSL_DETAIL_KERNEL_FN bool is_none() const { return !any; }
  DSL_DETAIL_KERNEL_FN static constexpr bool is_headed() { return false; }
  DSL_DETAIL_KERNEL_FN stretch where(bool exists) const { return {value, exists}; }
  DSL_DETAIL_KERNEL_FN static constexpr unsigned tag() { return 1; }
  DSL_DETAIL_KERNEL_FN static stretch of(const V& value, unsigned tag) { return {value, tag != 0}; }
};

/// Whether an operator must not be applied to what is not there: a functor, and on a processor any, which may trap. On a GPU a branch
/// takes longer.
template <class Operator> inline constexpr bool minds_its_operands = !DSL_DETAIL_ON_DEVICE || calls_functors<Operator>;

/// What consecutive elements of one row come to. Where threads take over each other's, only a segment says whether there are any.
template <class Operator, class V> using part_of_row = std::conditional_t<calls_functors<Operator>, segment<V>, stretch<V>>;

/// A then b.
template <class Operator, class V>
DSL_DETAIL_KERNEL_FN segment<V> join(const segment<V>& a, const segment<V>& b) {
  const bool alone = b.is_headed() || a.is_none();
  if constexpr (minds_its_operands<Operator>) {
    if (b.is_none() || alone) return b.is_none() ? a : b;
  }
  const V joined = apply_operator<Operator>(a.value, b.value);
  return b.is_none() ? a : segment<V>{alone ? b.value : joined, alone ? b.state : a.state};
}
template <class Operator, class V>
DSL_DETAIL_KERNEL_FN stretch<V> join(const stretch<V>& a, const stretch<V>& b) {
  if constexpr (minds_its_operands<Operator>) {
    if (a.is_none() || b.is_none()) return b.is_none() ? a : b;
  }
  const V joined = apply_operator<Operator>(a.value, b.value);
  return {b.is_none() ? a.value : a.is_none() ? b.value : joined, a.any || b.any};
}

/// Kernels' parameters beside the operands.
struct scan_parameters {
  std::int64_t row;        // elements in a row; all of them where the rows are one
  literal init;            // goes before a row's first element, if there is one
  std::int32_t has_init, exclusive;
  // Rows: the blocks' order, and what they leave for each other (`look_back`).
  unsigned* ticket;
  void *tiles, *groups, *prefixes;  // `tagged` values
  // Columns: what each chunk of a column comes to, or what comes before it.
  void* totals;
  std::int64_t columns, chunks, across;
};

template <class Arguments> struct scan_arguments : Arguments { scan_parameters scan; };

inline constexpr int scan_block_threads = 256, scan_groups = 32;

/// Rows of a column that are combined one after another before they are combined with what comes before them: so a chain of roundings
/// stays short.
inline constexpr int column_run = 64, totals_run = 16;  // and chunks' totals

/// Vectors a thread takes of a tile: 16 elements in all, and no more than four, for a tile has one total for each warp and round and
/// one warp scans them.
constexpr int scan_rounds(int lanes) { return lanes >= 16 ? 1 : lanes == 8 ? 2 : 4; }

/// `Rows`: there may be several of them.
template <class Scan, bool Rows, class Arguments, class Memory>
struct scan_thread : kernel_body<typename Scan::pass, Scan::inputs, Arguments, Memory> {
  using body = kernel_body<typename Scan::pass, Scan::inputs, Arguments, Memory>;
  using group = typename body::group;
  using combine = typename Scan::combine;
  using V = typename Scan::value;
  using T = memory_t<Scan::target>;
  using part = std::conditional_t<Rows, segment<V>, part_of_row<combine, V>>;
  static constexpr bool by_segments = std::is_same_v<part, segment<V>>;
  static constexpr int lanes = body::lanes, rounds = scan_rounds(lanes), tile_elements = rounds * scan_block_threads * lanes;
  using body::args, body::corner, body::height, body::memory, body::strided;

  const scan_parameters& scan;
  DSL_DETAIL_KERNEL_FN scan_thread(const scan_arguments<Arguments>& a, Memory m) : body(a, m), scan(a.scan) {}

  /// The elements of a group; how many there are, and a bit for each that begins a row.
  using elements = pack<V, lanes>;
  struct marks {
    int count;
    std::uint32_t heads;
  };

  /// Where in its row a tile begins. Where all elements of a strided scan are one row, only 0 means anything: that the row begins.
  DSL_DETAIL_KERNEL_FN std::int64_t place_in_row(std::int64_t tile) {
    const bool one_row = scan.row >= args.elements;
    if constexpr (!strided) return one_row ? tile * tile_elements : tile * tile_elements % scan.row;
    if (one_row) return tile;
    this->enter(0, static_cast<std::uint32_t>(tile * rounds));
    return corner[0];
  }

  /// Reads a thread's groups of a tile, all of them before the first is computed with: their loads are on the way together. Rounds,
  /// threads and lanes follow each other in the order of the elements.
  DSL_DETAIL_KERNEL_FN void read_rounds(std::int64_t tile, int thread, group (&g)[rounds]) {
    if constexpr (!strided) {
      if ((tile + 1) * tile_elements <= args.elements && this->reads_vectors()) {
        DSL_DETAIL_UNROLL
        for (int r = 0; r < rounds; ++r) {
          place_round(tile, r, thread, g[r]);
          g[r].count = lanes, g[r].in_vectors = true;
          read(g[r]);
        }
        return;
      }
    }
    DSL_DETAIL_UNROLL
    for (int r = 0; r < rounds; ++r) {
      place_round(tile, r, thread, g[r]);
      if (g[r].count > 0) read(g[r]);
    }
  }

  /// Evaluates what was read. `place` is the tile's in its row.
  DSL_DETAIL_KERNEL_FN marks evaluate(std::int64_t tile, int round, int thread, std::int64_t place, const group& g, elements& x) const {
    marks m{g.count, 0};
    x = {};
    if (g.count <= 0) return m;
    [[maybe_unused]] std::int64_t at = 0;
    if constexpr (strided) {
      at = scan.row < args.elements ? g.first : (tile * rounds + round) * scan_block_threads + thread;
    } else if constexpr (Rows) {
      at = place + (round * scan_block_threads + thread) * lanes;
      if (at >= scan.row) at = scan.row > tile_elements ? at - scan.row : static_cast<std::uint32_t>(at) % static_cast<std::uint32_t>(scan.row);
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
      } else if (l == 0 && scan.has_init != 0 && tile == 0 && round == 0 && thread == 0) {
        x.lane[l] = apply_operator<combine>(init(), x.lane[l]);
      }
    }
    return m;
  }

  DSL_DETAIL_KERNEL_FN static part total(const elements& x, const marks& m) {
    if (by_segments && m.count <= 0) return part{};
    part all = lane(x, m, 0);
    DSL_DETAIL_UNROLL
    for (int l = 1; l < lanes; ++l) all = join<combine>(all, lane(x, m, l));
    return all;
  }

  /// Writes the scan of a group's elements, which go on from `before`.
  DSL_DETAIL_KERNEL_FN void write_round(std::int64_t tile, int round, int thread, part before, const elements& x, const marks& m) {
    if (m.count <= 0) return;
    group g;
    place_round(tile, round, thread, g);
    V y[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      const part each = lane(x, m, l);
      const V exclusive = (Rows ? each.is_headed() : before.is_none()) ? init() : before.value;
      before = join<combine>(before, each);
      y[l] = scan.exclusive != 0 ? exclusive : before.value;
    }
    store(g, y);
  }

  /// A thread's columns of a chunk, downwards; a tile is a chunk of as many neighbouring columns as threads share. In the first pass
  /// (`last` is false) their totals are left, in the last one they go on from what comes before the chunk and are written. Where a
  /// column is one chunk, the last pass is the only one.
  DSL_DETAIL_KERNEL_FN void scan_columns(std::int64_t block, int thread, bool last) {
    const tiling& t = args.tiles_of;
    const std::int64_t tile = ((block * scan_block_threads) >> t.log2_columns) + this->row_of(thread);
    if (tile >= args.tiles) return;
    this->enter(0, static_cast<std::uint32_t>(tile));
    constexpr int rows_ahead = 4;  // rows whose loads are on the way together
    group g[rows_ahead];
    this->place_in_tile(g[0], this->column_of(thread), 0);
    const int count = g[0].count, column = g[0].column;
    if (count <= 0) return;
    const std::int64_t chunk = corner[1] / t.height, outer = tile / t.across.by / t.down.by;
    V* const totals = static_cast<V*>(scan.totals) + (outer * scan.chunks + chunk) * scan.across + corner[0] + column;
    V before[lanes], run[lanes];
    bool none = chunk == 0 || !last;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      before[l] = l > 0 ? before[0] : V{}, run[l] = V{};
      if (!none && l < count) before[l] = memory.template load<V>(totals + l);
    }
    const auto joined = [&](int l) { return none ? run[l] : apply_operator<combine>(before[l], run[l]); };
    const auto end_run = [&] {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) before[l] = joined(l);
      none = false;
    };
    for (int next = 0; next < height; next += rows_ahead) {
      bool is_new = next % column_run == 0;
      if (is_new && next > 0) end_run();
      DSL_DETAIL_UNROLL
      for (int k = 0; k < rows_ahead; ++k) {
        this->place_in_tile(g[k], column, next + k < height ? next + k : next);
        read(g[k]);
      }
      DSL_DETAIL_UNROLL
      for (int k = 0; k < rows_ahead; ++k) {
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

  DSL_DETAIL_KERNEL_FN void place_round(std::int64_t tile, int round, int thread, group& g) {
    const std::int64_t number = tile * rounds + round;
    if constexpr (!strided) {
      g.first = (number * scan_block_threads + thread) * lanes;
      g.count = this->lanes_from(g.first);
    } else {
      if (number >= args.tiles) return;  // no lanes
      this->enter(0, static_cast<std::uint32_t>(number));
      this->place_in_tile(g, this->column_of(thread), this->row_of(thread));
      g.first = corner[0] + g.column;
      if (g.row >= height) g.count = 0;
    }
  }

  DSL_DETAIL_KERNEL_FN void read(group& g) const {
    typename body::reader from{*this, g};
    body::eval::read(from);
  }

  // Of one row, what is beyond the end is behind all that is written, so it may be anything.
  DSL_DETAIL_KERNEL_FN static part lane(const elements& x, [[maybe_unused]] const marks& m, int l) {
    if constexpr (by_segments) return {x.lane[l], l >= m.count ? segment_state::none : (m.heads >> l & 1) != 0 ? segment_state::headed : segment_state::open};
    else return {x.lane[l], true};
  }

  DSL_DETAIL_KERNEL_FN void store(const group& g, const V (&y)[lanes]) const {
    constexpr int out = Scan::inputs;
    const argument& a = args.operand[out];
    T* to = reinterpret_cast<T*>(a.word) + this->template place<out>(g);
    pack<T, lanes> all;
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) all.lane[l] = static_cast<T>(math::convert<value_t<Scan::target>>(y[l]));
    if (g.count == lanes && a.extra == in_vectors) {
      memory.store(reinterpret_cast<pack<T, lanes>*>(to), all);
      return;
    }
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l, to += this->template step<out>())
      if (l < g.count) memory.store(to, all.lane[l]);
  }
};

// A block's collective steps are written once, for a `Team` that holds a segment or stretch a thread (`Values`): on the GPU the thread's
// own, in the simulator all threads' at once.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // a team's functions are the device's or the host's
#endif
template <class Team, class Values>
DSL_DETAIL_KERNEL_FN Values scan_warp(Team& team, Values values) {
  DSL_DETAIL_UNROLL
  for (int step = 1; step < 32; step *= 2) values = team.join(team.shift_up(values, step), values);
  return values;
}

/// Waits for slots that were asked for, and joins them in their order.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Request>
DSL_DETAIL_KERNEL_FN auto join_slots(Team& team, Request& slots) {
  return team.from_lane(scan_warp(team, team.wait_for(slots)), static_cast<int>(slots.count) - 1);
}

/// What comes before a tile whose own total is `total`; for one warp. A tile leaves its total; the last of 32 tiles leaves theirs,
/// and the last of 32 such groups what comes before the next 32. So which values are joined, and how, does not depend on timing, as it
/// does where a block takes whatever its predecessors have left by then (Merrill and Garland, Single-pass parallel prefix scan with
/// decoupled look-back, 2016), and sums of floating point numbers are the same from run to run. Waits for earlier tiles only.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class Values>
DSL_DETAIL_KERNEL_FN Values look_back(Team& team, const scan_parameters& scan, unsigned tile, bool begins_row, const Values& total) {
  using slot = typename Team::slot;
  slot *const tiles = static_cast<slot*>(scan.tiles), *const groups = static_cast<slot*>(scan.groups), *const prefixes = static_cast<slot*>(scan.prefixes);
  const unsigned group = tile / scan_groups, in_group = tile % scan_groups, super = group / scan_groups, in_super = group % scan_groups;
  team.publish(tiles + tile, total);
  // All are asked for before the first is waited for.
  auto of_tiles = team.request(tiles + (tile - in_group), begins_row ? 0 : in_group);
  auto of_groups = team.request(groups + (group - in_super), begins_row ? 0 : in_super);
  auto of_all = team.request(prefixes + super, begins_row || super == 0 ? 0 : 1);
  Values before = team.none();
  if (of_tiles.count > 0) before = join_slots(team, of_tiles);
  if (in_group == scan_groups - 1) team.publish(groups + group, team.join(before, total));
  if (of_groups.count > 0 && !team.is_headed(before)) before = team.join(join_slots(team, of_groups), before);
  if (of_all.count > 0 && !team.is_headed(before)) before = team.join(join_slots(team, of_all), before);
  if (in_group == scan_groups - 1 && in_super == scan_groups - 1) team.publish(prefixes + super + 1, team.join(before, total));
  return before;
}

/// Takes each thread's total of each round, in the order of rounds and threads, and gives what comes before it. `prefix(total of
/// all)` is what comes before the block.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <int Rounds, class Team, class Values, class Prefix>
DSL_DETAIL_KERNEL_FN void scan_block(Team& team, Values (&values)[Rounds], const Prefix& prefix) {
  DSL_DETAIL_UNROLL
  for (int r = 0; r < Rounds; ++r) {
    const Values scanned = scan_warp(team, values[r]);
    team.leave_warp_total(r, scanned);
    values[r] = team.shift_up(scanned, 1);
  }
  team.synchronize();
  if (team.is_first_warp()) {
    const Values scanned = scan_warp(team, team.template warp_totals<Rounds>());
    const Values before = prefix(team.from_lane(scanned, Rounds * Team::warps - 1));
    team.leave_prefixes(team.join(before, team.shift_up(scanned, 1)));
  }
  team.synchronize();
  DSL_DETAIL_UNROLL
  for (int r = 0; r < Rounds; ++r) values[r] = team.join(team.warp_prefix(r), values[r]);
}

}  // namespace dsl::detail

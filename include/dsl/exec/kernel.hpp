// What one thread of a kernel does. The same code runs on the GPU and, a thread after another, in the simulator.
#pragma once

#include <dsl/exec/plan.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// An operand in a kernel's parameters. array: address and how it is reached (`reach`); neighbour: address and a `neighbour_word`;
/// address: address and an element's bytes; index: first position; value: bits; fetched: address; result: address and a second one
/// to write to, or 0.
struct argument { std::uint64_t word, extra; };

/// An array's `argument::extra`: element by element, in whole aligned vectors, or, from `in_tile` on, in the block's shared memory at
/// an offset of extra - in_tile.
enum reach : std::uint64_t { by_elements, in_vectors, in_tile };

/// A neighbour's `argument::extra`.
struct neighbour_word {
  std::uint64_t word;
  static constexpr int no_dimension = 0xff;
  static constexpr neighbour_word make(reach how, boundary beyond, int dimension, std::int64_t distance) {
    return {how | static_cast<std::uint64_t>(beyond) << 4 | static_cast<std::uint64_t>(dimension) << 8 | static_cast<std::uint64_t>(distance) << 16};
  }
  DSL_DETAIL_FN std::uint64_t how() const { return word & 0xf; }
  DSL_DETAIL_FN boundary beyond() const { return static_cast<boundary>(word >> 4 & 0xf); }
  DSL_DETAIL_FN int dimension() const { return static_cast<int>(word >> 8 & 0xff); }  // counted from the innermost
  DSL_DETAIL_FN std::int64_t distance() const { return static_cast<std::int64_t>(word) >> 16; }
};

/// Where blocks that reduce leave their partial results, 16 bytes each, and how many blocks have done so.
struct workspace { void* partials; unsigned* ticket; };

/// A kernel's parameters, laid out so that the launcher can fill them without knowing the kernel: this, for the strided kernel a
/// `tiling`, an `argument` for each operand, and for the strided kernel max_rank strides for each operand.
struct argument_header {
  std::int64_t elements, tiles;
  workspace scratch;
};

/// Division of numbers below 2^31 by a multiplication: with s = ceil(log2 d) and m = ceil(2^(31 + s) / d), n / d = n m / 2^(31 + s)
/// (Granlund and Montgomery, Division by invariant integers using multiplication, 1994).
struct divisor {
  std::uint32_t by, multiplier, shift;
  static divisor of(std::int64_t d) {
    std::uint32_t s = 0;
    while ((std::int64_t{1} << s) < d) ++s;
    const std::uint64_t power = std::uint64_t{1} << (31 + s), by = static_cast<std::uint64_t>(d);
    return {static_cast<std::uint32_t>(d), static_cast<std::uint32_t>((power + by - 1) / by), 31 + s};
  }
  DSL_DETAIL_FN std::uint32_t divide(std::uint32_t n) const { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) * multiplier >> shift); }
};

/// How tiles cover a strided index space: along its innermost dimension (0), its second (1) and the others.
struct tiling {
  std::int64_t extents[2];
  std::int32_t log2_columns, rows, steps, outer_rank;  // threads a row, rows of threads, rows a thread, dimensions beyond the second
  std::int32_t shared_bytes, width, height, unused;    // a tile in shared memory, in elements
  divisor across, down, in_column, outer[max_rank - 2];
};

/// Every array contiguous: an element's number is its place.
template <int Operands>
struct linear_arguments : argument_header {
  static constexpr bool strided = false;
  argument operand[Operands];
};

/// Anything else: up to eight dimensions, innermost first.
template <int Operands>
struct strided_arguments : argument_header {
  static constexpr bool strided = true;
  tiling tiles_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

template <op Reduction, class T> DSL_DETAIL_FN T combine(T a, T b) { return scalar_code<Reduction>::template apply<T>(a, b); }

template <op Reduction, class T> DSL_DETAIL_FN constexpr T identity() {
  static_assert(Reduction == op::add, "a reduction needs its identity here");
  return T{};
}

template <int I, class T> struct accumulator { T value; };
template <int I, class T> DSL_DETAIL_FN T& total(accumulator<I, T>& a) { return a.value; }
template <int I, class T> DSL_DETAIL_FN const T& total(const accumulator<I, T>& a) { return a.value; }

template <class Program, class Outputs> struct accumulators_of;
template <class Program, std::size_t... I>
struct accumulators_of<Program, std::index_sequence<I...>> : accumulator<static_cast<int>(I), value_t<Program::output(I).type()>>... {};
template <class Program> using accumulators = accumulators_of<Program, std::make_index_sequence<Program::outputs>>;

constexpr bool reduces(const program_view& p) {
  for (int i = 0; i < p.output_count; ++i)
    if (!output_word{p.outputs[i]}.is_stored()) return true;
  return false;
}

template <class T, int N> struct alignas(sizeof(T) * N >= 16 ? 16 : sizeof(T) * N) pack { T lane[N]; };

/// A bit an operand.
constexpr std::uint32_t neighbours_of(const program_view& p) {
  std::uint32_t found = 0;
  for (int i = 0; i < p.nodes; ++i)
    if (head{p.heads[i]}.code() == op::neighbour) found |= std::uint32_t{1} << p.payloads[i];
  return found;
}

/// One thread's view of a program: reads `lanes` elements of every operand, evaluates them, stores or accumulates the outputs.
/// Where fewer are left (the tail, the end of a row) the first one takes the place of those missing, so there is one
/// evaluation and no second copy of its code. `Memory` does the accesses.
template <class Program, int Inputs, class Arguments, class Memory>
struct kernel_body {
  using eval = evaluator<Program>;
  static constexpr int lanes = lanes_for(Program::view());
  static constexpr int operands = Inputs + Program::outputs;
  using outputs = std::make_index_sequence<Program::outputs>;
  // A long formula is compiled once for all lanes and both paths; beside it a call costs little.
  static constexpr bool apart = Memory::apart || Program::nodes > 256;

  const Arguments& args;
  Memory memory;
  typename eval::inputs in[lanes];
  int count = 0;  // lanes that exist
  // What is the same for a whole block is kept apart from what is a thread's own: the GPU computes it once a warp, in uniform registers.
  std::int64_t offset[Arguments::strided ? operands : 1];  // of the group's first element; strided: of the tile's
  std::int32_t width = 0, height = 0;                      // strided: of the tile, as far as it exists
  std::int32_t column = 0, row = 0;                        // strided: of the group in the tile
  std::int64_t corner[2] = {};                             // neighbours: the tile's position along the two innermost dimensions
  std::uint32_t beyond = 0;                                // neighbours: a bit an operand, set where all of the tile is zero

  DSL_DETAIL_FN kernel_body(const Arguments& a, Memory m) : args(a), memory(m) {}

  /// Brings the tiles of the operands that lie along the second dimension into shared memory. All threads of a block.
  DSL_DETAIL_FN void load_tile(std::uint32_t tile, int thread, int block) {
    enter(tile);
    tile_loader loader{*this, thread, block};
    eval::read(loader);
  }

  /// What a thread does of a tile.
  DSL_DETAIL_FN void run(std::int64_t tile, int thread, int block, accumulators<Program>& sums) {
    if constexpr (!Arguments::strided) {
      offset[0] = (tile * block + thread) * lanes;
      const std::int64_t left = args.elements - offset[0];
      count = left < lanes ? static_cast<int>(left) : lanes;
      if (count > 0) evaluate(sums);
    } else {
      const tiling& t = args.tiles_of;
      enter(static_cast<std::uint32_t>(tile));
      column = (thread & ((1 << t.log2_columns) - 1)) * lanes, row = thread >> t.log2_columns;
      count = width - column < lanes ? width - column : lanes;
      if (count <= 0) return;
      DSL_DETAIL_ROLLED
      for (; row < height; row += t.rows) evaluate(sums);
    }
  }

  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() {
    using T = memory_t<D>;
    const argument& a = args.operand[N];
    if constexpr (Code == op::load) {
      load_lanes<T, N, Head>(reinterpret_cast<const T*>(a.word) + place<N>(), a.extra);
    } else if constexpr (Code == op::neighbour) {
      if constexpr (Arguments::strided) load_neighbours<T, N, Head>();
    } else if constexpr (Code == op::index || Code == op::address) {
      const std::int64_t unit = Code == op::index ? 1 : static_cast<std::int64_t>(a.extra);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        input_of<Head>(in[l]) = static_cast<value_t<D>>(a.word) + static_cast<value_t<D>>((place<N>() + (l < count ? l : 0) * step<N>()) * unit);
    } else {
      value_t<D> scalar;
      if constexpr (Code == op::fetch) scalar = memory.template load<T>(reinterpret_cast<const T*>(a.word));
      else scalar = from_literal<value_t<D>>(literal{a.word, a.extra});
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = scalar;
    }
  }

  template <std::size_t... I>
  DSL_DETAIL_FN static void clear(accumulators<Program>& sums, std::index_sequence<I...>) {
    (clear_one<static_cast<int>(I)>(sums), ...);
  }

 protected:
  // Reads operand N from an address on.
  template <class T, int N, std::uint32_t Head>
  DSL_DETAIL_FN void load_lanes(const T* from, std::uint64_t how) {
    if (count == lanes && how == in_vectors) {
      const auto all = memory.template load<pack<T, lanes>>(from);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = all.lane[l];
      return;
    }
    if constexpr (Arguments::strided) {
      if (step<N>() == 0) {
        const T one = memory.template load<T>(from);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = one;
        return;
      }
    }
    T each[lanes];
    if (Arguments::strided && how >= in_tile) {
      const T* const tile = reinterpret_cast<const T*>(memory.shared + (how - in_tile) + row * tile_pitch(tile_width(), sizeof(T))) + column;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) each[l] = memory.template load<T>(tile + l);
    } else {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l, from += step<N>()) {
        each[l] = T{};
        if (l < count) each[l] = memory.template load<T>(from);
      }
    }
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = l < count ? each[l] : each[0];
  }

  // Of the neighbours beyond an end others are read, or zeros stand for them.
  template <class T, int N, std::uint32_t Head>
  DSL_DETAIL_FN void load_neighbours() {
    const neighbour_word w{args.operand[N].extra};
    const T* const from = reinterpret_cast<const T*>(args.operand[N].word) + place<N>();
    bool zeros = (beyond >> N & 1) != 0;
    if (w.dimension() == 0) {
      const std::int64_t x = corner[0] + column;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t at = inside(w.beyond(), x + (l < count ? l : 0) - w.distance(), args.tiles_of.extents[0]);
        T each{};
        if (at >= 0 && !zeros) each = memory.template load<T>(from + (at - x) * step<N>());
        input_of<Head>(in[l]) = each;
      }
      return;
    }
    std::int64_t rows = 0;
    if (w.dimension() == 1) {
      const std::int64_t y = corner[1] + row, at = inside(w.beyond(), y - w.distance(), args.tiles_of.extents[1]);
      zeros = at < 0;
      rows = at - y;
    }
    if (zeros) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = T{};
    } else {
      load_lanes<T, N, Head>(from + rows * args.strides[N][1], w.how());
    }
  }

  DSL_DETAIL_FN int tile_width() const {
    if constexpr (Arguments::strided) return args.tiles_of.width;
    else return 0;
  }
  DSL_DETAIL_FN static std::uint32_t tile_offset(const argument& a) { return static_cast<std::uint32_t>(a.extra - in_tile); }

  // Finds the tile's place.
  DSL_DETAIL_FN void enter(std::uint32_t tile) {
    const tiling& t = args.tiles_of;
    std::uint32_t rest = t.across.divide(tile), outer = t.down.divide(rest);
    const std::int64_t x = static_cast<std::int64_t>(tile - rest * t.across.by) * t.width, y = static_cast<std::int64_t>(rest - outer * t.down.by) * t.height;
    width = t.extents[0] - x < t.width ? static_cast<std::int32_t>(t.extents[0] - x) : t.width;
    height = t.extents[1] - y < t.height ? static_cast<std::int32_t>(t.extents[1] - y) : t.height;
    corner[0] = x, corner[1] = y, beyond = 0;
    DSL_DETAIL_UNROLL
    for (int k = 0; k < operands; ++k) {
      offset[k] = x * args.strides[k][0] + y * args.strides[k][1];
      if ((neighbours >> k & 1) != 0) enter_neighbour(k, neighbour_word::no_dimension, 0, 1);
    }
    DSL_DETAIL_ROLLED
    for (int d = 0; d < t.outer_rank; ++d) {
      rest = t.outer[d].divide(outer);
      const std::int64_t at = outer - rest * t.outer[d].by;
      DSL_DETAIL_UNROLL
      for (int k = 0; k < operands; ++k) {
        offset[k] += at * args.strides[k][d + 2];
        if ((neighbours >> k & 1) != 0) enter_neighbour(k, d + 2, at, t.outer[d].by);
      }
      outer = rest;
    }
  }

  static constexpr std::uint32_t neighbours = neighbours_of(Program::view());
  // Moves a neighbour from position `at` of `n` along an outer dimension, if that is its own.
  DSL_DETAIL_FN void enter_neighbour(int k, int dimension, std::int64_t at, std::int64_t n) {
    const neighbour_word w{args.operand[k].extra};
    if (w.dimension() != dimension) return;
    const std::int64_t from = inside(w.beyond(), at - w.distance(), n);
    if (from < 0) beyond |= 1u << k;
    else if (dimension != neighbour_word::no_dimension) offset[k] += (from - at) * args.strides[k][dimension];
  }

  struct tile_loader {
    const kernel_body& body;
    int thread, block;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() const {
      if constexpr (Code == op::load) body.template load_tile_of<memory_t<D>, N>(thread, block);
    }
  };
  template <class T, int K>
  DSL_DETAIL_FN void load_tile_of(int thread, int block) const {
    const tiling& t = args.tiles_of;
    const argument& a = args.operand[K];
    // Threads side by side read side by side along the second dimension.
    const int threads = t.in_column.by, lines = block / threads;
    const int first = static_cast<int>(t.in_column.divide(static_cast<std::uint32_t>(thread)));
    if (a.extra < in_tile || first >= lines) return;
    const std::int64_t across = args.strides[K][0], down = args.strides[K][1];
    for (int j = thread - first * threads; j < height; j += threads) {
      const T* from = reinterpret_cast<const T*>(a.word) + offset[K] + j * down + first * across;
      T* to = reinterpret_cast<T*>(memory.shared + tile_offset(a) + j * tile_pitch(tile_width(), sizeof(T))) + first;
      for (int i = first; i < width; i += lines, from += lines * across, to += lines) memory.fetch(to, from);
    }
  }

  DSL_DETAIL_FN void evaluate(accumulators<Program>& sums) {
    eval::read(*this);
    typename eval::results out[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      if constexpr (apart) out[l] = eval::compute_apart(in[l]);
      else out[l] = eval::compute(in[l]);
    }
    write_all(out, sums, outputs{});
  }

  template <int K> DSL_DETAIL_FN std::int64_t place() const {
    if constexpr (Arguments::strided) return offset[K] + column * args.strides[K][0] + row * args.strides[K][1];
    else return offset[0];
  }
  template <int K> DSL_DETAIL_FN std::int64_t step() const {
    if constexpr (Arguments::strided) return args.strides[K][0];
    else return 1;
  }

  template <int I> DSL_DETAIL_FN static void clear_one(accumulators<Program>& sums) {
    constexpr output_word o = Program::output(I);
    if constexpr (!o.is_stored()) total<I>(sums) = identity<o.reduction(), value_t<o.type()>>();
  }
  template <std::size_t... I>
  DSL_DETAIL_FN void write_all(const typename eval::results (&out)[lanes], accumulators<Program>& sums, std::index_sequence<I...>) {
    (write<static_cast<int>(I)>(out, sums), ...);
  }
  template <int I>
  DSL_DETAIL_FN void write(const typename eval::results (&out)[lanes], accumulators<Program>& sums) {
    constexpr output_word o = Program::output(I);
    using T = memory_t<o.type()>;
    const argument& a = args.operand[Inputs + I];
    if constexpr (!o.is_stored()) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        if (l < count) total<I>(sums) = combine<o.reduction()>(total<I>(sums), nth<I>(out[l]));
    } else {
      T* to = reinterpret_cast<T*>(a.word) + place<Inputs + I>();
      if (count == lanes && a.extra == in_vectors) {
        pack<T, lanes> all;
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) all.lane[l] = static_cast<T>(nth<I>(out[l]));
        memory.store(reinterpret_cast<pack<T, lanes>*>(to), all);
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l, to += step<Inputs + I>())
          if (l < count) memory.store(to, static_cast<T>(nth<I>(out[l])));
      }
    }
  }
};

/// Sums a block's values in a fixed order: each warp by halves, then the warps' leaders likewise. The total is in thread 0. `Team`
/// gives a value a thread (`shift_down` within a warp, `leaders` to the first warp); the simulator's are all threads' at once.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // a team's functions are the device's or the host's
#endif
template <op Reduction, class Team, class Value>
DSL_DETAIL_FN Value reduce_block(Team& team, Value value) {
  for (int step = 16; step > 0; step /= 2) value = team.template combine<Reduction>(value, team.shift_down(value, step));
  value = team.template leaders<Reduction>(value);
  for (int step = 16; step > 0; step /= 2) value = team.template combine<Reduction>(value, team.shift_down(value, step));
  return value;
}

}  // namespace dsl::detail

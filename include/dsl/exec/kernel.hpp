// What one thread of a kernel does. The same code runs on the GPU and, a thread after another, in the simulator.
#pragma once

#include <dsl/exec/plan.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// An operand in a kernel's parameters. array: address and how it is reached (`reach`); index: first position; value: bits;
/// fetched: address; result: address and a second one to write to, or 0.
struct argument { std::uint64_t word, extra; };

/// An array's `argument::extra`: element by element, in whole aligned vectors, or, from `in_tile` on, in the block's shared memory at
/// an offset of extra - in_tile, with an element's bytes from bit 32 on.
enum reach : std::uint64_t { by_elements, in_vectors, in_tile };

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

// What moves an element of a size.
template <int Size>
using word_of = std::conditional_t<Size == 1, std::uint8_t, std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t,
                std::conditional_t<Size == 8, std::uint64_t, pack<std::uint32_t, 4>>>>>;

constexpr bool loads_of_size(const program_view& p, int size) {
  for (int i = 0; i < p.nodes; ++i)
    if (const head h{p.heads[i]}; h.code() == op::load && size_of(h.type()) == size) return true;
  return false;
}

/// One thread's view of a program: reads `lanes` elements of every operand, evaluates them, stores or accumulates the outputs.
/// Where fewer are left (the tail, the end of a row) the last one is read again in the place of those missing, so there is one
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
  int count = 0;                       // lanes that exist
  std::uint32_t across = 0, down = 0;  // strided: the tile's place along the two innermost dimensions
  std::int32_t column = 0, row = 0;    // strided: the thread's first element in the tile
  typename eval::inputs in[lanes];
  std::int64_t offset[Arguments::strided ? operands : 1];

  DSL_DETAIL_FN kernel_body(const Arguments& a, Memory m) : args(a), memory(m) {}

  /// Brings the tiles of the operands that lie along the second dimension into shared memory. All threads of a block.
  DSL_DETAIL_FN void load_tile(std::uint32_t tile, int thread, int block) {
    enter(tile);
    for (int k = 0; k < Inputs; ++k) {
      if (args.operand[k].extra < in_tile) continue;
      load_tile_of<1>(k, thread, block), load_tile_of<2>(k, thread, block), load_tile_of<4>(k, thread, block);
      load_tile_of<8>(k, thread, block), load_tile_of<16>(k, thread, block);
    }
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
      const std::int64_t x = first_of(0) + column, left = t.extents[0] - x;
      count = left < lanes ? static_cast<int>(left) : lanes;
      std::int64_t y = first_of(1) + row;
      DSL_DETAIL_UNROLL
      for (int k = 0; k < operands; ++k) offset[k] += x * args.strides[k][0] + y * args.strides[k][1];
      if (count <= 0) return;
      for (int step = 0; step < t.steps && y < t.extents[1]; ++step) {
        evaluate(sums);
        y += t.rows, row += t.rows;
        DSL_DETAIL_UNROLL
        for (int k = 0; k < operands; ++k) offset[k] += t.rows * args.strides[k][1];
      }
    }
  }

  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() {
    using T = memory_t<D>;
    const argument& a = args.operand[N];
    if constexpr (Code == op::load) {
      const T* base = reinterpret_cast<const T*>(a.word) + place<N>();
      std::int64_t step = this->step<N>();
      if (count == lanes && a.extra == in_vectors) {
        const auto all = memory.template load<pack<T, lanes>>(base);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = all.lane[l];
        return;
      }
      if constexpr (Arguments::strided) {
        if (step == 0) {
          const value_t<D> one = memory.template load<T>(base);
          DSL_DETAIL_UNROLL
          for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = one;
          return;
        }
        if (a.extra >= in_tile) {
          base = reinterpret_cast<const T*>(memory.shared + tile_offset(a) + row * tile_pitch(args.tiles_of.width, sizeof(T))) + column;
          step = 1;
        }
      }
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = memory.template load<T>(base + existing(l) * step);
    } else if constexpr (Code == op::index) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        input_of<Head>(in[l]) = static_cast<std::int64_t>(a.word) + place<N>() + existing(l) * step<N>();
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

 private:
  DSL_DETAIL_FN static std::uint32_t tile_offset(const argument& a) { return static_cast<std::uint32_t>(a.extra) - in_tile; }

  // Finds the tile's place, and where the operands' elements at the outer dimensions' coordinates are.
  DSL_DETAIL_FN void enter(std::uint32_t tile) {
    const tiling& t = args.tiles_of;
    std::uint32_t rest = t.across.divide(tile);
    across = tile - rest * t.across.by;
    std::uint32_t outer = t.down.divide(rest);
    down = rest - outer * t.down.by;
    DSL_DETAIL_UNROLL
    for (int k = 0; k < operands; ++k) offset[k] = 0;
    for (int d = 0; d < t.outer_rank; ++d) {
      rest = t.outer[d].divide(outer);
      const std::int64_t at = outer - rest * t.outer[d].by;
      DSL_DETAIL_UNROLL
      for (int k = 0; k < operands; ++k) offset[k] += at * args.strides[k][d + 2];
      outer = rest;
    }
  }
  // The tile's first element along one of the two innermost dimensions.
  DSL_DETAIL_FN std::int64_t first_of(int dimension) const {
    const tiling& t = args.tiles_of;
    return dimension == 0 ? static_cast<std::int64_t>(across) * (lanes << t.log2_columns) : static_cast<std::int64_t>(down) * (t.rows * t.steps);
  }

  template <int Size>
  DSL_DETAIL_FN void load_tile_of(int k, int thread, int block) {
    if constexpr (loads_of_size(Program::view(), Size)) {
      using element = word_of<Size>;
      const tiling& t = args.tiles_of;
      if (args.operand[k].extra >> 32 != Size) return;
      const std::int64_t x = first_of(0), y = first_of(1), *const strides = args.strides[k];
      const auto* const from = reinterpret_cast<const element*>(args.operand[k].word) + offset[k] + x * strides[0] + y * strides[1];
      unsigned char* const to = memory.shared + tile_offset(args.operand[k]);
#if DSL_DETAIL_ON_DEVICE
#pragma unroll 4
#endif
      for (int e = thread; e < t.width * t.height; e += block) {
        const int i = static_cast<int>(t.in_column.divide(static_cast<std::uint32_t>(e))), j = e - i * t.height;
        if (x + i < t.extents[0] && y + j < t.extents[1])
          memory.store(reinterpret_cast<element*>(to + j * tile_pitch(t.width, Size)) + i, memory.template load<element>(from + i * strides[0] + j * strides[1]));
      }
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

  DSL_DETAIL_FN std::int64_t existing(int lane) const { return lane < count ? lane : count - 1; }
  template <int K> DSL_DETAIL_FN std::int64_t place() const { return offset[Arguments::strided ? K : 0]; }
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
      T* const base = reinterpret_cast<T*>(a.word) + place<Inputs + I>();
      if (count == lanes && a.extra == in_vectors) {
        pack<T, lanes> all;
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) all.lane[l] = static_cast<T>(nth<I>(out[l]));
        memory.store(reinterpret_cast<pack<T, lanes>*>(base), all);
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l)
          if (l < count) memory.store(base + l * step<Inputs + I>(), static_cast<T>(nth<I>(out[l])));
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

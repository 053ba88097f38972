// What one thread of a kernel does. The same code runs on the GPU and, a thread after another, in the simulator.
#pragma once

#include <dsl/exec/plan.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// An operand in a kernel's parameters. array: address and whether whole vectors are aligned; index: first position; value: bits;
/// fetched: address; result: address and a second one to write to, or 0.
struct argument { std::uint64_t word, extra; };

/// Where blocks that reduce leave their partial results, 16 bytes each, and how many blocks have done so.
struct workspace { void* partials; unsigned* ticket; };

/// A kernel's parameters, laid out so that the launcher can fill them without knowing the kernel: this, an `argument` for each
/// operand, and for the strided kernel max_rank strides for each operand.
struct argument_header {
  std::int64_t elements, groups, rank, extents[max_rank];
  workspace scratch;
};

/// Every array contiguous: an element's number is its place.
template <int Operands>
struct linear_arguments : argument_header {
  static constexpr bool strided = false;
  argument operand[Operands];
};

/// Anything else: up to eight dimensions, of which the innermost is cut into groups of lanes.
template <int Operands>
struct strided_arguments : argument_header {
  static constexpr bool strided = true;
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
  int count = 0;  // lanes that exist
  typename eval::inputs in[lanes];
  std::int64_t offset[Arguments::strided ? operands : 1];

  DSL_DETAIL_FN kernel_body(const Arguments& a, Memory m) : args(a), memory(m) {}

  DSL_DETAIL_FN void locate(std::int64_t group) {
    if constexpr (!Arguments::strided) {
      offset[0] = group * lanes;
      const std::int64_t left = args.elements - offset[0];
      count = left < lanes ? static_cast<int>(left) : lanes;
    } else {
      const std::int64_t inner = args.extents[args.rank - 1], row_groups = (inner + lanes - 1) / lanes;
      std::int64_t row = divide(group, row_groups);
      const std::int64_t first = (group - row * row_groups) * lanes;
      count = inner - first < lanes ? static_cast<int>(inner - first) : lanes;
      DSL_DETAIL_UNROLL
      for (int k = 0; k < operands; ++k) offset[k] = first * args.strides[k][args.rank - 1];
      for (int d = static_cast<int>(args.rank) - 2; d >= 0; --d) {
        const std::int64_t next = divide(row, args.extents[d]), at = row - next * args.extents[d];
        DSL_DETAIL_UNROLL
        for (int k = 0; k < operands; ++k) offset[k] += at * args.strides[k][d];
        row = next;
      }
    }
  }

  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_FN void read() {
    using T = memory_t<D>;
    const argument& a = args.operand[N];
    if constexpr (Code == op::load) {
      const T* const base = reinterpret_cast<const T*>(a.word) + place<N>();
      if (count == lanes && a.extra != 0) {
        const auto all = memory.template load<pack<T, lanes>>(base);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = all.lane[l];
      } else {
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) input_of<Head>(in[l]) = memory.template load<T>(base + existing(l) * step<N>());
      }
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

  DSL_DETAIL_FN void run(std::int64_t group, accumulators<Program>& sums) {
    locate(group);
    eval::read(*this);
    typename eval::results out[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      if constexpr (apart) out[l] = eval::compute_apart(in[l]);
      else out[l] = eval::compute(in[l]);
    }
    write_all(out, sums, outputs{});
  }

  template <std::size_t... I>
  DSL_DETAIL_FN static void clear(accumulators<Program>& sums, std::index_sequence<I...>) {
    (clear_one<static_cast<int>(I)>(sums), ...);
  }

 private:
  DSL_DETAIL_FN std::int64_t divide(std::int64_t a, std::int64_t b) const {  // 64-bit division is slow on a GPU
    if (args.elements <= 0xffffffff) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
    return a / b;
  }
  DSL_DETAIL_FN std::int64_t existing(int lane) const { return lane < count ? lane : count - 1; }
  template <int K> DSL_DETAIL_FN std::int64_t place() const { return offset[Arguments::strided ? K : 0]; }
  template <int K> DSL_DETAIL_FN std::int64_t step() const {
    if constexpr (Arguments::strided) return args.strides[K][args.rank - 1];
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
      if (count == lanes && a.extra != 0) {
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

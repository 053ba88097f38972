// The host back end: the program in a loop that GCC vectorises, compiled for three instruction
// sets, one of which is chosen at run time.
#pragma once

#include <dsl/exec/host/host_elements.hpp>
#include <dsl/ir/cost.hpp>

namespace dsl::detail {

/// Evaluates `rows` rows of `padded` consecutive elements, `stride` elements apart. in[k] is
/// operand k (elements or positions; a scalar's single value), out[i] is where target i's elements
/// go, and sums[s] has the lanes of reduced value s: each element is added to the lane of its
/// position in the row.
using block_function = void (*)(int padded, int rows, std::int64_t stride, const void* const* in,
                                void* const* out, void* const* sums);

/// Reduces `length` consecutive elements of each of `rows` rows, `stride` elements apart, into lane
/// `lane` and the following ones. in[k] is as for a block_function, but has only the first
/// position. Reads the same elements as `strips::reduce`.
using strip_function = void (*)(int lane, int rows, std::int64_t length, std::int64_t stride,
                                const void* const* in, void* const* sums);

/// A pass's loop as data: functions for each instruction set, and for combining lanes. Reduced
/// values are numbered through all reductions.
struct host_code {
  double nanoseconds;  // Core time of an element's arithmetic.
  // x86-64; x86-64-v3 (AVX2, FMA); x86-64-v4 (AVX-512); null if -DDSL_SIMD left it out.
  block_function block[3];
  // Also null if the pass stores arrays besides its reductions, or has a long formula.
  strip_function strip[3];
  void (*clear)(void* const* sums, int count);
  /// Combines lanes owner_step * i + result_lane_step * j, for j < lanes_a_result, into the first
  /// of them, by halves, for i < owners.
  void (*collapse)(void* const* sums, int owners, int owner_step, int lanes_a_result,
                   int result_lane_step);
  /// Adds `count` other lanes to these, lane by lane.
  void (*add)(void* const* sums, const void* const* others, int count);
  /// Computes the results of `owners` lanes, `lane_step` apart from `lane` on, each of `count`
  /// elements, and stores them from to[i] on, `to_step[i]` elements apart; the first result again
  /// at again[i] unless that is null.
  void (*finish)(const void* const* sums, int lane, int lane_step, int owners, std::int64_t count,
                 const void* const* in, void* const* to, const std::int64_t* to_step,
                 void* const* again);
};

DSL_DETAIL_BEGIN_LOOPS
template <class Pass>
class host_loop : host_elements<Pass> {
  using base = host_elements<Pass>;
  using base::short_lanes, base::shared_of, base::compute, base::gather;
  using typename base::program, typename base::eval, typename base::shorts_in,
      typename base::shorts_out, typename base::gathered_lanes;
  using reductions = reductions_of<typename Pass::reductions>;
  using accumulators = typename reductions::accumulators;
  using targets = std::make_index_sequence<Pass::targets>;

  // Member by member: GCC, if a variable's address is taken, and clang do not vectorise a loop that
  // copies whole structs.
  template <class T>
  DSL_DETAIL_FN static void copy(T& to, const T& from) {
    if constexpr (is_complex<T>) {
      to.re = from.re;
      to.im = from.im;
    } else {
      to = from;
    }
  }

  // The columns of a reduction's values; the first reduction's come first.
  template <int J> static constexpr int first_value = Pass::firsts[J] - Pass::firsts[0];
  template <class Reduction, int J, std::size_t... K>
  DSL_DETAIL_FN static accumulator_of<Reduction> load(const void* const* sums, int lane,
                                                      std::index_sequence<K...>) {
    accumulator_of<Reduction> s;
    (copy(nth<static_cast<int>(K)>(s),
          static_cast<const std::remove_reference_t<decltype(nth<static_cast<int>(K)>(s))>*>(
              sums[first_value<J> + static_cast<int>(K)])[lane]),
     ...);
    return s;
  }
  template <class Reduction, int J, std::size_t... K>
  DSL_DETAIL_FN static void store(const accumulator_of<Reduction>& s, void* const* sums, int lane,
                                  std::index_sequence<K...>) {
    (copy(static_cast<std::remove_cvref_t<decltype(nth<static_cast<int>(K)>(s))>*>(
              sums[first_value<J> + static_cast<int>(K)])[lane],
          nth<static_cast<int>(K)>(s)),
     ...);
  }
  template <class Reduction, int J>
  DSL_DETAIL_FN static accumulator_of<Reduction> load(const void* const* sums, int lane) {
    return load<Reduction, J>(sums, lane, values_of_reduction<Reduction>{});
  }
  template <class Reduction, int J>
  DSL_DETAIL_FN static void store(const accumulator_of<Reduction>& s, void* const* sums, int lane) {
    store<Reduction, J>(s, sums, lane, values_of_reduction<Reduction>{});
  }

  // A char may alias anything, including the operands' addresses: GCC does not vectorise a loop
  // that stores one.
  enum class byte : unsigned char {};
  template <int I>
  DSL_DETAIL_FN static void write(const typename eval::results& r, void* const* out,
                                  std::int64_t at, shorts_out& wide, int lane) {
    constexpr target_word t{Pass::target_words[I]};
    if constexpr (shorts_out::has(I)) {
      wide.template at<I>(lane) = nth<t.output()>(r);
    } else if constexpr (!t.is_result()) {
      using T = memory_t<program::output(t.output()).type()>;
      const auto value = static_cast<T>(nth<t.output()>(r));
      T& to = static_cast<T*>(out[I])[at];
      if constexpr (math::wraps<T> && sizeof(T) == 1)
        reinterpret_cast<byte&>(to) = static_cast<byte>(value);
      else copy(to, value);
    }
  }
  template <std::size_t... I>
  DSL_DETAIL_FN static void write_all(const typename eval::results& r, void* const* out,
                                      std::int64_t at, shorts_out& wide, int lane,
                                      std::index_sequence<I...>) {
    (write<static_cast<int>(I)>(r, out, at, wide, lane), ...);
  }

  // A lane's work in a loop over lanes, as a functor that is inlined into the loop.
  struct reduce_element {
    const typename eval::results& element;
    void* const* sums;
    int lane;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      store<Reduction, J>(combine<Reduction>(load<Reduction, J>(sums, lane),
                                             accumulator_of_element<Reduction>(
                                                 element, values_of_reduction<Reduction>{})),
                          sums, lane);
    }
  };

  // Rows that are reduced while a strip of their lanes is in registers: as many streams as a
  // processor prefetches at a time.
  static constexpr int rows_together = 8;
  using strip = typename strips<Pass>::strip;
  struct load_strip {
    strip& lanes;
    const void* const* sums;
    int first;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      for (int l = 0; l < strip_lanes; ++l)
        nth_accumulator<J>(lanes).set(l, load<Reduction, J>(sums, first + l));
    }
  };
  struct store_strip {
    const strip& lanes;
    void* const* sums;
    int first;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      for (int l = 0; l < strip_lanes; ++l)
        store<Reduction, J>(nth_accumulator<J>(lanes).at(l), sums, first + l);
    }
  };
  DSL_DETAIL_FN static void run_rows(int padded, int rows, std::int64_t stride,
                                     const void* const* in, void* const* sums) {
    static_assert(rows_together * strip_lanes <= short_lanes);
    const auto shared = shared_of(in);
    for (std::int64_t first = 0; rows > 0; rows -= rows_together, first += rows_together * stride)
      for (int lane = 0; lane < padded; lane += strip_lanes) {
        const int some = rows < rows_together ? rows : rows_together;
        shorts_in wide;
        wide.read(in, first + lane, stride, some, strip_lanes);
        strip mine;
        reductions::visit(load_strip{mine, sums, lane});
        for (int r = 0; r < some; ++r) {
          DSL_DETAIL_INDEPENDENT
          for (int l = 0; l < strip_lanes; ++l)
            strips<Pass>::add(
                mine, l,
                compute(in, first + r * stride + lane + l, shared, wide, r * strip_lanes + l));
        }
        reductions::visit(store_strip{mine, sums, lane});
      }
  }

  // Stores a lane's results, and adds them to a lane of `sums`.
  DSL_DETAIL_FN static void take(const typename eval::results& results, std::int64_t at,
                                 shorts_out& wide, int l, void* const* out, void* const* sums,
                                 int lane) {
    write_all(results, out, at, wide, l, targets{});
    reductions::visit(reduce_element{results, sums, lane});
  }
  // Evaluates elements from `first` on, into the lanes of `sums` from `lane` on.
  DSL_DETAIL_FN static void run_lanes(int count, std::int64_t first, int lane,
                                      const void* const* in, void* const* out, void* const* sums) {
    const auto shared = shared_of(in);
    shorts_in from;
    shorts_out to;
    from.read(in, first, 0, 1, count);
    DSL_DETAIL_INDEPENDENT
    for (int l = 0; l < count; ++l)
      take(compute(in, first + l, shared, from, l), first + l, to, l, out, sums, lane + l);
    to.write(out, first, count);
  }

  // The same in rounds, for gathered elements.
  DSL_DETAIL_FN static void run_gathered(std::int64_t first, int lane, const void* const* in,
                                         void* const* out, void* const* sums) {
    const auto shared = shared_of(in);
    shorts_in from;
    shorts_out to;
    gathered_lanes elements;
    from.read(in, first, 0, 1, gathered_lanes::lanes);
    gather(in, first, shared, from, elements);
    DSL_DETAIL_INDEPENDENT
    for (int l = 0; l < gathered_lanes::lanes; ++l)
      take(base::template compute_round<gathered_lanes::rounds>(in, first + l, shared, from, l,
                                                                elements),
           first + l, to, l, out, sums, lane + l);
    to.write(out, first, gathered_lanes::lanes);
  }

  // SSE2 adds 64-bit integers but does not compare them: separate computation of addresses takes
  // longer there.
  template <bool ComparesWideIntegers>
  DSL_DETAIL_FN static void run(int padded, int rows, std::int64_t stride, const void* const* in,
                                void* const* out, void* const* sums) {
    padded &= ~63;  // Tells the compiler that no loop needs a remainder.
    if constexpr (has_strips && !strips<Pass>::seeks_positions) {
      run_rows(padded, rows, stride, in, sums);
    } else {
      for (std::int64_t first = 0; rows > 0; --rows, first += stride) {
        if constexpr (ComparesWideIntegers && eval::gathers && !eval::calls) {
          for (int lane = 0; lane < padded; lane += gathered_lanes::lanes)
            run_gathered(first + lane, lane, in, out, sums);
        } else if constexpr (shorts_in::operands + shorts_out::operands == 0) {
          run_lanes(padded, first, 0, in, out, sums);
        } else {
          for (int lane = 0, count; lane < padded; lane += count) {
            count = padded - lane < short_lanes ? padded - lane : short_lanes;
            run_lanes(count, first + lane, lane, in, out, sums);
          }
        }
      }
    }
  }

  struct join_lane {
    const accumulators& from;
    void* const* sums;
    int lane;
    template <class Reduction, int J>
    DSL_DETAIL_FN void operator()() const {
      store<Reduction, J>(
          combine<Reduction>(load<Reduction, J>(sums, lane), nth_accumulator<J>(from)), sums, lane);
    }
  };
  DSL_DETAIL_FN static void run_strips(int lane, int rows, std::int64_t length, std::int64_t stride,
                                       const void* const* in, void* const* sums) {
    for (int r = 0; r < rows; ++r)
      reductions::visit(join_lane{strips<Pass>::reduce(in, r * stride, length), sums, lane + r});
  }

  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void v2(int padded, int rows, std::int64_t stride, const void* const* in, void* const* out,
                 void* const* sums) {
    run<!DSL_DETAIL_X86_LEVELS>(padded, rows, stride, in, out, sums);
  }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3)
  static void v3(int padded, int rows, std::int64_t stride, const void* const* in, void* const* out,
                 void* const* sums) {
    run<true>(padded, rows, stride, in, out, sums);
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4)
  static void v4(int padded, int rows, std::int64_t stride, const void* const* in, void* const* out,
                 void* const* sums) {
    run<true>(padded, rows, stride, in, out, sums);
  }
#endif

  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void strips_v2(int lane, int rows, std::int64_t length, std::int64_t stride,
                        const void* const* in, void* const* sums) {
    run_strips(lane, rows, length, stride, in, sums);
  }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3)
  static void strips_v3(int lane, int rows, std::int64_t length, std::int64_t stride,
                        const void* const* in, void* const* sums) {
    run_strips(lane, rows, length, stride, in, sums);
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4)
  static void strips_v4(int lane, int rows, std::int64_t length, std::int64_t stride,
                        const void* const* in, void* const* sums) {
    run_strips(lane, rows, length, stride, in, sums);
  }
#endif

  static void clear(void* const* sums, int count) {
    reductions::visit([&]<class Reduction, int J>() {
      for (int l = 0; l < count; ++l) store<Reduction, J>(identity<Reduction>(), sums, l);
    });
  }
  template <class Reduction, int J>
  DSL_DETAIL_FN static void join_one(void* const* sums, int to, const void* const* others,
                                     int from) {
    store<Reduction, J>(
        combine<Reduction>(load<Reduction, J>(sums, to), load<Reduction, J>(others, from)), sums,
        to);
  }
  // Combines the others' lanes from + l into lanes to + l, vectorised.
  template <class Reduction, int J>
  DSL_DETAIL_TARGET(DSL_DETAIL_V2)
  static void join(void* const* sums, int to, const void* const* others, int from, int count) {
    DSL_DETAIL_INDEPENDENT
    for (int l = 0; l < count; ++l) join_one<Reduction, J>(sums, to + l, others, from + l);
  }
  // Its own loops are not vectorised at any level of optimisation.
  DSL_DETAIL_LITTLE static void collapse(void* const* sums, int owners, int owner_step,
                                         int lanes_a_result, int result_lane_step) {
    reductions::visit([&]<class Reduction, int J>() {
      for (int left = lanes_a_result; left > 1;) {
        const int half = (left + 1) / 2;
        // A result's lanes are consecutive.
        const bool in_a_row = owner_step == 1 && owners == result_lane_step;
        if (in_a_row || (result_lane_step == 1 && left >= 32)) {
          const int count = in_a_row ? owners * (left - half) : left - half;
          for (int i = 0; i < (in_a_row ? 1 : owners); ++i)
            join<Reduction, J>(sums, owner_step * i, sums, owner_step * i + result_lane_step * half,
                               count);
        } else {
          for (int j = 0; j < left - half; ++j)
            for (int i = 0; i < owners; ++i)
              join_one<Reduction, J>(sums, owner_step * i + result_lane_step * j, sums,
                                     owner_step * i + result_lane_step * (j + half));
        }
        left = half;
      }
    });
  }
  static void add(void* const* sums, const void* const* others, int count) {
    reductions::visit(
        [&]<class Reduction, int J>() { join<Reduction, J>(sums, 0, others, 0, count); });
  }

  template <class In>
  struct totals_source {
    const accumulators& totals;
    std::int64_t count;
    const void* const* in;
    In values;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_FN void read() {
      if constexpr (Code == op::reduced)
        input_of<Head>(values) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
      else if constexpr (Code == op::count) input_of<Head>(values) = count;
      else
        input_of<Head>(values) =
            *static_cast<const std::conditional_t<Code == op::value, value_t<D>, memory_t<D>>*>(
                in[N]);
    }
  };
  // The places of an owner's results.
  struct places {
    void* const* to;
    const std::int64_t* step;
    void* const* again;
    int owner;
  };
  template <std::size_t... I, class Results>
  static void store_results(const Results& r, const places& p, std::index_sequence<I...>) {
    (store_result<static_cast<int>(I)>(r, p), ...);
  }
  template <int I, class Results>
  static void store_result(const Results& r, const places& p) {
    constexpr target_word t{Pass::target_words[I]};
    if constexpr (t.is_result()) {
      using T = memory_t<Pass::results::output(t.output()).type()>;
      const T result = static_cast<T>(nth<t.output()>(r));
      static_cast<T*>(p.to[I])[p.owner * p.step[I]] = result;
      if (p.again[I] != nullptr) *static_cast<T*>(p.again[I]) = result;
    }
  }
  static void finish(const void* const* sums, int lane, int lane_step, int owners,
                     std::int64_t count, const void* const* in, void* const* to,
                     const std::int64_t* to_step, void* const* again) {
    using after = evaluator<typename Pass::results>;
    for (int i = 0; i < owners; ++i, lane += lane_step) {
      accumulators totals;
      reductions::visit([&]<class Reduction, int J>() {
        nth_accumulator<J>(totals) = load<Reduction, J>(sums, lane);
      });
      totals_source<typename after::inputs> from{totals, count, in, {}};
      after::read(from);
      store_results(after::compute(from.values), places{to, to_step, again, i}, targets{});
    }
  }

 public:
  static constexpr host_code code() {
    host_code c{};
    c.nanoseconds = core_nanoseconds_of(Pass::view());
    set_level<0>(c);
    set_level<1>(c);
    set_level<2>(c);
    if constexpr (reductions::count > 0) {
      c.clear = &clear;
      c.collapse = &collapse;
      c.add = &add;
      c.finish = &finish;
    }
    return c;
  }

 private:
  template <int Level>
  static constexpr void set_level(host_code& c) {
    constexpr int compiled = DSL_DETAIL_LEVEL(Level);
    if constexpr (compiled == 0) {
      c.block[Level] = &v2;
      if constexpr (has_strips) c.strip[Level] = &strips_v2;
    }
#if DSL_DETAIL_X86_LEVELS
    if constexpr (compiled == 1) {
      c.block[Level] = &v3;
      if constexpr (has_strips) c.strip[Level] = &strips_v3;
    }
    if constexpr (compiled == 2) {
      c.block[Level] = &v4;
      if constexpr (has_strips) c.strip[Level] = &strips_v4;
    }
#endif
  }

  // In a long formula the place of accumulators makes no difference.
  static constexpr bool has_strips = reductions::count > 0 &&
                                     !Pass::view().reduces_beside_arrays() &&
                                     instructions_of(program::view()) <= 256;
};
DSL_DETAIL_END_LOOPS

template <class Pass> inline constexpr host_code host_code_of = host_loop<Pass>::code();

}  // namespace dsl::detail

// The phases of a loop's step before its last pass, and the values that they leave.
#pragma once

#include <dsl/exec/loop/loop_arguments.hpp>
#include <dsl/exec/map/kernel.hpp>

namespace dsl::detail {

/// The number of a pass's targets that are results, or that are elements.
template <class Pass>
constexpr int count_targets(bool results) {
  int count = 0;
  for (int i = 0; i < Pass::targets; ++i) count += Pass::is_result(i) == results ? 1 : 0;
  return count;
}

/// The passes before the last one. The results of all, in order, are values: the operand FirstValue
/// and those after it. They are computed in every block alike, and not stored within a kernel. The
/// elements that they give stay on chip for later phases: the operands from `first_reused` on.
template <int FirstValue, class... Pass>
struct earlier_phases {
  static constexpr int count = sizeof...(Pass), first_value = FirstValue,
                       values = (0 + ... + count_targets<Pass>(true)),
                       first_reused = first_value + values + 1,
                       reused = (0 + ... + count_targets<Pass>(false));
  using numbers = std::make_index_sequence<sizeof...(Pass)>;
  template <int P> using pass = std::tuple_element_t<static_cast<std::size_t>(P), tuple<Pass...>>;

  /// Whether an operand is a value.
  static constexpr bool is_value(int operand) {
    return operand >= first_value && operand < first_value + values;
  }
  static constexpr bool is_reused(int operand) { return reused > 0 && operand >= first_reused; }
  /// The phase that computes a value or an element that is reused, and the output of its results'
  /// or elements' program.
  struct source { int phase, output; };
  static constexpr source source_of(int operand) {
    const bool is_result = is_value(operand);
    int left = operand - (is_result ? first_value : first_reused), phase = 0;
    source found{-1, -1};
    const auto look = [&]<class P>(std::type_identity<P>) {
      for (int i = 0; i < P::targets && found.phase < 0; ++i)
        if (P::is_result(i) == is_result && left-- == 0)
          found = {phase, target_word{P::target_words[static_cast<std::size_t>(i)]}.output()};
      ++phase;
    };
    (look(std::type_identity<Pass>{}), ...);
    return found;
  }
  /// The dtype of reused element number K.
  template <int K> static constexpr dtype type_of_reused = [] {
    constexpr source from = source_of(first_reused + K);
    return pass<from.phase>::elements::output(from.output).type();
  }();
  /// Bytes of all reused elements, and of those before number `end`.
  template <int... K>
  static constexpr int bytes_of_reused(int end, std::integer_sequence<int, K...>) {
    return (0 + ... + (K < end ? size_of(type_of_reused<K>) : 0));
  }
  using reused_numbers = std::make_integer_sequence<int, reused>;
  static constexpr int reused_bytes = bytes_of_reused(reused, reused_numbers{});

  /// Calls each<number, element type, output>() for each element of phase P that later ones reuse.
  template <int P, class Each> DSL_DETAIL_KERNEL_FN static void for_reused(const Each& each) {
    each_reused<P>(each, reused_numbers{});
  }

 private:
  template <int P, class Each, int... K>
  DSL_DETAIL_KERNEL_FN static void each_reused(const Each& each, std::integer_sequence<int, K...>) {
    (one_reused<P, K>(each), ...);
  }
  template <int P, int K, class Each>
  DSL_DETAIL_KERNEL_FN static void one_reused([[maybe_unused]] const Each& each) {
    constexpr source from = source_of(first_reused + K);
    if constexpr (from.phase == P)
      each.template operator()<K, memory_t<type_of_reused<K>>, from.output>();
  }
};

template <class Pass> inline constexpr int accumulator_bytes_of_pass =
    static_cast<int>(sizeof(typename reductions_of<typename Pass::reductions>::accumulators));
/// Bytes of the largest accumulators of a step's passes.
template <class Pass, class Earlier> inline constexpr int accumulator_bytes_of_step =
    accumulator_bytes_of_pass<Pass>;
template <class Pass, int FirstValue, class... Earlier>
inline constexpr int accumulator_bytes_of_step<Pass, earlier_phases<FirstValue, Earlier...>> = [] {
  int most = accumulator_bytes_of_pass<Pass>;
  ((most = accumulator_bytes_of_pass<Earlier> > most ? accumulator_bytes_of_pass<Earlier> : most),
   ...);
  return most;
}();

/// How many times the blocks exchange accumulators in a step.
template <class Pass, class Earlier> inline constexpr int exchanges_of_step =
    Earlier::count + (Pass::reductions::count > 0 ? 1 : 0);

/// The results of a phase's last evaluation, and the scalars in device memory that results depend
/// on. These are read once, because a variable may be among those that decide the end, and is
/// written at the end.
template <class Pass>
struct phase_results {
  using after = evaluator<typename Pass::results>;
  typename after::results now;
  typename after::inputs given;
};
template <int P, class Pass> struct numbered_results { phase_results<Pass> of; };
template <int P, class Pass> DSL_DETAIL_FN auto& results_of_phase(numbered_results<P, Pass>& r) {
  return r.of;
}
template <int P, class Pass> DSL_DETAIL_FN const auto& results_of_phase(
    const numbered_results<P, Pass>& r) {
  return r.of;
}
template <class Earlier, class Numbers = typename Earlier::numbers> struct results_of_phases;
template <class Earlier, std::size_t... P>
struct results_of_phases<Earlier, std::index_sequence<P...>>
    : numbered_results<static_cast<int>(P),
                       typename Earlier::template pass<static_cast<int>(P)>>... {};

/// A thread's lanes of the reused elements.
template <int K, class T, int Lanes> struct reused_element { pack<T, Lanes> group; };
template <int K, class T, int Lanes> DSL_DETAIL_FN auto& lanes_of_reused(
    reused_element<K, T, Lanes>& h) {
  return h.group;
}
template <int K, class T, int Lanes> DSL_DETAIL_FN const auto& lanes_of_reused(
    const reused_element<K, T, Lanes>& h) {
  return h.group;
}
template <class Earlier, int Lanes, class Numbers = typename Earlier::reused_numbers>
struct reused_lanes;
template <class Earlier, int Lanes, int... K>
struct reused_lanes<Earlier, Lanes, std::integer_sequence<int, K...>>
    : reused_element<K, memory_t<Earlier::template type_of_reused<K>>, Lanes>... {};

/// A pass of a loop some of whose operands have elements of their own in each step (`step_array`):
/// a bit for each.
template <class Pass, std::uint64_t Bits> struct with_step_arrays : Pass {
  static constexpr std::uint64_t step_arrays = Bits;
};
template <class Pass, std::uint64_t Bits> using reading_step_arrays =
    std::conditional_t<Bits == 0, Pass, with_step_arrays<Pass, Bits>>;
template <class Pass> inline constexpr std::uint64_t step_arrays_of = 0;
template <class Pass>
  requires requires { Pass::step_arrays; }
inline constexpr std::uint64_t step_arrays_of<Pass> = Pass::step_arrays;

/// Evaluates a pass on a thread's lanes of a loop's operands.
template <class Pass, int Inputs, class Arguments, class Memory,
          int Lanes = lanes_of_kernel<Pass, Arguments>>
struct loop_elements : kernel_body<Pass, Inputs, Arguments, Memory, Lanes> {
  using base = kernel_body<Pass, Inputs, Arguments, Memory, Lanes>;
  using base::args, base::compute_read;
  using base::base;
  using typename base::group;
  static constexpr std::uint64_t step_arrays = step_arrays_of<Pass>;
  static constexpr bool is_step_array(int n) { return (step_arrays >> n & 1) != 0; }

  /// Reads an operand that is neither a variable nor a value, in step k of the launch.
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read_parameter(group& g, [[maybe_unused]] std::int64_t k) const {
    if constexpr (Code == op::load && is_step_array(N) && !Arguments::strided) {
      using T = memory_t<D>;
      this->load(N, g,
                 reinterpret_cast<const T*>(args.operand[N].word) + this->place(N, g) +
                     elements_to_step(N, k),
                 this->how_reached(N), operand_lanes<Head>(g));
    } else {
      this->template read<Code, D, N, Head>(g);
      if constexpr (Code == op::value && D == dtype::int64) add_step<N, Head>(g, k);
    }
  }
  /// The distance between an operand's elements of the launch's first step and those of step k.
  DSL_DETAIL_KERNEL_FN std::int64_t elements_to_step(int operand, std::int64_t k) const {
    return k * static_cast<std::int64_t>(args.by_step[operand]);
  }
  template <int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void add_step(group& g, std::int64_t k) const {
    // Without a branch, so that nvcc sees that all lanes have the same value.
    const auto now = static_cast<std::int64_t>(args.operand[N].word) +
                     (args.operand[N].descriptor == counts_steps ? k : 0);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < Lanes; ++l) operand_lanes<Head>(g).set(l, now);
  }
  /// Takes the position that another pass's body has entered.
  template <class Entered>
  DSL_DETAIL_KERNEL_FN void enter_with(const Entered& other) {
    this->width = other.width;
    this->height = other.height;
    this->planes = other.planes;
    this->corner[0] = other.corner[0];
    this->corner[1] = other.corner[1];
    this->outer[0] = other.outer[0];
    DSL_DETAIL_UNROLL
    for (int i = 0; i < Inputs; ++i) this->offset[i] = other.offset[i];
  }
};

}  // namespace dsl::detail

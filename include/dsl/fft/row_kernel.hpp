// The kernel of a statement of formulas and transforms along rows: a row is read once, stays on
// chip from one formula and transform to the next, and is written once.
#pragma once

#include <dsl/exec/rows/chain_kernel.hpp>
#include <dsl/fft/row_butterflies.hpp>

namespace dsl::detail {

/// The rows of a launch, and the tables of roots of unity (`row_passes`), or null.
struct transformed_row_schedule {
  std::int64_t rows;
  const void *roots64, *roots128;  // For complex64 and for complex128.
  std::int32_t outer_rank;         // Dimensions of the rows beyond the innermost one.
  divisor inner, outer[max_rank - 2];
};

/// Strides: along a row, from row to row, and of the other dimensions. Leaves, then the target.
template <int Operands>
struct transformed_row_arguments : argument_header {
  transformed_row_schedule rows_of;
  argument operand[Operands];
  std::int64_t strides[Operands][max_rank];
};

/// A chain whose phases compute one value for each element, which is transformed before later
/// phases read it; only the last phase's is stored. `Inverse`: a bit for each phase.
template <int Points, std::uint64_t Inverse, class... Phase>
struct transform_chain {
  static constexpr int phases = sizeof...(Phase),
                       leaves = chain_operands<pass_chain<Phase...>>::leaves, operands = leaves + 1;
  static constexpr row_passes passes = passes_of_row(Points);
  static constexpr bool inverse(int phase) { return (Inverse >> phase & 1) != 0; }
  template <int P> using phase =
      std::tuple_element_t<static_cast<std::size_t>(P), std::tuple<Phase...>>;
  template <class P> static constexpr dtype type_of =
      P::pass::elements::output(target_word{P::pass::target_words[0]}.output()).type();
  template <int P> static constexpr dtype type = type_of<phase<P>>;
  static constexpr bool transforms(dtype d) {
    const dtype all[] = {type_of<Phase>...};
    for (int p = 0; p + 1 < phases; ++p)
      if (all[p] == d) return true;
    return false;
  }
  static constexpr int block = row_transform_block(passes),
                       blocks = row_transform_blocks(passes, transforms(dtype::complex128)),
                       rows_a_block = block / passes.threads();
  /// Shared memory of a row, whatever its dtype from phase to phase, and of a block.
  static constexpr int row_bytes = passes.places() * size_of(transforms(dtype::complex128)
                                                                 ? dtype::complex128
                                                                 : dtype::complex64),
                       shared_bytes = rows_a_block * row_bytes;
};

/// A thread's elements of a row that a phase has computed, transformed.
template <int P, dtype D, int Elements> struct row_elements { value_t<D> at[Elements]; };
template <int P, dtype D, int N> DSL_DETAIL_FN auto& elements_of_phase(row_elements<P, D, N>& e) {
  return e.at;
}
template <int P, dtype D, int N> DSL_DETAIL_FN const auto& elements_of_phase(
    const row_elements<P, D, N>& e) {
  return e.at;
}

template <class Chain, class Memory, class Team>
class transformed_row_body {
  using arguments = transformed_row_arguments<Chain::operands>;
  static constexpr row_passes passes = Chain::passes;
  static constexpr int elements = passes.elements, row_threads = passes.threads(),
                       target = Chain::leaves;
  using operand_numbers = std::make_index_sequence<static_cast<std::size_t>(Chain::operands)>;
  template <int P> using phase = typename Chain::template phase<P>;
  template <int P> using evaluator_of = evaluator<typename phase<P>::pass::elements>;
  template <class Phases> struct values_of;
  template <std::size_t... P>
  struct values_of<std::index_sequence<P...>>
      : row_elements<static_cast<int>(P), Chain::template type<static_cast<int>(P)>, elements>... {
  };
  using values = values_of<std::make_index_sequence<static_cast<std::size_t>(Chain::phases - 1)>>;

 public:
  DSL_DETAIL_KERNEL_FN transformed_row_body(const arguments& a, Memory memory, Team team)
      : args_(a), memory_(memory), team_(team) {
    thread_ = team.thread() & (row_threads - 1);
    row_in_block_ = static_cast<int>(static_cast<unsigned>(team.thread()) / row_threads);
    row_ = team.block() * Chain::rows_a_block + row_in_block_;
    has_row_ = Chain::rows_a_block == 1 || row_ < a.rows_of.rows;
  }
  DSL_DETAIL_KERNEL_FN void run() {
    values all;
    run_phases(all, std::make_index_sequence<static_cast<std::size_t>(Chain::phases - 1)>{});
    if (has_row_) store_row(all);
  }

 private:
  // ---- from memory, and to it
  /// Whether phase P reads operand K, or writes it.
  template <int P, int K>
  static constexpr bool is_used = [] {
    bool is = P + 1 == Chain::phases && K == target;
    for (int i = 0; i < phase<P>::inputs; ++i)
      is = is || (phase<P>::input[i].is_leaf() && phase<P>::input[i].number() == K);
    return is;
  }();
  // Computed anew for each phase: kept in between they would take registers from a transform.
  template <int P, std::size_t... K>
  DSL_DETAIL_KERNEL_FN void find_offsets(std::index_sequence<K...>) {
    const transformed_row_schedule& s = args_.rows_of;
    const auto add = [this]<std::size_t Operand>(std::int64_t at, int dimension,
                                                 std::index_sequence<Operand>) {
      if constexpr (is_used<P, static_cast<int>(Operand)>)
        offset_[Operand] += at * args_.strides[Operand][dimension];
    };
    ((offset_[K] = 0), ...);
    if (s.outer_rank == 0) {
      (add(row_, 1, std::index_sequence<K>{}), ...);
    } else {
      const auto number = static_cast<std::uint32_t>(row_);
      std::uint32_t rest = s.inner.divide(number);
      (add(number - rest * s.inner.by, 1, std::index_sequence<K>{}), ...);
      DSL_DETAIL_ROLLED
      for (int d = 0; d < s.outer_rank; ++d) {
        const std::uint32_t next = s.outer[d].divide(rest);
        (add(rest - next * s.outer[d].by, d + 2, std::index_sequence<K>{}), ...);
        rest = next;
      }
    }
    (add(thread_, 0, std::index_sequence<K>{}), ...);
  }
  template <int K> DSL_DETAIL_KERNEL_FN std::int64_t place(int element) const {
    return offset_[K] + element * (row_threads * args_.strides[K][0]);
  }

  // The inputs of one of the thread's elements in phase P.
  template <int P>
  struct source {
    const transformed_row_body& body;
    const values& known;
    int element;
    typename evaluator_of<P>::inputs in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      constexpr phase_input from = phase<P>::input[N];
      if constexpr (!from.is_leaf()) {
        input_of<Head>(in) = elements_of_phase<from.phase()>(known)[element];
      } else {
        constexpr int k = from.number();
        const argument& a = body.args_.operand[k];
        if constexpr (Code == op::load) {
          using T = memory_t<D>;
          input_of<Head>(in) = body.memory_.template load<T>(reinterpret_cast<const T*>(a.word) +
                                                             body.template place<k>(element));
        } else if constexpr (Code == op::index || Code == op::address) {
          const std::int64_t unit = Code == op::index ? 1 : static_cast<std::int64_t>(a.descriptor);
          input_of<Head>(in) = static_cast<value_t<D>>(a.word) +
                               static_cast<value_t<D>>(body.template place<k>(element) * unit);
        } else if constexpr (Code == op::load_scalar) {
          using T = memory_t<D>;
          input_of<Head>(in) = body.memory_.template load<T>(reinterpret_cast<const T*>(a.word));
        } else {
          input_of<Head>(in) = from_literal<value_t<D>>(literal{a.word, a.descriptor});
        }
      }
    }
  };
  template <int P>
  DSL_DETAIL_KERNEL_FN auto compute(const values& known, int element) const {
    using eval = evaluator_of<P>;
    constexpr int output = target_word{phase<P>::pass::target_words[0]}.output();
    source<P> from{*this, known, element, {}};
    eval::read(from);
    if constexpr (Memory::calls_formula && eval::gathers)
      return nth<output>(eval::compute_out_of_line(from.in, memory_));
    else if constexpr (Memory::calls_formula ||
                       phase<P>::pass::elements::nodes >
                           pass_policy<typename phase<P>::pass>(0).inlined_nodes)
      return nth<output>(eval::compute_out_of_line(from.in));
    else return nth<output>(eval::compute(from.in));
  }
  DSL_DETAIL_KERNEL_FN void store_row(const values& known) {
    constexpr int last = Chain::phases - 1;
    find_offsets<last>(operand_numbers{});
    using T = memory_t<Chain::template type<last>>;
    T* const to = reinterpret_cast<T*>(args_.operand[target].word);
    DSL_DETAIL_UNROLL
    for (int e = 0; e < elements; ++e)
      memory_.store(to + place<target>(e), static_cast<T>(compute<last>(known, e)));
  }

  // ---- on chip
  template <std::size_t... P>
  DSL_DETAIL_KERNEL_FN void run_phases(values& all, std::index_sequence<P...>) {
    (run_phase<static_cast<int>(P)>(all), ...);
  }
  template <int P>
  DSL_DETAIL_KERNEL_FN void run_phase(values& all) {
    auto& mine = elements_of_phase<P>(all);
    if (has_row_) {
      find_offsets<P>(operand_numbers{});
      DSL_DETAIL_UNROLL
      for (int e = 0; e < elements; ++e) mine[e] = compute<P>(all, e);
    } else {
      DSL_DETAIL_UNROLL
      for (int e = 0; e < elements; ++e) mine[e] = {};
    }
    transform<P>(mine, std::make_index_sequence<static_cast<std::size_t>(passes.count())>{});
  }
  template <int P, class Z, std::size_t... Pass>
  DSL_DETAIL_KERNEL_FN void transform(Z (&z)[elements], std::index_sequence<Pass...>) const {
    (run_pass<P, static_cast<int>(Pass)>(z), ...);
  }
  template <int P, int Pass, class Z>
  DSL_DETAIL_KERNEL_FN void run_pass(Z (&z)[elements]) const {
    constexpr int radix = passes.radix(Pass), butterflies = elements / radix,
                  before = passes.before(Pass);
    if constexpr (Pass > 0) {
      const Z* const own = shared<Z>(thread_);
      DSL_DETAIL_UNROLL
      for (int e = 0; e < elements; ++e)
        z[e] = memory_.template load<Z>(own + place_of_element<elements>(e * row_threads));
    }
    const Z* const roots =
        static_cast<const Z*>(sizeof(Z) == 8 ? args_.rows_of.roots64 : args_.rows_of.roots128) +
        (passes.first_root(Pass) + (thread_ & (before - 1)));
    const auto root = [&](int number) { return memory_.template load<Z>(roots + number * before); };
    // Threads may still read what the pass before, or the transform before, has left there.
    constexpr bool is_last = Pass + 1 == passes.count();
    DSL_DETAIL_UNROLL
    for (int b = 0; b < butterflies; ++b) {
      Z some[radix];
      DSL_DETAIL_UNROLL
      for (int r = 0; r < radix; ++r) some[r] = z[b + r * butterflies];
      transform_radix<passes, Pass, Chain::inverse(P)>(some, root);
      DSL_DETAIL_UNROLL
      for (int r = 0; r < radix; ++r) z[b + r * butterflies] = some[r];
    }
    if constexpr (!is_last) {
      if (P > 0 || Pass > 0) synchronize_row();
      DSL_DETAIL_UNROLL
      for (int b = 0; b < butterflies; ++b) {
        const int j = thread_ + b * row_threads;
        Z* const to = shared<Z>((j & ~(before - 1)) * radix + (j & (before - 1)));
        DSL_DETAIL_UNROLL
        for (int r = 0; r < radix; ++r)
          memory_.store(to + place_of_element<elements>(r * before), z[b + r * butterflies]);
      }
      synchronize_row();
    }
  }
  // Places of elements at multiples of a power of two behind it are as far behind as that
  // multiple's own place, which is known while compiling.
  template <class Z> DSL_DETAIL_KERNEL_FN Z* shared(int element) const {
    return reinterpret_cast<Z*>(memory_.shared() + row_in_block_ * Chain::row_bytes) +
           place_of_element<elements>(element);
  }
  DSL_DETAIL_KERNEL_FN void synchronize_row() const {
    if constexpr (row_threads <= Team::warp_size) team_.synchronize_warp();
    else team_.synchronize();
  }

  const arguments& args_;
  Memory memory_;
  Team team_;
  std::int64_t offset_[Chain::operands], row_;
  int thread_, row_in_block_;  // The thread's number in its row, the row's in the block.
  bool has_row_;
};

template <class Chain, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_transformed_rows(
    const transformed_row_arguments<Chain::operands>& args, Memory memory, Team team) {
  transformed_row_body<Chain, Memory, Team>(args, memory, team).run();
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

/// Formulas and transforms along rows: each row is read once and stays on chip.
template <class Name, int Points, std::uint64_t Inverse, int Operands, class... Phase>
__global__ void __launch_bounds__(detail::transform_chain<Points, Inverse, Phase...>::block,
                                  detail::transform_chain<Points, Inverse, Phase...>::blocks)
    transformed_rows(const __grid_constant__ detail::transformed_row_arguments<Operands> args) {
  detail::run_transformed_rows<detail::transform_chain<Points, Inverse, Phase...>>(
      args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

template <class Chain> struct transformed_row_kernel;
template <int Points, std::uint64_t Inverse, class... Phase>
struct transformed_row_kernel<transform_chain<Points, Inverse, Phase...>> {
  using chain = transform_chain<Points, Inverse, Phase...>;
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_transformed_rows<chain>(
        *static_cast<const transformed_row_arguments<chain::operands>*>(arguments),
        simulated_memory{&self}, simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(
        &kernels::transformed_rows<Name, Points, Inverse, chain::operands, Phase...>);
  }
#endif
};

}  // namespace dsl::detail

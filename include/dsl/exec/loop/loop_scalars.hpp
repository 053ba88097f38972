// A loop's scalar variables, whose values all threads of its kernel know, and the results of its
// steps.
#pragma once

#include <dsl/exec/loop/loop_arguments.hpp>
#include <dsl/exec/loop/loop_variables.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// `Body` is a kernel_body with loop arguments.
template <class Body, class Pass, int Inputs, int States, int Stop>
struct loop_scalars : Body {
  using Body::args, Body::lanes, Body::memory;
  using Body::Body;
  using typename Body::accumulators, typename Body::group, typename Body::targets,
      typename Body::states;
  using after = evaluator<typename Pass::results>;
  using reduced_values = typename after::results;

  /// Whether an earlier launch has ended the loop.
  DSL_DETAIL_KERNEL_FN bool has_ended() const {
    if constexpr (Stop >= 0)
      return memory.template load<bool>(
          reinterpret_cast<const void*>(args.operand[Inputs + Stop].word));
    else return false;
  }

  /// The results of a step, and the other scalars in device memory that results depend on. These
  /// are read once, because a variable may be among those that decide the end, and is written at
  /// the end.
  struct scalars {
    reduced_values now;
    typename after::inputs given;
  };
  DSL_DETAIL_KERNEL_FN scalars read_scalars() const {
    scalars s{};
    for_reduced(
        [&]<int I, class T>() {
          nth<output<I>>(s.now) =
              memory.template load<T>(reinterpret_cast<const void*>(args.operand[I].word));
        },
        states{});
    scalar_reader from{*this, s.given};
    after::read(from);
    return s;
  }
  /// Computes the results of a step from the accumulators of all elements, each rounded to the type
  /// of its memory.
  DSL_DETAIL_KERNEL_FN void finish(scalars& s, const accumulators& totals, std::int64_t k) const {
    totals_source from{*this, totals, s.now, k, s.given};
    after::read(from);
    s.now = after::compute(from.in);
    for_reduced(
        [&]<int I, class T>() { nth<output<I>>(s.now) = static_cast<T>(nth<output<I>>(s.now)); },
        targets{});
  }
  DSL_DETAIL_KERNEL_FN static bool stops([[maybe_unused]] const reduced_values& s) {
    if constexpr (Stop >= 0) return nth<target_word{Pass::target_words[Stop]}.output()>(s);
    else return false;
  }
  DSL_DETAIL_KERNEL_FN void record_reduced(const reduced_values& s, history_place& at) const {
    if (!at.comes(args.loop)) return;
    for_reduced(
        [&]<int I, class T>() {
          if (T* const to = reinterpret_cast<T*>(args.history[Inputs + I]))
            memory.store(to + (at.row - 1), static_cast<T>(nth<output<I>>(s)));
        },
        targets{});
  }
  DSL_DETAIL_KERNEL_FN void store_reduced(const reduced_values& s) const {
    for_reduced(
        [&]<int I, class T>() {
          if (T* const to = reinterpret_cast<T*>(args.operand[Inputs + I].word))
            memory.store(to, static_cast<T>(nth<output<I>>(s)));
        },
        targets{});
  }

 protected:
  template <int I> static constexpr bool is_array = Body::template is_array<I>;
  template <int I> static constexpr int output = Body::template output<I>;

  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read_parameter(group& g, [[maybe_unused]] std::int64_t k) const {
    this->template read<Code, D, N, Head>(g);
    if constexpr (Code == op::value && D == dtype::int64) add_step<N, Head>(g, k);
  }
  template <int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void add_step(group& g, std::int64_t k) const {
    // Without a branch, so that nvcc sees that all lanes have the same value.
    const auto now = static_cast<std::int64_t>(args.operand[N].word) +
                     (args.operand[N].descriptor == counts_steps ? k : 0);
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) operand_lanes<Head>(g).set(l, now);
  }

 private:
  // Calls each<number, element type>() for each scalar.
  template <class Each, std::size_t... I>
  DSL_DETAIL_KERNEL_FN static void for_reduced(const Each& each, std::index_sequence<I...>) {
    (for_reduced_value<static_cast<int>(I)>(each), ...);
  }
  template <int I, class Each>
  DSL_DETAIL_KERNEL_FN static void for_reduced_value([[maybe_unused]] const Each& each) {
    if constexpr (!is_array<I>)
      each.template operator()<I, memory_t<Pass::results::output(output<I>).type()>>();
  }

  struct scalar_reader {
    const loop_scalars& body;
    typename after::inputs& in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::load_scalar && N >= States)
        input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
    }
  };
  struct totals_source {
    const loop_scalars& body;
    const accumulators& totals;
    const reduced_values& now;
    std::int64_t k;
    typename after::inputs in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::reduced)
        input_of<Head>(in) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
      else if constexpr (Code == op::count) input_of<Head>(in) = body.args.reduction.count;
      else if constexpr (N < States) input_of<Head>(in) = nth<output<N>>(now);
      else if constexpr (Code != op::load_scalar) {
        input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
        if constexpr (Code == op::value && D == dtype::int64)
          if (body.args.operand[N].descriptor == counts_steps) input_of<Head>(in) += k;
      }
    }
  };
};

}  // namespace dsl::detail

// A loop's scalar variables, whose values all threads of its kernel know, and the results of its
// steps.
#pragma once

#include <dsl/exec/loop/earlier_phases.hpp>
#include <dsl/exec/loop/loop_variables.hpp>

namespace dsl::detail {

/// `Body` is a loop_elements of the step's last pass.
template <class Body, class Pass, int Inputs, int States, int Stop, class Earlier>
struct loop_scalars : Body {
  using Body::args, Body::lanes, Body::memory;
  using Body::Body;
  using typename Body::accumulators, typename Body::group, typename Body::targets,
      typename Body::states;
  using reduced_values = typename evaluator<typename Pass::results>::results;
  template <int P> using pass_of_phase = typename Earlier::template pass<P>;
  template <int P> using reductions_of_phase = reductions_of<typename pass_of_phase<P>::reductions>;

  /// Whether an earlier launch has ended the loop.
  DSL_DETAIL_KERNEL_FN bool has_ended() const {
    if constexpr (Stop >= 0)
      return memory.template load<bool>(
          reinterpret_cast<const void*>(args.operand[Inputs + Stop].word));
    else return false;
  }

  /// The results of a step, and those of its phases before the last one.
  struct scalars : phase_results<Pass> { results_of_phases<Earlier> of_phases; };
  DSL_DETAIL_KERNEL_FN scalars read_scalars() const {
    scalars s{};
    for_reduced(
        [&]<int I, class T>() {
          nth<output<I>>(s.now) =
              memory.template load<T>(reinterpret_cast<const void*>(args.operand[I].word));
        },
        states{});
    read_given(s);
    read_given(s.of_phases, typename Earlier::numbers{});
    return s;
  }
  /// Computes the results of a step from the accumulators of all elements, each rounded to the type
  /// of its memory.
  DSL_DETAIL_KERNEL_FN void finish(scalars& s, const accumulators& totals, std::int64_t k) const {
    s.now = results_from<Pass>(s, s.given, totals, k);
    for_reduced(
        [&]<int I, class T>() { nth<output<I>>(s.now) = static_cast<T>(nth<output<I>>(s.now)); },
        targets{});
  }
  /// The same for a phase before the last one.
  template <int P, class Totals>
  DSL_DETAIL_KERNEL_FN void finish_phase(scalars& s, const Totals& totals, std::int64_t k) const {
    auto& of = results_of_phase<P>(s.of_phases);
    of.now = results_from<pass_of_phase<P>>(s, of.given, totals, k);
    round<pass_of_phase<P>>(
        of.now,
        std::make_index_sequence<static_cast<std::size_t>(pass_of_phase<P>::results::outputs)>{});
  }
  DSL_DETAIL_KERNEL_FN static bool stops([[maybe_unused]] const reduced_values& s) {
    if constexpr (Stop >= 0) return nth<target_word{Pass::target_words[Stop]}.output()>(s);
    else return false;
  }
  DSL_DETAIL_KERNEL_FN void record_reduced(const reduced_values& s, history_place& at) const {
    if (!at.comes(args.loop)) return;
    for_reduced(
        [&]<int I, class T>() {
          if (T* const to = reinterpret_cast<T*>(args.by_step[Inputs + I]))
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

  /// The value of a scalar variable, or of an earlier phase.
  template <int Operand>
  DSL_DETAIL_KERNEL_FN static auto known_scalar(const scalars& s) {
    if constexpr (Operand < States) return nth<output<Operand>>(s.now);
    else {
      constexpr auto at = Earlier::source_of(Operand);
      return nth<at.output>(results_of_phase<at.phase>(s.of_phases).now);
    }
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
  template <class Of, class Results, std::size_t... I>
  DSL_DETAIL_KERNEL_FN static void round(Results& r, std::index_sequence<I...>) {
    ((nth<static_cast<int>(I)>(r) =
          static_cast<memory_t<Of::results::output(static_cast<int>(I)).type()>>(
              nth<static_cast<int>(I)>(r))),
     ...);
  }

  template <class In>
  struct scalar_reader {
    const loop_scalars& body;
    In& in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::load_scalar && N >= States && !Earlier::is_value(N))
        input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
    }
  };
  template <class Of>
  DSL_DETAIL_KERNEL_FN void read_given(phase_results<Of>& to) const {
    scalar_reader<typename phase_results<Of>::after::inputs> from{*this, to.given};
    phase_results<Of>::after::read(from);
  }
  template <std::size_t... P>
  DSL_DETAIL_KERNEL_FN void read_given(results_of_phases<Earlier>& to,
                                       std::index_sequence<P...>) const {
    (read_given(results_of_phase<static_cast<int>(P)>(to)), ...);
  }
  template <class Totals, class In>
  struct totals_source {
    const loop_scalars& body;
    const Totals& totals;
    const scalars& known;
    std::int64_t k;
    In in;
    template <op Code, dtype D, int N, std::uint32_t Head>
    DSL_DETAIL_KERNEL_FN void read() {
      if constexpr (Code == op::reduced)
        input_of<Head>(in) = nth<(N >> 16)>(nth_accumulator<(N & 0xffff)>(totals));
      else if constexpr (Code == op::count) input_of<Head>(in) = body.args.reduction.count;
      else if constexpr (N < States || Earlier::is_value(N))
        input_of<Head>(in) = known_scalar<N>(known);
      else if constexpr (Code != op::load_scalar) {
        input_of<Head>(in) = body.template scalar_operand<Code, D, N>();
        if constexpr (Code == op::value && D == dtype::int64)
          if (body.args.operand[N].descriptor == counts_steps) input_of<Head>(in) += k;
      }
    }
  };
  template <class Of, class In, class Totals>
  DSL_DETAIL_KERNEL_FN auto results_from(const scalars& known, const In& given,
                                         const Totals& totals, std::int64_t k) const {
    using formula = evaluator<typename Of::results>;
    totals_source<Totals, In> from{*this, totals, known, k, given};
    formula::read(from);
    return formula::compute(from.in);
  }
};

}  // namespace dsl::detail

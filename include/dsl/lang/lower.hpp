// Lowering: expressions and their targets become passes.
#pragma once

#include <dsl/ir/counts.hpp>
#include <dsl/ir/shift.hpp>
#include <dsl/ir/split.hpp>
#include <dsl/ir/step_phases.hpp>
#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// The result of a formula as a flat tuple of outputs; structs are replaced by their members.
template <class R>
constexpr auto as_tuple(const R& result) {
  if constexpr (is_tuple<R>)
    return unpack(
        []<class... E>(const E&... r) {
          // Concatenation costs the square of the number: for a Jacobian of 20 fields, 420
          // elements, g++ took 4.9 GB, and takes 0.6 GB without it.
          if constexpr (((is_tuple<E> || structured<E>) || ...)) return concatenate(as_tuple(r)...);
          else return tuple<E...>{r...};
        },
        result);
  else if constexpr (structured<R>)
    return unpack([](const auto&... m) { return concatenate(as_tuple(m)...); },
                  structure<R>::members(result));
  else return tuple<R>{result};
}
template <class... E> using outputs_of =
    decltype(concatenate(as_tuple(std::declval<trace_t<E>>())...));

/// Whether an expression uses a loop's step number, so that it has no value outside a loop.
template <class E> inline constexpr bool counts_steps_in = false;
template <class F, class... Operands> inline constexpr bool
    counts_steps_in<expression<F, Operands...>> = (counts_steps_in<Operands> || ...);
template <class F, int R, class... Operands> inline constexpr bool
    counts_steps_in<reduction<F, R, Operands...>> = (counts_steps_in<Operands> || ...);

/// Properties of a traced expression: it has reductions or counts elements; all its outputs are
/// single values; a literal is outside its dtype; a formula reads neighbours; it reads them along
/// an axis that does not exist; it takes values that, outside a loop, cannot be taken; why a
/// derivative does not exist; the operands whose elements it takes.
struct trace_of_formula {
  bool reduces = false, single_values = false, literal_outside = false, neighbours = false,
       axis_missing = false, take_refused = false;
  no_derivative refused_derivative{};
  static constexpr int most_taken = 16;
  int leaf_count = 0, taken_count = 0;
  taken_leaf taken[most_taken] = {};
};
template <class Output>
constexpr void add_symbol(graph& g, const Output& o) {
  if constexpr (is_symbol<Output>) g.outputs.push_back(o.id);
}
// Not a constant expression if a formula calls a function that the compiler does not evaluate, or,
// unless `Numbers`, converts a symbol to a C++ number.
template <class E, bool Numbers = false>
constexpr trace_of_formula inspect_formula() {
  graph g;
  g.notes_literals = true;
  g.notes_numbers = Numbers;
  tracer t{&g};
  const auto all = as_tuple(traced<E>::run(t));
  unpack([&g](const auto&... o) { (add_symbol(g, o), ...); }, all);
  const bool reduces = g.reduction_count() > 0 || has_counts(g);
  trace_of_formula found{reduces,
                         reduces && g.outputs.size() > 0 && node_origins(g).are_values(g.outputs),
                         g.literal_outside,
                         moves_formula(g),
                         g.axis_missing,
                         g.take_refused,
                         g.refused_derivative,
                         t.operands};
  sequence<int> roots;
  for (int i = 0; i < g.outputs.size(); ++i) roots.push_back(g.outputs[i]);
  for (int i = 0; i < g.reduction_count(); ++i)
    for (const int value : g.reduction_at(i).values) roots.push_back(value);
  const auto reads = [&g, live = needed_by(g, roots)](int leaf) {
    for (int k = 0; k < g.size(); ++k)
      if (live[k] != 0 && g[k].code != op::address && leaf_of(g[k]) == leaf) return true;
    return false;
  };
  for (int i = 0; i < g.taken.size(); ++i) {
    int known = 0;
    while (known < found.taken_count && (found.taken[known].leaf != g.taken[i].leaf ||
                                         found.taken[known].axis != g.taken[i].axis))
      ++known;
    if (known == trace_of_formula::most_taken)
      throw "dsl::take inside a formula: of more than 16 arrays";
    const bool before = known < found.taken_count && found.taken[known].is_read;
    found.taken[known] = g.taken[i];
    found.taken[known].is_read = before || g.taken[i].is_read || reads(g.taken[i].leaf);
    if (known == found.taken_count) ++found.taken_count;
  }
  return found;
}
template <trace_of_formula Seen> struct seen_formula {
  static constexpr trace_of_formula value = Seen;
};
template <class E, trace_of_formula Seen = inspect_formula<E>()> constexpr seen_formula<Seen> seen(
    int);
template <class E> constexpr void seen(...);
template <class E, trace_of_formula Seen = inspect_formula<E, true>()> constexpr seen_formula<Seen>
inspected_with_numbers(int);
template <class E> constexpr void inspected_with_numbers(...);

/// Whether a formula can be traced. std::sqrt(2.0) is a constant expression for GCC, but not for
/// nvcc.
template <class E> inline constexpr bool can_be_traced = !std::is_void_v<decltype(seen<E>(0))>;
/// Whether it could be traced if a symbol were a C++ number.
template <class E> inline constexpr bool can_be_traced_with_numbers =
    !std::is_void_v<decltype(inspected_with_numbers<E>(0))>;

template <class E>
constexpr trace_of_formula inspected() {
  if constexpr (can_be_traced<E>) return decltype(seen<E>(0))::value;
  else return trace_of_formula{};
}
template <class E> inline constexpr bool has_reductions = inspected<E>().reduces;
template <class E> inline constexpr bool reads_neighbours = inspected<E>().neighbours;
template <class E> inline constexpr bool axes_exist = !inspected<E>().axis_missing;
/// Why one of these expressions cannot be differentiated.
template <class... E>
constexpr no_derivative refused_derivative() {
  no_derivative why{};
  ((why = why == no_derivative::exists ? inspected<E>().refused_derivative : why), ...);
  return why;
}
template <class E> inline constexpr bool takes_possible = !inspected<E>().take_refused;
template <class E> inline constexpr bool literals_fit = !inspected<E>().literal_outside;

/// The rank of an expression's one value: 0 for a formula that reduces its arguments to it.
template <class E>
constexpr int rank_of_result() {
  if constexpr (E::rank == 0 || reductions_in<E> > 0) return E::rank;
  else return inspected<E>().single_values ? 0 : E::rank;
}
template <class E> inline constexpr int result_rank = rank_of_result<E>();
template <class F, class... Operands> inline constexpr bool
    is_one_value<expression<F, Operands...>> = result_rank<expression<F, Operands...>> == 0;

/// The device on which to evaluate expressions without operands in memory, given some expressions
/// and their targets.
template <class... E>
device home_of(const E&... e) {
  operand all[(0 + ... + leaf_count<E>)], *at = all;
  (add_leaves(e, at), ...);
  return home_of_operands(all, static_cast<int>(at - all));
}

/// The target of an output: elements, or one value in device memory.
struct target_type {
  dtype type;
  bool single;
};
template <target_type... T> struct target_types {};

template <target_type T, class Output>
constexpr void add_output(graph& g, const Output& o) {
  constexpr dtype Target = T.type;
  g.scalar_outputs |= static_cast<std::uint32_t>(T.single) << g.outputs.size();
  if constexpr (is_symbol<Output>) {
    g.outputs.push_back(convert_operand<Target, false>(o).id);
  } else {
    g.outputs.push_back(
        convert_operand<Target, false>(lift(&g, o)).id);  // the formula returned a constant
  }
}
/// Whether elementwise outputs depend on the results of reductions.
template <class Graph>
constexpr bool needs_reductions_for_elements(const Graph& g) {
  const node_origins origins(g);
  bool needs = false;
  for (int i = 0; i < g.outputs.size(); ++i)
    needs =
        needs || (origins[g.outputs[i]].kind == origin::element && origins[g.outputs[i]].depth > 0);
  return needs;
}

/// The graph of expressions assigned to given targets.
template <class Targets, class... E> struct assignment;
template <target_type... Targets, class... E>
struct assignment<target_types<Targets...>, E...> {
  static constexpr graph run() {
    graph g = run(false);
    if (g.has_variance && needs_reductions_for_elements(g)) return run(true);
    return g;
  }

 private:
  static constexpr graph run(bool reads_rows_again) {
    graph g;
    g.reads_rows_again = reads_rows_again;
    tracer t{&g};
    const tuple<trace_t<E>...> results{traced<E>::run(t)...};
    const auto all = unpack([](const auto&... r) { return concatenate(as_tuple(r)...); }, results);
    unpack([&g](const auto&... o) { (add_output<Targets>(g, o), ...); }, all);
    g.operands = t.operands;
    make_space_operands(g);
    return g;
  }
};

// The number of operands that are numbers of elements, after the leaves.
constexpr int count_operands(const program_view& p, int leaves) {
  int end = leaves;
  for (int i = 0; i < p.nodes; ++i)
    if (const auto operand = static_cast<int>(p.payloads[i] & 0xffff);
        head{p.heads[i]}.code() == op::value && operand >= end)
      end = operand + 1;
  return end - leaves;
}
constexpr int count_operands(const pass_view& p, int leaves) {
  const int of_elements = count_operands(p.elements, leaves),
            of_results = count_operands(p.results, leaves);
  return of_elements > of_results ? of_elements : of_results;
}
// Whether a pass reads the positions of its elements: then a further operand follows its leaves.
constexpr bool counts_positions(const program_view& p, int leaves) {
  for (int i = 0; i < p.nodes; ++i)
    if (head{p.heads[i]}.code() == op::index && p.payloads[i] == static_cast<std::uint64_t>(leaves))
      return true;
  return false;
}

/// The chain of passes for the graph that `Trace::run()` builds, if one pass is not enough. Traces
/// and splits the graph once.
template <class Trace, class... Calls>
class scheduled {
  struct roomy_chain {
    roomy_schedule plan;
    pass_image<max_program_nodes, 4 * max_image_words, 4 * max_reductions, 64> image;
  };
  static constexpr roomy_chain make() {
    const auto g = Trace::run();  // auto: instantiates the splitter only where it is needed
    const pass_splitter split(g);
    roomy_chain to{split.make_schedule(), {}};
    for (int p = 0; p < to.plan.passes; ++p)
      if (!add_pass(split.pass_graph(p), to.image))
        throw "a part of a statement takes several passes";
    return to;
  }
  static constexpr roomy_chain roomy = make();

 public:
  using trace = Trace;
  static constexpr auto plan =
      roomy.plan
          .template exact<roomy.plan.passes, roomy.plan.uses, roomy.plan.words, roomy.plan.inputs,
                          roomy.plan.outputs, roomy.plan.values, roomy.plan.copies>();
  static constexpr auto exact =
      roomy.image.template exact<roomy.image.nodes, roomy.image.words(), roomy.image.programs,
                                 roomy.image.passes>();
  static constexpr int passes = plan.passes;
  static constexpr schedule_view view = plan.view();

  // Public because clang before version 16 takes a use of `pass` for one from outside the class.
  template <int K>
  static auto spell() {
    if constexpr (plan.pass[K].calls) return typename pass_spelled<scheduled, K, Calls...>::type{};
    else return typename pass_spelled<scheduled, K>::type{};
  }
  template <int K> using pass = decltype(spell<K>());

 private:
  // A pass that reads its elements' positions has an operand for them, after its other operands.
  template <int K, class Pass, std::size_t... I>
  static auto phase(Pass, std::index_sequence<I...>) {
    constexpr bool counts = counts_positions(Pass::elements::view(), plan.pass[K].inputs);
    constexpr auto word = [](std::size_t i) {
      return static_cast<int>(i) < plan.pass[K].inputs
                 ? plan.word[static_cast<std::size_t>(plan.pass[K].first_word) + i]
                 : phase_input::leaf(plan.operands).word;
    };
    if constexpr (counts) return chain_phase<Pass, word(I)..., word(sizeof...(I))>{};
    else return chain_phase<Pass, word(I)...>{};
  }
  template <std::size_t... K>
  static auto chain_of(std::index_sequence<K...>) {
    return pass_chain<decltype(phase<static_cast<int>(K)>(
        spell<static_cast<int>(K)>(),
        std::make_index_sequence<static_cast<std::size_t>(plan.pass[K].inputs)>{}))...>{};
  }

 public:
  using chain = decltype(chain_of(std::make_index_sequence<static_cast<std::size_t>(passes)>{}));
};

/// Expressions assigned to targets: as one pass, or as several.
template <class Targets, class Calls, class... E> struct lowered_with;
template <class Targets, class... Calls, class... E>
struct lowered_with<Targets, tuple<Calls...>, E...> {
  using trace = assignment<Targets, E...>;
  using one_pass = compile<trace, Calls...>;
  using several = scheduled<trace, Calls...>;
  using in_phases = step_in_phases<false, trace, Calls...>;
  using in_reusing_phases = step_in_phases<true, trace, Calls...>;
  static constexpr bool is_one_pass = one_pass::is_one_pass;
  /// Whether an output is the result of a reduction.
  static constexpr bool is_reduced(int output) {
    if constexpr (is_one_pass) return one_pass::spelled::is_result(output);
    else return (several::plan.reduced >> output & 1) != 0;
  }
};
template <class Targets, class... E>
using lowered =
    lowered_with<Targets, decltype(concatenate(std::declval<typename calls_of<E>::type>()...)),
                 E...>;

/// A step of a loop that takes several phases.
template <class Lowered> struct lowered_in_phases {
  static constexpr bool is_one_pass = false;
  using phases = typename Lowered::in_phases;
  static constexpr bool is_reduced(int output) { return last_phase<phases>::is_result(output); }
};
template <class Lowered> inline constexpr bool runs_in_phases = false;
template <class Lowered> inline constexpr bool runs_in_phases<lowered_in_phases<Lowered>> = true;

template <class T> inline constexpr target_type type_of_target{dtype_v<typename T::value_type>,
                                                               T::rank == 0};
template <class... Targets> using types_of_targets =
    target_types<type_of_target<std::remove_const_t<Targets>>...>;

}  // namespace dsl::detail

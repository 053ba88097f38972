// A pass as a type: a program for the elements, reductions of its outputs, and a program for the
// results of the reductions.
#pragma once

#include <dsl/ir/neighbour.hpp>

namespace dsl::detail {

/// The source of a target: an output of the elements' program, stored for each element, or an
/// output of the results' program.
struct target_word {
  std::uint64_t word;
  static constexpr target_word make(bool is_result, int output) {
    return {static_cast<std::uint64_t>(output) << 1 | (is_result ? 1u : 0u)};
  }
  constexpr bool is_result() const { return (word & 1) != 0; }
  constexpr int output() const { return static_cast<int>(word >> 1); }
};

/// Two words of a pass's names, before the words of a `packed_name`: the result that is named, in
/// the results' program; the elements that are reduced, in the elements' program; ddof, in the
/// results' program, or `no_reference`; and the number of words of text that follow.
struct name_head {
  static constexpr int size = 2;
  std::uint64_t references, words_of_text;
  static constexpr name_head make(reference result, reference of, reference ddof, int words) {
    return {result.placed(0) | of.placed(1) | ddof.placed(2), static_cast<std::uint64_t>(words)};
  }
  static constexpr name_head read(const std::uint64_t* at) { return {at[0], at[1]}; }
  constexpr reference result() const { return reference::of(references, 0); }
  constexpr reference of() const { return reference::of(references, 1); }
  constexpr reference ddof() const { return reference::of(references, 2); }
  constexpr int words() const { return static_cast<int>(words_of_text); }
};

/// A reduction's rule: a program whose inputs are two tuples of values (op::value 0, 1, ... for the
/// first, then for the second), and two words for each value of the identity. `First`: number
/// of the elements' output that is the tuple's first value. `NeedsElements`: reducing no elements
/// is an error.
template <class Combine, class Identity, int First, bool NeedsElements> struct pass_reduction;
template <class Combine, std::uint64_t... I, int First, bool NeedsElements>
struct pass_reduction<Combine, words<I...>, First, NeedsElements> {
  static constexpr bool needs_elements = NeedsElements;
  using combine = Combine;
  static constexpr int values = Combine::outputs, first = First;
  static constexpr std::uint64_t identity_words[sizeof...(I) + 1] = {I..., 0};
  static constexpr literal identity(int k) {
    return {identity_words[2 * k], identity_words[2 * k + 1]};
  }
  static constexpr void add_to(word_key& key) {
    for (const std::uint64_t word : {Combine::key, static_cast<std::uint64_t>(First),
                                     static_cast<std::uint64_t>(NeedsElements), I...})
      key.add(word);
  }
};

template <class... F> struct pass_reductions { static constexpr int count = sizeof...(F); };

/// A pass at run time, for printing and counting.
struct pass_view {
  program_view elements{}, results{};
  // The rules of the reductions, and for each the elements' output with which its values begin.
  const program_view* rules = nullptr;
  const int* firsts = nullptr;
  int reductions = 0;
  bool needs_elements = false;
  const std::uint64_t* targets = nullptr;
  int target_count = 0;
  // The names of results: the words of a `name_head` each, and its text.
  const std::uint64_t* names = nullptr;
  int name_words = 0;
  // In the elements' program.
  neighbours_read neighbours{};
  // The identities of the rules: two words for each value.
  const std::uint64_t* identities = nullptr;
  constexpr bool is_result(int target) const { return target_word{targets[target]}.is_result(); }
  constexpr dtype type(int target) const {
    const target_word t{targets[target]};
    return (t.is_result() ? results : elements).output(t.output()).type();
  }
  constexpr bool reduces_beside_arrays() const {
    for (int i = 0; i < target_count; ++i)
      if (reductions > 0 && !is_result(i)) return true;
    return false;
  }
};

/// The components of a pass.
template <class Elements, class Results, class Targets, class Reductions, class Names>
struct pass_parts;
template <class Elements, class Results, std::uint64_t... T, class... F, std::uint64_t... N>
struct pass_parts<Elements, Results, words<T...>, pass_reductions<F...>, words<N...>> {
  using elements = Elements;
  using results = Results;
  using reductions = pass_reductions<F...>;
  static constexpr int targets = sizeof...(T);
  static constexpr bool needs_elements = (F::needs_elements || ...);
  static constexpr int name_words = sizeof...(N);
  static constexpr std::array<std::uint64_t, targets + 1> target_words() { return {T..., 0}; }
  static constexpr std::array<std::uint64_t, name_words + 1> names() { return {N..., 0}; }
  static constexpr std::array<program_view, sizeof...(F) + 1> rules() {
    return {F::combine::view()..., program_view{}};
  }
  static constexpr std::array<int, sizeof...(F) + 1> firsts() { return {F::first..., 0}; }
  static constexpr auto identities() {
    std::array<std::uint64_t, static_cast<std::size_t>((0 + ... + (2 * F::values))) + 1> all{};
    [[maybe_unused]] std::size_t count = 0;
    (add_identities<F>(all.data(), count), ...);
    return all;
  }
  template <class Reduction>
  static constexpr void add_identities(std::uint64_t* all, std::size_t& count) {
    for (int k = 0; k < Reduction::values; ++k) {
      const literal value = Reduction::identity(k);
      all[count++] = value.bits;
      all[count++] = value.second;
    }
  }
  static constexpr std::uint64_t key() {
    word_key made{sizeof...(F)};
    for (const std::uint64_t word : {Elements::key, Results::key, T..., N...}) made.add(word);
    (F::add_to(made), ...);
    return made.value;
  }
};

/// A pass as a type that names kernels: a key and the functors that it calls, as `program`.
template <std::uint64_t Key, class... Calls>
struct pass {
  using parts = typename decltype(parts_of(pass_key<Key, Calls...>{}))::type;
  using elements = typename parts::elements;
  using results = typename parts::results;
  using reductions = typename parts::reductions;
  static constexpr int targets = parts::targets;
  static constexpr auto target_words = parts::target_words();
  static constexpr auto rules = parts::rules();
  static constexpr auto firsts = parts::firsts();
  static constexpr auto names = parts::names();
  static constexpr auto identities = parts::identities();
  static constexpr pass_view view() {
    // Arrays that are pointed to are emitted into the object file.
    constexpr bool reduces = reductions::count > 0;
    return {elements::view(),
            results::view(),
            reduces ? rules.data() : nullptr,
            reduces ? firsts.data() : nullptr,
            reductions::count,
            parts::needs_elements,
            target_words.data(),
            targets,
            parts::name_words > 0 ? names.data() : nullptr,
            parts::name_words,
            neighbours_in(elements::view()),
            reduces ? identities.data() : nullptr};
  }
  static constexpr bool is_result(int i) {
    return target_word{target_words[static_cast<std::size_t>(i)]}.is_result();
  }
};

template <class Parts, class Elements> struct keyed_pass;
template <class Parts, std::uint64_t Key, class... Calls>
struct keyed_pass<Parts, program<Key, Calls...>> {
  using type = pass<Parts::key(), Calls...>;
  friend constexpr auto parts_of(pass_key<Parts::key(), Calls...>) {
    return std::type_identity<Parts>{};
  }
};
template <class Elements, class Results, class Targets, class Reductions, class Names = words<>>
using pass_with =
    typename keyed_pass<pass_parts<Elements, Results, Targets, Reductions, Names>, Elements>::type;

inline constexpr std::size_t max_program_nodes = 4096, max_program_outputs = 32,
                             max_reductions = 32;

/// Where a pass's components begin within an image of several passes.
struct pass_place { std::size_t program, target, reduction, identity, name; };

/// The programs of several passes, one pass after another. Each pass has the elements' program, the
/// results' program and the rules of its reductions.
template <std::size_t Nodes, std::size_t Words, std::size_t Programs = max_reductions + 2,
          std::size_t Passes = 1>
struct pass_image {
  std::size_t nodes = 0, programs = 0, outputs = 0, targets = 0, identities = 0, reductions = 0,
              names = 0, passes = 0;
  // False: the statement takes several passes, and the image is otherwise empty.
  bool is_one_pass = true;
  std::array<std::uint32_t, Nodes> heads{};
  std::array<std::uint64_t, Nodes> payloads{};
  std::array<std::uint64_t, Words> output_words{}, target_words{}, identity_words{}, name_words{};
  // For each program the end of its nodes and the end of its outputs, after two zeros.
  std::array<int, 2 * Programs + 2> ends{};
  std::array<int, Programs> firsts{};
  std::array<bool, Programs> needs_elements{};
  std::array<pass_place, Passes + 1> places{};

  // The compilers' cost of a pack expansion grows with the size of the object that it reads from.
  template <std::size_t N, std::size_t W, std::size_t P, std::size_t K>
  constexpr pass_image<N, W, P, K> exact() const {
    pass_image<N, W, P, K> to{nodes,      programs, outputs, targets,    identities,
                              reductions, names,    passes,  is_one_pass};
    copy_front(heads, to.heads);
    copy_front(payloads, to.payloads);
    copy_front(output_words, to.output_words);
    copy_front(target_words, to.target_words);
    copy_front(identity_words, to.identity_words);
    copy_front(name_words, to.name_words);
    copy_front(ends, to.ends);
    copy_front(firsts, to.firsts);
    copy_front(needs_elements, to.needs_elements);
    copy_front(places, to.places);
    return to;
  }
  constexpr std::size_t words() const {
    const std::size_t most = outputs > identities ? outputs : identities;
    return most > names ? most : names;
  }  // each target has an output
};

/// When a node's value is known. always: it depends on scalars alone. by_element: computed for each
/// element. after_reductions: once all elements of an index space are reduced. never: not within
/// one pass, because it combines elements with results of reductions, or results of several index
/// spaces.
enum class known { always, by_element, after_reductions, never };
struct known_in {
  known when;
  // The index space of the reductions.
  int space;
};
constexpr known_in when_known(const graph& g, int root) {
  sequence<int> roots;
  roots.push_back(root);
  const sequence<char> live = needed_by(g, roots);
  bool elements = false, several = false;
  int space = -1;
  for (int i = 0; i < g.size(); ++i) {
    if (live[i] == 0) continue;
    elements = elements || g[i].code <= op::index || g[i].code == op::gather;
    if (g[i].code != op::reduced && g[i].code != op::count) continue;
    const int mine = g[i].code == op::count ? g[i].field(0) : g.reduction_at(g[i].field(0)).space;
    several = several || (space >= 0 && mine != space);
    space = mine;
  }
  if (space < 0) return {elements ? known::by_element : known::always, 0};
  return {elements || several ? known::never : known::after_reductions, space};
}

inline constexpr std::size_t max_image_words = 6 * max_program_outputs;
template <std::size_t Nodes> using roomy_image = pass_image<Nodes, max_image_words>;

// Two empty programs, for a statement that takes several passes.
template <std::size_t Nodes>
constexpr roomy_image<Nodes> without_programs() {
  roomy_image<Nodes> none;
  none.is_one_pass = false;
  none.programs = 2;
  none.passes = none.nodes = none.outputs = 1;  // nvcc warns of loops without a step
  none.places[1].program = 2;
  return none;
}

/// Adds the names of a graph's results, given the places of its nodes in the programs of the
/// elements and of the results. Names for which there is no room are left out.
template <class Image>
constexpr void add_names(const graph& g, const sequence<reference>& elements,
                         const sequence<reference>& results, Image& to) {
  for (const result_name& name : g.names()) {
    const reference result = results[name.result], of = elements[name.of];
    const int words = name.text.words();
    if (result.word == no_reference.word || of.word == no_reference.word ||
        to.names + static_cast<std::size_t>(words) + name_head::size > to.name_words.size())
      continue;
    const name_head head =
        name_head::make(result, of, name.ddof < 0 ? no_reference : results[name.ddof], words);
    to.name_words[to.names++] = head.references;
    to.name_words[to.names++] = head.words_of_text;
    for (int i = 0; i < words; ++i) to.name_words[to.names++] = name.text.word[i];
  }
}

/// Adds a graph's pass: the programs of the outputs that are computed for each element and of those
/// computed after the reductions. `has_results`: single values are results; otherwise all outputs
/// are elements. Returns false if the graph takes several passes.
template <class Image>
constexpr bool add_pass(const graph& g, Image& to, bool has_results) {
  sequence<int> elements, results;
  // The index space of the results.
  int space = -1;
  bool several = false, scalars = false;
  if (g.outputs.size() > g.most_outputs) throw "a formula has more outputs than it may have";
  for (int i = 0; i < g.outputs.size(); ++i) {
    const known_in at = has_results ? when_known(g, g.outputs[i]) : known_in{known::by_element, 0};
    if (at.when == known::never) return false;
    const bool after = at.when == known::after_reductions ||
                       (at.when == known::always && (g.scalar_outputs >> i & 1) != 0);
    if (at.when == known::after_reductions) {
      several = several || (space >= 0 && at.space != space);
      space = at.space;
    }
    scalars = scalars || (after && at.when == known::always);
    sequence<int>& of = after ? results : elements;
    if (to.targets == to.target_words.size()) throw "a formula has too many reductions";
    to.target_words[to.targets++] = target_word::make(after, of.size()).word;
    of.push_back(g.outputs[i]);
  }
  const bool along_axes = space > 0 && g.spaces[space - 1].rank > 0;
  if ((several && elements.size() == 0) || (scalars && along_axes)) return false;
  // Find the reductions that the results need.
  sequence<int> number(g.reduction_count(), -1), kept;
  if (results.size() > 0) {
    const sequence<char> live = needed_by(g, results);
    for (int i = 0; i < g.size(); ++i) {
      if (live[i] == 0 || g[i].code != op::reduced || number[g[i].field(0)] >= 0) continue;
      number[g[i].field(0)] = kept.size();
      kept.push_back(g[i].field(0));
    }
  }
  if (kept.size() > static_cast<int>(max_reductions))
    throw "a formula may have at most 32 reductions";
  if (to.programs + static_cast<std::size_t>(kept.size()) + 2 > to.firsts.size())
    throw "a statement has too many reductions";
  for (int j = 0; j < kept.size(); ++j) {
    to.firsts[to.reductions + static_cast<std::size_t>(j)] = elements.size();
    const traced_reduction& each = g.reduction_at(kept[j]);
    for (int k = 0; k < each.values.size(); ++k) {
      if (when_known(g, each.values[k]).when >= known::after_reductions) return false;
      elements.push_back(each.values[k]);
    }
  }
  frozen_programs f;
  const sequence<reference> in_elements = freeze(g, elements, number, f),
                            in_results = freeze(g, results, number, f);
  add_names(g, in_elements, in_results, to);
  for (int j = 0; j < kept.size(); ++j) {
    const reduction_rule& rule = g.rule_at(g.reduction_at(kept[j]).rule);
    freeze(rule.combine, rule.combine.outputs, number, f);
    to.needs_elements[to.reductions++] = rule.needs_elements;
    if (to.identities + 2 * static_cast<std::size_t>(rule.identity.size()) >
        to.identity_words.size())
      throw "a formula has too many reductions";
    for (int k = 0; k < rule.identity.size(); ++k) {
      to.identity_words[to.identities++] = rule.identity[k].bits;
      to.identity_words[to.identities++] = rule.identity[k].second;
    }
  }
  if (to.nodes + static_cast<std::size_t>(f.heads.size()) > to.heads.size())
    throw "a formula has too many distinct nodes";
  if (to.outputs + static_cast<std::size_t>(f.outputs.size()) > to.output_words.size())
    throw "a formula has too many reductions";
  for (int i = 0; i < f.ends.size(); ++i)
    to.ends[2 * to.programs + static_cast<std::size_t>(i) + 2] =
        f.ends[i] + static_cast<int>(i % 2 == 0 ? to.nodes : to.outputs);
  for (int i = 0; i < f.heads.size(); ++i) {
    to.heads[to.nodes] = f.heads[i];
    to.payloads[to.nodes++] = f.payloads[i];
  }
  for (int i = 0; i < f.outputs.size(); ++i) to.output_words[to.outputs++] = f.outputs[i];
  to.programs += static_cast<std::size_t>(f.ends.size() / 2);
  to.places[++to.passes] = {to.programs, to.targets, to.reductions, to.identities, to.names};
  return true;
}

template <class Image>
constexpr bool add_pass(const graph& g, Image& to) {
  return add_pass(g, to, g.reduction_count() > 0);
}

/// The most nodes of a trace: a larger image takes the compilers more time, so a trace that needs
/// one asks for it.
template <class Trace> inline constexpr std::size_t most_nodes_of = max_program_nodes;
template <class Trace>
  requires requires { Trace::most_nodes; }
inline constexpr std::size_t most_nodes_of<Trace> = Trace::most_nodes;

/// The programs of a graph if it is one pass; otherwise `without_programs()`.
template <std::size_t Nodes>
constexpr roomy_image<Nodes> image_of(const graph& g) {
  roomy_image<Nodes> to;
  return add_pass(g, to) ? to : without_programs<Nodes>();
}

/// Pass K of an image (`Of::exact`) as a type.
template <class Of, std::size_t K, class... Calls>
struct pass_spelled {
  static constexpr pass_place from = Of::exact.places[K], end = Of::exact.places[K + 1];
  // Count and beginning of program P's nodes (`what` 0) and outputs (1).
  static constexpr std::size_t begin(std::size_t p, std::size_t what) {
    return static_cast<std::size_t>(Of::exact.ends[2 * (from.program + p) + what]);
  }
  static constexpr std::size_t count(std::size_t p, std::size_t what) {
    return begin(p + 1, what) - begin(p, what);
  }

  template <std::size_t P>
  static constexpr auto nodes_at() {
    program_nodes<static_cast<int>(count(P, 0)), static_cast<int>(count(P, 1))> to{};
    for (std::size_t i = 0; i != count(P, 0); ++i) {
      to.heads[i] = Of::exact.heads[begin(P, 0) + i];
      to.payloads[i] = Of::exact.payloads[begin(P, 0) + i];
    }
    for (std::size_t i = 0; i != count(P, 1); ++i)
      to.output_words[i] = Of::exact.output_words[begin(P, 1) + i];
    return to;
  }
  template <std::size_t P> using program_at = program_with<nodes_at<P>(), Calls...>;

  // Reduction J's identity begins after those of the preceding reductions.
  static constexpr std::size_t identity(std::size_t j) {
    return from.identity + 2 * (begin(2 + j, 1) - begin(2, 1));
  }
  template <std::size_t J, std::size_t... I>
  static pass_reduction<program_at<2 + J>, words<Of::exact.identity_words[identity(J) + I]...>,
                        Of::exact.firsts[from.reduction + J],
                        Of::exact.needs_elements[from.reduction + J]>
      spell_reduction(std::index_sequence<I...>);
  template <std::size_t J> using reduction_at =
      decltype(spell_reduction<J>(std::make_index_sequence<2 * count(2 + J, 1)>{}));

  template <std::size_t... T, std::size_t... J, std::size_t... N>
  static pass_with<program_at<0>, program_at<1>, words<Of::exact.target_words[from.target + T]...>,
                   pass_reductions<reduction_at<J>...>,
                   words<Of::exact.name_words[from.name + N]...>>
      spell_pass(std::index_sequence<T...>, std::index_sequence<J...>, std::index_sequence<N...>);
  using type = decltype(spell_pass(std::make_index_sequence<end.target - from.target>{},
                                   std::make_index_sequence<end.program - from.program - 2>{},
                                   std::make_index_sequence<end.name - from.name>{}));
};

// Traces only once: tracing a long formula takes a good part of the compilers' time.
template <class Trace, class... Calls>
struct compile {
  static constexpr auto roomy = image_of<most_nodes_of<Trace>>(Trace::run());
  static constexpr auto exact =
      roomy.template exact<roomy.nodes, roomy.words(), roomy.programs, 1>();
  using spelled = typename pass_spelled<compile, 0, Calls...>::type;
  static constexpr bool is_one_pass = roomy.is_one_pass;
};

/// The pass of the graph that `Trace::run()` builds, with the functors that it calls.
template <class Trace, class... Calls>
using pass_of = typename compile<Trace, Calls...>::spelled;

/// The elements' program alone.
template <class Trace, class... Calls>
using program_of = typename pass_of<Trace, Calls...>::elements;

}  // namespace dsl::detail

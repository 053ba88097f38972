// Splits a graph into passes by the depth of its reductions.
#pragma once

#include <dsl/ir/copy.hpp>
#include <dsl/ir/parts.hpp>

namespace dsl::detail {

/// Splits a graph into passes, each of which consists of one or more parts. Reductions of one depth
/// form one pass, with a place among the pass's inputs for each of their operands. Only at run time
/// is it known which of them read the same arrays. Operands that look alike share a place: equal
/// reductions are then computed once, and if the arrays turn out to differ, the pass runs for each
/// of them.
template <class Graph>
class pass_splitter {
 public:
  constexpr explicit pass_splitter(const Graph& g) : g_(g), parts_(g) {
    const sequence<statement_part>& all = parts_.all();
    words_of_values_ = sequence<int>(parts_.values().size(), 0);
    numbers_of_leaves_ = sequence<int>(parts_.leaves(), -1);
    for (int i = 0; i < all.size(); ++i) inputs_at_.push_back(sequence<int>());
    for (int i = 0; i < all.size();) {
      const int first = passes_.size(), depth = depth_of(all[i]);
      for (; i < all.size() && depth_of(all[i]) == depth; ++i) add(i);
      for (int p = first; p < passes_.size(); ++p) finish(p);
    }
  }

  constexpr roomy_schedule make_schedule() const {
    roomy_schedule to;
    to.leaves = parts_.leaves();
    to.operands = operands_.size();
    const node_origins<Graph>& origins = parts_.origins();
    for (int i = 0; i < g_.outputs.size(); ++i)
      if (origins[g_.outputs[i]].kind == origin::reduced) to.reduced |= 1u << i;
    const sequence<int>& values = parts_.values();
    for (int k = 0; k < values.size(); ++k) {
      const int space = origins[values[k]].space;
      put(to.value, to.values,
          reduced_value{g_[values[k]].type, parts_.rank_of(space), space,
                        parts_.first_leaf(space)});
      for (int i = 0; i < g_.outputs.size(); ++i)
        if (g_.outputs[i] == values[k]) put(to.copy, to.copies, value_copy{k, i});
    }
    for (int p = 0; p < passes_.size(); ++p) {
      const pass& from = passes_[p];
      const int outputs = from.made.outputs.size();
      put(to.pass, to.passes,
          scheduled_pass{to.uses, from.members.size(), to.words, from.slots.size(), outputs,
                         parts_.all()[from.members[0]].calls});
      for (int s = 0; s < from.slots.size(); ++s) put(to.word, to.words, from.slots[s].word);
      for (int m = 0, at = 0; m < from.members.size(); ++m) {
        const statement_part& part = parts_.all()[from.members[m]];
        put(to.use, to.uses, pass_use{part.space(), to.inputs, part.inputs.size(), to.outputs});
        for (int i = 0; i < part.inputs.size(); ++i)
          put(to.input, to.inputs,
              bound_input{part.inputs[i], inputs_at_[from.members[m]][i],
                          parts_.is_outside(part, part.inputs[i])});
        const int first = to.outputs;
        for (int i = 0; i < outputs; ++i)
          put(to.output, to.outputs, output_place{0, -1, -1, false});
        for (int i = 0; i < part.elements.size(); ++i)
          to.output[static_cast<std::size_t>(first + from.places[at++])].target = part.elements[i];
        for (int i = 0; i < part.results.size(); ++i)
          to.output[static_cast<std::size_t>(first + from.places[at++])] =
              parts_.place_of(part, part.results[i]);
      }
    }
    return to;
  }

  /// The graph of a pass.
  constexpr const graph& pass_graph(int number) const { return passes_[number].made; }

 private:
  // An operand of a pass: the operation that reads it, and its number in the chain (`phase_input`).
  struct slot {
    op code;
    dtype type;
    int rank, word;
    friend constexpr bool operator==(const slot& a, const slot& b) {
      return a.code == b.code && a.type == b.type;
    }
  };
  struct pass {
    // Numbers of parts.
    sequence<int> members;
    sequence<slot> slots;
    graph made{};
    // The position of each member's outputs among the pass's outputs.
    sequence<int> places{};
  };

  template <std::size_t N, class T>
  static constexpr void put(std::array<T, N>& to, int& size, const T& value) {
    if (size + 1 == static_cast<int>(N)) throw "a statement has too many reductions";
    to[static_cast<std::size_t>(size++)] = value;
  }
  // Elements form a pass of their own, whatever they depend on.
  static constexpr int depth_of(const statement_part& p) {
    return p.elements.size() > 0 ? -p.elements[0] - 1 : p.depth();
  }
  constexpr slot slot_of(int input) const {
    const bool is_leaf = parts_.is_leaf(input);
    return {parts_.code_of_input(input), parts_.type_of_input(input),
            is_leaf ? g_.rank_of(input) : 0,
            is_leaf ? -1 : words_of_values_[input - parts_.leaves()]};
  }

  // ---- parts that share a pass
  constexpr void add(int number) {
    const statement_part& part = parts_.all()[number];
    if (part.elements.size() == 0 && !part.calls) {
      for (int p = 0; p < passes_.size(); ++p)
        if (takes(passes_[p], part) && takes_place(p, number)) return;
      for (int p = 0; p < passes_.size(); ++p)
        if (takes(passes_[p], part) && is_appended(p, number)) return;
    }
    passes_.push_back(pass{});
    append(passes_.size() - 1, number);
  }
  constexpr bool takes(const pass& p, const statement_part& more) const {
    int results = more.results.size(), reduction_count = more.reduction_count,
        reduced_values = more.reduced_values;
    for (int i = 0; i < p.members.size(); ++i) {
      const statement_part& part = parts_.all()[p.members[i]];
      if (part.elements.size() > 0 || part.calls || part.depth() != more.depth()) return false;
      results += part.results.size();
      reduction_count += part.reduction_count;
      reduced_values += part.reduced_values;
    }
    return results <= static_cast<int>(max_program_outputs) &&
           reduction_count <= static_cast<int>(max_reductions) &&
           2 * reduced_values <= static_cast<int>(max_image_words);
  }
  constexpr void join(int p, int number, sequence<int> places) {
    passes_[p].members.push_back(number);
    inputs_at_[number] = std::move(places);
  }
  // Lets a part share the places of another part whose arrays have the same number and dtypes.
  // Scalars get places of their own, unless all scalars match too. Two equal reductions that are
  // read at the same time, as in max(x) / max(y), get separate places.
  constexpr bool takes_place(int p, int number) {
    const statement_part& part = parts_.all()[number];
    for (int m = 0; m < passes_[p].members.size(); ++m) {
      const int other = passes_[p].members[m];
      const bool all = are_alike(part, other, p, [](op) { return true; });
      if (!all && !are_alike(part, other, p, is_array)) continue;
      if (all && are_read_at_once(part, parts_.all()[other]) && are_equal(number, other)) continue;
      sequence<int> places;
      for (int i = 0, next = 0; i < part.inputs.size(); ++i) {
        const slot mine = slot_of(part.inputs[i]);
        const sequence<int>& at = inputs_at_[other];
        if (all || is_array(mine.code)) {
          while (!all && !is_array(passes_[p].slots[at[next]].code)) ++next;
          places.push_back(at[next++]);
        } else {
          places.push_back(passes_[p].slots.size());
          passes_[p].slots.push_back(mine);
        }
      }
      join(p, number, std::move(places));
      return true;
    }
    return false;
  }
  static constexpr bool is_array(op code) { return code != op::value && code != op::load_scalar; }
  // Whether the inputs of a part that satisfy `is_asked` look like those of another part.
  template <class Asked>
  constexpr bool are_alike(const statement_part& part, int other, int p,
                           const Asked& is_asked) const {
    const sequence<int>& at = inputs_at_[other];
    bool same = true, any = false;
    int k = 0;
    for (int i = 0; same && i < part.inputs.size(); ++i) {
      const slot mine = slot_of(part.inputs[i]);
      if (!is_asked(mine.code)) continue;
      while (k < at.size() && !is_asked(passes_[p].slots[at[k]].code)) ++k;
      same = k < at.size();
      if (!same) break;
      const slot& theirs = passes_[p].slots[at[k++]];
      same = mine == theirs &&
             (parts_.is_leaf(part.inputs[i]) ? theirs.word < 0 : mine.word == theirs.word);
      any = true;
    }
    while (k < at.size() && !is_asked(passes_[p].slots[at[k]].code)) ++k;
    return same && any && k == at.size();
  }
  constexpr bool are_read_at_once(const statement_part& a, const statement_part& b) const {
    return (readers_of(a) & readers_of(b)) != 0;
  }
  // Where the part's values are read: bit d for depth d, a bit for elements and one for targets.
  constexpr std::uint32_t readers_of(const statement_part& part) const {
    std::uint32_t readers = 0;
    for (int k = 0; k < part.results.size(); ++k) {
      for (int i = 0; i < g_.outputs.size(); ++i)
        readers |= g_.outputs[i] == part.results[k] ? 1u : 0u;
      for (int i = 0; i < parts_.all().size(); ++i) {
        const statement_part& reader = parts_.all()[i];
        const int depth = reader.elements.size() > 0 ? 31
                          : reader.depth() < 31      ? reader.depth()
                                                     : 30;
        for (int j = 0; j < reader.inputs.size(); ++j)
          if (!parts_.is_leaf(reader.inputs[j]) &&
              parts_.value_of_input(reader.inputs[j]) == part.results[k])
            readers |= 1u << depth;
      }
    }
    return readers;
  }
  // Whether two parts compute the same function of their operands.
  constexpr bool are_equal(int a, int b) const {
    graph both;
    const statement_part &one = parts_.all()[a], &other = parts_.all()[b];
    if (one.results.size() != other.results.size()) return false;
    const sequence<int> of_one = copy_nodes(one, inputs_at_[b], both),
                        of_other = copy_nodes(other, inputs_at_[b], both);
    for (int i = 0; i < one.results.size(); ++i)
      if (of_one[one.results[i]] != of_other[other.results[i]]) return false;
    return true;
  }
  // Adds a part with places of its own to a pass. If a part's shape turns out to differ, the pass
  // runs for it without the operands of the others. Reads at computed positions cannot be left out,
  // so a part that has some is not added.
  static constexpr int most_arrays = 8;
  constexpr bool is_appended(int p, int number) {
    const statement_part &part = parts_.all()[number], &other = parts_.all()[passes_[p].members[0]];
    if (parts_.rank_of(part.space()) != parts_.rank_of(other.space())) return false;
    int arrays = 0;
    for (int m = 0; m <= passes_[p].members.size(); ++m) {
      const statement_part& member =
          m < passes_[p].members.size() ? parts_.all()[passes_[p].members[m]] : part;
      for (int i = 0; i < member.inputs.size(); ++i) {
        const op code = parts_.code_of_input(member.inputs[i]);
        if (code == op::load) ++arrays;
        else if (code != op::load_scalar && code != op::value && code != op::index) return false;
      }
    }
    if (arrays > most_arrays) return false;
    append(p, number);
    return true;
  }
  constexpr void append(int p, int number) {
    const statement_part& part = parts_.all()[number];
    sequence<int> places;
    for (int i = 0; i < part.inputs.size(); ++i) {
      places.push_back(passes_[p].slots.size());
      passes_[p].slots.push_back(slot_of(part.inputs[i]));
    }
    join(p, number, std::move(places));
  }

  // ---- the graph of a pass
  constexpr void finish(int p) {
    pass& to = passes_[p];
    graph& made = to.made;
    made.operands = to.slots.size();
    for (int m = 0; m < to.members.size(); ++m) {
      const statement_part& part = parts_.all()[to.members[m]];
      const sequence<int> copied = copy_nodes(part, inputs_at_[to.members[m]], made);
      for (int i = 0; i < part.elements.size(); ++i) {
        to.places.push_back(made.outputs.size());
        made.outputs.push_back(copied[g_.outputs[part.elements[i]]]);
      }
      for (int i = 0; i < part.results.size(); ++i) {
        int at = part.elements.size();
        while (at < made.outputs.size() && made.outputs[at] != copied[part.results[i]]) ++at;
        if (at == made.outputs.size()) {
          made.scalar_outputs |= 1u << at;
          made.outputs.push_back(copied[part.results[i]]);
        }
        to.places.push_back(at);
        for (int k = 0; k < parts_.values().size(); ++k)
          if (parts_.values()[k] == part.results[i])
            words_of_values_[k] = phase_input::value(p, at).word;
      }
    }
    number_operands(p);
  }
  constexpr sequence<int> copy_nodes(const statement_part& part, const sequence<int>& inputs_at,
                                     graph& to) const {
    const sequence<char> needed = parts_.nodes_of(part);
    operand_places places{sequence<int>(parts_.leaves(), -1), sequence<int>(g_.size(), -1),
                          sequence<op>(g_.size(), op::load)};
    for (int k = 0; k < part.inputs.size(); ++k) {
      const int input = part.inputs[k];
      if (parts_.is_leaf(input)) {
        places.of_leaf[input] = inputs_at[k];
      } else {
        places.of_node[parts_.value_of_input(input)] = inputs_at[k];
        places.codes[parts_.value_of_input(input)] = parts_.code_of_input(input);
      }
    }
    return copy_into(to, g_, needed, places);
  }

  // ---- the operands of all passes
  // Numbers the operands. A leaf has one number in all passes. Arrays of different passes that look
  // alike (same dtype and rank) share a number if this pass has as many of them as the passes
  // before it.
  constexpr void number_operands(int p) {
    sequence<slot>& slots = passes_[p].slots;
    sequence<char> taken(operands_.size(), 0);
    for_each_leaf(p, [&](slot& s, int leaf) {
      s.word = numbers_of_leaves_[leaf];
      if (s.word >= 0) taken[s.word] = 1;
    });
    for (int i = 0; i < slots.size(); ++i) {
      const auto is_like = [&](const slot& s) {
        return s == slots[i] && s.code == op::load && s.rank == slots[i].rank;
      };
      if (slots[i].word >= 0) continue;
      int mine = 0, theirs = 0;
      for (int k = i; k < slots.size(); ++k) mine += slots[k].word < 0 && is_like(slots[k]) ? 1 : 0;
      for (int k = 0; k < taken.size(); ++k)
        theirs += taken[k] == 0 && is_like(operands_[k]) ? 1 : 0;
      for (int k = slots.size() - 1, next = taken.size(); k >= i; --k) {
        if (slots[k].word >= 0 || (k != i && !is_like(slots[k]))) continue;
        int number = operands_.size();
        if (mine == theirs && mine > 0)
          for (number = next - 1; taken[number] != 0 || !is_like(operands_[number]);) --number;
        else operands_.push_back(slots[k]);
        next = number;
        slots[k].word = phase_input::leaf(number).word;
      }
    }
    for_each_leaf(p, [&](const slot& s, int leaf) { numbers_of_leaves_[leaf] = s.word; });
  }
  template <class Use>
  constexpr void for_each_leaf(int p, const Use& use) {
    for (int m = 0; m < passes_[p].members.size(); ++m) {
      const int member = passes_[p].members[m];
      const sequence<int>& inputs = parts_.all()[member].inputs;
      for (int i = 0; i < inputs.size(); ++i)
        if (parts_.is_leaf(inputs[i])) use(passes_[p].slots[inputs_at_[member][i]], inputs[i]);
    }
  }

  const Graph& g_;
  statement_parts<Graph> parts_;
  sequence<pass> passes_;
  // The places of each part's inputs.
  sequence<sequence<int>> inputs_at_;
  sequence<int> words_of_values_, numbers_of_leaves_;
  // Operands of the chain.
  sequence<slot> operands_;
};

}  // namespace dsl::detail

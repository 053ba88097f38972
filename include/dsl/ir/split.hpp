// Splits a graph into passes by the depth of its reductions.
#pragma once

#include <dsl/ir/groups.hpp>

namespace dsl::detail {

/// Splits a graph into passes, each of which computes a group of parts.
template <class Graph>
class pass_splitter {
 public:
  constexpr explicit pass_splitter(const Graph& g)
      : g_(g), groups_(g), numbers_of_leaves_(parts().leaves(), -1) {
    const sequence<statement_part>& all = parts().all();
    for (int i = 0, end = 0; i < all.size(); i = end) {
      const int first = groups_.size(), depth = depth_of(all[i]);
      while (end < all.size() && depth_of(all[end]) == depth) ++end;
      groups_.add(i, end);
      for (int p = first; p < groups_.size(); ++p) finish(p);
    }
  }

  constexpr roomy_schedule make_schedule() const {
    roomy_schedule to;
    to.leaves = parts().leaves();
    to.operands = operands_.size();
    const node_origins<Graph>& origins = parts().origins();
    for (int i = 0; i < g_.outputs.size(); ++i)
      if (origins[g_.outputs[i]].kind == origin::reduced) to.reduced |= 1u << i;
    const sequence<int>& values = parts().values();
    for (int k = 0; k < values.size(); ++k) {
      const int space = origins[values[k]].space;
      put(to.value, to.values,
          reduced_value{g_[values[k]].type, parts().rank_of(space), space,
                        parts().first_leaf(space)});
      for (int i = 0; i < g_.outputs.size(); ++i)
        if (g_.outputs[i] == values[k]) put(to.copy, to.copies, value_copy{k, i});
    }
    for (int p = 0; p < groups_.size(); ++p) {
      const part_group& from = groups_[p];
      const int outputs = made_[p].graph.outputs.size();
      put(to.pass, to.passes,
          scheduled_pass{to.uses, from.members.size(), to.words, from.slots.size(), outputs,
                         parts().all()[from.members[0]].calls});
      for (int s = 0; s < from.slots.size(); ++s) put(to.word, to.words, from.slots[s].word);
      for (int m = 0, at = 0; m < from.members.size(); ++m) {
        const statement_part& part = parts().all()[from.members[m]];
        put(to.use, to.uses,
            pass_use{part.space(), to.inputs, part.inputs.size(), to.outputs,
                     part.elements.size() + part.results.size(),
                     to.pass[static_cast<std::size_t>(p)].first_use + groups_.next_like(from, m)});
        for (int i = 0; i < part.inputs.size(); ++i)
          put(to.input, to.inputs,
              bound_input{part.inputs[i], groups_.places_of(from.members[m])[i],
                          parts().is_outside(part, part.inputs[i])});
        for (int i = 0; i < part.elements.size(); ++i)
          put(to.output, to.outputs,
              bound_output{{0, -1, part.elements[i], false}, made_[p].places[at++]});
        for (int i = 0; i < part.results.size(); ++i)
          put(to.output, to.outputs,
              bound_output{parts().place_of(part, part.results[i]), made_[p].places[at++]});
      }
    }
    return to;
  }

  /// The graph of a pass.
  constexpr const graph& pass_graph(int number) const { return made_[number].graph; }

 private:
  struct made_pass {
    detail::graph graph{};
    // The position of each member's outputs among the pass's outputs.
    sequence<int> places{};
  };
  constexpr const statement_parts<Graph>& parts() const { return groups_.parts(); }

  template <std::size_t N, class T>
  static constexpr void put(std::array<T, N>& to, int& size, const T& value) {
    if (size + 1 == static_cast<int>(N)) throw "a statement has too many reductions";
    to[static_cast<std::size_t>(size++)] = value;
  }
  // Elements form a pass of their own, whatever they depend on.
  static constexpr int depth_of(const statement_part& p) {
    return p.elements.size() > 0 ? -p.elements[0] - 1 : p.depth();
  }

  // ---- the graph of a pass
  constexpr void finish(int p) {
    made_.push_back(made_pass{});
    const part_group& from = groups_[p];
    made_pass& to = made_[p];
    graph& made = to.graph;
    made.operands = from.slots.size();
    for (int m = 0; m < from.members.size(); ++m) {
      const statement_part& part = parts().all()[from.members[m]];
      const sequence<int> copied =
          parts().copy_nodes(part, groups_.places_of(from.members[m]), made);
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
        for (int k = 0; k < parts().values().size(); ++k)
          if (parts().values()[k] == part.results[i])
            groups_.set_source(k, phase_input::value(p, at));
      }
    }
    number_operands(p);
  }

  // ---- the operands of all passes
  // Numbers the operands. A leaf has one number in all passes. Arrays of different passes that look
  // alike (same dtype and rank) share a number if this pass has as many of them as the passes
  // before it.
  constexpr void number_operands(int p) {
    sequence<place_slot>& slots = groups_[p].slots;
    sequence<char> taken(operands_.size(), 0);
    for_each_leaf(p, [&](place_slot& s, int leaf) {
      s.word = numbers_of_leaves_[leaf];
      if (s.word >= 0) taken[s.word] = 1;
    });
    for (int i = 0; i < slots.size(); ++i) {
      const auto is_like = [&](const place_slot& s) {
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
    for_each_leaf(p, [&](const place_slot& s, int leaf) { numbers_of_leaves_[leaf] = s.word; });
  }
  template <class Use>
  constexpr void for_each_leaf(int p, const Use& use) {
    for (int m = 0; m < groups_[p].members.size(); ++m) {
      const int member = groups_[p].members[m];
      const sequence<int>& inputs = parts().all()[member].inputs;
      for (int i = 0; i < inputs.size(); ++i)
        if (parts().is_leaf(inputs[i]))
          use(groups_[p].slots[groups_.places_of(member)[i]], inputs[i]);
    }
  }

  const Graph& g_;
  grouped_parts<Graph> groups_;
  sequence<made_pass> made_;
  sequence<int> numbers_of_leaves_;
  // Operands of the chain.
  sequence<place_slot> operands_;
};

}  // namespace dsl::detail

// Groups the parts of a statement that share a pass.
#pragma once

#include <dsl/ir/parts.hpp>

namespace dsl::detail {

/// A place at which a pass reads an operand: the operation that reads it, and its number in the
/// chain (`phase_input`); -1 for a leaf that has none yet.
struct place_slot {
  op code;
  dtype type;
  int rank, word;
  friend constexpr bool operator==(const place_slot& a, const place_slot& b) {
    return a.code == b.code && a.type == b.type;
  }
};
/// The parts of one pass, by number, and its places.
struct part_group {
  sequence<int> members;
  sequence<place_slot> slots;
};

/// Reductions of one depth share a pass, whatever they read: which of their arrays are the same
/// one, and which have one shape, is known at run time only. Parts that probably read the same
/// arrays share places; the others have places of their own. Where arrays at one place turn out to
/// differ, or shapes do, the pass runs for each of them.
template <class Graph>
class grouped_parts {
 public:
  constexpr explicit grouped_parts(const Graph& g)
      : g_(g),
        parts_(g),
        functions_(parts_.all().size(), -1),
        words_of_values_(parts_.values().size(), 0) {
    for (int i = 0; i < parts_.all().size(); ++i) inputs_at_.push_back(sequence<int>());
  }
  constexpr const statement_parts<Graph>& parts() const { return parts_; }
  constexpr int size() const { return groups_.size(); }
  constexpr part_group& operator[](int group) { return groups_[group]; }
  constexpr const part_group& operator[](int group) const { return groups_[group]; }
  /// The places of a part's inputs.
  constexpr const sequence<int>& places_of(int number) const { return inputs_at_[number]; }
  /// Says where a value comes from, before parts that read it are added.
  constexpr void set_source(int value, phase_input from) { words_of_values_[value] = from.word; }

  /// Adds parts of one depth. Those with more arrays come first: others may share their places.
  constexpr void add(int first, int end) {
    find_functions(first, end);
    int most = 0;
    for (int i = first; i < end; ++i)
      most = parts_.all()[i].inputs.size() > most ? parts_.all()[i].inputs.size() : most;
    for (int arrays = most; arrays >= 0; --arrays)
      for (int i = first; i < end; ++i)
        if (arrays_of(parts_.all()[i]).size() == arrays) add(i);
  }
  /// The next member of a pass that computes the function of member m; m if there is no other.
  constexpr int next_like(const part_group& of, int m) const {
    const int count = of.members.size();
    int next = (m + 1) % count;
    while (functions_[of.members[next]] != functions_[of.members[m]]) next = (next + 1) % count;
    return next;
  }

 private:
  constexpr place_slot slot_of(int input) const {
    const bool is_leaf = parts_.is_leaf(input);
    return {parts_.code_of_input(input), parts_.type_of_input(input),
            is_leaf ? g_.rank_of(input) : 0,
            is_leaf ? -1 : words_of_values_[input - parts_.leaves()]};
  }

  // ---- parts that share a pass
  constexpr void add(int number) {
    const statement_part& part = parts_.all()[number];
    if (part.elements.size() == 0 && !part.calls) {
      for (int p = 0; p < groups_.size(); ++p)
        if (takes(groups_[p], part) && shares_places(p, number, false)) return;
      for (int p = 0; p < groups_.size(); ++p)
        if (takes(groups_[p], part) && is_appended(p, number)) return;
      for (int p = 0; p < groups_.size(); ++p)
        if (takes(groups_[p], part) && shares_places(p, number, true)) return;
    }
    groups_.push_back(part_group{});
    append(groups_.size() - 1, number);
  }
  constexpr bool takes(const part_group& p, const statement_part& more) const {
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
    groups_[p].members.push_back(number);
    inputs_at_[number] = std::move(places);
  }

  // ---- parts that compute the same function
  // Numbers the functions of parts of one depth. Copied to one graph, with operands numbered from 0
  // on, equal functions have the same nodes as results.
  constexpr void find_functions(int first, int end) {
    graph all;
    sequence<sequence<int>> results;
    for (int i = first; i < end; ++i) {
      const statement_part& part = parts_.all()[i];
      functions_[i] = i;
      results.push_back(sequence<int>());
      if (end - first == 1 || part.elements.size() > 0 || part.calls) continue;
      sequence<int> places;
      for (int k = 0; k < part.inputs.size(); ++k) places.push_back(k);
      const sequence<int> copied = parts_.copy_nodes(part, places, all);
      sequence<int>& mine = results[i - first];
      for (int k = 0; k < part.results.size(); ++k) mine.push_back(copied[part.results[k]]);
      for (int other = i - 1; other >= first; --other)
        if (mine.size() > 0 && are_equal(mine, results[other - first]) && read_alike(i, other))
          functions_[i] = functions_[other];
    }
  }
  static constexpr bool are_equal(const sequence<int>& a, const sequence<int>& b) {
    bool same = a.size() == b.size();
    for (int i = 0; same && i < a.size(); ++i) same = a[i] == b[i];
    return same;
  }
  // Whether the inputs of two parts look alike, scalars too.
  constexpr bool read_alike(int a, int b) const {
    const sequence<int>&one = parts_.all()[a].inputs, &other = parts_.all()[b].inputs;
    bool same = one.size() == other.size();
    for (int i = 0; same && i < one.size(); ++i)
      same = are_alike(slot_of(one[i]), slot_of(other[i]));
    return same;
  }
  // Whether two inputs may be the same operand: leaves of one dtype, or the same value.
  static constexpr bool are_alike(const place_slot& a, const place_slot& b) {
    return a == b && a.word == b.word;
  }
  constexpr bool are_read_at_once(int a, int b) const {
    return (readers_of(parts_.all()[a]) & readers_of(parts_.all()[b])) != 0;
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
  // Two equal reductions whose values are read at once, as in max(x) / max(y), probably read
  // different arrays. The number of those that are like this part, with itself.
  constexpr int count_twins(int number) const {
    int count = 0;
    for (int i = 0; i < parts_.all().size(); ++i)
      if (functions_[i] == functions_[number] && (i == number || are_read_at_once(i, number)))
        ++count;
    return count;
  }

  // ---- places
  static constexpr bool is_array(op code) { return code != op::value && code != op::load_scalar; }
  constexpr sequence<place_slot> arrays_of(const statement_part& part) const {
    sequence<place_slot> arrays;
    for (int i = 0; i < part.inputs.size(); ++i)
      if (const place_slot mine = slot_of(part.inputs[i]); is_array(mine.code))
        arrays.push_back(mine);
    return arrays;
  }
  // The places at which a pass's part reads its arrays.
  constexpr sequence<int> places_of_arrays(int p, int number) const {
    sequence<int> places;
    for (int i = 0; i < inputs_at_[number].size(); ++i)
      if (is_array(groups_[p].slots[inputs_at_[number][i]].code))
        places.push_back(inputs_at_[number][i]);
    return places;
  }
  static constexpr void add_once(sequence<sequence<int>>& to, sequence<int> places) {
    for (int i = 0; i < to.size(); ++i)
      if (are_equal(to[i], places)) return;
    to.push_back(std::move(places));
  }
  // Places in a pass at which a part may read its arrays; `likely`: it is clear that it does,
  // unless a twin reads its arrays there.
  struct known_places {
    sequence<sequence<int>> all{};
    bool likely = false;
  };
  // The places of parts with as many arrays, of the same dtypes: likely if no part reads such
  // arrays beside others, and if there are no more of these places than twins. Or, where a part has
  // one array and as many twins as the only part that reads such arrays beside others has arrays,
  // each of that part's places: for the means in mean(x * y) - mean(x) * mean(y) those of the
  // product.
  constexpr known_places find_places(int p, int number) const {
    const part_group& from = groups_[p];
    const sequence<place_slot> mine = arrays_of(parts_.all()[number]);
    known_places whole, single{{}, true};
    sequence<sequence<int>> others;
    for (int m = 0; m < from.members.size(); ++m) {
      sequence<int> theirs = places_of_arrays(p, from.members[m]);
      bool same = theirs.size() == mine.size() && mine.size() > 0, any = false;
      for (int i = 0; i < theirs.size(); ++i) {
        for (int k = 0; k < mine.size(); ++k)
          any = any || are_alike(mine[k], from.slots[theirs[i]]);
        same = same && are_alike(mine[i], from.slots[theirs[i]]);
      }
      if (same) add_once(whole.all, std::move(theirs));
      else if (any) add_once(others, std::move(theirs));
    }
    const int twins = count_twins(number);
    whole.likely = others.size() == 0 && whole.all.size() <= twins;
    if (mine.size() != 1 || others.size() != 1 || others[0].size() != twins) return whole;
    for (int i = 0; i < twins; ++i) {
      if (!are_alike(mine[0], from.slots[others[0][i]])) return whole;
      single.all.push_back(sequence<int>(1, others[0][i]));
    }
    return single;
  }
  // Lets a part read its arrays at known places: at those of an equal part that is not its twin, so
  // that both are computed once; else at likely ones that no twin has. `anywhere`: at any.
  constexpr bool shares_places(int p, int number, bool anywhere) {
    const known_places known = find_places(p, number);
    int chosen = -1;
    bool is_clear = anywhere || known.likely;
    for (int c = 0; c < known.all.size(); ++c) {
      bool is_equal = false, is_taken = false;
      for (int m = 0; m < groups_[p].members.size(); ++m) {
        const int other = groups_[p].members[m];
        if (functions_[other] != functions_[number] ||
            !are_equal(places_of_arrays(p, other), known.all[c]))
          continue;
        is_equal = true;
        is_taken = is_taken || are_read_at_once(other, number);
      }
      if (is_taken) continue;
      if (!is_equal && chosen >= 0) continue;
      chosen = c;
      is_clear = is_clear || is_equal;
      if (is_equal) break;
    }
    if (chosen < 0 || !is_clear) return false;
    join(p, number, places_like(p, number, known.all[chosen]));
    return true;
  }
  // The places of a part's inputs, of which arrays are read at the given ones. Scalars get places
  // of their own, unless a part with the same arrays has scalars that look alike too.
  constexpr sequence<int> places_like(int p, int number, const sequence<int>& arrays) {
    sequence<int> places;
    const sequence<int>& inputs = parts_.all()[number].inputs;
    for (int m = 0; m < groups_[p].members.size() && places.size() == 0; ++m) {
      const int other = groups_[p].members[m];
      if (!read_alike(number, other) || !are_equal(places_of_arrays(p, other), arrays)) continue;
      for (int i = 0; i < inputs.size(); ++i) places.push_back(inputs_at_[other][i]);
    }
    for (int i = places.size(), next = 0; i < inputs.size(); ++i) {
      const place_slot mine = slot_of(inputs[i]);
      places.push_back(is_array(mine.code) ? arrays[next++] : groups_[p].slots.size());
      if (!is_array(mine.code)) groups_[p].slots.push_back(mine);
    }
    return places;
  }
  // Adds a part with places of its own to a pass. If a part's shape turns out to differ, the pass
  // runs for it without the operands of the others. Reads at computed positions cannot be left out,
  // so a part that has some is not added. A thread has 16 bytes of each array in registers, and 16
  // of each reduced value where each lane has a result: 64 and at most 128 registers.
  static constexpr int most_arrays = 16, most_values = 32;
  constexpr bool is_appended(int p, int number) {
    const statement_part &part = parts_.all()[number], &other = parts_.all()[groups_[p].members[0]];
    if (parts_.rank_of(part.space()) != parts_.rank_of(other.space())) return false;
    const auto may_stand_apart = [](const place_slot& s) {
      return s.code == op::load || s.code == op::index || !is_array(s.code);
    };
    int arrays = 0, values = part.reduced_values;
    for (int m = 0; m < groups_[p].members.size(); ++m)
      values += parts_.all()[groups_[p].members[m]].reduced_values;
    for (int k = 0; k < groups_[p].slots.size(); ++k) {
      if (!may_stand_apart(groups_[p].slots[k])) return false;
      arrays += groups_[p].slots[k].code == op::load ? 1 : 0;
    }
    for (int i = 0; i < part.inputs.size(); ++i) {
      const place_slot mine = slot_of(part.inputs[i]);
      if (!may_stand_apart(mine)) return false;
      arrays += mine.code == op::load ? 1 : 0;
    }
    if (arrays > most_arrays || values > most_values) return false;
    append(p, number);
    return true;
  }
  constexpr void append(int p, int number) {
    const statement_part& part = parts_.all()[number];
    sequence<int> places;
    for (int i = 0; i < part.inputs.size(); ++i) {
      places.push_back(groups_[p].slots.size());
      groups_[p].slots.push_back(slot_of(part.inputs[i]));
    }
    join(p, number, std::move(places));
  }

  const Graph& g_;
  statement_parts<Graph> parts_;
  sequence<part_group> groups_;
  sequence<sequence<int>> inputs_at_;
  // For each part, the first part that computes the same function.
  sequence<int> functions_;
  sequence<int> words_of_values_;
};

}  // namespace dsl::detail

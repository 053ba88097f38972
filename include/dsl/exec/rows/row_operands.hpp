// Compile-time description of a chain's operands: which they are, a thread's lanes of them, and the
// values that phases leave for each other.
#pragma once

#include <array>
#include <tuple>

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/rows/row_policy.hpp>
#include <dsl/ir/chain.hpp>

namespace dsl::detail {

/// A chain's operands: leaves, then the targets of each phase in turn.
template <class Chain> struct chain_operands;
template <class... Phase>
struct chain_operands<pass_chain<Phase...>> {
  static constexpr int leaves = [] {
    int count = 0;
    const auto look = [&count](const phase_input* input, int inputs) {
      for (int i = 0; i < inputs; ++i)
        if (input[i].is_leaf() && input[i].number() >= count) count = input[i].number() + 1;
    };
    (look(Phase::input, Phase::inputs), ...);
    return count;
  }();
  static constexpr int count = (leaves + ... + Phase::pass::targets);
  static constexpr int targets_of[sizeof...(Phase)] = {Phase::pass::targets...};
  static constexpr int target(int phase, int number) {
    int k = leaves + number;
    for (int p = 0; p < phase; ++p) k += targets_of[p];
    return k;
  }
  /// Whether an operand is a target with one value for each row.
  static constexpr bool is_result(std::size_t k) {
    std::size_t first = static_cast<std::size_t>(leaves);
    bool found = false;
    const auto look = [&](std::size_t targets, const std::uint64_t* words, bool of_rows) {
      if (k >= first && k < first + targets)
        found = of_rows || target_word{words[k - first]}.is_result();
      first += targets;
    };
    (look(Phase::pass::targets, Phase::pass::target_words.data(), is_of_rows<Phase>), ...);
    return found;
  }
  template <int P> using phase =
      std::tuple_element_t<static_cast<std::size_t>(P), std::tuple<Phase...>>;
  static constexpr bool first_writes_elements = [] {
    const pass_view p = phase<0>::pass::view();
    for (int i = 0; i < p.target_count; ++i)
      if (!p.is_result(i)) return true;
    return false;
  }();
  static constexpr int phases = sizeof...(Phase);
  /// Whether a phase before the last one writes elements, which may be those that a later one
  /// reads.
  static constexpr bool writes_before_last = [] {
    int number = 0;
    bool any = false;
    const auto look = [&](const pass_view& p, bool of_rows) {
      if (++number == phases || of_rows) return;
      for (int i = 0; i < p.target_count; ++i) any = any || !p.is_result(i);
    };
    (look(Phase::pass::view(), is_of_rows<Phase>), ...);
    return any;
  }();

  /// The arrays whose elements are loaded, by leaf number, and the phases that load them.
  struct loaded_leaf {
    bool is_loaded = false;
    dtype type{};
    std::uint32_t by = 0;  // A bit for each phase.
  };
  static constexpr std::array<loaded_leaf, static_cast<std::size_t>(leaves) + 1> loaded = [] {
    std::array<loaded_leaf, static_cast<std::size_t>(leaves) + 1> all{};
    int number = 0;
    const auto look = [&](const program_view& p, const phase_input* input) {
      for (int i = 0; i < p.nodes; ++i) {
        const head h{p.heads[i]};
        if (h.code() != op::load) continue;
        const phase_input from = input[p.payloads[i]];
        if (!from.is_leaf()) continue;
        loaded_leaf& leaf = all[static_cast<std::size_t>(from.number())];
        leaf.is_loaded = true;
        leaf.type = h.type();
        leaf.by |= 1u << number;
      }
      ++number;
    };
    (look(Phase::pass::elements::view(), Phase::input), ...);
    return all;
  }();
  /// The targets that are stored element by element, by operand number.
  struct stored_target {
    bool is_stored = false;
    dtype type{};
  };
  static constexpr std::array<stored_target, static_cast<std::size_t>(count) + 1> stored = [] {
    std::array<stored_target, static_cast<std::size_t>(count) + 1> all{};
    std::size_t k = static_cast<std::size_t>(leaves);
    const auto look = [&](const pass_view& p, bool of_rows) {
      for (int i = 0; i < p.target_count; ++i, ++k)
        if (!of_rows && !p.is_result(i)) all[k] = stored_target{true, p.type(i)};
    };
    (look(Phase::pass::view(), is_of_rows<Phase>), ...);
    return all;
  }();
  static constexpr bool is_loaded_by_several(std::size_t k) {
    return (loaded[k].by & (loaded[k].by - 1)) != 0;
  }
  /// The leaves that several phases load, a bit each.
  static constexpr std::uint64_t loaded_by_several = [] {
    std::uint64_t all = 0;
    for (std::size_t k = 0; k < loaded.size(); ++k)
      all |= is_loaded_by_several(k) ? std::uint64_t{1} << k : 0;
    return all;
  }();
  /// Whether phase P loads a leaf that no other phase loads.
  static constexpr bool loads_alone(int P) {
    for (const loaded_leaf& leaf : loaded)
      if (leaf.by == 1u << P) return true;
    return false;
  }
};

/// The lanes of a leaf.
template <int Leaf, class T, int Lanes> struct leaf_lanes { pack<T, Lanes> lanes; };
template <int Leaf, class T, int Lanes> DSL_DETAIL_FN pack<T, Lanes>& lanes_of_leaf(
    leaf_lanes<Leaf, T, Lanes>& p) {
  return p.lanes;
}
template <int Leaf, class T, int Lanes> DSL_DETAIL_FN const pack<T, Lanes>& lanes_of_leaf(
    const leaf_lanes<Leaf, T, Lanes>& p) {
  return p.lanes;
}
template <int Leaf, dtype D, int Lanes, bool Loaded> struct loaded_lanes {};
template <int Leaf, dtype D, int Lanes> struct loaded_lanes<Leaf, D, Lanes, true>
    : leaf_lanes<Leaf, memory_t<D>, Lanes> {};

/// A value that a phase leaves for a row.
template <int Target, class T> struct row_value { T value; };
template <int Target, class T> DSL_DETAIL_FN T& value_of_row(row_value<Target, T>& v) {
  return v.value;
}
template <int Target, class T> DSL_DETAIL_FN const T& value_of_row(const row_value<Target, T>& v) {
  return v.value;
}
template <class Pass, int I, int First, bool Reduced> struct value_of_target {};
template <class Pass, int I, int First> struct value_of_target<Pass, I, First, true>
    : row_value<
          First + I,
          memory_t<Pass::results::output(target_word{Pass::target_words[I]}.output()).type()>> {};
template <class Pass, int First, class Numbers> struct values_of_phase;
template <class Pass, int First, std::size_t... I>
struct values_of_phase<Pass, First, std::index_sequence<I...>>
    : value_of_target<Pass, static_cast<int>(I), First, Pass::is_result(static_cast<int>(I))>... {};
template <class Chain, class Phases> struct values_of_chain;
template <class Chain, std::size_t... P>
struct values_of_chain<Chain, std::index_sequence<P...>>
    : values_of_phase<typename chain_operands<Chain>::template phase<static_cast<int>(P)>::pass,
                      chain_operands<Chain>::target(static_cast<int>(P), 0),
                      std::make_index_sequence<chain_operands<Chain>::template phase<
                          static_cast<int>(P)>::pass::targets>>... {};

}  // namespace dsl::detail

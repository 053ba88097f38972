// The finished graph as a type: what kernels are generated from.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <dsl/ir/graph.hpp>

namespace dsl::detail {

template <std::uint64_t... W> struct words {};

/// A node's head: operation, result dtype, and the result's slot among the values of that dtype.
/// Its payload: up to three operands
/// (`reference`), a literal, or what `node` says.
struct head {
  std::uint32_t word;
  static constexpr head make(op code, dtype type, int slot) {
    return {static_cast<std::uint32_t>(code) | static_cast<std::uint32_t>(type) << 8 |
            static_cast<std::uint32_t>(slot) << 12};
  }
  constexpr op code() const { return static_cast<op>(word & 0xff); }
  constexpr dtype type() const { return static_cast<dtype>(word >> 8 & 0xf); }
  constexpr int slot() const { return static_cast<int>(word >> 12); }
};

/// An operand: its dtype and its slot.
struct reference {
  std::uint64_t word;
  static constexpr reference make(dtype type, int slot) {
    return {static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(slot) << 4};
  }
  static constexpr reference of(std::uint64_t payload, int i) {
    return {payload >> 16 * i & 0xffff};
  }
  constexpr dtype type() const { return static_cast<dtype>(word & 0xf); }
  constexpr int slot() const { return static_cast<int>(word >> 4); }
};

/// A program at run time, for what prints or counts.
struct program_view {
  const std::uint32_t* heads;
  const std::uint64_t* payloads;
  int nodes;
  const std::uint64_t* outputs;
  int output_count;
  constexpr reference output(int i) const { return {outputs[i]}; }
};

/// Whether a program draws random numbers, of which four neighbours share what they are made of.
constexpr bool draws_bits(const program_view& p) {
  for (int i = 0; i < p.nodes; ++i)
    if (const op code = head{p.heads[i]}.code();
        code == op::random_bits || code == op::random_below)
      return true;
  return false;
}

/// A number of its own for each sequence of words, by splitmix64's steps.
struct word_key {
  std::uint64_t value;
  constexpr void add(std::uint64_t word) {
    value = (value ^ word) + 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    value ^= value >> 31;
  }
};

/// A program's nodes and outputs.
template <int Nodes, int Outputs>
struct program_nodes {
  static constexpr int nodes = Nodes, outputs = Outputs;
  std::uint32_t heads[Nodes + 1];  // and one more, for there may be none
  std::uint64_t payloads[Nodes + 1], output_words[Outputs + 1];

  /// A number of its own for each program.
  constexpr std::uint64_t key() const {
    word_key made{static_cast<std::uint64_t>(Nodes) << 32 | static_cast<std::uint64_t>(Outputs)};
    for (int i = 0; i < Nodes; ++i) {
      made.add(heads[i]);
      made.add(payloads[i]);
    }
    for (int i = 0; i < Outputs; ++i) made.add(output_words[i]);
    return made.value;
  }
};

// Where a program's nodes are found by its key: `keyed_nodes` defines the function that is declared
// with the key.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
template <std::uint64_t Key> struct program_key { friend constexpr auto nodes_of(program_key); };
template <std::uint64_t Key, class... Calls> struct pass_key {
  friend constexpr auto parts_of(pass_key);
};  // ir/pass.hpp
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <auto Nodes>
struct keyed_nodes {
  static constexpr std::uint64_t key = Nodes.key();
  friend constexpr auto nodes_of(program_key<key>) { return Nodes; }
};
// Outside a template, nvcc hands its host compiler a program's key in the place of what defines its
// nodes.
template <> struct keyed_nodes<program_nodes<0, 0>{}> { static constexpr std::uint64_t key = 0; };
constexpr auto nodes_of(program_key<0>) { return program_nodes<0, 0>{}; }

/// The finished graph as a type, by its key and the functors that it calls. Kernels are named by
/// this type. So it holds nothing that nvcc could not write down again, no closure type and no
/// class-type value, and is short: of a kernel's object file its name, which is in it some thirty
/// times, was the larger part when it listed all nodes.
template <std::uint64_t Key, class... Calls>
struct program {
  static constexpr std::uint64_t key = Key;
  static constexpr auto data = nodes_of(program_key<Key>{});
  static constexpr int nodes = data.nodes, outputs = data.outputs;
  static constexpr program_view view() {
    return {data.heads, data.payloads, nodes, data.output_words, outputs};
  }
  static constexpr reference output(int i) { return reference{data.output_words[i]}; }
};

template <auto Nodes, class... Calls> using program_with =
    program<keyed_nodes<Nodes>::key, Calls...>;
using no_program = program<0>;

/// Whether a program calls functors: those may trap or loop on operands that do not exist.
template <class Program> inline constexpr bool calls_functors = false;
template <std::uint64_t Key, class Call, class... Calls> inline constexpr bool
    calls_functors<program<Key, Call, Calls...>> = true;

constexpr int operand_count(op code) { return code == op::argument ? 1 : info(code).arity; }

/// How many nodes a node is computed from, and which; a reduced value from none.
constexpr int count_inputs(const node& n) {
  if (n.code == op::result) return 1;
  if (n.code == op::call) return n.field(2);
  if (is_placed(n.code)) return (n.code == op::coordinate ? 0 : 1) + (is_placed_value(n) ? 1 : 0);
  if (is_step(n.code)) return n.field(0) == no_step ? 0 : 1;
  return operand_count(n.code);
}
constexpr int input_node(const node& n, int k) {
  if (is_placed(n.code)) return n.field(n.code == op::coordinate || k == 1 ? 0 : 1);
  return n.code == op::call ? n.field(1) + k : n.field(k);
}

/// The nodes that some nodes need, those included: a mark for each of the graph's.
constexpr sequence<char> needed_by(const graph& g, const sequence<int>& roots) {
  sequence<char> live(g.size(), 0);
  for (int i = 0; i < roots.size(); ++i) live[roots[i]] = 1;
  for (int i = g.size() - 1; i >= 0; --i)
    for (int k = 0; live[i] != 0 && k < count_inputs(g[i]); ++k) live[input_node(g[i], k)] = 1;
  return live;
}

/// Whether its second operand is a divisor of integers; and what a program's payload then says of
/// one that all elements share, where the compiler does not know its value.
constexpr bool divides_integers(op code, dtype type) {
  return kind_of(type) == kind::integer &&
         (code == op::divide || code == op::modulus || code == op::floor_divide ||
          code == op::remainder || code == op::fmod);
}
inline constexpr std::uint64_t by_shared_divisor = std::uint64_t{1} << 63;

/// Programs one after another.
struct frozen_programs {
  sequence<std::uint32_t> heads;
  sequence<std::uint64_t> payloads, outputs;
  sequence<int> ends;  // of each program: of its nodes, of its outputs
};

/// The number of an op::index that counts the elements which are reduced together.
inline constexpr int position_in_reduction = 0xffff;

/// Adds a program: the nodes that `roots` need, in order, with the slots of each dtype numbered.
/// `reductions` are the reductions' new numbers.
constexpr void freeze(const graph& g, const sequence<int>& roots, const sequence<int>& reductions,
                      frozen_programs& to) {
  const sequence<char> live = needed_by(g, roots);
  int used[dtype_count] = {};
  sequence<reference> place(g.size(), reference{0});
  sequence<char> shared(g.size(), 0);  // the same for all elements
  const auto put = [&](op code, dtype type, std::uint64_t payload) {
    int& slot = used[static_cast<int>(type)];
    if (slot == 0xfff) throw "a formula may have at most 4095 values of one dtype";
    to.heads.push_back(head::make(code, type, slot).word);
    to.payloads.push_back(payload);
    return reference::make(type, slot++);
  };
  for (int i = 0; i < g.size(); ++i) {
    if (live[i] == 0) continue;
    const node& n = g[i];
    bool of_shared = n.code >= op::add || n.code == op::convert;
    for (int k = 0; of_shared && k < operand_count(n.code); ++k)
      of_shared = shared[n.field(k)] != 0;
    shared[i] =
        of_shared || n.code == op::value || n.code == op::load_scalar || n.code == op::constant;
    if (n.code == op::constant && n.type == dtype::complex128) {
      const reference re = put(op::constant, dtype::float64, n.word.bits),
                      im = put(op::constant, dtype::float64, n.word.second);
      place[i] = put(op::complex, n.type, re.word | im.word << 16);
      continue;
    }
    std::uint64_t payload = n.word.bits;
    if (n.code == op::index && n.field(0) == position_in_reduction)
      payload = static_cast<std::uint64_t>(g.operands);
    if (n.code == op::count) payload = 0;
    if (n.code == op::reduced) payload = fields(reductions[n.field(0)], n.field(1)).bits;
    const auto refer = [&](int k) {
      payload &= ~(std::uint64_t{0xffff} << 16 * k);
      payload |= place[n.field(k)].word << 16 * k;
    };
    for (int k = 0; k < operand_count(n.code); ++k) refer(k);
    if (is_step(n.code) && n.field(0) != no_step) refer(0);
    if (n.code == op::neighbour || n.code == op::inside) refer(1);
    if (divides_integers(n.code, n.type) && shared[n.field(1)] != 0 &&
        g[n.field(1)].code != op::constant)
      payload |= by_shared_divisor;
    place[i] = put(n.code, n.type, payload);
  }
  for (int i = 0; i < roots.size(); ++i) to.outputs.push_back(place[roots[i]].word);
  to.ends.push_back(to.heads.size());
  to.ends.push_back(to.outputs.size());
}

}  // namespace dsl::detail

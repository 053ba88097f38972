// A program: the finished graph as a type, from which kernels are generated.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <dsl/ir/graph.hpp>

namespace dsl::detail {

template <std::uint64_t... W> struct words {};

/// A node's head: operation, result dtype, and the slot of the result among the values of that
/// dtype. The payload of a node is up to three operands (`reference`), a literal, or what `node`
/// describes.
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

/// An operand: its dtype and its slot. A payload has room for three.
struct reference {
  static constexpr int bits = 21;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t word;
  static constexpr reference make(dtype type, int slot) {
    return {static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(slot) << 4};
  }
  static constexpr reference of(std::uint64_t payload, int i) {
    return {payload >> bits * i & mask};
  }
  /// As operand i of a payload.
  constexpr std::uint64_t placed(int i) const { return word << bits * i; }
  constexpr dtype type() const { return static_cast<dtype>(word & 0xf); }
  constexpr int slot() const { return static_cast<int>(word >> 4); }
};
/// No operand. No program has so many values.
inline constexpr reference no_reference{reference::mask};

/// An op::argument: its operand, and the numbers of the call and of its place among the call's
/// arguments.
struct argument_payload {
  std::uint64_t word;
  static constexpr argument_payload make(reference operand, int call, int position) {
    return {operand.word | static_cast<std::uint64_t>(call) << reference::bits |
            static_cast<std::uint64_t>(position) << 2 * reference::bits};
  }
  constexpr int call() const { return static_cast<int>(reference::of(word, 1).word); }
  constexpr int position() const { return static_cast<int>(reference::of(word, 2).word); }
};

/// A program at run time, for printing and counting.
struct program_view {
  const std::uint32_t* heads;
  const std::uint64_t* payloads;
  int nodes;
  const std::uint64_t* outputs;
  int output_count;
  constexpr reference output(int i) const { return {outputs[i]}; }
};

/// Whether a program draws random bits: four consecutive elements then share a Philox block.
constexpr bool draws_bits(const program_view& p) {
  for (int i = 0; i < p.nodes; ++i)
    if (const op code = head{p.heads[i]}.code();
        code == op::random_bits || code == op::random_below)
      return true;
  return false;
}

/// A hash of a sequence of words, by the steps of splitmix64; distinct sequences get distinct keys
/// in practice.
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
  // One more than needed, because a program may have no nodes or outputs.
  std::uint32_t heads[Nodes + 1];
  std::uint64_t payloads[Nodes + 1], output_words[Outputs + 1];

  /// The program's key: a hash of its words.
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

// Finds a program's nodes by its key: `program_key` declares the function, `keyed_nodes` defines
// it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
template <std::uint64_t Key> struct program_key { friend constexpr auto nodes_of(program_key); };
// See ir/pass.hpp.
template <std::uint64_t Key, class... Calls> struct pass_key {
  friend constexpr auto parts_of(pass_key);
};
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
// Defined outside a template as well: nvcc passes a program's key, not the code that defines its
// nodes, to the host compiler.
template <> struct keyed_nodes<program_nodes<0, 0>{}> { static constexpr std::uint64_t key = 0; };
constexpr auto nodes_of(program_key<0>) { return program_nodes<0, 0>{}; }

/// The finished graph as a type: its key and the functors that it calls. Kernels are named by this
/// type. It therefore contains only what nvcc can spell again (no closure type, no value of class
/// type), and it is short: an object file contains a kernel's name some thirty times, and when it
/// listed all nodes the names were the larger part of the file.
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

/// Whether a program calls functors. Functors may trap or loop on operands that do not exist.
template <class Program> inline constexpr bool calls_functors = false;
template <std::uint64_t Key, class Call, class... Calls> inline constexpr bool
    calls_functors<program<Key, Call, Calls...>> = true;

constexpr int operand_count(op code) { return code == op::argument ? 1 : info(code).arity; }

/// Whether the node is the address of a value that the step of a loop stores.
constexpr bool is_stored_address(const node& n) {
  return n.code == op::address && n.field(2) == static_cast<int>(op::reduced);
}

/// The field of a node that holds the number of its input k. A call has one field for all.
constexpr int field_of_input(const node& n, int k) {
  if (!is_placed(n.code)) return k;
  return n.code == op::coordinate || k == 1 ? 0 : 1;
}
/// The number of nodes from which a node is computed, and these nodes. A reduced value has none.
constexpr int count_inputs(const node& n) {
  if (is_stored_address(n)) return 1;
  if (n.code == op::result) return 1;
  if (n.code == op::call) return n.field(2);
  if (is_placed(n.code)) return (n.code == op::coordinate ? 0 : 1) + (is_placed_value(n) ? 1 : 0);
  if (is_step(n.code)) return n.field(0) == no_step ? 0 : 1;
  return operand_count(n.code);
}
constexpr int input_node(const node& n, int k) {
  return n.code == op::call ? n.field(1) + k : n.field(field_of_input(n, k));
}

/// The nodes that the given nodes need, including themselves: a mark for each node of the graph.
constexpr sequence<char> needed_by(const graph& g, const sequence<int>& roots) {
  sequence<char> live(g.size(), 0);
  int last = -1;
  for (int i = 0; i < roots.size(); ++i) {
    live[roots[i]] = 1;
    if (roots[i] > last) last = roots[i];
  }
  for (int i = last; i >= 0; --i)
    for (int k = 0; live[i] != 0 && k < count_inputs(g[i]); ++k) live[input_node(g[i], k)] = 1;
  return live;
}

/// Whether the operation divides integers by its second operand. The bit `by_shared_divisor` of its
/// payload marks a divisor that all elements share and whose value the compiler does not know.
constexpr bool divides_integers(op code, dtype type) {
  return kind_of(type) == kind::integer &&
         (code == op::divide || code == op::modulus || code == op::floor_divide ||
          code == op::remainder || code == op::fmod);
}
inline constexpr std::uint64_t by_shared_divisor = std::uint64_t{1} << 63;

/// Several programs, stored one after another.
struct frozen_programs {
  sequence<std::uint32_t> heads;
  sequence<std::uint64_t> payloads, outputs;
  sequence<int> ends;  // for each program: the end of its nodes, the end of its outputs
};

/// Adds a program: the nodes that `roots` need, in order, with slots numbered for each dtype.
/// `reductions` maps the graph's reductions to their new numbers. Returns the place of each node,
/// or `no_reference` if it is not needed.
constexpr sequence<reference> freeze(const graph& g, const sequence<int>& roots,
                                     const sequence<int>& reductions, frozen_programs& to) {
  const sequence<char> live = needed_by(g, roots);
  int used[dtype_count] = {};
  sequence<reference> place(g.size(), no_reference);
  sequence<char> shared(g.size(), 0);  // the same for all elements
  const auto put = [&](op code, dtype type, std::uint64_t payload) {
    int& slot = used[static_cast<int>(type)];
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
      place[i] = put(op::complex, n.type, re.placed(0) | im.placed(1));
      continue;
    }
    std::uint64_t payload = n.word.bits;
    if (is_position(n)) payload = static_cast<std::uint64_t>(g.operands);
    if (n.code == op::count) payload = 0;
    if (n.code == op::reduced) payload = fields(reductions[n.field(0)], n.field(1)).bits;
    if (n.code == op::argument)
      payload = argument_payload::make(place[n.field(0)], n.field(1), n.field(2)).word;
    else if (operand_count(n.code) > 0) payload = 0;
    for (int k = 0; n.code != op::argument && k < operand_count(n.code); ++k)
      payload |= place[n.field(k)].placed(k);
    // Steps to neighbours are found by fields, as in the graph.
    const auto refer_to_step = [&](int k) {
      if (place[n.field(k)].word >= no_step) throw "a formula has too many neighbours";
      set_field(payload, k, place[n.field(k)].word);
    };
    if (is_step(n.code) && n.field(0) != no_step) refer_to_step(0);
    if (n.code == op::neighbour || n.code == op::inside) refer_to_step(1);
    if (divides_integers(n.code, n.type) && shared[n.field(1)] != 0 &&
        g[n.field(1)].code != op::constant)
      payload |= by_shared_divisor;
    place[i] = put(n.code, n.type, payload);
  }
  for (int i = 0; i < roots.size(); ++i) to.outputs.push_back(place[roots[i]].word);
  to.ends.push_back(to.heads.size());
  to.ends.push_back(to.outputs.size());
  return place;
}

}  // namespace dsl::detail

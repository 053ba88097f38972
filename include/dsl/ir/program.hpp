// The finished graph as a type: what kernels are generated from.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <dsl/ir/graph.hpp>

namespace dsl::detail {

template <std::uint64_t... W> struct words {};
template <std::uint32_t... W> struct heads {};

/// A node's head: operation, result dtype, and the result's slot among the values of that dtype. Its payload: up to three operands
/// (`reference`), a literal, or what `node` says.
struct head {
  std::uint32_t word;
  static constexpr head make(op code, dtype type, int slot) {
    return {static_cast<std::uint32_t>(code) | static_cast<std::uint32_t>(type) << 8 | static_cast<std::uint32_t>(slot) << 12};
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
  static constexpr reference of(std::uint64_t payload, int i) { return {payload >> 16 * i & 0xffff}; }
  constexpr dtype type() const { return static_cast<dtype>(word & 0xf); }
  constexpr int slot() const { return static_cast<int>(word >> 4); }
};

/// An output: what is stored or reduced, and the reduction's operation (op::load where it is stored).
struct output_word {
  std::uint64_t word;
  constexpr reference value() const { return {word & 0xffff}; }
  constexpr dtype type() const { return value().type(); }
  constexpr op reduction() const { return static_cast<op>(word >> 16); }
  constexpr bool is_stored() const { return reduction() == op::load; }
};

/// A program at run time, for what prints or counts.
struct program_view {
  const std::uint32_t* heads;
  const std::uint64_t* payloads;
  int nodes;
  const std::uint64_t* outputs;
  int output_count;
};

template <class Heads, class Payloads, class Outputs, class... Calls> struct program;

/// Heads, payloads and outputs as packs of numbers, and the functors it calls. Kernels are named by this type, so it holds nothing
/// that nvcc could not write down again: no closure type and no class-type value.
template <std::uint32_t... H, std::uint64_t... P, std::uint64_t... O, class... Calls>
struct program<heads<H...>, words<P...>, words<O...>, Calls...> {
  static constexpr int nodes = sizeof...(H), outputs = sizeof...(O);
  static constexpr std::uint32_t head_words[nodes + 1] = {H..., 0};
  static constexpr std::uint64_t payload_words[nodes + 1] = {P..., 0};
  static constexpr std::uint64_t output_words[outputs + 1] = {O..., 0};
  static constexpr program_view view() { return {head_words, payload_words, nodes, output_words, outputs}; }
  static constexpr output_word output(int i) { return output_word{output_words[i]}; }
};

struct frozen_graph {
  sequence<std::uint32_t> heads;
  sequence<std::uint64_t> payloads, outputs;
};

constexpr int operand_count(op code) { return code == op::argument ? 1 : info(code).arity; }

/// Keeps the nodes that an output needs, in order, and numbers the slots of each dtype.
constexpr frozen_graph freeze(const graph& g) {
  sequence<char> live(g.size(), 0);
  for (int i = 0; i < g.outputs.size(); ++i) live[g.outputs[i].node] = 1;
  for (int i = g.size() - 1; i >= 0; --i) {
    if (live[i] == 0) continue;
    const node& n = g[i];
    for (int k = 0; k < operand_count(n.code); ++k) live[n.field(k)] = 1;
    if (n.code == op::result) live[n.field(0)] = 1;
    if (n.code == op::call)
      for (int k = 0; k < n.field(2); ++k) live[n.field(1) + k] = 1;
  }

  frozen_graph f;
  int used[dtype_count] = {};
  sequence<reference> place(g.size(), reference{0});
  const auto put = [&](op code, dtype type, std::uint64_t payload) {
    int& slot = used[static_cast<int>(type)];
    if (slot == 0xfff) throw "a formula may have at most 4095 values of one dtype";
    f.heads.push_back(head::make(code, type, slot).word);
    f.payloads.push_back(payload);
    return reference::make(type, slot++);
  };
  for (int i = 0; i < g.size(); ++i) {
    if (live[i] == 0) continue;
    const node& n = g[i];
    if (n.code == op::constant && n.type == dtype::complex128) {
      const reference re = put(op::constant, dtype::float64, n.word.bits), im = put(op::constant, dtype::float64, n.word.second);
      place[i] = put(op::complex, n.type, re.word | im.word << 16);
      continue;
    }
    std::uint64_t payload = n.word.bits;
    for (int k = 0; k < operand_count(n.code); ++k) {
      payload &= ~(std::uint64_t{0xffff} << 16 * k);
      payload |= place[n.field(k)].word << 16 * k;
    }
    place[i] = put(n.code, n.type, payload);
  }
  for (int i = 0; i < g.outputs.size(); ++i)
    f.outputs.push_back(place[g.outputs[i].node].word | static_cast<std::uint64_t>(g.outputs[i].reduction) << 16);
  return f;
}

template <std::size_t Nodes, std::size_t Outputs>
struct frozen_image {
  std::size_t nodes = 0, outputs = 0;
  std::array<std::uint32_t, Nodes> heads{};
  std::array<std::uint64_t, Nodes> payloads{};
  std::array<std::uint64_t, Outputs> output_words{};

  // The compilers' cost of a pack expansion grows with the object it reads from.
  template <std::size_t N, std::size_t O>
  constexpr frozen_image<N, O> exact() const {
    frozen_image<N, O> to{N, O};
    for (std::size_t i = 0; i < N; ++i) to.heads[i] = heads[i], to.payloads[i] = payloads[i];
    for (std::size_t i = 0; i < O; ++i) to.output_words[i] = output_words[i];
    return to;
  }
};

inline constexpr std::size_t max_program_nodes = 4096, max_program_outputs = 32;

// Traces once: for a long formula that is a good part of the compilers' work.
template <class Trace>
constexpr frozen_image<max_program_nodes, max_program_outputs> image() {
  const frozen_graph f = freeze(Trace::run());
  const auto nodes = static_cast<std::size_t>(f.heads.size()), outputs = static_cast<std::size_t>(f.outputs.size());
  if (nodes > max_program_nodes) throw "a formula may have at most 4096 distinct nodes";
  if (outputs > max_program_outputs) throw "a formula may have at most 32 outputs";
  frozen_image<max_program_nodes, max_program_outputs> to{nodes, outputs};
  for (std::size_t i = 0; i < nodes; ++i) to.heads[i] = f.heads[static_cast<int>(i)], to.payloads[i] = f.payloads[static_cast<int>(i)];
  for (std::size_t i = 0; i < outputs; ++i) to.output_words[i] = f.outputs[static_cast<int>(i)];
  return to;
}

template <class Trace, class... Calls>
struct compile {
  static constexpr auto roomy = image<Trace>();
  static constexpr auto exact = roomy.template exact<roomy.nodes, roomy.outputs>();
  template <std::size_t... N, std::size_t... O>
  static program<heads<exact.heads[N]...>, words<exact.payloads[N]...>, words<exact.output_words[O]...>, Calls...> spell(
      std::index_sequence<N...>, std::index_sequence<O...>);
  using type = decltype(spell(std::make_index_sequence<exact.nodes>{}, std::make_index_sequence<exact.outputs>{}));
};

/// The program of what `Trace::run()` builds (a graph), with the functors that it calls.
template <class Trace, class... Calls>
using program_of = typename compile<Trace, Calls...>::type;

}  // namespace dsl::detail

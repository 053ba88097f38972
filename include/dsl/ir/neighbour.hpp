// Neighbours: boundaries, and the path from an element to a neighbour as programs store it.
#pragma once

#include <dsl/ir/program.hpp>

namespace dsl {

/// The values assumed beyond the ends of an axis: zero; the elements from the other end (wrap); the
/// last element (clamp); the elements before the end, mirrored at the last one, which is not
/// repeated (reflect). NumPy's pad modes constant, wrap, edge and reflect.
enum class boundary : std::uint8_t { zero, wrap, clamp, reflect };

namespace detail {

/// One step of a path to a neighbour: element i becomes i - distance along an axis of the operand,
/// counted from the right.
struct path_step {
  int axis = 0;
  boundary beyond{};
  std::int64_t distance = 0;
  // If the step ends outside, the value is not used.
  bool ends_inside = false;
  // The operand whose descriptor gives axis, boundary and distance at run time; -1: they are
  // constants.
  int slot = -1;
};

/// The path from an element of an operand to a neighbour, first step first. Each step starts where
/// the previous one ended, so two steps along one axis are not always equivalent to one of their
/// sum. `base` is what is read there: the element (load), its position (index; coordinate: its
/// position along `axis`), or its address.
struct neighbour_path {
  static constexpr int max_steps = 16;
  int slot = 0;
  op base = op::load;
  int axis = 0;
  int count = 0;
  path_step step[max_steps]{};
};

/// Layout of a path step's word. The lowest 16 bits are the number of the next step, or `no_step`.
inline constexpr int ends_inside_bit = 22, given_ends_inside_bit = 32, distance_bit = 23;
constexpr op code_of(const path_step& s) { return s.slot >= 0 ? op::given_step : op::step; }
constexpr std::uint64_t word_of(const path_step& s, int next) {
  const auto first = static_cast<std::uint64_t>(next),
             inside = static_cast<std::uint64_t>(s.ends_inside);
  if (s.slot >= 0)
    return first | static_cast<std::uint64_t>(s.slot) << 16 | inside << given_ends_inside_bit;
  constexpr std::int64_t most = std::int64_t{1} << (63 - distance_bit);
  if (s.distance < -most || s.distance >= most)
    throw "dsl::shift: a distance of more than 2^40 elements";
  return first | static_cast<std::uint64_t>(s.axis) << 16 |
         static_cast<std::uint64_t>(s.beyond) << 20 | inside << ends_inside_bit |
         static_cast<std::uint64_t>(s.distance) << distance_bit;
}
constexpr path_step step_of(op code, std::uint64_t word) {
  const auto number = [word](int bit, std::uint64_t mask) {
    return static_cast<int>(word >> bit & mask);
  };
  path_step s;
  if (code == op::given_step) {
    s.slot = number(16, 0xffff);
    s.ends_inside = number(given_ends_inside_bit, 1) != 0;
  } else {
    s.axis = number(16, 0xf);
    s.beyond = static_cast<boundary>(number(20, 3));
    s.ends_inside = number(ends_inside_bit, 1) != 0;
    s.distance = static_cast<std::int64_t>(word) >> distance_bit;
  }
  return s;
}

/// Decodes a node's word to its operand, base and path; `next` returns the code and the word of the
/// step with a given number.
template <class Next>
constexpr neighbour_path read_path(std::uint64_t word, const Next& next) {
  neighbour_path p;
  p.slot = static_cast<int>(word & 0xffff);
  p.base = static_cast<op>(word >> 32 & 0xff);
  p.axis = static_cast<int>(word >> 40 & 0xff);
  for (int at = static_cast<int>(word >> 16 & 0xffff); at != no_step;) {
    if (p.count == neighbour_path::max_steps)
      throw "dsl::shift: too many steps to a neighbour: dsl::eval a part of the formula";
    const auto [code, step] = next(at);
    p.step[p.count++] = step_of(code, step);
    at = static_cast<int>(step & 0xffff);
  }
  return p;
}
struct step_word {
  op code;
  std::uint64_t word;
};
/// The path of an op::neighbour or op::inside node of a graph or of a program.
constexpr neighbour_path path_of(const graph& g, int node) {
  return read_path(g[node].word.bits,
                   [&g](int at) { return step_word{g[at].code, g[at].word.bits}; });
}
constexpr neighbour_path path_of(const program_view& p, int node) {
  return read_path(p.payloads[node], [&p, node](int at) {
    int i = node;
    while (head{p.heads[i]}.type() != dtype::int64 ||
           head{p.heads[i]}.slot() != reference{static_cast<std::uint64_t>(at)}.slot())
      --i;
    return step_word{head{p.heads[i]}.code(), p.payloads[i]};
  });
}
/// The operand that a node reads.
constexpr std::uint64_t operand_read(const program_view& p, int node) {
  return is_placed(head{p.heads[node]}.code()) ? p.payloads[node] & 0xffff : p.payloads[node];
}
/// The node of a program with the given head. Heads are unique within a program.
constexpr int node_with(const program_view& p, std::uint32_t head_word) {
  int i = 0;
  while (p.heads[i] != head_word) ++i;
  return i;
}
template <class Program, std::uint32_t Head>
inline constexpr neighbour_path path_with_head =
    path_of(Program::view(), node_with(Program::view(), Head));

/// A program's reads of other elements than its own. `nodes`: number of nodes that read neighbours
/// or ask for positions. `operands`: a bit for each of their operands. `moved`: a bit for each
/// operand whose elements they read. `axes`: a bit for each axis, counted from the right, along
/// which the distance is known at compile time.
struct neighbours_read {
  int nodes = 0;
  std::uint64_t operands = 0, moved = 0;
  std::uint32_t axes = 0;
};
constexpr neighbours_read neighbours_in(const program_view& p) {
  neighbours_read r;
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    if (code == op::step) r.axes |= 1u << step_of(code, p.payloads[i]).axis;
    if (code == op::coordinate) r.axes |= 1u << (p.payloads[i] >> 16 & 0xffff);
    if (!is_placed(code)) continue;
    ++r.nodes;
    r.operands |= std::uint64_t{1} << (p.payloads[i] & 0xffff);
    if (code == op::coordinate) continue;
    const neighbour_path path = path_of(p, i);
    if (path.base == op::coordinate) r.axes |= 1u << path.axis;
    if (code == op::neighbour && path.base == op::load) r.moved |= std::uint64_t{1} << path.slot;
  }
  return r;
}

}  // namespace detail
}  // namespace dsl

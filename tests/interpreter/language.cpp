#include "language.hpp"

#include "node_maker.hpp"

#include <stdexcept>
#include <string>
#include <unordered_map>

namespace interpreter {

using namespace dsl::detail;
using dsl::kind;
using dsl::kind_of;
using dsl::weak_dtype;

namespace {

int make(graph& g, const signature& s, const int* operands) {
  static const auto all = [] {
    std::vector<node_maker> made;
    add_makers_of_integers(made);
    add_makers_of_numbers(made);
    std::unordered_map<std::uint64_t, node_maker> by_key;
    for (const node_maker& m : made)
      if (!by_key.emplace(m.key, m).second) throw std::runtime_error("two makers of one node");
    return by_key;
  }();
  const auto found = all.find(s.key());
  if (found == all.end())
    throw std::runtime_error(std::string("no maker of ") + dsl::info(s.code).name + " of " +
                             dsl::name(s.operand[0]));
  return found->second.make(g, operands);
}

dsl::signature resolved(op code, const value* x) {
  const int arity = dsl::info(code).arity;
  const dsl::signature s = dsl::resolve(code, x[0].type, arity > 1 ? x[1].type : weak_dtype{},
                                        arity > 2 ? x[2].type : weak_dtype{});
  if (!s.valid)
    throw std::runtime_error(std::string(dsl::info(code).name) + " is not defined for " +
                             dsl::name(x[0].type.type));
  return s;
}

bool is_integer(dtype type) { return kind_of(type) == kind::integer; }

// An array of integers and a scalar of another integer dtype.
bool compares_with_scalar(op code, const value* x) {
  const dsl::op_info& row = dsl::info(code);
  return row.arity == 2 && row.result == dsl::op_result::boolean &&
         row.operands == dsl::op_operands::promoted && x[0].type.weak != x[1].type.weak &&
         x[0].type.type != x[1].type.type && is_integer(x[0].type.type) &&
         is_integer(x[1].type.type);
}

// A bound of clip that is a scalar of another integer dtype may be outside the range of the clipped
// dtype; it is then replaced by the end of that range.
bool is_scalar_bound(dtype clipped, const value& bound) {
  return bound.type.weak && bound.type.type != clipped && is_integer(clipped) &&
         is_integer(bound.type.type);
}
bool may_be_beyond(dtype bound, dtype clipped, bool upper) {
  return upper ? greatest_of(bound) > greatest_of(clipped) : least_of(bound) < least_of(clipped);
}
// The end of a dtype's range as a constant of the bound's dtype.
literal end_of(dtype clipped, dtype bound, bool upper) {
  const std::uint64_t end =
      upper ? greatest_of(clipped) : static_cast<std::uint64_t>(least_of(clipped));
  const int unused = 8 * (8 - dsl::size_of(bound));
  return {dsl::info(bound).is_signed
              ? static_cast<std::uint64_t>(static_cast<std::int64_t>(end << unused) >> unused)
              : end << unused >> unused};
}

}  // namespace

value traced::operand(op how, dtype type, int number) {
  return {graph_.add(how, type, {static_cast<std::uint64_t>(number)}), {type, how == op::value}};
}
value traced::literal(dtype type, dsl::detail::literal bits) {
  return {graph_.add(op::constant, type, bits), {type, true}};
}

value traced::cast(dtype to, value a) {
  if (to == a.type.type) return {a.node, {to}};
  return {make(graph_, {op::convert, to, 1, {a.type.type}}, &a.node), {to}};
}

// Converts an operand to the dtype of the computation.
value traced::converted(dtype to, value a) {
  if (a.type.weak && to != a.type.type && is_integer(to) && is_integer(a.type.type))
    require_range(graph_, a.node, {to, to});
  return {cast(to, a).node, {to, a.type.weak}};
}

int traced::emit(op code, dtype result, const int* nodes, const dtype* types) {
  return make(graph_, {code, result, dsl::info(code).arity, {types[0], types[1], types[2]}}, nodes);
}

value traced::clip_bound(dtype to, value bound, bool upper) {
  if (!is_scalar_bound(to, bound)) return bound;
  const dtype from = bound.type.type;
  require_range(graph_, bound.node,
                upper ? integer_range{to, dtype::uint64} : integer_range{dtype::int64, to});
  if (may_be_beyond(from, to, upper)) {
    const int nodes[] = {bound.node, graph_.add(op::constant, from, end_of(to, from, upper))};
    const dtype types[] = {from, from, from};
    bound.node = emit(upper ? op::min : op::max, from, nodes, types);
  }
  return {cast(to, bound).node, {to, true}};
}

value traced::apply(op code, const value* given) {
  const int arity = dsl::info(code).arity;
  value x[3]{};
  for (int i = 0; i < arity; ++i) x[i] = given[i];
  if (code == op::clip) {
    const dtype common = resolved(code, x).operand[0];
    if (is_scalar_bound(common, x[0])) x[0] = converted(common, x[0]);
    x[1] = clip_bound(common, x[1], false);
    x[2] = clip_bound(common, x[2], true);
  }
  dsl::signature s = resolved(code, x);
  int nodes[3]{};
  if (compares_with_scalar(code, x)) {
    const value &array = x[x[0].type.weak ? 1 : 0], &scalar = x[x[0].type.weak ? 0 : 1];
    const node n = graph_[scalar.node];
    const dtype narrow = array.type.type;
    if (n.code == op::constant &&
        integer_range{narrow, narrow}.outside(n.word.bits, dsl::info(scalar.type.type).is_signed) ==
            nullptr) {
      s.operand[0] = s.operand[1] = narrow;
      for (int i = 0; i < 2; ++i) nodes[i] = cast(narrow, x[i]).node;
      return {emit(code, dtype::boolean, nodes, s.operand), {dtype::boolean}};
    }
  }
  for (int i = 0; i < arity; ++i) nodes[i] = converted(s.operand[i], x[i]).node;
  return {emit(code, s.result.type, nodes, s.operand), s.result};
}

frozen_programs traced::program(const std::vector<value>& outputs) const {
  sequence<int> roots, reductions;
  for (const value& v : outputs) roots.push_back(v.node);
  frozen_programs made;
  freeze(graph_, roots, reductions, made);
  return made;
}

value written_out::put(op code, weak_dtype type, std::uint64_t payload) {
  int& slot = used_[static_cast<int>(type.type)];
  heads_.push_back(head::make(code, type.type, slot).word);
  payloads_.push_back(payload);
  places_.push_back(reference::make(type.type, slot++));
  return {static_cast<int>(places_.size()) - 1, type};
}

value written_out::operand(op how, dtype type, int number) {
  return put(how, {type, how == op::value}, static_cast<std::uint64_t>(number));
}
value written_out::literal(dtype type, dsl::detail::literal bits) {
  if (type != dtype::complex128) return put(op::constant, {type, true}, bits.bits);
  const value re = put(op::constant, {dtype::float64}, bits.bits),
              im = put(op::constant, {dtype::float64}, bits.second);
  return put(op::complex, {type, true}, place(re) | place(im) << reference::bits);
}

value written_out::converted(dtype to, value a) {
  return to == a.type.type ? value{a.node, {to}} : put(op::convert, {to}, place(a));
}

value written_out::apply(op code, const value* given) {
  const int arity = dsl::info(code).arity;
  value x[3]{};
  for (int i = 0; i < arity; ++i) x[i] = given[i];
  if (code == op::clip)
    for (const int i : {1, 2}) {
      const dtype clipped = resolved(code, x).operand[0], bound = x[i].type.type;
      if (!is_scalar_bound(clipped, x[i]) || !may_be_beyond(bound, clipped, i == 2)) continue;
      const value end = literal(bound, end_of(clipped, bound, i == 2));
      x[i] =
          put(i == 2 ? op::min : op::max, x[i].type, place(x[i]) | place(end) << reference::bits);
    }
  const dsl::signature s = resolved(code, x);
  std::uint64_t payload = 0;
  for (int i = 0; i < arity; ++i)
    payload |= place(converted(s.operand[i], x[i])) << reference::bits * i;
  return put(code, s.result, payload);
}

frozen_programs written_out::program(const std::vector<value>& outputs) const {
  frozen_programs made;
  for (const std::uint32_t h : heads_) made.heads.push_back(h);
  for (const std::uint64_t p : payloads_) made.payloads.push_back(p);
  for (const value& v : outputs) made.outputs.push_back(place(v));
  return made;
}

}  // namespace interpreter

// Replaces accurate functions of float in a formula's graph by the device's fast ones.
#pragma once

#include <dsl/ir/symbol.hpp>

namespace dsl::detail {

/// The fast form of an operation, or the operation itself if it has none.
constexpr op fast_form(op code) {
  switch (code) {
#define DSL_FAST(name, ...) \
  case op::name: return op::fast_##name;
#include <dsl/ir/ops.inc>
    default: return code;
  }
}

/// Adds a node that computes the same as `node` with fast forms, and returns it. Inputs that change
/// are added anew; the arguments of functors stay accurate.
constexpr int make_fast(graph& g, int node) {
  sequence<char> needed(node + 1, 0);
  sequence<int> fast(node + 1, 0);
  needed[node] = 1;
  for (int i = node; i >= 0; --i) {
    if (needed[i] == 0) continue;
    for (int k = 0; k < info(g[i].code).arity; ++k) needed[g[i].field(k)] = 1;
    if (g[i].code != op::reduced) continue;
    const traced_reduction& f = g.reduction_at(g[i].field(0));
    for (int k = 0; k < f.values.size(); ++k) needed[f.values[k]] = 1;
  }
  for (int i = 0; i <= node; ++i) {
    if (needed[i] == 0) continue;
    const detail::node n = g[i];
    if (n.code == op::reduced) {
      const traced_reduction& f = g.reduction_at(n.field(0));
      sequence<int> values;
      for (int k = 0; k < f.values.size(); ++k) values.push_back(fast[f.values[k]]);
      fast[i] = g.add(op::reduced, n.type,
                      fields(g.add_reduction(f.rule, f.space, std::move(values)), n.field(1)));
      continue;
    }
    const int arity = info(n.code).arity;
    // The mark of a derivative's input stays that node.
    if (arity == 0 || is_marked(n)) {
      fast[i] = i;
      continue;
    }
    detail::node copy = n;
    for (int k = 0; k < arity; ++k) set_field(copy, k, fast[n.field(k)]);
    const bool computes_in_float = kind_of(n.type) == kind::real && size_of(n.type) <= 4;
    fast[i] = g.add(computes_in_float ? fast_form(n.code) : n.code, n.type, copy.word);
  }
  return fast[node];
}

template <dtype D, bool Weak>
constexpr symbol<D, Weak> make_fast(symbol<D, Weak> s) {
  return {s.owner, make_fast(*s.owner, s.id)};
}

}  // namespace dsl::detail

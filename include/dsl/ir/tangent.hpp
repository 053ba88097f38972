// The derivative of a graph by the forward sweep: from changes of its inputs, those of its outputs.
#pragma once

#include <dsl/ir/adjoint.hpp>

namespace dsl::detail {

/// The forward sweep: from changes of the inputs, the change of each node that depends on them.
class tangent_sweep {
 public:
  constexpr tangent_sweep(graph& g, const derivative_inputs& inputs, int size)
      : g_(g),
        inputs_(inputs),
        size_(size),
        active_(inputs.active(size_)),
        change_(size_, term{}) {}

  /// `changes`: the change of each input; zero if it does not change.
  constexpr void run(const sequence<term>& changes) {
    for (int i = 0; i < size_; ++i)
      if (active_[i] != 0) change_[i] = converted(change_at(i, changes), g_[i].type);
  }
  constexpr term of(int id) const { return change_[id]; }

 private:
  constexpr term change_at(int id, const sequence<term>& changes) {
    const node n = g_[id];
    if (const int input = inputs_.number_of(id); input >= 0) return changes[input];
    if (const int input = inputs_.read_by(id); input >= 0) {
      term moved = changes[input];
      const neighbour_path path = path_of(g_, id);
      for (int s = path.count - 1; s >= 0 && !moved.is_zero(); --s)
        moved = shifted_within(moved, path.step[s], {&g_, inputs_[input]});
      return moved;
    }
    if (n.code == op::reduced) {
      const traced_reduction& f = g_.reduction_at(n.field(0));
      const int x = f.values[0], space = f.space;
      const partial p = derivative_of_reduction(g_, {&g_, id}, f, false);
      const term change = mapped(p, change_[x], g_[x].type);
      return change.is_zero() ? change : sum_of_elements(converted(change, n.type), space);
    }
    if (n.code == op::where) {
      const term zero = constant_term(&g_, n.type, 0), yes = change_[n.field(1)],
                 no = change_[n.field(2)];
      if (yes.is_zero() && no.is_zero()) return {};
      return terms::where({&g_, n.field(0)}, yes.is_zero() ? zero : yes, no.is_zero() ? zero : no);
    }
    term sum;
    for (int k = 0; k < operand_count(n.code); ++k)
      if (active_[n.field(k)] != 0 && !change_[n.field(k)].is_zero())
        sum = terms::sum(sum, mapped(derivative_of(g_, id, k), change_[n.field(k)], n.type));
    return sum;
  }
  // The map that a partial derivative describes, applied to a change.
  constexpr term mapped(const partial& p, const term& v, dtype result) {
    if (p.is_zero() || v.is_zero()) return {};
    term value = p.conjugates ? terms::conj(v) : p.times(v);
    if (!p.of_conjugate.is_zero())
      value = value + operate(op::multiply, terms::conj(v), p.of_conjugate);
    if (kind_of(result) == kind::real && value.is_complex()) value = terms::real(value);
    if (p.condition.is_zero()) return value;
    return terms::where(p.condition, value, constant_term(&g_, value.type(), 0));
  }

  graph& g_;
  const derivative_inputs& inputs_;
  int size_;
  sequence<char> active_;
  sequence<term> change_;
};

}  // namespace dsl::detail

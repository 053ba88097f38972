// The derivatives of reductions and of shifts.
#pragma once

#include <dsl/ir/counts.hpp>
#include <dsl/ir/derivative.hpp>
#include <dsl/ir/shift.hpp>

namespace dsl::detail {

/// The way in which a reduction of one value combines elements, if it has a derivative.
/// other_elements: the product of the elements but one, which is a product's derivative.
enum class combination { sum, product, other_elements, extremum, other };
constexpr combination combination_of(const graph& g, const traced_reduction& f) {
  const reduction_rule& rule = g.rule_at(f.rule);
  const graph& c = rule.combine;
  if (f.values.size() != 1 || rule.stores || c.outputs.size() != 1) return combination::other;
  const node& n = c[c.outputs[0]];
  const bool of_both = info(n.code).arity == 2 && c[n.field(0)].code == op::value &&
                       c[n.field(1)].code == op::value && n.field(0) != n.field(1);
  if (!of_both) return combination::other;
  switch (n.code) {
    case op::add: return combination::sum;
    case op::multiply:
      return c[n.field(0)].word.bits == 0 ? combination::product : combination::other_elements;
    case op::min:
    case op::max:
    case op::fmin:
    case op::fmax: return combination::extremum;
    default: return combination::other;
  }
}

/// Adds a reduction of one term over an index space, with a row of the op table, of accumulators in
/// the reverse order if `reversed`.
constexpr term reduce_term(const term& x, int space, op code, literal identity,
                           bool reversed = false) {
  return {x.g, reduce_node(*x.g, x.id, space, code, identity, reversed)};
}
constexpr term sum_of_elements(const term& x, int space) {
  return reduce_term(x, space, op::add, literal{});
}

/// The derivative of a reduction's result with respect to an element x.
constexpr partial derivative_of_reduction(graph& g, const term& result, const traced_reduction& f) {
  using namespace terms;
  const combination kind = combination_of(g, f);
  const int space = f.space;
  const term x{&g, f.values[0]};
  if (space > 0 && g.spaces[space - 1].reduces && g.spaces[space - 1].rank > 0)
    g.refuse_derivative(no_derivative::axes);
  if (kind == combination::sum) return 1.0;
  if (kind == combination::product) {
    // The product of the other elements: if one element is zero, only its derivative is not. Its
    // own derivative would miss that where an element is zero.
    const term one = beside(1, x), is_zero = x == beside(0, x);
    const term others = reduce_term(where(is_zero, converted(one, x.type()), x), space,
                                    op::multiply, literal_of(x.type(), 1), true);
    const term zeros = reduce_term(converted(is_zero, dtype::int64), space, op::add, literal{});
    const term number = constant_term(&g, dtype::int64, 0);
    return when(zeros == where(is_zero, constant_term(&g, dtype::int64, 1), number),
                where(is_zero, others, others / x));
  }
  if (kind == combination::extremum) {
    // The first element that attains it.
    constexpr literal none{0x7fffffffffffffff};
    const term position{&g, g.add(op::index, dtype::int64, fields(position_in(space)))};
    const term last{&g, g.add(op::constant, dtype::int64, none)};
    const term first = reduce_term(where(x == result, position, last), space, op::min, none);
    return when(position == first, 1.0);
  }
  g.refuse_derivative(kind == combination::other_elements ? no_derivative::product
                                                          : no_derivative::reduction);
  return none;
}

/// Whether there is an element at a distance along an axis from that of an operand: element
/// i - distance.
constexpr term is_inside(const term& operand, int axis, std::int64_t distance) {
  path_step by;
  by.axis = axis;
  by.distance = distance;
  return {operand.g, graph_shift(*operand.g, by).inside_for(operand.id)};
}
/// Shifts a term by a path step.
constexpr term shifted(const term& x, const path_step& by) {
  return {x.g, graph_shift(*x.g, by).of(x.id)};
}
/// Shifts a change of an operand, or a weight of its elements, by a step of the operand's. Its
/// extents decide what is beyond an end: x may be a value that all elements share.
constexpr term shifted_within(const term& x, path_step by, const term& operand) {
  const bool may_be_zero =
      by.slot < 0 && by.beyond == boundary::zero && !by.ends_inside && by.distance != 0;
  if (may_be_zero) {
    by.ends_inside = true;
    by.beyond = boundary::clamp;
  }
  const term moved = shifted(x, by);
  if (!may_be_zero) return moved;
  return terms::where(is_inside(operand, by.axis, by.distance), moved,
                      constant_term(x.g, x.type(), 0));
}
/// The transpose of the shift of an operand: the shift back, with what the boundary adds.
constexpr term shifted_back(const term& w, const path_step& by, const term& operand) {
  if (by.slot >= 0) w.g->refuse_derivative(no_derivative::given_shift);
  path_step back = by;
  back.distance = -by.distance;
  back.ends_inside = false;
  if (by.beyond == boundary::wrap) return shifted_within(w, back, operand);
  back.beyond = boundary::zero;
  const auto at = [&](std::int64_t distance) {
    path_step step = back;
    step.distance = distance;
    return shifted_within(w, step, operand);
  };
  const auto inside = [&](std::int64_t distance) { return is_inside(operand, by.axis, distance); };
  term sum = at(back.distance);
  if (by.ends_inside || by.beyond == boundary::zero) return sum;
  // Elements near an end are read once more for each step beyond it.
  constexpr std::int64_t most = 16;
  const std::int64_t count = by.distance < 0 ? -by.distance : by.distance,
                     way = by.distance < 0 ? 1 : -1;
  if (count > most) {
    w.g->refuse_derivative(no_derivative::far_shift);
    return w;
  }
  using namespace terms;
  const term zero = constant_term(w.g, w.type(), 0);
  if (by.beyond == boundary::clamp) {
    term beyond = w;
    for (std::int64_t k = 1; k < count; ++k) beyond = beyond + at(way * k);
    return sum + where(inside(-way), zero, beyond);
  }
  // reflect: the element k from the end is also the neighbour of the one count - k from it.
  for (std::int64_t k = 1; k <= count; ++k)
    sum = sum + where(inside(-way * k) && !inside(-way * (k + 1)), at(way * (count - 2 * k)), zero);
  // One element alone is its own neighbour. Along an axis of more elements, but no more than the
  // distance, it is reflected at both ends: NaN.
  term is_long = inside(count) || inside(-count);
  for (std::int64_t k = 1; k < count; ++k) is_long = is_long || (inside(-k) && inside(count - k));
  const term is_alone = !inside(1) && !inside(-1),
             nan = constant_term(w.g, w.type(), math::quiet_nan<double>);
  return where(is_alone, w, count == 1 ? sum : where(is_long, sum, nan));
}

/// A term that depends on an element, although not on its value: a choice between two equal values.
constexpr term beside_element(const term& w, int element) {
  const term itself = term{w.g, element} == term{w.g, element};
  return {w.g, w.g->add(op::where, w.type(), fields(itself.id, w.id, w.id))};
}

}  // namespace dsl::detail

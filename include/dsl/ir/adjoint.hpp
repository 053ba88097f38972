// The derivative of a graph by the reverse sweep: from weights of its outputs, those of its inputs.
#pragma once

#include <dsl/ir/counts.hpp>
#include <dsl/ir/derivative.hpp>
#include <dsl/ir/shift.hpp>

namespace dsl::detail {

constexpr bool may_have_derivative(dtype type) { return kind_of(type) >= kind::real; }

/// The inputs with respect to which a graph is differentiated: nodes. An operand of the formula is
/// an input with all its reads, those of neighbours as well. An input that is not an operand is
/// marked: it gets a node of its own, which does nothing, so that equal values which the formula
/// computes otherwise are other nodes.
class derivative_inputs {
 public:
  constexpr explicit derivative_inputs(graph& g) : g_(g) {}
  constexpr void add(int id) { nodes_.push_back(id); }
  /// Adds an input that is marked, and returns the mark.
  constexpr int add_marked(int id) {
    add(g_.add(op::positive, g_[id].type, fields(id, g_.size(), static_cast<int>(mark::marked))));
    return nodes_[nodes_.size() - 1];
  }
  constexpr bool is_mark(int id) const { return is_marked(g_[id]); }
  constexpr int count() const { return nodes_.size(); }
  constexpr int operator[](int i) const { return nodes_[i]; }
  /// The number of the input that a node is, or -1.
  constexpr int number_of(int id) const {
    int i = nodes_.size() - 1;
    while (i >= 0 && nodes_[i] != id) --i;
    return i;
  }
  /// The number of the input of which a node reads a neighbour, or -1.
  constexpr int read_by(int id) const {
    const node& n = g_[id];
    if (n.code != op::neighbour || is_placed_value(n) ||
        static_cast<op>(n.field(2) & 0xff) != op::load)
      return -1;
    int i = nodes_.size() - 1;
    while (i >= 0 && !(g_[nodes_[i]].code == op::load && g_[nodes_[i]].field(0) == n.field(0))) --i;
    return i;
  }

  /// The number of the input from which a node takes the element at a position, or -1.
  constexpr int taken_from(const node& n) const {
    if (n.code != op::gather) return -1;
    const int address = n.field(0);
    int leaf = is_stored_address(g_[address]) ? -1 : g_[address].field(0);
    for (int i = 0; i < g_.taken_sources.size(); ++i)
      if (g_.taken_sources[i].address == address) leaf = g_.taken_sources[i].leaf;
    int i = nodes_.size() - 1;
    while (i >= 0 && !(g_[nodes_[i]].code == op::load && g_[nodes_[i]].field(0) == leaf)) --i;
    return i;
  }

  /// For each node, whether it depends on an input by operations that have derivatives. `takes`:
  /// the elements of inputs that are taken have weights of their own; otherwise they are refused.
  constexpr sequence<char> active(int size, bool takes = false) const {
    sequence<char> marks(size, 0);
    for (int i = 0; i < size; ++i) {
      if (number_of(i) >= 0 || read_by(i) >= 0) marks[i] = 1;
      const node& n = g_[i];
      if (marks[i] != 0 || !may_have_derivative(n.type) || has_mark(n, mark::stopped)) continue;
      if (is_mark(i) && moves_mark(i)) g_.refuse_derivative(no_derivative::neighbours);
      if (taken_from(n) >= 0) {
        if (!takes) g_.refuse_derivative(no_derivative::taken);
        marks[i] = 1;
        continue;
      }
      if (n.code == op::reduced) {
        const traced_reduction& f = g_.reduction_at(n.field(0));
        for (int k = 0; k < f.values.size(); ++k)
          if (marks[f.values[k]] != 0) marks[i] = 1;
        continue;
      }
      for (int k = 0; k < count_inputs(n); ++k)
        if (marks[input_node(n, k)] != 0) marks[i] = 1;
      if (marks[i] == 0) continue;
      if (n.code == op::result || n.code == op::call) g_.refuse_derivative(no_derivative::functor);
      if (is_placed(n.code)) g_.refuse_derivative(no_derivative::neighbours);
    }
    return marks;
  }

 private:
  // Whether a mark is that of an input at another place.
  constexpr bool moves_mark(int id) const {
    for (int i = 0; i < nodes_.size(); ++i)
      if (is_mark(nodes_[i]) && g_[nodes_[i]].field(1) == g_[id].field(1)) return true;
    return false;
  }
  graph& g_;
  sequence<int> nodes_;
};

/// The position at which a node op::gather takes an element.
constexpr term taken_position(graph& g, int gather) {
  const node& n = g[gather];
  const node& offset = g[n.field(1)];
  for (int i = 0; i < g.taken_sources.size(); ++i) {
    const taken_source& s = g.taken_sources[i];
    if (s.address != n.field(0) || offset.code != op::multiply) continue;
    if (offset.field(1) == s.stride) return {&g, offset.field(0)};
    if (offset.field(0) == s.stride) return {&g, offset.field(1)};
  }
  return {&g, n.field(1)};
}

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

/// Whether nodes are computed with reductions, apart from those by which their arguments are.
constexpr bool reduces_between(const graph& g, const sequence<int>& arguments,
                               const sequence<int>& nodes) {
  sequence<char> needed(g.size(), 0), is_argument(g.size(), 0);
  for (const int id : arguments) is_argument[id] = 1;
  for (const int id : nodes) needed[id] = 1;
  bool reduces = false;
  for (int i = g.size() - 1; i >= 0; --i) {
    if (needed[i] == 0 || is_argument[i] != 0) continue;
    reduces = reduces || g[i].code == op::reduced || g[i].code == op::count;
    for (int k = 0; k < count_inputs(g[i]); ++k) needed[input_node(g[i], k)] = 1;
  }
  return reduces;
}

/// The reverse sweep. From weights of some nodes it computes the weight of each input: the sum over
/// these nodes of weight times derivative.
///
class adjoint_sweep {
 public:
  /// `size`: the number of the nodes that are differentiated, the first ones. `sums`: the weight of
  /// a value that all elements share is the sum over the elements; otherwise each element has its
  /// own. `takes`: `of_taken` is used.
  constexpr adjoint_sweep(graph& g, const derivative_inputs& inputs, int size, bool sums,
                          bool takes = false)
      : g_(g),
        inputs_(inputs),
        size_(size),
        active_(inputs.active(size_, takes)),
        is_element_(find_elements()),
        sums_(sums),
        own_(size_, weight{}),
        spaces_(size_, g.space),
        of_elements_(sums_ ? size_ : 0, weight{}),
        element_spaces_(sums_ ? size_ : 0, 0),
        neighbours_(inputs.count(), term{}) {}

  /// Adds to the weight of a node.
  constexpr void seed(int id, const term& w) {
    if (w.is_complex() && kind_of(g_[id].type) == kind::real)
      return g_.refuse_derivative(no_derivative::complex_weight);
    add(own_[id], converted(w, g_[id].type), term{});
  }

  /// Propagates the weights.
  constexpr void run() {
    for (int i = size_ - 1; i >= 0; --i) {
      if (active_[i] == 0) continue;
      const weight w = total(i);
      if (w.value.is_zero()) continue;
      own_[i] = w;
      propagate(i, w);
    }
  }
  /// The weight of input number i; zero if the seeded nodes do not depend on it.
  constexpr term of(int i) const {
    const term w = terms::sum(masked(own_[inputs_[i]]), neighbours_[i]);
    return sums_ && is_element(inputs_[i]) ? of_each_element(w, inputs_[i]) : w;
  }
  /// The weight of an element that is taken, and its position, as values of each element.
  constexpr term of_taken(int gather) const {
    return of_each_element(masked(own_[gather]), gather);
  }
  constexpr term position_of_taken(int gather) const {
    return of_each_element(taken_position(g_, gather), gather);
  }

 private:
  /// A weight, and where it applies: elsewhere it is zero, whatever the value is. So no infinite
  /// derivative of a value that `where` does not choose is multiplied by zero.
  struct weight { term value{}, condition{}; };
  constexpr bool is_element(int id) const { return is_element_[id] != 0; }
  // For each node, whether it is computed for each element of the formula. An argument that is the
  // result of reductions along axes has elements as well.
  constexpr sequence<char> find_elements() const {
    const node_origins<graph> origins(g_);
    sequence<char> marks(size_, 0);
    for (int i = 0; i < size_; ++i) {
      const origin& o = origins[i];
      if (o.kind == origin::element) marks[i] = 1;
      else if (g_[i].code == op::reduced) marks[i] = o.is_array && o.space != g_.space ? 1 : 0;
      else
        for (int k = 0; k < count_inputs(g_[i]); ++k) marks[i] |= marks[input_node(g_[i], k)];
    }
    return marks;
  }
  // A value that all elements share, as one for each element.
  constexpr term of_each_element(term w, int element) const {
    if (w.is_zero()) w = constant_term(&g_, g_[element].type, 0);
    if (node_origins<graph>(g_)[w.id].kind == origin::element) return w;
    return beside_element(w, element);
  }

  static constexpr term masked(const weight& w) {
    if (w.value.is_zero() || w.condition.is_zero()) return w.value;
    return terms::where(w.condition, w.value, constant_term(w.value.g, w.value.type(), 0));
  }
  constexpr void add(weight& to, const term& value, const term& condition) {
    if (to.value.is_zero()) {
      to = {value, condition};
    } else if (to.condition.id == condition.id) {
      to.value = terms::sum(to.value, value);
    } else {
      const bool always = to.condition.is_zero() || condition.is_zero();
      const term both = terms::sum(masked(to), masked({value, condition}));
      to = {both, always ? term{} : operate(op::logical_or, to.condition, condition)};
    }
  }
  constexpr weight total(int id) {
    if (!sums_ || of_elements_[id].value.is_zero()) return own_[id];
    weight w = own_[id];
    add(w, sum_of_elements(masked(of_elements_[id]), element_spaces_[id]), term{});
    return w;
  }

  // Adds to the weight of a node, on behalf of another one that is computed from it.
  constexpr void give(int from, int to, const weight& w) {
    const bool sums = sums_ && is_element(from) && !is_element(to);
    (sums ? element_spaces_ : spaces_)[to] = spaces_[from];
    add((sums ? of_elements_ : own_)[to], converted(w.value, g_[to].type), w.condition);
  }
  constexpr void give(int from, int to, weight w, const partial& p) {
    if (p.is_zero()) return;
    if (!p.condition.is_zero())
      w.condition =
          w.condition.is_zero() ? p.condition : operate(op::logical_and, w.condition, p.condition);
    const bool to_real = kind_of(g_[to].type) == kind::real;
    term value = p.conjugates ? terms::conj(w.value) : p.times(w.value);
    if (!p.of_conjugate.is_zero())
      value = value + terms::conj(operate(op::multiply, w.value, p.of_conjugate));
    if (to_real && value.is_complex()) value = terms::real(value);
    give(from, to, {value, w.condition});
  }

  constexpr void propagate(int id, const weight& w) {
    const node n = g_[id];
    if (inputs_.number_of(id) >= 0 || inputs_.taken_from(n) >= 0) return;
    if (n.code == op::reduced) return propagate_reduction(id, w);
    if (const int input = inputs_.read_by(id); input >= 0) {
      const neighbour_path path = path_of(g_, id);
      term back = masked(w);
      const term operand{&g_, inputs_[input]};
      for (int s = 0; s < path.count; ++s) back = shifted_back(back, path.step[s], operand);
      neighbours_[input] = terms::sum(neighbours_[input], back);
      return;
    }
    for (int k = 0; k < operand_count(n.code); ++k)
      if (active_[n.field(k)] != 0) give(id, n.field(k), w, derivative_of(g_, id, k));
  }
  constexpr void propagate_reduction(int id, const weight& w) {
    const node n = g_[id];
    const traced_reduction& f = g_.reduction_at(n.field(0));
    const int x = f.values[0], space = f.space;
    if (is_element(x)) {
      const partial p = derivative_of_reduction(g_, {&g_, id}, f);
      spaces_[x] = space;
      // The elements share the weight: nothing is summed.
      return give(x, x, {masked(w), term{}}, p);
    }
    if (combination_of(g_, f) != combination::sum)
      g_.refuse_derivative(no_derivative::shared_reduction);
    const term count = converted({&g_, count_elements(g_, space)}, real_of(n.type));
    give(id, x, {masked(w), term{}}, partial(count));
  }

  graph& g_;
  const derivative_inputs& inputs_;
  int size_;
  sequence<char> active_;
  sequence<char> is_element_;
  bool sums_;
  // Of each node: its weight; the index space of its elements. Of a node that all elements share:
  // the weights that they give it, and their index space.
  sequence<weight> own_;
  sequence<int> spaces_;
  sequence<weight> of_elements_;
  sequence<int> element_spaces_;
  sequence<term> neighbours_;  // Of each input: the weight from reads of its neighbours.
};

}  // namespace dsl::detail

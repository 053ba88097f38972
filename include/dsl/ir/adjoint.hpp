// The derivative of a graph by the reverse sweep: from weights of its outputs, those of its inputs.
#pragma once

#include <dsl/ir/derivative_inputs.hpp>
#include <dsl/ir/reduction_derivative.hpp>

namespace dsl::detail {

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
    if (is_of_elements(g_, w.id)) return w;
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

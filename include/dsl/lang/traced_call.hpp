// A call of a formula that is traced in order to differentiate it.
#pragma once

#include <dsl/ir/replace.hpp>
#include <dsl/ir/tangent.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl::detail {

/// A formula that is traced in order to differentiate it: its arguments, as nodes that can be told
/// apart, the inputs among them, and the number of nodes afterwards.
class differentiated_call {
 public:
  /// `inputs`: for each argument, whether the formula is differentiated with respect to it.
  template <std::size_t N>
  constexpr differentiated_call(graph* g, const int (&arguments)[N], const bool (&inputs)[N])
      : g_(*g), inputs_(*g) {
    for (std::size_t i = 0; i < N; ++i) {
      const bool is_own = is_operand(arguments[i]) && is_alone(arguments, i);
      nodes_.push_back(arguments[i]);
      if (!inputs[i]) continue;
      if (is_own) inputs_.add(arguments[i]);
      else nodes_[static_cast<int>(i)] = inputs_.add_marked(arguments[i]);
    }
  }
  constexpr graph& owner() const { return g_; }
  constexpr const derivative_inputs& inputs() const { return inputs_; }
  constexpr int argument(std::size_t i) const { return nodes_[static_cast<int>(i)]; }
  /// The number of an argument among the inputs, or -1.
  constexpr int input_number(std::size_t i) const { return inputs_.number_of(argument(i)); }

  /// The term with the arguments in place of their marks.
  constexpr term without_marks(const term& x) const {
    bool has_marks = false;
    for (int i = 0; i < inputs_.count(); ++i) has_marks = has_marks || inputs_.is_mark(inputs_[i]);
    if (x.is_zero() || !has_marks) return x;
    return {&g_, replace_nodes(g_, x.id, [this](int id, const sequence<int>& to) {
              const bool is_input = inputs_.is_mark(id) && inputs_.number_of(id) >= 0;
              return is_input ? to[g_[id].field(0)] : -1;
            })};
  }

 private:
  constexpr bool is_operand(int id) const {
    const op code = g_[id].code;
    return code == op::load || code == op::value || code == op::load_scalar;
  }
  // Whether no other argument is computed from this one.
  template <std::size_t N>
  constexpr bool is_alone(const int (&arguments)[N], std::size_t number) const {
    for (std::size_t i = 0; i < N; ++i)
      if (i != number && reads(arguments[i], g_[arguments[number]].field(0))) return false;
    return true;
  }
  // Whether a node is computed from an operand.
  constexpr bool reads(int id, int operand) const {
    if (is_operand(id)) return g_[id].field(0) == operand;
    sequence<char> root(g_.size(), 0);
    root[id] = 1;
    const sequence<char> needed = needed_in_pass(g_, std::move(root), sequence<char>(g_.size(), 0));
    for (int i = 0; i < needed.size(); ++i)
      if (needed[i] != 0 && leaf_of(g_[i]) == operand) return true;
    return false;
  }

  graph& g_;
  derivative_inputs inputs_;
  sequence<int> nodes_;
};

/// The dtype of a derivative with respect to an argument: the argument's own. For a C++ number it
/// has the precision of the values.
constexpr dtype derivative_dtype(weak_dtype argument, dtype value) {
  if (!argument.weak) return argument.type;
  if (kind_of(argument.type) != kind::complex) return real_of(value);
  return real_of(value) == dtype::float64 ? dtype::complex128 : dtype::complex64;
}
template <dtype D>
constexpr symbol<D> symbol_of(graph* g, const term& x) {
  if (x.is_zero()) return constant<D>(g, value_t<D>{});
  return {g, converted(x, D).id};
}
/// What a formula returned, as a tuple of symbols.
template <class R>
constexpr auto result_symbols(graph* g, const R& result) {
  if constexpr (is_tuple<R>)
    return unpack([g](const auto&... r) { return concatenate(result_symbols(g, r)...); }, result);
  else return tuple{lift(g, result)};
}
/// One value as it is, several as a tuple.
template <class... S>
constexpr auto one_or_all(const tuple<S...>& all) {
  if constexpr (sizeof...(S) == 1) return get<0>(all);
  else return all;
}

/// A call of formula F with symbols S. `Inputs`: a bit for each argument with respect to which it
/// is differentiated.
template <class F, std::uint64_t Inputs, class... S>
struct traced_call {
  static constexpr std::size_t count = sizeof...(S);
  template <std::size_t I> static constexpr weak_dtype argument =
      std::tuple_element_t<I, tuple<S...>>::type;

  differentiated_call call;
  graph* g;
  using outputs_type = decltype(result_symbols(nullptr, F{}(std::declval<S&>()...)));
  static constexpr std::size_t output_count = std::tuple_size_v<outputs_type>;
  outputs_type outputs;
  int size;
  // The formula reduces its arguments: the derivative with respect to a value that all elements
  // share is summed over them.
  bool sums = false;
  int ids[output_count > 0 ? output_count : 1]{};  // The outputs' nodes.

  constexpr explicit traced_call(graph* owner, const tuple<S...>& s)
      : traced_call(owner, s, std::index_sequence_for<S...>{}) {}

  template <std::size_t K> using output = std::tuple_element_t<K, outputs_type>;

  constexpr term one_beside(int id) const { return constant_term(g, (*g)[id].type, 1); }
  /// The weights of all inputs, for weights of some nodes (zero: none).
  constexpr sequence<term> weights(const sequence<int>& nodes,
                                   const sequence<term>& of_nodes) const {
    return weights_and_taken(nodes, of_nodes, nullptr);
  }
  /// The same; and if `taken` is given, for each element that the formula takes of an input, in the
  /// nodes' order, adds its weight and its position.
  constexpr sequence<term> weights_and_taken(const sequence<int>& nodes,
                                             const sequence<term>& of_nodes,
                                             sequence<term>* taken) const {
    const int before = g->size();
    adjoint_sweep sweep(*g, call.inputs(), before, sums, taken != nullptr);
    for (int k = 0; k < nodes.size(); ++k)
      if (!of_nodes[k].is_zero()) sweep.seed(nodes[k], of_nodes[k]);
    sweep.run();
    for (int i = 0; taken != nullptr && i < before; ++i)
      if (call.inputs().taken_from((*g)[i]) >= 0) {
        taken->push_back(sweep.of_taken(i));
        taken->push_back(sweep.position_of_taken(i));
      }
    sequence<term> found;
    for (int i = 0; i < call.inputs().count(); ++i) found.push_back(sweep.of(i));
    return found;
  }
  /// The derivatives of one node with respect to all inputs.
  constexpr sequence<term> gradient(int id) const {
    sequence<int> node;
    sequence<term> one;
    node.push_back(id);
    one.push_back(one_beside(id));
    return weights(node, one);
  }
  /// The changes of all outputs, for changes of the inputs (zero: none).
  constexpr sequence<term> changes(const sequence<term>& of_inputs) const {
    tangent_sweep sweep(*g, call.inputs(), size);
    sweep.run(of_inputs);
    sequence<term> found;
    for (int k = 0; k < static_cast<int>(output_count); ++k) found.push_back(sweep.of(ids[k]));
    return found;
  }

  template <dtype D>
  constexpr symbol<D> result(const term& x) const {
    return symbol_of<D>(g, call.without_marks(x));
  }
  /// The outputs, computed from the arguments themselves.
  constexpr outputs_type values() const {
    return unpack(
        [this](const auto&... y) {
          return outputs_type{
              std::remove_cvref_t<decltype(y)>{g, call.without_marks(term{g, y.id}).id}...};
        },
        outputs);
  }

 private:
  template <std::size_t... I>
  constexpr traced_call(graph* owner, const tuple<S...>& s, std::index_sequence<I...>)
      : call(owner, {get<I>(s).id...}, {(Inputs >> I & 1) != 0 ...}),
        g(owner),
        outputs(trace(std::index_sequence<I...>{})),
        size(owner->size()) {
    int k = 0;
    unpack([&](const auto&... y) { ((ids[k++] = y.id), ...); }, outputs);
    sequence<int> arguments, nodes;
    (arguments.push_back(call.argument(I)), ...);
    for (int i = 0; i < k; ++i) nodes.push_back(ids[i]);
    sums = reduces_between(*g, arguments, nodes);
  }
  template <std::size_t... I>
  constexpr auto trace(std::index_sequence<I...>) const {
    // A variance is computed by sums, which have derivatives.
    const bool again = g->reads_rows_again;
    g->reads_rows_again = true;
    tuple<S...> arguments{S{g, call.argument(I)}...};
    const auto made =
        unpack([this](auto&... a) { return result_symbols(g, F{}(a...)); }, arguments);
    g->reads_rows_again = again;
    return made;
  }
};

}  // namespace dsl::detail

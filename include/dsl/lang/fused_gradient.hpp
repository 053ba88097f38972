// The gradient of a loss that reduces rows, as one formula of rows: it fuses as the loss does.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/lang/expression_shape.hpp>
#include <dsl/lang/may_read.hpp>
#include <dsl/lang/reduction_weights.hpp>
#include <dsl/lang/row_part.hpp>

namespace dsl::detail {

/// The operands that a formula of rows needs for a part E of a loss, apart from the variable, and
/// the part's value. `Inside`: inside a reduction each array of the variable's type is the
/// variable; outside a flag says whether it is.
template <class V, class E, bool Inside, bool Beside> struct row_operands {
  static constexpr std::size_t size = !std::same_as<E, V> ? 1 : Inside ? 0 : 2;

  template <class Row>
  static auto of(const E& e, Row& row) {
    if constexpr (std::same_as<E, V>) {
      if constexpr (Inside) {
        row.require_variable(e);
        return tuple<>{};
      } else {
        return tuple{value_leaf<bool>{row.is_variable(e)}, e};
      }
    } else {
      row.require_apart(e);
      if constexpr (Beside && E::rank > 0) return tuple{beside_elements<V::rank>(e, row.axes())};
      else return tuple<E>(e);
    }
  }
  template <std::size_t First, class S, class All>
  static constexpr auto trace(tracer& t, const S& variable, const All& all) {
    if constexpr (std::same_as<E, V>) {
      if constexpr (Inside) return variable;
      else return apply<op::where>(get<First>(all), variable, get<First + 1>(all));
    } else if constexpr (Beside && E::rank > 0) {
      return max_function::trace(t, get<First>(all));  // All elements of the row have this value.
    } else {
      return get<First>(all);
    }
  }
};
template <class V, class F, bool Inside, bool Beside, class... X> struct row_operands_of_all {
  static constexpr std::size_t size = (0 + ... + row_operands<V, X, Inside, Beside>::size);

  template <class Row>
  static auto of(const tuple<X...>& all, Row& row) {
    return unpack(
        [&](const auto&... x) {
          return concatenate(tuple<>{}, row_operands<V, X, Inside, Beside>::of(x, row)...);
        },
        all);
  }
  template <std::size_t First, class S, class All>
  static constexpr auto trace(tracer& t, const S& variable, const All& all) {
    return trace<First>(t, variable, all, std::index_sequence_for<X...>{});
  }

 private:
  template <std::size_t First, class S, class All, std::size_t... I>
  static constexpr auto trace(tracer& t, const S& variable, const All& all,
                              std::index_sequence<I...>) {
    constexpr std::size_t sizes[] = {row_operands<V, X, Inside, Beside>::size..., 0};
    constexpr auto before = [sizes](std::size_t i) {
      std::size_t n = First;
      for (std::size_t k = 0; k < i; ++k) n += sizes[k];
      return n;
    };
    return F::trace(
        t, row_operands<V, X, Inside, Beside>::template trace<before(I)>(t, variable, all)...);
  }
};
template <class V, class F, class... X, bool Inside, bool Beside>
struct row_operands<V, expression<F, X...>, Inside, Beside>
    : row_operands_of_all<V, F, Inside, Beside, X...> {
  using base = row_operands_of_all<V, F, Inside, Beside, X...>;
  template <class Row>
  static auto of(const expression<F, X...>& e, Row& row) {
    return base::of(e.operands, row);
  }
};
template <class V, class F, int R, class... X, bool Inside, bool Beside>
struct row_operands<V, reduction<F, R, X...>, Inside, Beside>
    : row_operands_of_all<V, F, true, false, X...> {
  using base = row_operands_of_all<V, F, true, false, X...>;
  using E = reduction<F, R, X...>;
  static constexpr bool is_operand = row_part_of<V, E>::is_operand;
  static constexpr std::size_t size = is_operand ? 1 : base::size;
  template <class Row>
  static auto of(const E& e, Row& row) {
    if constexpr (is_operand) {
      return tuple{as_operand(eval(e))};
    } else {
      if constexpr (R > 0) row.require_axes(e.axes);
      row.require_shape(shape_of_expression(get<0>(e.operands)));
      return base::of(e.operands, row);
    }
  }
  template <std::size_t First, class S, class All>
  static constexpr auto trace(tracer& t, const S& variable, const All& all) {
    if constexpr (is_operand) return get<First>(all);
    else return base::template trace<First>(t, variable, all);
  }
};

/// The variable of a formula of rows when it runs, and whether the operands are what the formula
/// takes them for.
template <class V>
class row_variable {
 public:
  explicit row_variable(const V& variable) : extents_(variable.extents()) {
    operand* at = &variable_;
    add_leaves(variable, at);
    require(variable.strides() == row_major(extents_));
  }
  bool holds() const { return holds_; }
  /// The axes that are reduced, a bit for each; 0: not known yet.
  std::uint32_t axes() const { return axes_; }

  bool is_variable(const V& x) {
    const operand o = leaf(x);
    if (o.word[0] == variable_.word[0] && x.extents() == extents_ &&
        std::equal(o.strides, o.strides + o.rank, variable_.strides))
      return occurs_ = true;
    require(!may_share_elements(o, variable_));
    return false;
  }
  void require_variable(const V& x) { require(is_variable(x)); }
  template <class E>
  void require_apart(const E& e) {
    if constexpr (is_view_leaf<E>) require_apart(leaf(e));
  }
  void require_apart(const operand& o) { require(!may_share_elements(o, variable_)); }
  void require_axes(std::uint32_t axes) {
    constexpr std::uint32_t all = (1u << V::rank) - 1;
    axes &= all;
    require(axes != all && (axes_ == 0 || axes == axes_));
    axes_ = axes;
  }
  void require_shape(const extents<V::rank>& shape) { require(shape == extents_); }
  /// Requires that a part whose elements are summed has the given shape, and uses the variable.
  template <row_shape Shape, std::size_t R>
  void require_summed(const std::array<std::int64_t, R>& shape) {
    std::array<std::int64_t, R> expected{};
    for (std::size_t d = 0, k = 0; d < extents_.size(); ++d) {
      const bool reduced = Shape != row_shape::elements && (axes_ >> d & 1) != 0;
      if (Shape != row_shape::left || !reduced) expected[k++] = reduced ? 1 : extents_[d];
    }
    require(shape == expected && occurs_);
    occurs_ = false;
  }

 private:
  template <class E>
  static operand leaf(const E& e) {
    operand o, *at = &o;
    add_leaves(e, at);
    return o;
  }
  void require(bool condition) { holds_ = holds_ && condition; }

  operand variable_;
  extents<V::rank> extents_;
  std::uint32_t axes_ = 0;
  bool holds_ = true, occurs_ = false;
};

/// The axes of the first reduction of rows in a part of a loss; 0 if there is none.
template <class V, class E>
std::uint32_t reduced_axes(const E&) {
  return 0;
}
template <class V, class F, class... X>
std::uint32_t reduced_axes(const expression<F, X...>& e) {
  return unpack(
      [](const auto&... x) {
        std::uint32_t found = 0;
        (void)(((found = reduced_axes<V>(x)) != 0) || ...);
        return found;
      },
      e.operands);
}
template <class V, class F, int R, class... X>
std::uint32_t reduced_axes(const reduction<F, R, X...>& e) {
  if constexpr (R == 0 || row_part_of<V, reduction<F, R, X...>>::is_operand) return 0;
  else return e.axes & ((1u << V::rank) - 1);
}

/// The gradient with respect to a variable of the sums of parts E, each times its weight, as a
/// formula of rows. The arguments are the weights, the variable's element, the parts' operands.
template <class V, class... E>
struct fused_gradient_formula {
  template <class... S> constexpr auto operator()(S... s) const {
    return run(tuple<S...>(s...), std::index_sequence_for<E...>{});
  }

 private:
  template <class E1> static constexpr bool is_beside =
      row_part_of<V, E1>::value.shape == row_shape::left;
  template <class All, std::size_t... K>
  static constexpr auto run(const All& all, std::index_sequence<K...>) {
    constexpr std::size_t n = sizeof...(K);
    constexpr std::size_t sizes[] = {row_operands<V, E, false, is_beside<E>>::size...};
    constexpr auto before = [sizes](std::size_t i) {
      std::size_t first = n + 1;
      for (std::size_t k = 0; k < i; ++k) first += sizes[k];
      return first;
    };
    const auto variable = get<n>(all);
    graph* const g = variable.owner;
    tracer t{g};
    const bool again = g->reads_rows_again;
    g->reads_rows_again = true;
    const tuple values{
        row_operands<V, E, false, is_beside<E>>::template trace<before(K)>(t, variable, all)...};
    g->reads_rows_again = again;
    derivative_inputs inputs(*g);
    inputs.add(variable.id);
    adjoint_sweep sweep(*g, inputs, g->size(), true);
    (sweep.seed(get<K>(values).id, term{g, get<K>(all).id}), ...);
    sweep.run();
    return symbol_of<std::remove_cvref_t<decltype(variable)>::type.type>(g, sweep.of(0));
  }
};

/// A sum of all elements of a part that one formula of rows can compute.
template <class V, class X> inline constexpr bool is_sum_of_rows = false;
template <class V, class X> inline constexpr row_part part_of_sum{};
template <class V, class F, class X>
inline constexpr bool is_sum_of_rows<V, reduction<F, 0, X>> = [] {
  constexpr row_part p = row_part_of<V, X>::value;
  return (is_sum<F> || std::same_as<F, mean_function>) && p.is_formula && p.may_use &&
         p.shape != row_shape::shared;
}();
template <class V, class F, class X>
inline constexpr row_part part_of_sum<V, reduction<F, 0, X>> = row_part_of<V, X>::value;

/// Whether a loss's gradient with respect to a variable of type V is one formula of rows: the loss
/// is a formula of sums of such parts, and of values that do not depend on the variable.
template <class V, class Loss>
inline constexpr bool has_fused_gradient = []<class... X>(std::type_identity<tuple<X...>>) {
  bool is_formula = V::rank > 0;
  row_part all;
  const auto add = [&](bool is_sum, const row_part& p, bool is_constant) {
    is_formula = is_formula && (is_sum || is_constant);
    all.of_rows = all.of_rows || p.of_rows;
    all.of_all = all.of_all || p.of_all;
  };
  (add(is_sum_of_rows<V, X>, part_of_sum<V, X>, X::rank == 0 && !may_read<X, V>), ...);
  return is_formula && all.of_rows != all.of_all;
}(std::type_identity<region_operands_t<Loss>>{});

/// The gradient of a loss with respect to one variable by one statement.
template <class Loss, class V>
class fused_gradient {
  using operands = region_operands_t<Loss>;
  template <std::size_t K> using operand_type = std::tuple_element_t<K, operands>;
  static constexpr std::make_index_sequence<region_size<Loss>> numbers{};
  struct of_sums {
    template <std::size_t K> static constexpr bool holds = is_sum_of_rows<V, operand_type<K>>;
  };
  using sums = decltype(chosen<of_sums>(numbers));

 public:
  /// Assigns it. Returns false, and does nothing, if the loss uses an array otherwise than its type
  /// says: one of the variable's dtype inside a reduction that is not the variable, a part of it,
  /// rows along several axes.
  template <class Target>
  static bool assign_to(Target&& target, const Loss& loss, const V& variable, device where) {
    const operands all = region_operands(loss);
    row_variable<V> row(variable);
    unpack([&](const auto&... x) { (note(x, row), ...); }, all);
    return row.holds() && assign_to(target, all, row, variable, where, sums{});
  }

 private:
  template <class X> static constexpr row_shape shape = part_of_sum<V, X>.shape;
  template <class X> static constexpr bool is_beside = shape<X> == row_shape::left;
  template <class X>
  static const auto& part(const X& sum) {
    return get<0>(sum.operands);
  }
  template <class X>
  static void note(const X& x, row_variable<V>& row) {
    if constexpr (is_sum_of_rows<V, X>) {
      if (const std::uint32_t axes = reduced_axes<V>(part(x)); axes != 0) row.require_axes(axes);
    } else {
      for (const operand& o : leaves_of<X>(x).at) row.require_apart(o);
    }
  }
  template <class Target, std::size_t... K>
  static bool assign_to(Target&& target, const operands& all, row_variable<V>& row,
                        const V& variable, device where, std::index_sequence<K...>) {
    const auto own = concatenate(tuple<>{}, operands_of_part(get<K>(all), row)...);
    if (!row.holds()) return false;
    const auto weights = weights_of(all, where);
    const auto call = [&](const auto&... x) {
      using formula_type =
          fused_gradient_formula<V, std::remove_cvref_t<decltype(part(get<K>(all)))>...>;
      if constexpr ((part_of_sum<V, operand_type<K>>.of_rows || ...)) {
        using rows = row_formula<unnamed, formula_type, V::rank, 0, 0>;
        return reduction<rows, V::rank, std::remove_cvref_t<decltype(x)>...>{
            {}, {x...}, row.axes()};
      } else {
        return make_checked_expression<formula<unnamed, formula_type>>(x...);
      }
    };
    assign(target, unpack(call, concatenate(weights, tuple{variable}, own)));
    return true;
  }
  template <class X>
  static auto operands_of_part(const X& sum, row_variable<V>& row) {
    using part_type = std::remove_cvref_t<decltype(part(sum))>;
    auto found = row_operands<V, part_type, false, is_beside<X>>::of(part(sum), row);
    row.template require_summed<shape<X>>(shape_of_expression(part(sum)));
    return found;
  }

  // The weight of each element of the parts.
  template <std::size_t I, std::size_t... K>
  static constexpr bool weights_read_operand(std::index_sequence<K...>) {
    return (weights_read<Loss, I, K>() || ...);
  }
  static constexpr value_leaf<element_t<real_of(trace_t<Loss>::type.type)>> one{1};
  template <std::size_t K, class Held>
  static auto weight_of_sum(const Held& held) {
    return unpack(
        [](const auto&... x) {
          return make_checked_expression<
              region_gradient<Loss, trace_t<operand_type<K>>::type.type, K>>(
              value_leaf<bool>{true}, value_leaf<bool>{false}, one, as_operand(x)...);
        },
        held);
  }
  static auto weights_of(const operands& all, [[maybe_unused]] device where) {
    return [&]<std::size_t... I, std::size_t... K>(std::index_sequence<I...>,
                                                   std::index_sequence<K...>) {
      if constexpr (is_cut<Loss>) {
        return tuple{of_each(get<K>(all), one)...};
      } else {
        const tuple held{evaluated_operand(get<I>(all), weights_read_operand<I>(sums{}), where)...};
        return tuple{of_each(get<K>(all), weight_of_sum<K>(held))...};
      }
    }(numbers, sums{});
  }
  template <class F, class X, class Weight>
  static auto of_each(const reduction<F, 0, X>& sum, const Weight& weight) {
    if constexpr (std::same_as<F, mean_function>) {
      double count = 1;
      for (const std::int64_t extent : shape_of_expression(part(sum)))
        count *= static_cast<double>(extent);
      return scaled(weight, 1 / count);
    } else {
      return weight;
    }
  }
};

}  // namespace dsl::detail

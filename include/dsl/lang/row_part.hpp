// A part of a loss, as its type describes it beside a variable: whether one formula of rows can
// compute it.
#pragma once

#include <dsl/lang/region.hpp>

namespace dsl::detail {

/// The shape of a part of a loss, beside that of a variable: the variable's own; the same with one
/// element along the axes that are reduced; without these axes; one value.
enum class row_shape : std::uint8_t { elements, kept, left, shared };

/// What the type of a part of a loss says of its use of a variable.
struct row_part {
  row_shape shape = row_shape::shared;
  // Whether one formula of rows can compute it.
  bool is_formula = true;
  // Whether it reduces rows, and all elements.
  bool of_rows = false, of_all = false;
  // Whether the variable may stand in it.
  bool may_use = false;
};

/// Whether an expression may read elements of dtype T in memory.
template <class E, class T> inline constexpr bool has_elements_of = false;
template <class T, int R> inline constexpr bool has_elements_of<view<const T, R>, T> = true;
template <class T, int R> inline constexpr bool has_elements_of<neighbour_leaf<T, R>, T> = true;
template <class T, int R> inline constexpr bool has_elements_of<address_leaf<T, R>, T> = true;
template <class F, class... X, class T>
inline constexpr bool has_elements_of<expression<F, X...>, T> = (has_elements_of<X, T> || ...);
template <class F, int R, class... X, class T>
inline constexpr bool has_elements_of<reduction<F, R, X...>, T> = (has_elements_of<X, T> || ...);

/// Describes a part E of a loss beside a variable of type V. A leaf of lower rank lies along the
/// last axes, or beside what is left of rows.
template <class V, class E> struct row_part_of {
  static constexpr row_part value = [] {
    row_part p;
    p.is_formula = leaf_count<E> == 1 && !is_neighbour_leaf<E> && is_symbol<trace_t<E>>;
    if (E::rank > 0) p.shape = row_shape::elements;
    p.may_use = std::same_as<E, V>;
    return p;
  }();
  /// Whether it stands beside what is left of rows.
  template <int Left> static constexpr bool stands_beside =
      E::rank == 0 ||
      (E::rank == Left && is_view_leaf<E> && kind_of(trace_t<E>::type.type) != kind::boolean);
};
template <class V, class F, class... X> struct row_part_of<V, expression<F, X...>> {
  using E = expression<F, X...>;
  static constexpr row_part value = [] {
    row_part p;
    p.is_formula = !is_cut<E> && !may_reduce<F> && is_symbol<trace_t<E>> &&
                   (is_symbol<trace_t<X>> && ...) &&
                   std::tuple_size_v<typename calls_of<E>::type> == 0;
    int of_shape[4]{};
    const auto add = [&](const row_part& x) {
      ++of_shape[static_cast<int>(x.shape)];
      p.is_formula = p.is_formula && x.is_formula;
      p.of_rows = p.of_rows || x.of_rows;
      p.of_all = p.of_all || x.of_all;
      p.may_use = p.may_use || x.may_use;
    };
    (add(row_part_of<V, X>::value), ...);
    const auto has = [&](row_shape s) { return of_shape[static_cast<int>(s)] > 0; };
    p.shape = has(row_shape::left)       ? row_shape::left
              : has(row_shape::elements) ? row_shape::elements
              : has(row_shape::kept)     ? row_shape::kept
                                         : row_shape::shared;
    if (p.shape == row_shape::left)
      p.is_formula = p.is_formula && !has(row_shape::kept) &&
                     (row_part_of<V, X>::template stands_beside<E::rank> && ...);
    return p;
  }();
  template <int Left> static constexpr bool stands_beside =
      (row_part_of<V, X>::template stands_beside<Left> && ...);
};
template <class V, class F, int R, class X, class... P>
struct row_part_of<V, reduction<F, R, X, P...>> {
  using E = reduction<F, R, X, P...>;
  static constexpr bool is_operand =
      !has_elements_of<E, std::remove_const_t<typename V::value_type>>;
  static constexpr row_part value = [] {
    row_part p;
    if constexpr (is_operand) {
      p.is_formula = R == 0;
    } else {
      p = row_part_of<V, X>::value;
      p.is_formula = p.is_formula && p.shape == row_shape::elements && X::rank == V::rank &&
                     V::rank > 1 - (R == 0) && row_rank<F> == 0 && is_symbol<trace_t<E>> &&
                     ((P::rank == 0) && ...) && !requires { F::same_elements; };
      p.shape = R == 0 ? row_shape::shared : R == X::rank ? row_shape::kept : row_shape::left;
      p.of_all = p.of_all || R == 0;
      p.of_rows = p.of_rows || R > 0;
    }
    return p;
  }();
  template <int Left> static constexpr bool stands_beside = is_operand || R == 0 || R == Left;
};

}  // namespace dsl::detail

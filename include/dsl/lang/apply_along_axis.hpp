// apply_along_axis: a formula of rows, which may reduce the elements along an axis.
#pragma once

#include <dsl/lang/assignable.hpp>
#include <dsl/lang/reduce.hpp>

namespace dsl {

namespace detail {

/// A formula of a row of an operand of rank `Rank`, which has `Left` other axes. `Values` has a bit
/// for each output that is one value per row. As the function of a `reduction` it has elementwise
/// outputs, unless all outputs are one value per row.
template <class Name, class F, int Rank, int Left, std::uint32_t Values>
struct row_formula {
  template <class...> using calls = tuple<>;
  template <class... S> static constexpr auto trace(tracer&, S... s) { return F{}(s...); }
};
template <class Name, class F, int Rank, int Left, std::uint32_t Values>
inline constexpr int row_rank<row_formula<Name, F, Rank, Left, Values>> = Rank;

template <class Name, class F, int Rank, int Left, std::uint32_t Values, int R, class... Operands>
struct output_ranks<reduction<row_formula<Name, F, Rank, Left, Values>, R, Operands...>> {
  static constexpr int of_elements(int output) { return (Values >> output & 1) != 0 ? Left : Rank; }
  static constexpr int of_values = Left;
};

// The formula's kernel name is that of the expression.
template <class Name, class F, int Rank, int Left, std::uint32_t Values, int R, class... Operands,
          class... Rest>
  requires(!std::same_as<Name, unnamed>)
std::type_identity<Name> kernel_name(
    const reduction<row_formula<Name, F, Rank, Left, Values>, R, Operands...>&, const Rest&...) {
  return {};
}

/// Bit masks of a row formula's outputs: those with one value per row, those with elements, and
/// all.
struct row_outputs { std::uint32_t values = 0, elements = 0, all = 0; };
template <class F, class Row, class... Parameters>
constexpr row_outputs outputs_of_rows() {
  using S = trace_t<Row>;
  graph g;
  tracer t{&g};
  g.open_space(0, false, 1);
  const symbol<S::type.type> row{
      &g, g.add(op::load, S::type.type, {static_cast<std::uint64_t>(t.operands++)})};
  const tuple<trace_t<Parameters>...> parameters{stand_in<Parameters>(t)...};
  const auto all =
      as_tuple(unpack([&row](const auto&... p) { return F{}(row, p...); }, parameters));
  const node_origins origins(g);
  row_outputs found;
  const auto add = [&](const auto& output, std::uint32_t bit) {
    found.all |= bit;
    if constexpr (is_symbol<std::remove_cvref_t<decltype(output)>>) {
      const auto kind = origins[output.id].kind;
      found.elements |= kind == origin::element ? bit : 0;
      found.values |= kind == origin::reduced || kind == origin::combined ? bit : 0;
    }
  };
  std::uint32_t bit = 1;
  unpack([&](const auto&... output) { ((add(output, bit), bit <<= 1), ...); }, all);
  return found;
}

template <class T> inline constexpr bool is_axes = false;
template <int N> inline constexpr bool is_axes<axes<N>> = true;

/// Whether a formula can be applied along the axes; if not, a compile-time error says why.
template <class Axes, class A, class... P>
constexpr bool may_apply_along() {
  static_assert(is_axes<Axes>,
                "apply_along_axis takes a formula, dsl::axis(k), an array, and then scalars");
  if constexpr (!is_axes<Axes> || !(require_operand<A>() && ... && require_operand<P>())) {
    return false;
  } else {
    constexpr bool has_axes = operand_t<A>::rank >= axes_in<Axes>;
    static_assert(has_axes, "more axes than the operand has");
    constexpr bool are_scalars = ((operand_t<P>::rank == 0) && ...);
    static_assert(are_scalars,
                  "the parameters of apply_along_axis are scalars: what varies along the row or "
                  "from row to row stands in an "
                  "expression, x * apply_along_axis(...)");
    return has_axes && are_scalars;
  }
}

template <class Name, class F, int Count, class A, class... P>
auto apply_along(const axes<Count>& along, const A& a, const P&... parameters) {
  constexpr int rank = operand_t<A>::rank;
  constexpr row_outputs outputs = outputs_of_rows<F, operand_t<A>, operand_t<P>...>();
  constexpr bool computes = (outputs.values | outputs.elements) == outputs.all;
  static_assert(computes,
                "a formula of rows gives what it has computed of its row, not a constant or a "
                "parameter alone");
  if constexpr (!computes) {
    return refused{};
  } else {
    const std::uint32_t axes = bits_of_axes(along.number, Count, rank);
    if (axes == 0) {
      const expression<identity_function, operand_t<A>> elements{{}, {as_operand(a)}};
      require_axes(along.number, Count, shape_of(elements).data(), rank);
    }
    using formula = row_formula<Name, F, rank, rank - Count, outputs.values>;
    reduction<formula, outputs.elements != 0 ? rank : rank - Count, operand_t<A>, operand_t<P>...>
        made{{}, {as_operand(a), as_operand(parameters)...}, axes};
    require_scalars_fit<formula>(made.operands);
    return made;
  }
}
template <class Name, class F>
constexpr vectorized<Name, F> as_vectorized(const vectorized<Name, F>& f) {
  return f;
}
template <class F>
constexpr auto as_vectorized(const F& f) {
  return vectorize(f);
}
template <class Name, class F, class Axes, class A, class... P>
auto apply_formula_along(const vectorized<Name, F>& f, const Axes& along, const A& a,
                         const P&... parameters) {
  if constexpr (!may_apply_along<Axes, A, P...>()) {
    return refused{};
  } else {
    constexpr bool is_traced =
        is_stateless<F> && is_callable<F, trace_t<operand_t<A>>, trace_t<operand_t<P>>...>;
    if constexpr (!is_traced || axes_in<Axes> == operand_t<A>::rank) {
      constexpr bool sees_rows = is_traced || is_closure<F>;
      static_assert(sees_rows,
                    "a functor is called for each element and sees no row: apply_along_axis takes "
                    "a lambda with auto "
                    "parameters, or dsl::vectorize of one");
      if constexpr (sees_rows)
        return f(a, parameters...);  // the whole array is one row; or an error says what is wrong
      else return refused{};
    } else {
      return apply_along<Name, F>(along, a, parameters...);
    }
  }
}

}  // namespace detail

/// Applies a formula to each row of an array: to the elements along one axis or several.
///
/// f: a lambda with `auto` parameters, or the result of `vectorize`. It is called once, at compile
/// time, with a symbol for the row's elements and one for each parameter. It may use reductions of
/// the row: dsl::sum(x), max, argmax, mean, var, norm. along: dsl::axis(k); negative axes count
/// from the end. a: an array, a view or an expression. parameters: C++ scalars and dsl::scalar.
///
/// Returns a lazy expression. An output with a value for each element has a's shape; an output with
/// one value per row has a's shape without the axes; a std::tuple of outputs is assigned to
/// dsl::tie. A row that fits on the chip is read once. Nothing runs and nothing waits before the
/// assignment. Throws shape_error for axes that do not exist or are named twice. Like
/// np.apply_along_axis, and jax.vmap over rows.
/// ```cpp
/// const auto softmax = [](auto x) {
///   auto e = exp(x - dsl::max(x));
///   return e / dsl::sum(e);
/// };
/// p = dsl::apply_along_axis(softmax, dsl::axis(1), m);
/// ```
template <class F, class Axes, class A, class... P>
auto apply_along_axis(const F& f, const Axes& along, const A& a, const P&... parameters) {
  if constexpr ((std::same_as<A, refused> || ... || std::same_as<P, refused>)) return refused{};
  else return detail::apply_formula_along(detail::as_vectorized(f), along, a, parameters...);
}

}  // namespace dsl

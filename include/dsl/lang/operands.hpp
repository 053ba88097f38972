// Unevaluated formulas on arrays as trees of types: functions, reductions and leaves, held by
// value.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/ir/symbol.hpp>
#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>
#include <dsl/mem/structure.hpp>

namespace dsl {

namespace detail {

// lang/shape.hpp: subscripts an expression by subscripting its operands.
template <class E, class... I> auto subscript_lazily(const E& e, const I&... chosen);

}  // namespace detail

template <element T, int Rank> class sliding_windows;  // lang/sliding_window.hpp

/// A function of operands, evaluated when it is assigned. `Function` is stateless and works on
/// symbols. Its shape is the operands' broadcast shape.
template <class Function, class... Operands>
struct expression : detail::not_yet_evaluated<Function::template rank<Operands...>> {
  using lazy_expression = void;
  using function = Function;
  static constexpr int rank = Function::template rank<Operands...>;
  detail::tuple<Operands...> operands;

  /// A part of the expression, as of an array: (a + b)(dsl::slice(1, -1)). Lazy; a single element
  /// is an expression of rank 0.
  template <class... I>
  auto operator()(const I&... chosen) const {
    static_assert(sizeof...(I) <= rank, "there are more subscripts than axes");
    static_assert(detail::subscripts<I...>, "subscripts are integers and dsl::slice");
    if constexpr (sizeof...(I) <= rank && detail::subscripts<I...>)
      return detail::subscript_lazily(*this, chosen...);
    else return refused{};
  }

  /// Only for an expression with one value: evaluates it, copies the value to the host and waits.
  auto value() const
    requires detail::is_one_value<expression>
  {
    return eval(*this).value();
  }
  /// A compile-time error, which says what to do instead.
  template <class T>
  void operator=(const T&) const {
    constexpr bool has_memory = sizeof(T) == 0;
    static_assert(has_memory,
                  "an expression has no memory to assign to: assign to an array, or keep another "
                  "expression under another name");
  }
};

/// A reduction of operands that broadcast together, over all elements or along some axes; evaluated
/// when it is assigned. `Function` is stateless and reduces symbols.
template <class Function, int Rank, class... Operands>
struct reduction : detail::not_yet_evaluated<Rank> {
  using lazy_expression = void;
  static constexpr int rank = Rank;
  detail::tuple<Operands...> operands;
  std::uint32_t axes;  // a bit for each axis of the operands that is reduced

  /// Only for rank 0: evaluates it, copies the value to the host and waits.
  auto value() const
    requires(rank == 0)
  {
    return eval(*this).value();
  }
};

namespace detail {

/// A C++ scalar as an operand: passed to the kernel by value.
template <element T>
struct value_leaf {
  using lazy_expression = void;
  static constexpr int rank = 0;
  T value;
};

/// The numbers first + i * strides[0] + ...: an operand without memory that can be subscripted and
/// rearranged like an array.
template <int Rank>
struct index_leaf {
  using lazy_expression = void;
  static constexpr int rank = Rank;
  std::int64_t first;
  dsl::extents<Rank> extents, strides;
};

template <class T> inline constexpr bool is_array = false;
template <class T, int R> inline constexpr bool is_array<array<T, R>> = true;
template <class T> inline constexpr bool is_scalar = false;
template <class T> inline constexpr bool is_scalar<scalar<T>> = true;
/// Types that are read through their views: dsl::sliding_windows (lang/sliding_window.hpp).
template <class T> inline constexpr bool is_windows = false;
template <class T, int R> inline constexpr bool is_windows<sliding_windows<T, R>> = true;
template <class T> inline constexpr bool is_element_reference = false;
template <class T> inline constexpr bool is_element_reference<element_reference<T>> = true;

/// Types that make an operator or a function one of this library's: an array, a view, a scalar in
/// device memory, an expression, or a symbol.
template <class T>
concept lazy_operand = lazy<T> || is_array<T> || is_scalar<T> || is_windows<T> || is_symbol<T>;

/// lang/structure.hpp: a struct as an expression of its members.
template <class S> struct operand_of_structure;

/// Types that may be the other operands of such a call: C++ scalars, and single elements of arrays.
template <class T>
concept any_operand =
    lazy_operand<T> || element<T> || is_element_reference<T> || std::same_as<T, refused>;
/// Operands, at least one of them lazy.
template <class... T>
concept call_of_operands =
    (any_operand<T> && ...) && ((lazy_operand<T> || std::same_as<T, refused>) || ...);
/// The same, but more constrained: overload resolution prefers the library's function to one that
/// differs only in this constraint (lang/std_names.hpp).
template <class... T>
concept operands = call_of_operands<T...> && sizeof...(T) != 0;

/// Whether an operator is this library's, whatever its other operand is. << and >>, which streams
/// have too, need two operands.
template <op Code, class... T>
concept operator_call =
    ((lazy_operand<T> || structured<T> || std::same_as<T, refused>) || ...) &&
    ((Code != op::left_shift && Code != op::right_shift) || (any_operand<T> && ...));

/// Whether its values are in memory before the statement that reads them runs
/// (lang/materialized.hpp): a scan, an operation on whole arrays, or values that are there already
/// (lang/evaluated_cut.hpp).
template <class T> inline constexpr bool is_materialized = false;
/// lang/by_key.hpp and others: whether it can only be assigned, not used in a formula: a reduction
/// by key, a selection or a gradient.
template <class T> inline constexpr bool stands_alone = false;
/// Whether an expression is a reduction by key (lang/by_key.hpp), which may be assigned together
/// with other expressions.
template <class T> inline constexpr bool is_by_key = false;

/// Whether T is an operand; if not, a compile-time error says why.
template <class T>
constexpr bool require_operand() {
  static_assert(!stands_alone<T>,
                "a reduction by key, a selection or a gradient is no operand of a formula: "
                "evaluate it first, "
                "dsl::eval(...)");
  static_assert(any_operand<T> || structured<T>,
                "an operand is an array, a view, a scalar, an expression, a C++ number or a "
                "described struct of them: of a std::vector "
                "take dsl::to_device(v)");
  static_assert(any_operand<T> || !structured<T>,
                "a struct has no operators and functions of its own: it is an argument, "
                "dsl::vectorize(f)(p), and f works on its members");
  return any_operand<T> && !stands_alone<T>;
}

/// Converts from anything, and ranks below every other conversion. The parameter of overloads that
/// report calls with arguments that are no operands.
struct no_operand {
  no_operand() = default;
  template <class T> no_operand(const T&) {}
};

// Operands are only read, so leaves are views of const elements, whether the array is const or not.
template <class T, int R>
constexpr view<const T, R> as_operand(const view<T, R>& v) {
  return v;
}
template <class T, int R>
constexpr view<const T, R> as_operand(view<const T, R>&& v) {
  return std::move(v);
}
template <class T, int R>
view<const T, R> as_formula_operand(view<const T, R>&& v) {
  const auto extents = v.extents(), strides = v.strides();
  const T* const data = v.origin();
  return {std::move(v).owner().of_formula(), data, extents, strides};
}
template <class T>
constexpr auto as_operand(const T& x) {
  if constexpr (is_array<T> || is_scalar<T>) return as_formula_operand(x.view());
  else if constexpr (is_element_reference<T> || is_windows<T>) return as_operand(x.view());
  else if constexpr (element<T>) return value_leaf<T>{x};
  else if constexpr (structured<T>) return operand_of_structure<T>::make(x);
  else return x;
}
template <class T> using operand_t = decltype(as_operand(std::declval<const T&>()));

template <class... Operands>
constexpr int broadcast_rank() {
  int rank = 0;
  ((rank = Operands::rank > rank ? Operands::rank : rank), ...);
  return rank;
}

}  // namespace detail
}  // namespace dsl

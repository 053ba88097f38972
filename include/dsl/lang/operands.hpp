// Formulas on arrays before they are assigned, as trees of types: functions, reductions and leaves,
// held by value.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/ir/symbol.hpp>
#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>
#include <dsl/mem/structure.hpp>

namespace dsl {

namespace detail {

// lang/shape.hpp: the subscripts of an expression are those of its operands.
template <class E, class... I> auto subscript_lazily(const E& e, const I&... chosen);

}  // namespace detail

/// A function of operands, evaluated when it is assigned. `Function` is stateless and works on
/// symbols.
template <class Function, class... Operands>
struct expression : detail::not_yet_evaluated<Function::template rank<Operands...>> {
  using lazy_expression = void;
  using function = Function;
  static constexpr int rank = Function::template rank<Operands...>;
  detail::tuple<Operands...> operands;

  /// A part of it, as of an array: (a + b)(dsl::slice(1, -1)). Lazy; an element is an expression of
  /// rank 0.
  template <class... I>
  auto operator()(const I&... chosen) const {
    static_assert(sizeof...(I) <= rank, "there are more subscripts than axes");
    static_assert(detail::subscripts<I...>, "subscripts are integers and dsl::slice");
    if constexpr (sizeof...(I) <= rank && detail::subscripts<I...>)
      return detail::subscript_lazily(*this, chosen...);
    else return refused{};
  }

  /// Of one value: evaluates it, copies the value to the host and waits.
  auto value() const
    requires detail::is_one_value<expression>
  {
    return eval(*this).value();
  }
  /// Does not compile, and says what would.
  template <class T>
  void operator=(const T&) const {
    constexpr bool has_memory = sizeof(T) == 0;
    static_assert(has_memory,
                  "an expression has no memory to assign to: assign to an array, or keep another "
                  "expression under another name");
  }
};

/// What becomes of all elements of operands that broadcast together, or of those along some axes;
/// evaluated when it is assigned. `Function` is stateless and reduces symbols.
template <class Function, int Rank, class... Operands>
struct reduction : detail::not_yet_evaluated<Rank> {
  using lazy_expression = void;
  static constexpr int rank = Rank;
  detail::tuple<Operands...> operands;
  std::uint32_t axes;  // a bit for each axis of the operands that is reduced

  /// Of rank 0: evaluates it, copies the value to the host and waits.
  auto value() const
    requires(rank == 0)
  {
    return eval(*this).value();
  }
};

namespace detail {

/// A C++ scalar among the operands: passed to the kernel by value.
template <element T>
struct value_leaf {
  using lazy_expression = void;
  static constexpr int rank = 0;
  T value;
};

/// The numbers first + i * strides[0] + ...: an operand without memory, mapped as an array is.
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
template <class T> inline constexpr bool is_element_reference = false;
template <class T> inline constexpr bool is_element_reference<element_reference<T>> = true;

/// What makes an operator or a function one of the library's: an array, a view, a scalar in device
/// memory, an expression, or a symbol.
template <class T>
concept lazy_operand = lazy<T> || is_array<T> || is_scalar<T> || is_symbol<T>;

/// lang/structure.hpp: a struct as an expression of its members.
template <class S> struct operand_of_structure;

/// What may stand beside one: C++ scalars, and single elements of arrays.
template <class T>
concept any_operand =
    lazy_operand<T> || element<T> || is_element_reference<T> || std::same_as<T, refused>;
/// At least one lazy operand.
template <class... T>
concept call_of_operands =
    (any_operand<T> && ...) && ((lazy_operand<T> || std::same_as<T, refused>) || ...);
/// The same, and more constrained: of two functions that differ in this alone the library's own is
/// called (lang/std_names.hpp).
template <class... T>
concept operands = call_of_operands<T...> && sizeof...(T) != 0;

/// What makes an operator one of the library's, whatever stands on the other side; of << and >>,
/// which streams have, two operands.
template <op Code, class... T>
concept operator_call =
    ((lazy_operand<T> || structured<T> || std::same_as<T, refused>) || ...) &&
    ((Code != op::left_shift && Code != op::right_shift) || (any_operand<T> && ...));

/// lang/scan.hpp: whether it is a scan, which is assigned as it is.
template <class T> inline constexpr bool is_scan = false;
/// lang/by_key.hpp and others: the same of what is no element's function either.
template <class T> inline constexpr bool stands_alone = false;
/// Whether an expression is a reduction by key (lang/by_key.hpp), which may stand beside others.
template <class T> inline constexpr bool is_by_key = false;

/// Whether it is an operand; says so where it is not.
template <class T>
constexpr bool require_operand() {
  static_assert(!is_scan<T>,
                "a scan is no operand of a formula: evaluate it first, dsl::eval(dsl::cumsum(x))");
  static_assert(!stands_alone<T>,
                "a reduction by key or a selection is no operand of a formula: evaluate it first, "
                "dsl::eval(...)");
  static_assert(any_operand<T> || structured<T>,
                "an operand is an array, a view, a scalar, an expression, a C++ number or a "
                "described struct of them: of a std::vector "
                "take dsl::to_device(v)");
  static_assert(any_operand<T> || !structured<T>,
                "a struct has no operators and functions of its own: it is an argument, "
                "dsl::vectorize(f)(p), and f works on its members");
  return any_operand<T> && !is_scan<T> && !stands_alone<T>;
}

/// Anything, as a function of operands sees it that is called with something else: worse than any
/// other conversion.
struct no_operand {
  no_operand() = default;
  template <class T> no_operand(const T&) {}
};

// Operands are only read, so the leaves of a const array and of any other are of one type.
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
  else if constexpr (is_element_reference<T>) return as_operand(x.view());
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

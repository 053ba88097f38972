// Symbols: the placeholders with which a traced formula computes.
#pragma once

#include <utility>

#include <dsl/ir/simplify.hpp>

namespace dsl {

namespace detail {
// Functions that report errors return `auto`: their bodies are then compiled where a lambda calls
// them, and the messages stay short.
template <class S, class T>
constexpr auto same_symbol(graph* g, const T& x);

// Reports a symbol used as a C++ number. The compiler names conditions specifically; for other
// numbers it only reports that there is one (`may_assign`).
template <class T>
constexpr T no_number(const graph& g) {
  if (!std::same_as<T, bool>) g.refuse_number();
  return T{};
}
template <class T>
constexpr bool refuse_condition() {
  constexpr bool is_condition = std::same_as<T, bool>;
  static_assert(!is_condition,
                "a branch or loop on data cannot be traced: use dsl::where(condition, a, b), or "
                "give dsl::vectorize a functor "
                "with DSL_FN operator()");
  return true;
}
// Reports an access to a neighbour or to another array's element inside a formula.
template <class... I>
constexpr auto refuse_other_element() {
  static_assert(sizeof...(I) > 64,
                "inside a formula there is one element: apply dsl::shift, dsl::take or a slice to "
                "the array and pass the result "
                "as an argument");
}
}  // namespace detail

/// A node of a graph, of known dtype. `Weak`: it was computed from C++ scalars alone (NEP 50).
template <dtype D, bool Weak = false>
struct symbol {
  static constexpr weak_dtype type{D, Weak};
  detail::graph* owner;
  int id;

  /// A symbol has no C++ number, so this conversion is a compile-time error. Only a symbol that is
  /// not const converts implicitly: overload resolution then tells a functor of numbers from one of
  /// symbols (`is_callable`).
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr operator T() & noexcept(detail::refuse_condition<T>()) {
    return detail::no_number<T>(*owner);
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr operator T() && noexcept(detail::refuse_condition<T>()) {
    return detail::no_number<T>(*owner);
  }
  template <class T>
    requires std::same_as<T, bool>
  constexpr explicit operator T() const noexcept(detail::refuse_condition<T>()) {
    return detail::no_number<T>(*owner);
  }

  /// Assigns another value, a number or a symbol of another dtype. The symbol's dtype must hold it,
  /// as for an array.
  template <class T>
    requires(!std::same_as<T, symbol>)
  constexpr auto& operator=(const T& x) {
    return *this = detail::same_symbol<symbol>(owner, x);
  }

  template <class I>
  constexpr auto operator[](const I&) const {
    detail::refuse_other_element<I>();
    return *this;
  }
  template <class... I>
  constexpr auto operator()(const I&...) const {
    detail::refuse_other_element<I...>();
    return *this;
  }
};

template <class T> inline constexpr bool is_symbol = false;
template <dtype D, bool W> inline constexpr bool is_symbol<symbol<D, W>> = true;

namespace detail {

template <dtype D, bool Weak = false>
constexpr symbol<D, Weak> constant(graph* g, value_t<D> v) {
  return {g, g->add(op::constant, D, to_literal(v))};
}

/// Converts a C++ scalar to a weak constant; returns a symbol unchanged.
template <class T>
constexpr auto lift(graph* g, const T& x) {
  if constexpr (is_symbol<T>) return x;
  else return constant<dtype_v<T>, true>(g, to_value(x));
}

// Whether a constant expression may convert v to R. An overflowing conversion would be a
// compile-time error.
template <class R, class V>
constexpr bool fits(V v) {
  if constexpr (is_complex<V>) {
    return fits<math::real_type<R>>(v.re) && fits<math::real_type<R>>(v.im);
  } else if constexpr (!std::floating_point<V>) {
    return true;
  } else if constexpr (std::same_as<R, bool>) {
    return magnitude_bits(v) <= math::exponent_bits<V>;
  } else if constexpr (std::integral<R>) {
    constexpr bool is_signed = std::signed_integral<R>;
    return magnitude_bits(v) < power_bits<V>(8 * sizeof(R) - is_signed) && (is_signed || v > V(-1));
  } else {
    using real = math::real_type<R>;
    if constexpr (sizeof(real) >= sizeof(V)) return true;
    else
      return magnitude_bits(v) <= magnitude_bits(V(math::largest<dtype_of_value<real>>)) ||
             magnitude_bits(v) >= math::exponent_bits<V>;
  }
}

// Whether a constant expression may compute with v: with such operands, except a divisor of 0, no
// intermediate value of any operation overflows or is NaN. The longest operation is complex
// division, with products of four operands and their reciprocals.
template <class V>
constexpr bool is_moderate(V v) {
  if constexpr (is_complex<V>) {
    return is_moderate(v.re) && is_moderate(v.im);
  } else if constexpr (std::floating_point<V>) {
    constexpr int most = math::layout<V>::bias / 4;
    const auto bits = magnitude_bits(v);
    return bits == 0 || (bits >= power_bits<V>(-most) && bits <= power_bits<V>(most));
  } else {
    return true;
  }
}

template <dtype To, bool Weak, dtype From, bool W>
constexpr symbol<To, Weak> convert_symbol(symbol<From, W> s) {
  if constexpr (To == From) {
    return {s.owner, s.id};
  } else {
    const node& n = (*s.owner)[s.id];
    if (n.code == op::constant && fits<value_t<To>>(from_literal<value_t<From>>(n.word))) {
      return constant<To, Weak>(s.owner, math::convert_to<To>(from_literal<value_t<From>>(n.word)));
    }
    return {s.owner, s.owner->add(op::convert, To, fields(s.id))};
  }
}

// Requires a weak integer that is converted to another integer dtype to lie in a range. A literal
// is checked here, an operand when the expression is created. Results computed from scalars wrap.
constexpr void require_range(graph& g, int id, integer_range range) {
  const node& n = g[id];
  if (kind_of(n.type) != kind::integer) return;
  if (n.code == op::constant && range.outside(n.word.bits, info(n.type).is_signed) != nullptr)
    g.refuse_literal();
  if (n.code == op::value) g.restrict_scalar(static_cast<int>(n.word.bits), range);
  if (n.code == op::convert) require_range(g, n.field(0), range);
  if (n.code == op::where) {
    require_range(g, n.field(1), range);
    require_range(g, n.field(2), range);
  }
}

/// Converts an operand to the dtype in which it is computed.
template <dtype To, bool Weak, dtype From, bool W>
constexpr symbol<To, Weak> convert_operand(symbol<From, W> s) {
  if constexpr (W && To != From && kind_of(To) == kind::integer && kind_of(From) == kind::integer)
    require_range(*s.owner, s.id, {To, To});
  return convert_symbol<To, Weak>(s);
}

// Whether all operands are constants and a constant expression may compute the result; otherwise
// the back end computes it.
template <op Code, dtype... Operand>
constexpr bool can_fold(const graph& g, const int* id) {
  int k = 0;
  const auto moderate = [&]<dtype D>() {
    const node& n = g[id[k++]];
    if (n.code != op::constant) return false;
    const auto v = from_literal<value_t<D>>(n.word);
    const bool divides = Code == op::reciprocal || (Code == op::divide && k == 2);
    return is_moderate(v) && !(divides && kind_of(D) >= kind::real && v == value_t<D>{});
  };
  return (moderate.template operator()<Operand>() && ...);
}

// The value of `where` for a known condition. If the result is complex, one side may be real.
template <dtype R, bool Weak, class Condition, class Yes, class No>
constexpr symbol<R, Weak> choose(bool condition, Condition, Yes yes, No no) {
  return condition ? convert_symbol<R, Weak>(yes) : convert_symbol<R, Weak>(no);
}

template <op Code, dtype R, bool Weak, dtype... Operand, bool... W>
constexpr symbol<R, Weak> emit(graph* g, symbol<Operand, W>... s) {
  constexpr int arity = sizeof...(Operand);
  int id[3] = {s.id...};
  if constexpr (folds(Code)) {
    if (can_fold<Code, Operand...>(*g, id))
      return constant<R, Weak>(g, scalar_code<Code>::template apply<value_t<R>, R>(
                                      from_literal<value_t<Operand>>((*g)[s.id].word)...));
  }
  if constexpr (Code == op::where) {
    if ((*g)[id[0]].code == op::constant) return choose<R, Weak>((*g)[id[0]].word.bits != 0, s...);
    if (id[1] == id[2]) return {g, id[1]};
  } else {
    if constexpr (arity <= 2)
      if (const int simpler = simplify(*g, Code, R, id[0], arity == 2 ? id[1] : -1); simpler >= 0)
        return {g, simpler};
    if (commutes(Code))
      if (const int swapped = g->known(Code, R, fields(id[1], id[0])); swapped >= 0)
        return {g, swapped};
  }
  return {g, g->add(Code, R, fields(id[0], id[1], id[2]))};
}

template <op Code, class... S, std::size_t... I>
constexpr auto apply_to_symbols(std::index_sequence<I...>, S... s) {
  constexpr signature found = resolve(Code, S::type...);
  static_assert(found.valid, "this operation is not defined for operands of these dtypes");
  graph* g = nullptr;
  ((g = s.owner), ...);
  return emit<Code, found.result.type, found.result.weak>(
      g, convert_operand<found.operand[I], S::type.weak>(s)...);
}

// Whether an array of integers is compared with a scalar of another integer dtype.
template <op Code, class... S>
constexpr bool compares_with_scalar() {
  if constexpr (sizeof...(S) == 2 && info(Code).result == op_result::boolean &&
                info(Code).operands == op_operands::promoted) {
    constexpr weak_dtype type[] = {S::type...};
    return type[0].weak != type[1].weak && type[0].type != type[1].type &&
           kind_of(type[0].type) == kind::integer && kind_of(type[1].type) == kind::integer;
  } else {
    return false;
  }
}
/// Compares with a literal in the array's dtype if that holds it: in the wider common dtype fewer
/// elements fit into a register.
template <op Code, dtype A, bool WA, dtype B, bool WB>
constexpr auto compare_with_scalar(symbol<A, WA> a, symbol<B, WB> b) {
  constexpr dtype narrow = WA ? B : A, scalar = WA ? A : B;
  const node& n = (*a.owner)[WA ? a.id : b.id];
  if (n.code == op::constant &&
      integer_range{narrow, narrow}.outside(n.word.bits, info(scalar).is_signed) == nullptr)
    return emit<Code, dtype::boolean, false>(a.owner, convert_symbol<narrow, WA>(a),
                                             convert_symbol<narrow, WB>(b));
  return apply_to_symbols<Code>(std::make_index_sequence<2>{}, a, b);
}

/// Clip's first operand: a scalar takes the dtype of the array used as a bound.
template <dtype D, dtype From, bool W>
constexpr auto clip_scalar(symbol<From, W> scalar) {
  if constexpr (W && kind_of(D) == kind::integer && kind_of(From) == kind::integer)
    return convert_operand<D, true>(scalar);
  else return scalar;
}
/// Clip's bound in the dtype of the clipped value. A bound beyond the range of that dtype becomes
/// the end of the range.
template <dtype D, bool Upper, dtype From, bool W>
constexpr auto clip_bound(symbol<From, W> bound) {
  if constexpr (W && From != D && kind_of(D) == kind::integer && kind_of(From) == kind::integer) {
    require_range(*bound.owner, bound.id,
                  Upper ? integer_range{D, dtype::uint64} : integer_range{dtype::int64, D});
    constexpr bool may_be_beyond =
        Upper ? greatest_of(From) > greatest_of(D) : least_of(From) < least_of(D);
    constexpr std::uint64_t end = Upper ? greatest_of(D) : static_cast<std::uint64_t>(least_of(D));
    symbol<From, true> within = bound;
    if constexpr (may_be_beyond)
      within = emit<Upper ? op::min : op::max, From, true>(
          bound.owner, bound, constant<From, true>(bound.owner, static_cast<value_t<From>>(end)));
    return convert_symbol<D, true>(within);
  } else {
    return bound;
  }
}
template <class A, class Low, class High>
constexpr auto clip_symbols(A a, Low low, High high) {
  constexpr dtype common = resolve(op::clip, A::type, Low::type, High::type).operand[0];
  return apply_to_symbols<op::clip>(std::make_index_sequence<3>{}, clip_scalar<common>(a),
                                    clip_bound<common, false>(low), clip_bound<common, true>(high));
}

/// Adds an operation to the graph of its operands and returns its node.
template <op Code, class... S>
constexpr auto apply(S... s) {
  if constexpr (compares_with_scalar<Code, S...>()) return compare_with_scalar<Code>(s...);
  else if constexpr (Code == op::clip) return clip_symbols(s...);
  else return apply_to_symbols<Code>(std::make_index_sequence<sizeof...(S)>{}, s...);
}

/// A value assigned to a symbol, converted to the symbol's dtype.
template <class S, class T>
constexpr auto same_symbol(graph* g, const T& x) {
  const auto made = lift(g, x);
  constexpr weak_dtype from = decltype(made)::type;
  constexpr bool fits = assignable(S::type.type, from) && (from.weak || !S::type.weak);
  constexpr bool is_real = require_real_value<S::type.type, from.type>();
  static_assert(fits || !is_real,
                "a symbol keeps its dtype: write auto sum = v + x, or dsl::cast, where += and the "
                "like would change it");
  if constexpr (fits) return convert_operand<S::type.type, S::type.weak>(made);
  else return S{g, 0};
}

}  // namespace detail
}  // namespace dsl
